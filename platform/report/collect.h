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

/// What the model did, as units count it, whatever the host did for it: commands, DMA bursts,
/// packets through routers, links and message queues, HBM accesses.
std::uint64_t model_events(const std::vector<UnitResult>& units);

/// "finished", "fault", "deadlock", "sim_time_limit", "wall_time_limit" or "interrupted".
const char* to_string(EndReason reason);

}  // namespace cubevp::platform
