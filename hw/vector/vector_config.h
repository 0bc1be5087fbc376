// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct VectorConfig {
  Clock clock;
  std::uint32_t lanes = 64;          ///< f32 elements a cycle
  std::uint32_t exp_per_cycle = 32;  ///< exp, and division in normalize's reciprocal
};

}  // namespace cubevp::hw
