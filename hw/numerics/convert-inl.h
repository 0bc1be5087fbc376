// SPDX-License-Identifier: Apache-2.0
// Included once per SIMD target by the sources of this folder, hence the toggling guard in place
// of #pragma once.
#if defined(CUBEVP_HW_NUMERICS_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUBEVP_HW_NUMERICS_CONVERT_INL_H_
#undef CUBEVP_HW_NUMERICS_CONVERT_INL_H_
#else
#define CUBEVP_HW_NUMERICS_CONVERT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hw/base/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using VF = hn::Vec<F32>;
inline constexpr std::size_t kLanes = hn::MaxLanes(F32());

#undef CUBEVP_HAVE_F16C
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define CUBEVP_HAVE_F16C 1
#else
#define CUBEVP_HAVE_F16C 0
#endif

HWY_INLINE VF load_f16(const std::uint8_t* p) {
  const F32 d;
  const hn::Rebind<std::uint16_t, F32> du16;
  const auto half = hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(p));
#if CUBEVP_HAVE_F16C
  const hn::Rebind<hwy::float16_t, F32> df16;
  return hn::PromoteTo(d, hn::BitCast(df16, half));
#else
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const auto bits = hn::PromoteTo(du, half);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffU));
  const auto sign = hn::ShiftLeft<16>(hn::Sub(bits, magnitude));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto tiny =
      hn::BitCast(du, hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), hn::Set(d, 0x1p-24F)));
  const auto normal = hn::Add(shifted, hn::Set(du, 112U << 23));
  const auto inf = hn::Or(shifted, hn::Set(du, 0x7f800000U));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  auto result = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 0x400))),
                               tiny, normal);
  result = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7bff))), inf,
                          result);
  result = hn::Or(
      result, hn::IfThenElseZero(hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7c00))),
                                 hn::Set(du, 0x400000U)));
  return hn::BitCast(d, hn::Or(result, sign));
#endif
}

HWY_INLINE void store_f16(VF v, std::uint8_t* p) {
#if CUBEVP_HAVE_F16C
  const hn::Rebind<hwy::float16_t, F32> df16;
  const hn::Rebind<std::uint16_t, F32> du16;
  hn::StoreU(hn::BitCast(du16, hn::DemoteTo(df16, v)), du16, reinterpret_cast<std::uint16_t*>(p));
#else
  const F32 d;
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<std::uint16_t, F32> du16;
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
  const auto order = hn::BitCast(di, magnitude);
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(du, (112U << 23) - 0xfffU)), odd));
  const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F))),
                            hn::Set(du, 0x3f000000U));
  const auto nan =
      hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3ffU)), hn::Set(du, 0x7e00U));
  auto half =
      hn::IfThenElse(hn::RebindMask(du, hn::Lt(order, hn::Set(di, 0x38800000))), tiny, normal);
  half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(order, hn::Set(di, 0x477fffff))),
                        hn::Set(du, 0x7c00U), half);
  half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(order, hn::Set(di, 0x7f800000))), nan, half);
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, hn::Or(half, sign))), du16,
             reinterpret_cast<std::uint16_t*>(p));
#endif
}

HWY_INLINE VF load_bf16(const std::uint8_t* p) {
  const F32 d;
  const hn::RebindToUnsigned<F32> du;
  const hn::Rebind<std::uint16_t, F32> du16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(p)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

HWY_INLINE void store_bf16(VF v, std::uint8_t* p) {
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<std::uint16_t, F32> du16;
  const auto bits = hn::BitCast(du, v);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(du, 1U));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7fffU)), odd));
  const auto nan = hn::Or(upper, hn::Set(du, 0x40U));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, hn::IfThenElse(is_nan, nan, rounded))), du16,
             reinterpret_cast<std::uint16_t*>(p));
}

/// kLanes elements of type T at p, as f32.
template <DType T>
HWY_INLINE VF load_elements(const std::uint8_t* p) {
  if constexpr (T == DType::f16) {
    return load_f16(p);
  } else if constexpr (T == DType::bf16) {
    return load_bf16(p);
  } else {
    return hn::LoadU(F32(), reinterpret_cast<const float*>(p));
  }
}

template <DType T>
HWY_INLINE void store_elements(VF v, std::uint8_t* p) {
  if constexpr (T == DType::f16) {
    store_f16(v, p);
  } else if constexpr (T == DType::bf16) {
    store_bf16(v, p);
  } else {
    hn::StoreU(v, F32(), reinterpret_cast<float*>(p));
  }
}

template <DType T>
HWY_INLINE void read_elements(const std::uint8_t* src, std::size_t n, float* HWY_RESTRICT dst) {
  const F32 d;
  constexpr std::size_t kSize = size_bytes(T);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(load_elements<T>(src + i * kSize), d, dst + i);
  }
  if (i < n) {
    alignas(64) std::uint8_t in[kLanes * kSize] = {};
    alignas(64) float out[kLanes];
    std::memcpy(in, src + i * kSize, (n - i) * kSize);
    hn::Store(load_elements<T>(in), d, out);
    std::memcpy(dst + i, out, (n - i) * sizeof(float));
  }
}

template <DType T>
HWY_INLINE void write_elements(const float* HWY_RESTRICT src, std::size_t n, std::uint8_t* dst) {
  const F32 d;
  constexpr std::size_t kSize = size_bytes(T);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store_elements<T>(hn::LoadU(d, src + i), dst + i * kSize);
  }
  if (i < n) {
    alignas(64) float in[kLanes] = {};
    alignas(64) std::uint8_t out[kLanes * kSize];
    std::memcpy(in, src + i, (n - i) * sizeof(float));
    store_elements<T>(hn::Load(d, in), out);
    std::memcpy(dst + i * kSize, out, (n - i) * kSize);
  }
}

HWY_INLINE void read_row(const std::uint8_t* src, DType type, std::size_t n, float* dst) {
  switch (type) {
    case DType::f16:
      return read_elements<DType::f16>(src, n, dst);
    case DType::bf16:
      return read_elements<DType::bf16>(src, n, dst);
    case DType::f32:
      std::memcpy(dst, src, n * sizeof(float));
      return;
  }
}

HWY_INLINE void write_row(const float* src, std::size_t n, DType type, std::uint8_t* dst) {
  switch (type) {
    case DType::f16:
      return write_elements<DType::f16>(src, n, dst);
    case DType::bf16:
      return write_elements<DType::bf16>(src, n, dst);
    case DType::f32:
      std::memcpy(dst, src, n * sizeof(float));
      return;
  }
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
