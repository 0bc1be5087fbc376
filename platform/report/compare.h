// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cubevp::platform {

/// Several result.json side by side, one column each, with the ratio to the first one. Throws
/// IoError when one cannot be read.
std::string compare_results(const std::vector<std::string>& paths);

}  // namespace cubevp::platform
