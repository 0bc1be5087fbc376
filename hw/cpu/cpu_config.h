// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct CpuConfig {
  Clock clock;
  Ps issue_ps = 10 * kPsPerNs;       ///< firmware time to write one command
  Ps sfr_access_ps = 10 * kPsPerNs;  ///< one way to the register block
  std::uint64_t stack_bytes = 512 * 1024;
  bool blocking = false;  ///< wait for each command before the next is issued
};

}  // namespace cubevp::hw
