// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "hw/sim/time.h"

namespace cubevp::sim {

/// What a PE may be doing; several at once. Its time is given to the first of those under way,
/// in this order, so that the fractions add up to 1.
enum class PeActivity : std::uint8_t {
  gemm,
  vector,
  dma,
  recv_wait,  ///< a posted receive whose message has not come
  send_wait,  ///< a send under way: software cost, credits, network
  barrier,
  issue,  ///< the firmware thread runs: writing commands, computing on its own
  idle,
};
inline constexpr int kPeActivities = 8;
constexpr const char* to_string(PeActivity a) {
  constexpr const char* names[] = {"gemm",      "vector",  "dma",   "recv_wait",
                                   "send_wait", "barrier", "issue", "idle"};
  return names[static_cast<int>(a)];
}

/// Splits the time of one PE over its activities.
class ActivityMonitor {
 public:
  void begin(PeActivity a) {
    settle();
    ++under_way_[static_cast<std::size_t>(a)];
  }
  void end(PeActivity a) {
    settle();
    --under_way_[static_cast<std::size_t>(a)];
  }
  void reset() {
    spent_ps_ = {};
    since_ps_ = now_ps();
  }
  /// Time given to each activity since the last reset.
  const std::array<Ps, kPeActivities>& spent_ps() {
    settle();
    return spent_ps_;
  }

 private:
  void settle() {
    const Ps now = now_ps();
    if (now == since_ps_) {
      return;
    }
    std::size_t a = 0;
    while (a < static_cast<std::size_t>(PeActivity::idle) && under_way_[a] == 0) {
      ++a;
    }
    spent_ps_[a] += now - since_ps_;
    since_ps_ = now;
  }

  std::array<int, kPeActivities> under_way_{};
  std::array<Ps, kPeActivities> spent_ps_{};
  Ps since_ps_ = 0;
};

}  // namespace cubevp::sim
