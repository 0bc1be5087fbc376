// SPDX-License-Identifier: Apache-2.0
// Included once per SIMD target by the sources of this folder, hence the toggling guard in place
// of #pragma once.
#if defined(CUBEVP_HW_NUMERICS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUBEVP_HW_NUMERICS_MATH_INL_H_
#undef CUBEVP_HW_NUMERICS_MATH_INL_H_
#else
#define CUBEVP_HW_NUMERICS_MATH_INL_H_
#endif

#include <limits>

#include "hw/numerics/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

// Multiplications and additions stay apart here: a fused one rounds differently, and the bits must
// be the same on targets that have none.

HWY_INLINE VF set(float x) {
  return hn::Set(F32(), x);
}
HWY_INLINE VF minus_infinity() {
  return set(-std::numeric_limits<float>::infinity());
}

/// Replaces any NaN by the one quiet NaN 0x7fc00000: which operand's payload survives an
/// instruction is up to the compiler.
HWY_INLINE VF canonical_nan(VF x) {
  return hn::IfThenElse(hn::IsNaN(x), set(std::numeric_limits<float>::quiet_NaN()), x);
}

/// IEEE 754-2019 maximum: NaN if either is, +0 above -0.
HWY_INLINE VF maximum(VF a, VF b) {
  const VF larger = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Max(a, b));
  return canonical_nan(hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, larger)));
}

/// e^x within 2 ulp over all of f32, subnormal results included; exp(-inf) = 0.
HWY_INLINE VF exp_f32(VF x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  // Beyond these limits the result is 0 or infinity; the scaling below still gives that.
  const VF bounded = hn::Min(hn::Max(x, set(-104.0F)), set(89.0F));
  // x = n ln2 + r, n found by adding a number whose unit in the last place is 1.
  const VF magic = set(12582912.0F);  // 1.5 * 2^23
  const VF shifted = hn::Add(hn::Mul(bounded, set(1.44269504F)), magic);
  const VF n = hn::Sub(shifted, magic);
  const auto n_int = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
  // ln2 in two parts: n times the first is exact.
  VF r = hn::Sub(bounded, hn::Mul(n, set(0.693359375F)));
  r = hn::Add(r, hn::Mul(n, set(2.12194440e-4F)));
  VF p = set(1.9875691500e-4F);
  p = hn::Add(hn::Mul(p, r), set(1.3981999507e-3F));
  p = hn::Add(hn::Mul(p, r), set(8.3334519073e-3F));
  p = hn::Add(hn::Mul(p, r), set(4.1665795894e-2F));
  p = hn::Add(hn::Mul(p, r), set(1.6666665459e-1F));
  p = hn::Add(hn::Mul(p, r), set(5.0000001201e-1F));
  const VF y = hn::Add(hn::Add(hn::Mul(p, hn::Mul(r, r)), r), set(1.0F));
  // 2^n in two factors, so that n = 128 and subnormal results round once, at the end.
  const auto bias = hn::Set(di, 127);
  const auto half = hn::ShiftRight<1>(n_int);
  const VF scale_1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const VF scale_2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(n_int, half), bias)));
  return canonical_nan(hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(hn::Mul(y, scale_1), scale_2)));
}

/// exp(x - m) for a running maximum m, 0 for x = -inf whatever m is.
HWY_INLINE VF exp_below(VF x, VF m) {
  return hn::IfThenZeroElse(hn::Eq(x, minus_infinity()), exp_f32(hn::Sub(x, m)));
}

/// tanh(x) within 4 ulp.
HWY_INLINE VF tanh_f32(VF x) {
  const VF magnitude = hn::Abs(x);
  const VF z = hn::Mul(x, x);
  VF p = set(-5.70498872745e-3F);
  p = hn::Add(hn::Mul(p, z), set(2.06390887954e-2F));
  p = hn::Add(hn::Mul(p, z), set(-5.37397155531e-2F));
  p = hn::Add(hn::Mul(p, z), set(1.33314422036e-1F));
  p = hn::Add(hn::Mul(p, z), set(-3.33332819422e-1F));
  const VF near_zero = hn::Add(hn::Mul(hn::Mul(p, z), x), x);
  // exp(2 * 20) is finite and far beyond where tanh rounds to 1.
  const VF e = exp_f32(hn::Mul(set(2.0F), hn::Min(magnitude, set(20.0F))));
  const VF far = hn::Sub(set(1.0F), hn::Div(set(2.0F), hn::Add(e, set(1.0F))));
  const VF result = hn::IfThenElse(hn::Lt(magnitude, set(0.625F)), near_zero, hn::CopySign(far, x));
  return canonical_nan(hn::IfThenElse(hn::IsNaN(x), x, result));
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
