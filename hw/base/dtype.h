// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cubevp {

/// Element types that memory, the engines and the wire know.
enum class DType : std::uint8_t { f16, bf16, f32 };

/// Size of one element in bytes.
constexpr std::size_t size_bytes(DType type) {
  return type == DType::f32 ? 4 : 2;
}

constexpr std::string_view to_string(DType type) {
  switch (type) {
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f32:
      return "f32";
  }
  return "?";
}

}  // namespace cubevp
