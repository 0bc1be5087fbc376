// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hw/base/dtype.h"

namespace cubevp::numerics {

// Conversions between f32 and the 16-bit types: round to nearest even, subnormals honoured,
// overflow to infinity. A NaN stays a NaN: it keeps its sign and upper payload bits and becomes
// quiet (bf16 to f32 is a plain shift). The array versions give the same bits as the scalar ones
// on every SIMD target.

inline std::uint32_t f32_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float f32_from_bits(std::uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  if (magnitude > 0x7c00U) {
    return f32_from_bits(sign | 0x7fc00000U | (magnitude << 13));
  }
  if (magnitude == 0x7c00U) {
    return f32_from_bits(sign | 0x7f800000U);
  }
  if (magnitude < 0x0400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return f32_from_bits(sign | f32_bits(value));
  }
  return f32_from_bits(sign | ((magnitude << 13) + (112U << 23)));
}

inline std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = f32_bits(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  } else if (magnitude >= 0x47800000U) {  // 65536 and more
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: adding 0.5 rounds at 2^-24
    half = f32_bits(f32_from_bits(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    half = (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

inline float bf16_to_f32(std::uint16_t value) {
  return f32_from_bits(std::uint32_t{value} << 16);
}

inline std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = f32_bits(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// dst[i] = src[i], `n` elements of `type` that need not be aligned.
void to_f32(const void* src, DType type, std::size_t n, float* dst);
/// dst[i] = src[i] rounded to `type`.
void from_f32(const float* src, std::size_t n, DType type, void* dst);

}  // namespace cubevp::numerics
