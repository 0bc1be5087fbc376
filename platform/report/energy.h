// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hw/system/system_config.h"
#include "platform/report/run_result.h"

namespace cubevp::platform {

/// Counts times the constants of `hardware.energy`: GEMM per FLOP, scratchpad per byte moved by
/// any engine, HBM and links per bit, NoC per byte and hop. A link that joins two packages
/// costs more. Leakage and clocks are not modelled.
Energy energy_of(const std::vector<UnitResult>& units, const hw::SystemConfig& config);

}  // namespace cubevp::platform
