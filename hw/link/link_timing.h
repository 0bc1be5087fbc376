// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/base/units.h"
#include "hw/link/link_config.h"

namespace cubevp::hw {

// Closed forms of the die-to-die link, free of SystemC.

/// The link's own flit: a packet with less payload (a read request, an acknowledgement) takes one.
inline constexpr std::uint64_t kLinkFlitBytes = 64;

/// Time that a packet with `bytes` of payload occupies the wire.
Ps link_serialisation_ps(const LinkConfig& config, std::uint64_t bytes);

/// What remains of the latency from a PE to the same PE of the neighbouring cube after both
/// network interfaces (`interface_ps`, injection plus ejection) and the `hops` of `hop_ps` each
/// that a packet takes on the two dies. Negative when the configured latency is too small to be
/// built.
Ps link_flight_ps(const LinkConfig& config, Ps interface_ps, std::uint32_t hops, Ps hop_ps);

/// Packets that may be under way on one virtual channel: as configured, or enough for the
/// smallest packets to fill a round trip.
std::uint32_t link_credits(const LinkConfig& config, Ps flight_ps);

/// Time by which a packet that fails its CRC once comes later: the news goes back, it comes again.
Ps link_replay_ps(const LinkConfig& config, Ps flight_ps, std::uint64_t bytes);

}  // namespace cubevp::hw
