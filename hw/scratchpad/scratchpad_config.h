// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct ScratchpadConfig {
  Clock clock;
  std::uint64_t bytes = std::uint64_t{4} << 20;
  std::uint32_t banks = 16;
  std::uint32_t bank_bytes_per_cycle = 32;
};

}  // namespace cubevp::hw
