// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "platform/config/diagnostics.h"

namespace cubevp::platform {

/// YAML as it was read, and what messages call the place it came from.
struct YamlSource {
  std::string label;
  YAML::Node root;
  bool has_lines = true;  ///< false: --set, one line without a file

  Position at(const YAML::Node& node) const;
  /// Of a value; where it is empty, of its key.
  Position at(const YAML::Node& value, const YAML::Node& key) const;
};

/// Throws IoError when the file cannot be read. What is wrong with the YAML goes to `problems`, and
/// the root is then empty.
YamlSource read_yaml_file(const std::string& path, Problems& problems);

/// One `--set dotted.key=value`, as the mapping of mappings it stands for.
struct Override {
  std::vector<std::string> path;
  YAML::Node value;
  YamlSource source;
};
/// What is wrong goes to `problems`; such overrides are left out.
std::vector<Override> read_overrides(const std::vector<std::string>& texts, Problems& problems);

/// What a message says about a value: "8" in quotes, nothing, a list, a mapping.
std::string describe_value(const YAML::Node& node);

}  // namespace cubevp::platform
