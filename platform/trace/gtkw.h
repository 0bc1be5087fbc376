// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/trace/trace_writer.h"

namespace cubevp::platform {

/// Writes a GTKWave save file beside the trace (trace.vcd -> trace.gtkw) that groups signals by PE
/// and cube, colours them by kind and shows states as words, by means of small files in
/// trace.filters/. Start GTKWave in the folder of the trace. Throws IoError.
void write_gtkw(const std::string& vcd_path, const std::vector<TracedSignal>& signals,
                const std::vector<bool>& shows_labels, const TraceLabels& labels);

}  // namespace cubevp::platform
