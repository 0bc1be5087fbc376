// SPDX-License-Identifier: Apache-2.0
#include "platform/check/f64_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "platform/check/f64_product.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cubevp::platform::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F64 = hn::CappedTag<double, 8>;

/// kRows x kVectors sums stay in registers over the whole depth.
template <int kRows, int kVectors>
HWY_INLINE void product_tile(F64View a, F64View b, std::size_t depth, double* HWY_RESTRICT c,
                             std::size_t c_stride) {
  const F64 tag;
  const std::size_t lanes = hn::Lanes(tag);
  hn::Vec<F64> sums[kRows][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) {
      sum = hn::Zero(tag);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const double* b_row = b.data + k * b.stride;
    hn::Vec<F64> columns[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = hn::LoadU(tag, b_row + static_cast<std::size_t>(v) * lanes);
    }
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(tag, a.data[static_cast<std::size_t>(r) * a.stride + k]);
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, columns[v], sums[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], tag,
                 c + static_cast<std::size_t>(r) * c_stride + static_cast<std::size_t>(v) * lanes);
    }
  }
}

void product(F64View a, F64View b, std::size_t rows, std::size_t depth, std::size_t cols, double* c,
             std::size_t c_stride) {
  constexpr int kVectors = 2;
  // Two vectors and four rows leave registers for the operands on every target; AVX-512 has twice
  // as many.
  constexpr std::size_t kRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
  const std::size_t step = kVectors * hn::Lanes(F64());
  for (std::size_t col = 0; col < cols; col += step) {
    const F64View b_cols{b.data + col, b.stride};
    std::size_t row = 0;
    for (; row + kRows <= rows; row += kRows) {
      product_tile<kRows, kVectors>({a.data + row * a.stride, a.stride}, b_cols, depth,
                                    c + row * c_stride + col, c_stride);
    }
    for (; row < rows; ++row) {
      product_tile<1, kVectors>({a.data + row * a.stride, a.stride}, b_cols, depth,
                                c + row * c_stride + col, c_stride);
    }
  }
}

}  // namespace cubevp::platform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cubevp::platform {

HWY_EXPORT(product);

void f64_product(F64View a, F64View b, std::size_t rows, std::size_t depth, std::size_t cols,
                 double* c, std::size_t c_stride) {
  HWY_DYNAMIC_DISPATCH(product)(a, b, rows, depth, cols, c, c_stride);
}

}  // namespace cubevp::platform
#endif
