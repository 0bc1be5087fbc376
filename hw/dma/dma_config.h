// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct DmaConfig {
  Clock clock;
  std::uint32_t read_channels = 2;   ///< load commands in progress at once
  std::uint32_t write_channels = 2;  ///< store commands in progress at once
  std::uint32_t burst_bytes = 1024;  ///< a burst never crosses a multiple of this
  std::uint32_t outstanding_bursts = 32;
};

}  // namespace cubevp::hw
