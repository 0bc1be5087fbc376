// SPDX-License-Identifier: Apache-2.0
#include "platform/config/hardware_preset.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "platform/config/search.h"

namespace cubevp::platform {

namespace fs = std::filesystem;

YAML::Node child(const YAML::Node& mapping, const std::string& key) {
  if (mapping.IsMap()) {
    for (const auto& pair : mapping) {
      if (pair.first.IsScalar() && pair.first.Scalar() == key) {
        return pair.second;
      }
    }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

void PresetLoader::load(const PresetChoice& choice) {
  if (!choice.name) {
    return;
  }
  const bool from_preset = !loading_.empty();
  const std::string path = find_preset(*choice.name, choice.from_dir, search_paths_, from_preset);
  if (path.empty()) {
    problems_.could_not_read(kHardware);
    std::vector<std::string> names;
    for (const ListedConfig& preset : list_presets(search_paths_, choice.from_dir)) {
      names.push_back(preset.name);
    }
    const std::string suggestion = nearest(*choice.name, names);
    problems_.add(
        choice.at, choice.key,
        fmt::format("expected the name of a preset{}, got {}",
                    suggestion.empty() ? "" : " such as " + suggestion, quoted(*choice.name)));
    return;
  }
  const auto same = [&path](const std::string& other) {
    std::error_code ignored;
    return fs::equivalent(path, other, ignored);
  };
  if (std::any_of(loading_.begin(), loading_.end(), same)) {
    problems_.add(choice.at, choice.key,
                  fmt::format("expected a preset that does not start from itself, got {}",
                              quoted(*choice.name)));
    return;
  }
  loading_.push_back(path);
  const YamlSource source = read_yaml_file(path, problems_);
  if (!source.root.IsMap()) {
    problems_.could_not_read(kHardware);
  }
  const YAML::Node base = child(source.root, "base");
  if (base.IsDefined()) {
    if (base.IsScalar()) {
      load({base.Scalar(), source.at(base), "hardware.base", directory_of(path)});
    } else {
      problems_.add(source.at(base), "hardware.base",
                    "expected the name of a preset, got " + describe_value(base));
    }
  }
  if (source.root.IsMap()) {
    reader_.apply(hardware_, source.root, source, kHardware);
  }
  loading_.pop_back();
}

}  // namespace cubevp::platform
