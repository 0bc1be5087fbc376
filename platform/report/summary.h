// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/report/run_result.h"

namespace cubevp::platform {

/// What a user reads after a run: at most 24 lines of 80 columns. `files` are those written, of
/// which `out_dir` is the folder.
std::string summary(const RunResult& result, const std::string& out_dir,
                    const std::vector<std::string>& files);

/// "2.93 us": three to four digits and the unit that fits.
std::string show_time(Ps ps);

}  // namespace cubevp::platform
