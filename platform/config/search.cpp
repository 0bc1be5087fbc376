// SPDX-License-Identifier: Apache-2.0
#include "platform/config/search.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "platform/config/diagnostics.h"

namespace cubevp::platform {

namespace fs = std::filesystem;

namespace {

constexpr const char* kExtension = ".yaml";

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

bool has_extension(const std::string& name) {
  return fs::path(name).extension() == kExtension || fs::path(name).extension() == ".yml";
}

/// The path, or the path with .yaml; empty when neither is there.
std::string existing(const fs::path& path) {
  if (is_file(path)) {
    return path.string();
  }
  if (!has_extension(path.string()) && is_file(path.string() + kExtension)) {
    return path.string() + kExtension;
  }
  return {};
}

std::vector<ListedConfig> list_directory(const fs::path& directory) {
  std::vector<ListedConfig> listed;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (is_file(entry.path()) && entry.path().extension() == kExtension) {
      listed.push_back({entry.path().stem().string(), entry.path().string()});
    }
  }
  return listed;
}

std::vector<ListedConfig> list_all(const std::vector<fs::path>& directories) {
  std::vector<ListedConfig> all;
  for (const fs::path& directory : directories) {
    for (ListedConfig& c : list_directory(directory)) {
      if (std::none_of(all.begin(), all.end(),
                       [&](const ListedConfig& other) { return other.name == c.name; })) {
        all.push_back(std::move(c));
      }
    }
  }
  std::sort(all.begin(), all.end(),
            [](const ListedConfig& a, const ListedConfig& b) { return a.name < b.name; });
  return all;
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::vector<std::string> default_search_paths() {
  std::vector<std::string> paths;
  const auto add = [&paths](const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored) &&
        std::find(paths.begin(), paths.end(), path.string()) == paths.end()) {
      paths.push_back(path.string());
    }
  };
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    add((program.parent_path().parent_path() / CUBEVP_CONFIGS_BESIDE_BIN).lexically_normal());
  }
  add(CUBEVP_SOURCE_CONFIGS);
  add(CUBEVP_INSTALLED_CONFIGS);
  return paths;
}

std::string find_config(const std::string& name, const std::vector<std::string>& search_paths) {
  const std::string here = existing(name);
  if (!here.empty()) {
    return here;
  }
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) {
    throw IoError(name + ": is a directory, expected a file");
  }
  std::vector<std::string> names;
  if (!name.empty() && fs::path(name).is_relative()) {
    for (const std::string& directory : search_paths) {
      const std::string found = existing(fs::path(directory) / name);
      if (!found.empty()) {
        return found;
      }
    }
    for (const ListedConfig& c : list_configs(search_paths)) {
      names.push_back(c.name + kExtension);
    }
  }
  const std::string suggestion = nearest(name, names);
  throw IoError(fmt::format("{}: no such file{}", name.empty() ? "\"\"" : name,
                            suggestion.empty() ? "" : ", did you mean " + suggestion + "?"));
}

bool is_preset_path(const std::string& name) {
  return name.find('/') != std::string::npos || has_extension(name);
}

std::string find_preset(const std::string& name, const std::string& from_dir,
                        const std::vector<std::string>& search_paths, bool neighbours) {
  if (name.empty()) {
    return {};
  }
  if (is_preset_path(name)) {
    return existing((fs::path(from_dir) / name).lexically_normal());
  }
  std::vector<fs::path> candidates = {fs::path(from_dir) / "hardware" / name};
  if (neighbours) {
    candidates.push_back(fs::path(from_dir) / name);
  }
  for (const std::string& directory : search_paths) {
    candidates.push_back(fs::path(directory) / "hardware" / name);
  }
  for (const fs::path& candidate : candidates) {
    if (is_file(candidate.string() + kExtension)) {
      return candidate.lexically_normal().string() + kExtension;
    }
  }
  return {};
}

std::vector<ListedConfig> list_configs(const std::vector<std::string>& search_paths) {
  return list_all({search_paths.begin(), search_paths.end()});
}

std::vector<ListedConfig> list_presets(const std::vector<std::string>& search_paths,
                                       const std::string& from_dir) {
  std::vector<fs::path> directories;
  if (!from_dir.empty()) {
    directories.push_back(fs::path(from_dir) / "hardware");
  }
  for (const std::string& directory : search_paths) {
    directories.push_back(fs::path(directory) / "hardware");
  }
  return list_all(directories);
}

}  // namespace cubevp::platform
