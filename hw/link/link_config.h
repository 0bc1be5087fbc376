// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

struct LinkConfig {
  Bandwidth bandwidth{512e9};  ///< raw, each direction
  double efficiency = 0.9;     ///< what flit headers and CRC leave
  /// PE to the same PE of the neighbouring cube, head of the message, everything in between
  /// counted: network interfaces, hops on both dies and the wire. The wire's flight time is what
  /// remains of it.
  Ps neighbour_latency_ps = 30 * kPsPerNs;
  /// Packets that may be under way; 0 sizes it to the round trip.
  std::uint32_t credits = 0;
  double flit_error_rate = 0;  ///< probability that a packet fails its CRC and is replayed

  Bandwidth effective() const { return {bandwidth.bytes_per_s * efficiency}; }
};

}  // namespace cubevp::hw
