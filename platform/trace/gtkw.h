// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/trace/ordered_sink.h"

namespace cubevp::platform {

/// Writes a GTKWave save file beside the VCD file (trace.vcd: trace.gtkw): a group per PE and per
/// cube, kernel phases on top, a colour per kind of signal; and a folder of translate filters
/// (trace.filters/) through which states and labels read as words. `labels` are the texts of
/// label 0, 1, .... Returns the path of the save file. Throws IoError.
std::string write_gtkw(const std::string& vcd_path, const std::vector<TracedSignal>& signals,
                       const std::vector<std::string>& labels);

}  // namespace cubevp::platform
