// SPDX-License-Identifier: Apache-2.0
// Included once per SIMD target by vector_ops.cpp, hence the toggling guard in place of
// #pragma once. Access to the rows of a view in chunks of f32, and row reductions.
#if defined(CUBEVP_HW_NUMERICS_VECTOR_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUBEVP_HW_NUMERICS_VECTOR_ROWS_INL_H_
#undef CUBEVP_HW_NUMERICS_VECTOR_ROWS_INL_H_
#else
#define CUBEVP_HW_NUMERICS_VECTOR_ROWS_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "hw/numerics/math-inl.h"
#include "hw/numerics/matrix_view.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

/// Lanes of the fixed reduction structure; also what buffers are padded to.
inline constexpr std::size_t kSumLanes = 16;
/// Elements of a row that are worked on at a time: three buffers stay in the first-level cache.
inline constexpr std::size_t kChunk = 1024;

/// Elements of the chunk that starts at column c: whole groups of kSumLanes, then the rest alone.
HWY_INLINE std::size_t chunk_size(std::size_t c, std::size_t cols) {
  const std::size_t left = cols - c;
  return left < kSumLanes ? left : std::min(left / kSumLanes * kSumLanes, kChunk);
}

HWY_INLINE std::size_t padded(std::size_t n) {
  return (n + kSumLanes - 1) / kSumLanes * kSumLanes;
}

// Out of line: inlined into every operation they would make the compiler, not the result, slow.

/// n elements of row r from column c; up to the next multiple of kSumLanes `pad` follows. Points
/// into the view where no conversion is needed, else to `buffer`.
static HWY_NOINLINE const float* read_chunk(const MatrixView& view, std::size_t r, std::size_t c,
                                            std::size_t n, float pad, float* buffer) {
  const std::uint8_t* p = view.row(r) + c * size_bytes(view.dtype);
  if (view.dtype == DType::f32 && n % kSumLanes == 0) {
    return reinterpret_cast<const float*>(p);
  }
  read_row(p, view.dtype, n, buffer);
  std::fill(buffer + n, buffer + padded(n), pad);
  return buffer;
}

/// Where a chunk is to be computed: in place, or in `buffer` for write_chunk to store.
HWY_INLINE float* result_chunk(const MatrixView& view, std::size_t r, std::size_t c, std::size_t n,
                               float* buffer) {
  if (view.dtype == DType::f32 && n % kSumLanes == 0) {
    return reinterpret_cast<float*>(view.row(r) + c * sizeof(float));
  }
  return buffer;
}

static HWY_NOINLINE void write_chunk(const MatrixView& view, std::size_t r, std::size_t c,
                                     std::size_t n, const float* result, const float* buffer) {
  if (result == buffer) {
    write_row(buffer, n, view.dtype, view.row(r) + c * size_bytes(view.dtype));
  }
}

static HWY_NOINLINE float read_value(const MatrixView& view, std::size_t r, std::size_t c = 0) {
  float value = 0.0F;
  read_row(view.row(r) + c * size_bytes(view.dtype), view.dtype, 1, &value);
  return value;
}

static HWY_NOINLINE void write_value(const MatrixView& view, std::size_t r, float value) {
  write_row(&value, 1, view.dtype, view.row(r));
}

// One-value forms of the vector functions, so that both give the same bits.
HWY_INLINE float maximum(float a, float b) {
  return hn::GetLane(maximum(set(a), set(b)));
}
HWY_INLINE float exp_below(float x, float m) {
  return hn::GetLane(exp_below(set(x), set(m)));
}
HWY_INLINE float canonical_nan(float x) {
  return hn::GetLane(canonical_nan(set(x)));
}

/// Sum in kSumLanes partial sums, however many vectors that takes.
class LaneSums {
 public:
  HWY_INLINE LaneSums() {
    for (VF& v : part_) {
      v = hn::Zero(F32());
    }
  }
  /// n is a multiple of kSumLanes.
  HWY_INLINE void add(const float* p, std::size_t n) {
    for (std::size_t i = 0; i < n; i += kSumLanes) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        part_[v] = hn::Add(part_[v], hn::LoadU(F32(), p + i + v * kLanes));
      }
    }
  }
  HWY_INLINE float total() const {
    alignas(64) float lane[kSumLanes];
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(part_[v], F32(), lane + v * kLanes);
    }
    for (std::size_t distance = kSumLanes / 2; distance > 0; distance /= 2) {
      for (std::size_t i = 0; i < distance; ++i) {
        lane[i] += lane[i + distance];
      }
    }
    return HWY_NAMESPACE::canonical_nan(lane[0]);
  }

 private:
  static constexpr std::size_t kVectors = kSumLanes / kLanes;
  VF part_[kVectors];
};

/// Running maximum. NaN is noted apart, which keeps it off the chain of dependent maxima.
class LaneMaxima {
 public:
  HWY_INLINE LaneMaxima() : largest_(minus_infinity()), nan_(hn::Zero(F32())) {}
  HWY_INLINE void add(const float* p, std::size_t n) {
    const F32 d;
    for (std::size_t i = 0; i < n; i += kLanes) {
      const VF x = hn::LoadU(d, p + i);
      largest_ = hn::Max(largest_, x);
      nan_ = hn::Or(nan_, hn::VecFromMask(d, hn::IsNaN(x)));
    }
  }
  /// The sign of a zero would depend on the target's width, so a zero is +0.
  HWY_INLINE float largest() const {
    const F32 d;
    if (!hn::AllFalse(d, hn::IsNaN(nan_))) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    return hn::GetLane(hn::MaxOfLanes(d, largest_)) + 0.0F;
  }

 private:
  VF largest_;
  VF nan_;
};

HWY_INLINE float row_max_of(const MatrixView& view, std::size_t r) {
  alignas(64) float buffer[kChunk];
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  LaneMaxima maxima;
  for (std::size_t c = 0, n = 0; c < view.cols; c += n) {
    n = chunk_size(c, view.cols);
    maxima.add(read_chunk(view, r, c, n, kLowest, buffer), padded(n));
  }
  return maxima.largest();
}

HWY_INLINE float row_sum_of(const MatrixView& view, std::size_t r) {
  alignas(64) float buffer[kChunk];
  LaneSums lanes;
  for (std::size_t c = 0, n = 0; c < view.cols; c += n) {
    n = chunk_size(c, view.cols);
    lanes.add(read_chunk(view, r, c, n, 0.0F, buffer), padded(n));
  }
  return lanes.total();
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
