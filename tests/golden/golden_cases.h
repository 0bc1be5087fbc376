// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "platform/check/load_inputs.h"
#include "platform/check/reference.h"

namespace cubevp::test {

/// A case of tests/golden/data or tests/golden/onnx.
struct GoldenCase {
  std::string name;
  std::string dist;  ///< empty: not of a generated kind
  platform::AttentionShape shape;
  platform::AttentionOptions options;
  std::string q, k, v, o;  ///< paths

  platform::LoadedInputs inputs() const {
    return platform::load_inputs(q, k, v, shape, DType::f16);
  }
  std::vector<double> output() const { return platform::load_golden(o, shape); }
};
inline void PrintTo(const GoldenCase& c, std::ostream* out) {
  *out << c.name;
}

/// The cases of both manifests.
std::vector<GoldenCase> golden_cases();

}  // namespace cubevp::test
