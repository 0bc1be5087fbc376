// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/gemm.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "hw/numerics/aligned_buffer.h"
#include "hw/numerics/gemm_blocking.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hw/numerics/gemm.cpp"
#include <hwy/foreach_target.h>

#include "hw/numerics/convert-inl.h"
#include "hw/numerics/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

/// Rows of a that one pass over a panel serves: as many as sums fit the register file.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
inline constexpr int kMaxRows = 8;
#else
inline constexpr int kMaxRows = 4;
#endif

/// sums[R x V vectors] += a[R x depth] * panel[depth x V vectors], one k after the other.
template <int R, int V, bool kFused, bool kSkipZero>
HWY_INLINE void add_products(const float* HWY_RESTRICT a, std::size_t a_stride,
                             const float* HWY_RESTRICT panel, std::size_t depth, bool first,
                             float* HWY_RESTRICT sums) {
  const F32 d;
  VF sum[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      sum[r][v] = first ? hn::Zero(d) : hn::Load(d, sums + r * kPanelCols + v * kLanes);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    VF column[V];
    for (int v = 0; v < V; ++v) {
      column[v] = hn::Load(d, panel + k * kPanelCols + v * kLanes);
    }
    for (int r = 0; r < R; ++r) {
      const float factor = a[r * a_stride + k];
      if (kSkipZero && factor == 0.0F) {
        continue;
      }
      const VF factors = hn::Set(d, factor);
      for (int v = 0; v < V; ++v) {
        sum[r][v] = kFused ? hn::MulAdd(factors, column[v], sum[r][v])
                           : hn::Add(sum[r][v], hn::Mul(factors, column[v]));
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      hn::Store(sum[r][v], d, sums + r * kPanelCols + v * kLanes);
    }
  }
}

/// R rows of the panel's product. Few rows take more columns at a time: independent sums are what
/// hides the latency of an addition.
template <int R, bool kFused, bool kSkipZero>
HWY_INLINE void add_row_block(const GemmCall& call, std::size_t row, std::size_t k0,
                              std::size_t depth, std::size_t cols) {
  constexpr int kVectors = R <= 2 ? 4 : 2;
  for (std::size_t col = 0; col < cols; col += kVectors * kLanes) {
    add_products<R, kVectors, kFused, kSkipZero>(call.a_rows + row * call.a_stride + k0,
                                                 call.a_stride, call.panel + col, depth, k0 == 0,
                                                 call.sums + row * kPanelCols + col);
  }
}

template <bool kFused, bool kSkipZero>
HWY_NOINLINE void multiply_panel(const GemmCall& call, std::size_t k0, std::size_t depth,
                                 std::size_t cols) {
  std::size_t row = 0;
  if constexpr (kMaxRows == 8) {
    for (; row + 8 <= call.rows; row += 8) {
      add_row_block<8, kFused, kSkipZero>(call, row, k0, depth, cols);
    }
  }
  for (; row + 4 <= call.rows; row += 4) {
    add_row_block<4, kFused, kSkipZero>(call, row, k0, depth, cols);
  }
  if (row + 2 <= call.rows) {
    add_row_block<2, kFused, kSkipZero>(call, row, k0, depth, cols);
    row += 2;
  }
  if (row < call.rows) {
    add_row_block<1, kFused, kSkipZero>(call, row, k0, depth, cols);
  }
}

#if HWY_TARGET == HWY_SCALAR
/// panel[k][0 .. kStageRows) = stage[0 .. kStageRows)[k]
HWY_INLINE void transpose_stage(const float* HWY_RESTRICT stage, std::size_t depth,
                                float* HWY_RESTRICT panel) {
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t row = 0; row < kStageRows; ++row) {
      panel[k * kPanelCols + row] = stage[row * kStageStride + k];
    }
  }
}
#else
/// A vector whose 128-bit blocks come from rows 0, 4, 8, ... at p.
HWY_INLINE VF load_row_blocks(const float* p) {
  const F32 d;
#if HWY_MAX_BYTES == 64
  const hn::CappedTag<float, 4> d4;
  const hn::CappedTag<float, 8> d8;
  return hn::Combine(
      d, hn::Combine(d8, hn::Load(d4, p + 12 * kStageStride), hn::Load(d4, p + 8 * kStageStride)),
      hn::Combine(d8, hn::Load(d4, p + 4 * kStageStride), hn::Load(d4, p)));
#elif HWY_MAX_BYTES == 32
  const hn::CappedTag<float, 4> d4;
  return hn::Combine(d, hn::Load(d4, p + 4 * kStageStride), hn::Load(d4, p));
#else
  return hn::Load(d, p);
#endif
}

/// panel[k][0 .. kStageRows) = stage[0 .. kStageRows)[k]
HWY_INLINE void transpose_stage(const float* HWY_RESTRICT stage, std::size_t depth,
                                float* HWY_RESTRICT panel) {
  const F32 d;
  const hn::RepartitionToWide<F32> d64;
  for (std::size_t k = 0; k < depth; k += 4) {
    for (std::size_t row = 0; row < kStageRows; row += kLanes) {
      const float* p = stage + row * kStageStride + k;
      const VF r0 = load_row_blocks(p);
      const VF r1 = load_row_blocks(p + kStageStride);
      const VF r2 = load_row_blocks(p + 2 * kStageStride);
      const VF r3 = load_row_blocks(p + 3 * kStageStride);
      // 4 x 4 transposition inside each 128-bit block.
      const auto r01_lo = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
      const auto r01_hi = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
      const auto r23_lo = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
      const auto r23_hi = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
      float* out = panel + k * kPanelCols + row;
      hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, r01_lo, r23_lo)), d, out);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, r01_lo, r23_lo)), d, out + kPanelCols);
      hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, r01_hi, r23_hi)), d, out + 2 * kPanelCols);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, r01_hi, r23_hi)), d, out + 3 * kPanelCols);
    }
  }
}
#endif  // HWY_SCALAR

/// b[k0 .. k0+depth)[n0 .. n0+cols) as f32, columns beyond `cols` zero.
HWY_INLINE void pack_panel(const GemmCall& call, std::size_t k0, std::size_t depth, std::size_t n0,
                           std::size_t cols) {
  const ConstMatrixView& b = call.b;
  const std::size_t size = size_bytes(b.dtype);
  if (!b.transposed) {
    for (std::size_t k = 0; k < depth; ++k) {
      float* row = call.panel + k * kPanelCols;
      read_row(b.row(k0 + k) + n0 * size, b.dtype, cols, row);
      std::fill(row + cols, row + kPanelCols, 0.0F);
    }
    return;
  }
  const std::size_t padded_depth = (depth + 3) / 4 * 4;
  for (std::size_t n = 0; n < kPanelCols; n += kStageRows) {
    for (std::size_t i = 0; i < kStageRows; ++i) {
      float* row = call.stage + i * kStageStride;
      std::size_t filled = 0;
      if (n + i < cols) {
        read_row(b.row(n0 + n + i) + k0 * size, b.dtype, depth, row);
        filled = depth;
      }
      std::fill(row + filled, row + padded_depth, 0.0F);
    }
    transpose_stage(call.stage, padded_depth, call.panel + n);
  }
}

HWY_INLINE bool all_finite(const float* p, std::size_t n) {
  const hn::RebindToSigned<F32> di;
  auto largest = hn::Zero(di);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const auto bits = hn::BitCast(di, hn::Load(F32(), p + i));
    largest = hn::Max(largest, hn::And(bits, hn::Set(di, 0x7fffffff)));
  }
  return hn::AllTrue(di, hn::Lt(largest, hn::Set(di, 0x7f800000)));
}

HWY_INLINE bool convert_a(const GemmCall& call) {
  const ConstMatrixView& a = call.a;
  if (!a.transposed) {
    for (std::size_t r = 0; r < call.rows; ++r) {
      read_row(a.row(r), a.dtype, call.depth, call.a_rows + r * call.a_stride);
    }
  } else {
    float* part = call.stage;
    for (std::size_t k = 0; k < call.depth; ++k) {
      for (std::size_t r0 = 0; r0 < call.rows; r0 += kStageStride) {
        const std::size_t n = std::min(call.rows - r0, kStageStride);
        read_row(a.row(k) + r0 * size_bytes(a.dtype), a.dtype, n, part);
        for (std::size_t i = 0; i < n; ++i) {
          call.a_rows[(r0 + i) * call.a_stride + k] = part[i];
        }
      }
    }
  }
  if (!call.zero_a_skips) {
    return false;
  }
  for (std::size_t r = 0; r < call.rows; ++r) {
    const float* row = call.a_rows + r * call.a_stride;
    if (std::find(row, row + call.depth, 0.0F) != row + call.depth) {
      return true;
    }
  }
  return false;
}

/// Selects -inf where the mask hides columns [n0, n0+cols) from `row`.
HWY_INLINE void hide(const Mask& mask, std::size_t row, std::size_t n0, std::size_t cols,
                     float* values) {
  if (!mask.causal) {
    return;
  }
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  if (mask.key_stride > 0) {
    // Keys ascend with the columns, so the hidden ones are a tail.
    const std::int64_t last_key =
        (mask.first_row + static_cast<std::int64_t>(row)) % mask.rows_per_head + mask.offset;
    const std::int64_t seen =
        last_key < mask.first_key ? 0 : (last_key - mask.first_key) / mask.key_stride + 1;
    const std::int64_t first = std::clamp<std::int64_t>(seen - static_cast<std::int64_t>(n0), 0,
                                                        static_cast<std::int64_t>(cols));
    std::fill(values + first, values + cols, kHidden);
    return;
  }
  for (std::size_t c = 0; c < cols; ++c) {
    if (!mask.sees(static_cast<std::int64_t>(row), static_cast<std::int64_t>(n0 + c))) {
      values[c] = kHidden;
    }
  }
}

HWY_INLINE void finish_panel(const GemmCall& call, std::size_t n0, std::size_t cols) {
  const F32 d;
  const Epilogue& epilogue = call.epilogue;
  const VF scale = set(epilogue.scale);
  const VF cap = set(epilogue.softcap);
  for (std::size_t r = 0; r < call.rows; ++r) {
    float* values = call.sums + r * kPanelCols;
    for (std::size_t i = 0; i < cols; i += kLanes) {
      VF x = hn::Mul(hn::Load(d, values + i), scale);
      if (epilogue.softcap > 0.0F) {
        x = hn::Mul(cap, tanh_f32(hn::Div(x, cap)));
      }
      hn::Store(canonical_nan(x), d, values + i);
    }
    hide(epilogue.mask, r, n0, cols, values);
    std::uint8_t* out = call.c.row(r) + n0 * size_bytes(call.c.dtype);
    if (call.accumulate) {
      alignas(64) float old[kPanelCols] = {};
      read_row(out, call.c.dtype, cols, old);
      for (std::size_t i = 0; i < cols; i += kLanes) {
        hn::Store(canonical_nan(hn::Add(hn::Load(d, old + i), hn::Load(d, values + i))), d,
                  values + i);
      }
    }
    write_row(values, cols, call.c.dtype, out);
  }
}

void gemm_on_target(const GemmCall& call) {
  // Products of f16 values are exact in f32, so fusing them with the addition changes no bit; all
  // others round the product first, which targets without fused instructions can do too.
  const bool fused = call.a.dtype == DType::f16 && call.b.dtype == DType::f16;
  const bool zeros = convert_a(call);
  for (std::size_t n0 = 0; n0 < call.cols; n0 += kPanelCols) {
    const std::size_t cols = std::min(kPanelCols, call.cols - n0);
    if (call.depth == 0) {
      std::fill(call.sums, call.sums + call.rows * kPanelCols, 0.0F);
    }
    for (std::size_t k0 = 0; k0 < call.depth; k0 += kPanelDepth) {
      const std::size_t depth = std::min(kPanelDepth, call.depth - k0);
      pack_panel(call, k0, depth, n0, cols);
      const bool skip = zeros && !all_finite(call.panel, depth * kPanelCols);
      if (fused) {
        skip ? multiply_panel<true, true>(call, k0, depth, cols)
             : multiply_panel<true, false>(call, k0, depth, cols);
      } else {
        skip ? multiply_panel<false, true>(call, k0, depth, cols)
             : multiply_panel<false, false>(call, k0, depth, cols);
      }
    }
    finish_panel(call, n0, cols);
  }
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cubevp::numerics {
namespace {

HWY_EXPORT(gemm_on_target);

std::string shape(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + "x" + std::to_string(cols);
}

}  // namespace

void gemm(const MatrixView& c, const ConstMatrixView& a, const ConstMatrixView& b, bool accumulate,
          const Epilogue& epilogue, bool zero_a_skips) {
  const std::size_t rows = a.transposed ? a.cols : a.rows;
  const std::size_t depth = a.transposed ? a.rows : a.cols;
  const std::size_t b_depth = b.transposed ? b.cols : b.rows;
  const std::size_t cols = b.transposed ? b.rows : b.cols;
  if (c.transposed || depth != b_depth || c.rows != rows || c.cols != cols) {
    throw std::invalid_argument("gemm: shapes do not fit: " + shape(c.rows, c.cols) +
                                (c.transposed ? " transposed" : "") + " = " + shape(rows, depth) +
                                " x " + shape(b_depth, cols));
  }
  if (epilogue.mask.causal && epilogue.mask.rows_per_head <= 0) {
    throw std::invalid_argument("gemm: a causal mask needs rows_per_head > 0");
  }
  if (rows == 0 || cols == 0) {
    return;
  }
  thread_local AlignedBuffer a_buffer;
  thread_local AlignedBuffer b_buffer;
  thread_local AlignedBuffer sum_buffer;
  GemmCall call{c, a, b, accumulate, epilogue, zero_a_skips, rows, cols, depth};
  // Rows start on vectors and, however long, in different cache sets.
  call.a_stride = (depth + 15) / 16 * 16 + 16;
  call.a_rows = a_buffer.reserve(rows * call.a_stride);
  call.panel = b_buffer.reserve(kPanelDepth * kPanelCols + kStageRows * kStageStride);
  call.stage = call.panel + kPanelDepth * kPanelCols;
  call.sums = sum_buffer.reserve(rows * kPanelCols);
  HWY_DYNAMIC_DISPATCH(gemm_on_target)(call);
}

}  // namespace cubevp::numerics
#endif  // HWY_ONCE
