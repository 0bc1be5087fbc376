// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

enum class Dataflow : std::uint8_t {
  block,              ///< rows x cols x depth MACs a cycle, operands streamed
  output_stationary,  ///< systolic, SCALE-Sim's os
  weight_stationary,  ///< systolic, SCALE-Sim's ws
};

struct GemmConfig {
  Clock clock;
  std::uint32_t rows = 8;    ///< m: result rows in parallel
  std::uint32_t cols = 32;   ///< n: result columns in parallel
  std::uint32_t depth = 16;  ///< k: inner products in parallel (block dataflow)
  std::uint32_t fill_cycles = 32;
  Dataflow dataflow = Dataflow::block;
  bool overlap_fill = false;  ///< systolic: hide the fill of all folds but the first
};

}  // namespace cubevp::hw
