// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace cubevp::sim {

/// Bytes of a large memory, kept by page and only where written; the rest reads as `fill`.
/// Pages given by share() are read in place and copied when first written, so that replicas of a
/// read-only tensor cost nothing. Used by the simulation thread only.
class SparseMemory {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  using Page = std::array<unsigned char, kPageBytes>;

  explicit SparseMemory(std::uint64_t bytes) : bytes_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  /// Both throw std::out_of_range when the range is not inside the memory.
  void read(std::uint64_t address, void* data, std::size_t bytes) const;
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  /// Page `page` (address / kPageBytes) shows `content` until it is written.
  void share(std::uint64_t page, std::shared_ptr<const Page> content);
  /// Forgets everything; unwritten bytes read as `fill` from now on.
  void clear(unsigned char fill = 0);
  std::size_t pages() const { return pages_.size(); }

 private:
  struct Slot {
    std::shared_ptr<const Page> shared;
    std::unique_ptr<Page> own;
    const unsigned char* data() const { return own ? own->data() : shared->data(); }
  };
  void check(std::uint64_t address, std::size_t bytes) const;
  Page& writable(std::uint64_t page);

  std::uint64_t bytes_;
  unsigned char fill_ = 0;
  std::unordered_map<std::uint64_t, Slot> pages_;
};

}  // namespace cubevp::sim
