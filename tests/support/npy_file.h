// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cubevp::test {

/// Writes a .npy file (format 1.0) with the header and bytes given, whether they fit or not.
void write_npy(const std::string& path, const std::string& descr, const std::string& shape,
               const std::string& bytes);
/// f16 zeros, or the bits given.
void write_npy_f16(const std::string& path, const std::vector<std::int64_t>& shape,
                   const std::vector<std::uint16_t>& bits = {});

}  // namespace cubevp::test
