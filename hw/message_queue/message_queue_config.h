// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct MessageQueueConfig {
  Clock clock;
  Ps software_cost_ps = 50 * kPsPerNs;  ///< post, doorbell, pop: once a message, at the sender
  std::uint32_t slots = 8;              ///< receive slots for each axis and direction
  std::uint32_t slot_bytes = 8192;      ///< a larger message takes several slots, one a chunk
  std::uint32_t packet_bytes = 1024;    ///< a chunk crosses the network in packets of this size

  /// Slots of all axes and directions; they lie at the top of the scratchpad.
  std::uint64_t reserved_bytes() const { return std::uint64_t{8} * slots * slot_bytes; }
};

}  // namespace cubevp::hw
