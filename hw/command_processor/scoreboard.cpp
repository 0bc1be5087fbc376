// SPDX-License-Identifier: Apache-2.0
#include "hw/command_processor/scoreboard.h"

#include <algorithm>

namespace cubevp::hw {

namespace {

// Scratchpad offsets and system addresses in one space.
constexpr std::uint64_t kScratchpadBit = std::uint64_t{1} << 63;

std::uint64_t base_of(const Operand& o) {
  return o.address | (o.space == Space::scratchpad ? kScratchpadBit : 0);
}

}  // namespace

void Scoreboard::insert(SequenceKey key, const Command& command) {
  Entry entry;
  entry.untracked = command.untracked;
  entry.is_gemm = command.opcode == Opcode::gemm;
  for (std::size_t i = 0; i < command.operand_count; ++i) {
    const Operand& o = command.operands[i];
    const bool read = (command.reads >> i & 1U) != 0;
    const bool write = (command.writes >> i & 1U) != 0;
    if (o.span_bytes() != 0 && (read || write)) {
      entry.ranges.push_back({base_of(o), base_of(o) + o.span_bytes(), read, write});
    }
  }
  if (command.opcode == Opcode::composite) {
    const Operand& b = command.operands[2];
    const std::uint64_t begin = command.composite.staging_address | kScratchpadBit;
    const std::uint64_t bytes =
        2 * std::uint64_t{command.composite.tile_rows} * b.cols * size_bytes(b.dtype);
    entry.ranges.push_back({begin, begin + bytes, true, true});
  }
  for (auto& [earlier_key, earlier] : entries_) {
    if (!(earlier_key < key)) {
      break;
    }
    const bool same_command = earlier_key.command == key.command;
    // A composite stands for its parts towards others; its parts know only each other.
    const bool counts = same_command ? earlier_key.part != 0 && !(earlier.is_gemm && entry.is_gemm)
                                     : earlier_key.part == 0;
    if (counts && conflict(earlier, entry)) {
      earlier.dependents.push_back(key);
      entry.waits_for.push_back(earlier_key);
    }
  }
  entries_.emplace(key, std::move(entry));
}

bool Scoreboard::conflict(const Entry& earlier, const Entry& later) {
  for (const Range& a : earlier.ranges) {
    for (const Range& b : later.ranges) {
      const bool overlap = a.begin < b.end && b.begin < a.end;
      const bool read_after_write = a.write && b.read && !earlier.untracked;
      if (overlap && (b.write || read_after_write)) {
        return true;
      }
    }
  }
  return false;
}

bool Scoreboard::ready(SequenceKey key) const {
  return entries_.at(key).waits_for.empty();
}

SequenceKey Scoreboard::blocked_by(SequenceKey key) const {
  const auto& waits_for = entries_.at(key).waits_for;
  return waits_for.empty() ? SequenceKey{} : waits_for.front();
}

void Scoreboard::remove(SequenceKey key) {
  const auto entry = entries_.find(key);
  const auto forget = [key](std::vector<SequenceKey>& keys) {
    keys.erase(std::find(keys.begin(), keys.end(), key));
  };
  for (const SequenceKey dependent : entry->second.dependents) {
    forget(entries_.at(dependent).waits_for);
  }
  // A composite waits for what overlaps any byte it may use, its staging for one. Its parts wait
  // for what they use, so they may all be done while it still waits.
  for (const SequenceKey earlier : entry->second.waits_for) {
    forget(entries_.at(earlier).dependents);
  }
  entries_.erase(entry);
}

}  // namespace cubevp::hw
