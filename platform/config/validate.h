// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "platform/config/diagnostics.h"
#include "platform/config/known.h"
#include "platform/config/run_config.h"

namespace cubevp::platform {

// What keys must satisfy together. Everything that would fail while the machine is built, or that
// a run cannot survive, is found here and named by key and position; all of it at once.

void validate(const RunConfig& config, const Known& known, const Origins& origins,
              Problems& problems);
void validate_hardware(const hw::SystemConfig& system, const Origins& origins, Problems& problems);

/// Whether a cube's stops and the system's cubes are as many as can be addressed.
bool grid_fits(const hw::SystemConfig& system);

/// Memory that the busiest PE's slab needs at least, in bytes: its items' share of K and V (twice
/// where blocks rotate and are received beside the one in use), and of Q and O.
double least_slab_bytes(const RunConfig& config, bool ring_kv);

/// Scratchpad that the shipped kernels need at least, message slots apart: one query row with its
/// state and result, three tiles each of K and V (two, as a macro-command streams them), and two
/// each of scores and P, of `tile_keys` keys or one.
std::uint64_t least_scratchpad_bytes(const RunConfig& config);

}  // namespace cubevp::platform
