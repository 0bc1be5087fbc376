// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/base/units.h"
#include "hw/noc/noc_config.h"

namespace cubevp::hw {

// Closed forms of the network on chip, free of SystemC. The modules apply the same formulas one
// channel at a time; tests compare the two.

/// Flits of a packet with `bytes` of payload: its header rides with the first.
std::uint32_t noc_flits(const NocConfig& config, std::uint64_t bytes);

/// Time that a packet occupies a channel.
Ps noc_serialisation_ps(const NocConfig& config, std::uint64_t bytes);

/// Idle network, one way: from the packet standing ready at one network interface to its last
/// byte leaving another, `hops` router-to-router crossings away (0: the same stop).
Ps noc_one_way_ps(const NocConfig& config, std::uint32_t hops, std::uint64_t bytes);

/// Idle network, request and answer of a read or write of `bytes`, the target's time left out.
Ps noc_round_trip_ps(const NocConfig& config, std::uint32_t hops, std::uint64_t bytes);

/// Flits that an input buffer of one virtual channel holds.
std::uint32_t noc_buffer_flits(const NocConfig& config);

/// Why a configuration cannot be built, or "".
const char* noc_config_error(const NocConfig& config);

}  // namespace cubevp::hw
