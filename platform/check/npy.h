// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/check/errors.h"

namespace cubevp::platform {

/// Element types of the .npy files that are read and written: '<f2', '<f4', '<f8'.
enum class NpyType : std::uint8_t { f16, f32, f64 };
constexpr std::size_t size_bytes(NpyType type) {
  return type == NpyType::f64 ? 8 : type == NpyType::f32 ? 4 : 2;
}
/// "<f2", "<f4" or "<f8".
constexpr std::string_view descr(NpyType type) {
  return type == NpyType::f64 ? "<f8" : type == NpyType::f32 ? "<f4" : "<f2";
}

/// An array in C order, little endian, of one to four dimensions.
struct NpyArray {
  NpyType type = NpyType::f16;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  std::size_t size() const { return data.size() / size_bytes(type); }
  /// Element `i` in C order, whatever the type.
  double at(std::size_t i) const;
};

/// Reads a .npy file of format version 1, 2 or 3. Throws InputError.
NpyArray read_npy(const std::string& path);

/// Writes version 1 (numpy's choice) to a temporary name beside `path` and renames it, so that a
/// reader never sees half a file. Throws InputError, also when the disk is full.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace cubevp::platform
