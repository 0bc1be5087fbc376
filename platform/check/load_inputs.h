// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/check/errors.h"
#include "platform/check/npy.h"
#include "platform/check/tensors.h"

namespace cubevp::platform {

struct LoadedInputs {
  TensorInputs inputs;
  /// What the user should know, one line each: a file was narrowed.
  std::vector<std::string> notes;
};

/// Reads Q, K and V from .npy files of the shapes of `shape` (three dimensions mean a batch of 1).
/// A file of f16 is taken as it is for dtype f16; f32 (and f16 for bf16) is narrowed to `dtype`,
/// with a note. Throws InputError naming the file and what was expected.
LoadedInputs load_inputs(const std::string& q_path, const std::string& k_path,
                         const std::string& v_path, const AttentionShape& shape, DType dtype);

/// Reads an expected output of the shape of Q, f16, f32 or f64. Throws InputError likewise.
std::vector<double> load_golden(const std::string& path, const AttentionShape& shape);

/// Writes a tensor: f16 as it is, bf16 widened to f32 (exact; .npy has no bf16). Throws InputError.
void write_tensor(const std::string& path, const Tensor16& tensor);

}  // namespace cubevp::platform
