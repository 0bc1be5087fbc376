// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "platform/report/run_result.h"

namespace cubevp::platform {

/// The roofline of a run. A unit does its work one piece at a time, so no run is shorter than the
/// busiest unit of any kind is busy: for each kind its largest busy time, in which a GEMM unit
/// counts the part of its array that a small product leaves idle. `latency_ps` is the chain of
/// messages that the exchange cannot avoid.
Bound lower_bound(const std::vector<UnitResult>& units, Ps latency_ps, Ps kernel_ps);

}  // namespace cubevp::platform
