// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "hw/sim/time.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::sim {

/// Shows how much is under way when intervals are announced before they happen and overlap: a
/// level (bytes in flight) and a state (busy while the level is not 0). Intervals never begin
/// before now, so everything up to now is final when the next one is added.
class LevelTrace {
 public:
  LevelTrace(TraceSignal& level, TraceSignal& busy) : level_signal_(level), busy_signal_(busy) {}

  void add(Ps from_ps, Ps to_ps, std::uint64_t amount) {
    if (!level_signal_.traced() && !busy_signal_.traced()) {
      return;
    }
    show_until(now_ps());
    changes_[from_ps] += static_cast<std::int64_t>(amount);
    changes_[to_ps] -= static_cast<std::int64_t>(amount);
  }
  /// Shows every change before `until_ps`.
  void show_until(Ps until_ps) {
    while (!changes_.empty() && changes_.begin()->first < until_ps) {
      const auto [at, delta] = *changes_.begin();
      changes_.erase(changes_.begin());
      level_ += delta;
      level_signal_.set_at(static_cast<std::uint64_t>(level_), at);
      busy_signal_.set_at(level_ != 0 ? 1 : 0, at);
    }
  }

 private:
  TraceSignal& level_signal_;
  TraceSignal& busy_signal_;
  std::map<Ps, std::int64_t> changes_;
  std::int64_t level_ = 0;
};

}  // namespace cubevp::sim
