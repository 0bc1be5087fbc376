// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hw/base/command.h"

namespace cubevp::hw {

/// Place of a command, or of a part of a composite, in program order. Part 0 is the command
/// itself; a composite's parts count from 1.
struct SequenceKey {
  std::uint64_t command = 0;
  std::uint32_t part = 0;
  friend bool operator<(const SequenceKey& a, const SequenceKey& b) {
    return std::tie(a.command, a.part) < std::tie(b.command, b.part);
  }
  friend bool operator==(const SequenceKey& a, const SequenceKey& b) {
    return a.command == b.command && a.part == b.part;
  }
};

/// Decides which commands may start: one that no earlier incomplete command conflicts with.
/// Conflicts (read after write, write after read, write after write) are found by byte range;
/// a strided operand counts as everything from its first byte to its last.
///
/// What an untracked command writes does not hold later readers back. Parts of a composite
/// conflict with earlier commands and with each other, but two gemms of one composite do not:
/// the gemm unit keeps their order and their sums.
class Scoreboard {
 public:
  void insert(SequenceKey key, const Command& command);
  bool ready(SequenceKey key) const;
  /// The earliest command that `key` waits for, {0, 0} when it is ready.
  SequenceKey blocked_by(SequenceKey key) const;
  void remove(SequenceKey key);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    bool read;
    bool write;
  };
  struct Entry {
    std::vector<Range> ranges;
    bool untracked = false;
    bool is_gemm = false;
    std::vector<SequenceKey> waits_for;
    std::vector<SequenceKey> dependents;
  };
  static bool conflict(const Entry& earlier, const Entry& later);

  std::map<SequenceKey, Entry> entries_;
};

}  // namespace cubevp::hw
