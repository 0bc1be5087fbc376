// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/config/diagnostics.h"
#include "platform/config/yaml_document.h"
#include "platform/config/yaml_reader.h"

namespace cubevp::platform {

inline constexpr const char* kHardware = "hardware";
inline constexpr const char* kDefaultHardware = "cube64_hbm4";
inline constexpr const char* kInlineHardware = "inline";

/// Which preset a run starts from, and who says so.
struct PresetChoice {
  std::optional<std::string> name;  ///< nothing: the built-in defaults
  Position at;
  std::string key;       ///< hardware or hardware.base
  std::string from_dir;  ///< where a relative path starts
};

/// The value of a mapping's key, or an undefined node.
YAML::Node child(const YAML::Node& mapping, const std::string& key);

/// Reads presets, which may start from each other.
class PresetLoader {
 public:
  PresetLoader(const Section& hardware, YamlReader& reader, Problems& problems,
               std::vector<std::string> search_paths)
      : hardware_(hardware),
        reader_(reader),
        problems_(problems),
        search_paths_(std::move(search_paths)) {}

  /// Applies the preset, what it starts from first.
  void load(const PresetChoice& choice);

 private:
  const Section& hardware_;
  YamlReader& reader_;
  Problems& problems_;
  const std::vector<std::string> search_paths_;
  std::vector<std::string> loading_;  // files, outermost first
};

}  // namespace cubevp::platform
