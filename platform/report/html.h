// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/report/run_result.h"

namespace cubevp::platform {

/// report.html: one page without scripts or outside files that shows a result with bars.
std::string report_html(const RunResult& result);

}  // namespace cubevp::platform
