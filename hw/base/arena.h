// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cubevp {

/// Stack allocator over a PE's scratchpad: blocks are freed in scopes, last scope first. It hands
/// out offsets only; the bytes are the scratchpad's.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = 64;

  explicit Arena(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

  /// Offset of a new block, or nothing when it does not fit.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes) {
    const std::uint64_t start = (top_ + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > capacity_ || start > capacity_ - bytes) {
      return std::nullopt;
    }
    top_ = start + bytes;
    peak_ = top_ > peak_ ? top_ : peak_;
    return start;
  }
  void open_scope() { scopes_.push_back(top_); }
  /// Frees what was allocated since the matching open_scope.
  void close_scope() {
    top_ = scopes_.back();
    scopes_.pop_back();
  }
  int depth() const { return static_cast<int>(scopes_.size()); }
  std::uint64_t used_bytes() const { return top_; }
  std::uint64_t free_bytes() const { return capacity_ - top_; }
  std::uint64_t peak_bytes() const { return peak_; }
  std::uint64_t capacity_bytes() const { return capacity_; }

 private:
  std::uint64_t capacity_;
  std::uint64_t top_ = 0;
  std::uint64_t peak_ = 0;
  std::vector<std::uint64_t> scopes_;
};

}  // namespace cubevp
