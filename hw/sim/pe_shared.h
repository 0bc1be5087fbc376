// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/command_port.h"
#include "hw/sim/activity.h"
#include "hw/sim/payload.h"

namespace cubevp::sim {

class Strand;

/// What the units of one PE have in common. The container owns all of it and outlives them.
struct PeShared {
  PayloadPool& pool;
  ActivityMonitor& activity;
  /// Runs the PE's arithmetic and copies, in the order of simulated completion. nullptr: timing
  /// only, no tensor bytes are kept.
  Strand* strand;
  PeIdentity id;

  bool keep_data() const { return strand != nullptr; }
};

}  // namespace cubevp::sim
