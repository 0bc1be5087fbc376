// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace cubevp::platform {

/// A file written through a large buffer under a temporary name beside its own, which it gets at
/// close(); destroyed before that, nothing is left. Everything throws IoError naming the file.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void put(char c) {
    if (used_ == buffer_.size()) {
      write_out();
    }
    buffer_[used_++] = c;
  }
  void put(std::string_view text);
  void put_number(std::int64_t number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }
  /// Hands what is buffered to the system, so that a full disk shows now.
  void flush() { write_out(); }
  void close();

 private:
  void write_out();
  [[noreturn]] void fail(int error);

  std::string path_;
  std::string temporary_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::FILE* file_ = nullptr;
};

}  // namespace cubevp::platform
