// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "hw/base/dtype.h"

namespace cubevp::hw {

/// NaNs and infinities among `n` packed values; -inf does not count in the first
/// `may_be_neg_inf` of them (row maxima of empty shards are -inf).
inline std::uint64_t count_nonfinite(const unsigned char* data, DType type, std::uint64_t n,
                                     std::uint64_t may_be_neg_inf) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    bool nonfinite = false;
    bool neg_inf = false;
    if (type == DType::f32) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, data + i * 4, 4);
      nonfinite = (bits & 0x7f800000U) == 0x7f800000U;
      neg_inf = bits == 0xff800000U;
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, data + i * 2, 2);
      const unsigned exponent = type == DType::f16 ? 0x7c00U : 0x7f80U;
      nonfinite = (bits & exponent) == exponent;
      neg_inf = bits == (0x8000U | exponent);
    }
    count += nonfinite && !(neg_inf && i < may_be_neg_inf) ? 1 : 0;
  }
  return count;
}

}  // namespace cubevp::hw
