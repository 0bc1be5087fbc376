// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cubevp::platform {

/// What a configuration needs to know about a kernel.
struct KnownKernel {
  std::string name;
  bool shipped = true;   ///< its parameters are all in the schema; false: others are handed to it
  bool ring_kv = false;  ///< K and V rotate around a ring of cubes
};

/// The names that other parts of the platform own. Empty lists accept any name.
struct Known {
  std::vector<KnownKernel> kernels;
  std::vector<std::string> distributions;  ///< of input.generate

  const KnownKernel* kernel(const std::string& name) const {
    for (const KnownKernel& k : kernels) {
      if (k.name == name) {
        return &k;
      }
    }
    return nullptr;
  }
};

}  // namespace cubevp::platform
