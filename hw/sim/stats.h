// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hw/base/units.h"

namespace cubevp::sim {

/// What a unit did since the last reset_stats(): plain integers in the hot path, formatted
/// elsewhere.
struct UnitStats {
  Ps busy_ps = 0;           ///< time in which the unit did work
  std::uint64_t bytes = 0;  ///< bytes it moved
  std::uint64_t ops = 0;    ///< what it counts: flops, accesses, packets, commands
  /// Anything more, by the name the result uses (row_hits, refreshes, replays, nonfinite).
  std::map<std::string, std::uint64_t> more;
};

/// A module with statistics. The reports walk the module hierarchy for these; there is no
/// registry.
class StatsProvider {
 public:
  virtual ~StatsProvider() = default;
  /// "gemm", "vector", "dma", "scratchpad", "message_queue", "command_processor", "cpu",
  /// "router", "link", "hbm_channel".
  virtual const char* stats_kind() const = 0;
  virtual UnitStats stats() const = 0;
  virtual void reset_stats() = 0;
};

}  // namespace cubevp::sim
