// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cubevp::platform {

/// SHA-256 (FIPS 180-4) of the text, as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace cubevp::platform
