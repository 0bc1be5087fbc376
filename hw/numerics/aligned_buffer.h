// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>

namespace cubevp::numerics {

/// Grow-only aligned memory, that a call of the arithmetic keeps for the next one (thread_local).
class AlignedBuffer {
 public:
  float* reserve(std::size_t floats) {
    if (floats > capacity_) {
      memory_ = hwy::AllocateAligned<float>(floats);
      capacity_ = floats;
    }
    return memory_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<float[]> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace cubevp::numerics
