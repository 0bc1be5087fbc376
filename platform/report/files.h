// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cubevp::platform {

/// Writes a whole file under a temporary name and renames it, so that nobody sees half of it.
/// Throws IoError naming the file; nothing is left behind then.
void write_file(const std::string& path, const std::string& text);

/// Makes a folder and those above it, and sees that files can be made in it. Throws IoError.
void make_output_folder(const std::string& path);

}  // namespace cubevp::platform
