// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/base/units.h"
#include "hw/scratchpad/scratchpad_config.h"

namespace cubevp::hw {

/// When the banks of a scratchpad are free. Consecutive bank-wide words lie in consecutive banks;
/// a bank serves one word a cycle. An access is through when its last bank is, so an idle,
/// aligned access of L bytes takes ceil(L / (banks * bank_bytes_per_cycle)) cycles.
class BankTimeline {
 public:
  explicit BankTimeline(const ScratchpadConfig& config)
      : word_bytes_(config.bank_bytes_per_cycle),
        cycle_ps_(config.clock.period_ps()),
        free_at_(config.banks, 0) {}

  /// Occupies the banks of bytes offset .. offset+bytes-1 from `start` on; returns the end.
  Ps occupy(std::uint64_t offset, std::uint64_t bytes, Ps start) {
    if (bytes == 0) {
      return start;
    }
    const std::uint64_t first = offset / word_bytes_;
    const std::uint64_t words = (offset + bytes - 1) / word_bytes_ - first + 1;
    const std::uint64_t banks = free_at_.size();
    Ps end = start;
    for (std::uint64_t i = 0; i < std::min(words, banks); ++i) {
      const std::uint64_t share = words / banks + (i < words % banks ? 1 : 0);
      Ps& free = free_at_[(first + i) % banks];
      free = std::max(free, start) + static_cast<Ps>(share) * cycle_ps_;
      end = std::max(end, free);
    }
    return end;
  }

 private:
  std::uint64_t word_bytes_;
  Ps cycle_ps_;
  std::vector<Ps> free_at_;
};

}  // namespace cubevp::hw
