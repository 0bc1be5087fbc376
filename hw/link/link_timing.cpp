// SPDX-License-Identifier: Apache-2.0
#include "hw/link/link_timing.h"

#include <algorithm>

namespace cubevp::hw {

Ps link_serialisation_ps(const LinkConfig& config, std::uint64_t bytes) {
  return config.effective().serialisation_ps(std::max(bytes, kLinkFlitBytes));
}

Ps link_flight_ps(const LinkConfig& config, Ps interface_ps, std::uint32_t hops, Ps hop_ps) {
  return config.neighbour_latency_ps - interface_ps - hops * hop_ps;
}

std::uint32_t link_credits(const LinkConfig& config, Ps flight_ps) {
  if (config.credits != 0) {
    return config.credits;
  }
  const Ps smallest = link_serialisation_ps(config, 0);
  return static_cast<std::uint32_t>(ceil_div(2 * flight_ps + smallest, smallest));
}

Ps link_replay_ps(const LinkConfig& config, Ps flight_ps, std::uint64_t bytes) {
  return 2 * flight_ps + link_serialisation_ps(config, bytes);
}

}  // namespace cubevp::hw
