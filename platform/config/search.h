// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cubevp::platform {

/// Directories that hold run files, and hardware/ with presets: the installed ones beside the
/// program, then those of the source tree, then those of the installation prefix; only such as
/// exist.
std::vector<std::string> default_search_paths();

/// The file that a configuration's name stands for: as it is, else in the search paths; ".yaml"
/// may be left out. Throws IoError, naming the nearest one there is.
std::string find_config(const std::string& name, const std::vector<std::string>& search_paths);

/// Whether a preset's name is the path of its file: it has a slash or ends in .yaml.
bool is_preset_path(const std::string& name);

/// The file of a hardware preset: a path, relative to `from_dir`, or hardware/NAME.yaml in
/// `from_dir` or a search path. `neighbours`: `from_dir` holds presets itself, as where one starts
/// from another. Empty when there is none.
std::string find_preset(const std::string& name, const std::string& from_dir,
                        const std::vector<std::string>& search_paths, bool neighbours = false);

/// A file that `list` shows; paths relative to the directory, without .yaml.
struct ListedConfig {
  std::string name;
  std::string path;
};
/// Run files in the search paths, sorted; the first of a name counts.
std::vector<ListedConfig> list_configs(const std::vector<std::string>& search_paths);
/// Presets in the search paths' hardware/, and in `from_dir`'s when not empty.
std::vector<ListedConfig> list_presets(const std::vector<std::string>& search_paths,
                                       const std::string& from_dir = {});

/// "dir" of "dir/file"; "." when there is none.
std::string directory_of(const std::string& path);

}  // namespace cubevp::platform
