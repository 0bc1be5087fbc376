// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct CommandProcessorConfig {
  Clock clock;
  std::uint32_t queue_depth = 64;  ///< commands issued and not complete
};

}  // namespace cubevp::hw
