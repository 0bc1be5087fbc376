// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/config/run_config.h"

namespace cubevp::platform {

/// The chain of messages that no run of a shipped kernel can avoid, on an idle machine and with
/// nothing else to do (docs/timing-model.md, Exchange): software cost, path and bytes of each hop
/// from the rank furthest away. 0 for one rank and for kernels of the user's.
Ps exchange_latency_ps(const RunConfig& config);

}  // namespace cubevp::platform
