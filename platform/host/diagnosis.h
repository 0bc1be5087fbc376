// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hw/system/system.h"

namespace cubevp::platform {

/// One line a faulted PE.
std::vector<std::string> fault_lines(hw::System& system);

/// One line a PE that has not finished `kernel`: what it waits for, in which direction, on whom,
/// since when; and one line for a cycle of waits, where there is one.
std::vector<std::string> blocked_lines(hw::System& system, const std::string& kernel);

/// A graph of who waits for whom; nodes are numbers.
using WaitGraph = std::vector<std::vector<std::size_t>>;
/// The nodes of some cycle, in order; empty when there is none.
std::vector<std::size_t> find_cycle(const WaitGraph& graph);

}  // namespace cubevp::platform
