// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/config/run_config.h"
#include "platform/host/machine.h"
#include "platform/host/placement.h"
#include "platform/report/run_result.h"

namespace cubevp::platform {

/// Reads what a run left in the machine's counters: everything of a RunResult but the check and
/// the host's use.
RunResult collect(Machine& machine, const RunConfig& config, const Placement& placement,
                  const RunOutcome& outcome);

/// "finished", "fault", "deadlock", "sim_time_limit", "wall_time_limit" or "interrupted".
const char* to_string(EndReason reason);

}  // namespace cubevp::platform
