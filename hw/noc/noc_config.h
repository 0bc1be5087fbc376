// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/base/units.h"

namespace cubevp::hw {

/// Flow control is virtual cut-through: an input buffer holds whole packets, and a packet moves on
/// when all of it fits behind the next router's input.
struct NocConfig {
  Clock clock{2e9};
  std::uint32_t columns = 4;  ///< stops in a row of the cube's mesh
  std::uint32_t rows = 2;
  std::uint32_t planes = 2;
  std::uint32_t plane_bytes_per_cycle = 64;
  std::uint32_t hop_cycles = 9;  ///< router and wire
  std::uint32_t interface_inject_cycles = 5;
  std::uint32_t interface_eject_cycles = 5;
  std::uint32_t buffer_packets = 4;  ///< input buffer of a virtual channel, in whole packets
  /// Packet that buffer_packets counts in. Buffers are made of flits, so that more of the smaller
  /// packets fit; a larger packet takes a whole buffer.
  std::uint32_t packet_bytes = 1024;

  std::uint32_t stops() const { return columns * rows; }
  std::uint32_t bytes_per_cycle() const { return planes * plane_bytes_per_cycle; }
  double bytes_per_s() const { return clock.hz * bytes_per_cycle(); }
};

}  // namespace cubevp::hw
