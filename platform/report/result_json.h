// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "platform/report/run_result.h"

namespace cubevp::platform {

/// result.json (docs/output.md). The same run gives the same text but for the `host` block.
nlohmann::ordered_json to_json(const RunResult& result);
/// The text of result.json: indented, with a line for each unit.
std::string to_text(const nlohmann::ordered_json& result);

/// Reads a result.json. Throws IoError naming the file when it is missing, not JSON, or lacks what
/// every result has.
nlohmann::ordered_json read_result(const std::string& path);

}  // namespace cubevp::platform
