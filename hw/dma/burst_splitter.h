// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/base/command.h"

namespace cubevp::hw {

/// A piece of a transfer that does not cross a multiple of the burst size in memory.
struct Burst {
  std::uint64_t memory_address = 0;
  std::uint64_t scratchpad_address = 0;
  std::uint64_t staging_offset = 0;  ///< in the command's bytes, rows packed
  std::uint32_t bytes = 0;
};

/// Walks a 2-D transfer burst by burst. Rows that lie without gaps in memory are one run: bursts
/// reach over row ends there, however the scratchpad's rows lie. Such a burst is accounted in the
/// scratchpad at its first byte.
class BurstSplitter {
 public:
  BurstSplitter() = default;
  BurstSplitter(const Operand& memory, const Operand& scratchpad, std::uint32_t burst_bytes)
      : memory_(memory), scratchpad_(scratchpad), burst_bytes_(burst_bytes) {
    row_bytes_ = std::uint64_t{memory.cols} * size_bytes(memory.dtype);
    total_bytes_ = memory.bytes();
    run_bytes_ = memory.contiguous() ? total_bytes_ : row_bytes_;
  }

  bool done() const { return position_ == total_bytes_; }
  /// The next burst; only when not done.
  Burst peek() const {
    const std::uint64_t run = position_ / run_bytes_;
    const std::uint64_t in_run = position_ % run_bytes_;
    Burst burst;
    burst.memory_address = memory_.address + run * memory_.row_stride_bytes + in_run;
    burst.scratchpad_address = scratchpad_.address +
                               position_ / row_bytes_ * scratchpad_.row_stride_bytes +
                               position_ % row_bytes_;
    burst.staging_offset = position_;
    burst.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        run_bytes_ - in_run, burst_bytes_ - burst.memory_address % burst_bytes_));
    return burst;
  }
  void advance() { position_ += peek().bytes; }
  /// Leaves the rest of the transfer out.
  void drop_rest() { position_ = total_bytes_; }

 private:
  Operand memory_;
  Operand scratchpad_;
  std::uint64_t burst_bytes_ = 1;
  std::uint64_t row_bytes_ = 0;
  std::uint64_t run_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace cubevp::hw
