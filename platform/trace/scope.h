// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cubevp::platform {

/// Whether `name` matches `pattern`, in which * stands for any characters, dots included.
bool glob_match(const std::string& pattern, const std::string& name);

/// Replaces a leading cubeN by the name of the cube with global number N, counted row by row:
/// cube_x_y with x = N % columns and y = N / columns.
std::string expand_cube_alias(const std::string& pattern, unsigned columns);

/// The pattern's first part that no module matches, explained in one line; `modules` are full
/// names.
std::string no_match_message(const std::string& pattern, const std::vector<std::string>& modules);

}  // namespace cubevp::platform
