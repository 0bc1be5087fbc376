// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/noc_timing.h"

#include <algorithm>

namespace cubevp::hw {

std::uint32_t noc_flits(const NocConfig& config, std::uint64_t bytes) {
  const std::uint64_t width = config.bytes_per_cycle();
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + width - 1) / width));
}

Ps noc_serialisation_ps(const NocConfig& config, std::uint64_t bytes) {
  return config.clock.cycles(noc_flits(config, bytes));
}

Ps noc_one_way_ps(const NocConfig& config, std::uint32_t hops, std::uint64_t bytes) {
  return config.clock.cycles(std::int64_t{config.interface_inject_cycles} +
                             std::int64_t{hops} * config.hop_cycles +
                             config.interface_eject_cycles + noc_flits(config, bytes));
}

Ps noc_round_trip_ps(const NocConfig& config, std::uint32_t hops, std::uint64_t bytes) {
  return noc_one_way_ps(config, hops, bytes) + noc_one_way_ps(config, hops, 0);
}

std::uint32_t noc_buffer_flits(const NocConfig& config) {
  return config.buffer_packets * noc_flits(config, config.packet_bytes);
}

const char* noc_config_error(const NocConfig& config) {
  if (config.columns == 0 || config.rows == 0) {
    return "the mesh needs at least one column and one row";
  }
  if (config.stops() > 256) {
    return "the mesh has more than 256 stops, the most that an address names";
  }
  if (config.planes == 0 || config.plane_bytes_per_cycle == 0) {
    return "channels must be at least one plane of one byte wide";
  }
  if (config.buffer_packets == 0) {
    return "an input buffer must hold at least one packet";
  }
  if (config.clock.hz <= 0 || config.clock.period_ps() <= 0) {
    return "the clock must be above 0 Hz and at most 1 THz";
  }
  return "";
}

}  // namespace cubevp::hw
