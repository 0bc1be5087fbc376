// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/config/errors.h"
#include "platform/config/known.h"
#include "platform/config/run_config.h"
#include "platform/config/search.h"

namespace cubevp::platform {

/// Reads a run file: defaults, then the hardware preset, then the file, then `overrides`
/// (dotted.key=value, as --set gives them), then every check that needs no machine. Throws
/// ConfigError with everything that is wrong, IoError when a file cannot be read.
RunConfig load_run_config(const std::string& path, const std::vector<std::string>& overrides,
                          const Known& known,
                          const std::vector<std::string>& search_paths = default_search_paths());

/// A machine alone: a preset's name or file, and overrides (hardware.noc.columns=8). Throws as
/// load_run_config does.
hw::SystemConfig load_hardware(
    const std::string& preset, const std::vector<std::string>& overrides = {},
    const std::vector<std::string>& search_paths = default_search_paths());

/// The resolved configuration, every key with its value and unit. Reading it gives the same
/// RunConfig, and writing that the same text.
std::string to_yaml(const RunConfig& config);

/// SHA-256 of to_yaml, in hexadecimal: two runs with the same one give the same result.
std::string config_sha256(const RunConfig& config);

/// docs/config.md: every key, made from the schema.
std::string config_reference_markdown();

}  // namespace cubevp::platform
