// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sim/time.h"

namespace cubevp::sim {

/// Adds up the time in which at least one of a unit's jobs is under way.
class BusyTimer {
 public:
  void begin() {
    if (jobs_++ == 0) {
      since_ps_ = now_ps();
    }
  }
  void end() {
    if (--jobs_ == 0) {
      total_ps_ += now_ps() - since_ps_;
    }
  }
  bool busy() const { return jobs_ != 0; }
  /// The job under way counts up to now.
  Ps total_ps() const { return total_ps_ + (busy() ? now_ps() - since_ps_ : 0); }
  void reset() {
    total_ps_ = 0;
    since_ps_ = now_ps();
  }

 private:
  int jobs_ = 0;
  Ps since_ps_ = 0;
  Ps total_ps_ = 0;
};

}  // namespace cubevp::sim
