// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/gemm/gemm_config.h"

namespace cubevp::hw {

/// A product of M x K by K x N.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool empty() const { return m == 0 || n == 0 || k == 0; }
  std::uint64_t flops() const { return 2 * static_cast<std::uint64_t>(m * n * k); }
};

/// Cycles in which the array steps, and the cycles before that in which operands stream in and
/// which another command's steps can hide.
struct GemmCycles {
  std::int64_t steps = 0;
  std::int64_t fill = 0;
};

/// For an array of `rows` (m) x `cols` (n), `depth` (k) and a shape M x N x K:
///
///   block              steps = ceil(M/m) ceil(N/n) ceil(K/k), fill = fill_cycles
///   output_stationary  R x C array: folds = ceil(M/R) ceil(N/C), each R + C + K - 2 cycles
///   weight_stationary  R x C array: folds = ceil(K/R) ceil(N/C), each 2R + C + M - 2 cycles
///
/// The systolic arrays charge each fold in full, or with `overlap_fill` the first one only: the
/// others take K (os) or M (ws) cycles each, as with double-buffered operands. Their fill is part
/// of the first fold: R + C - 2 (os) or 2R + C - 2 (ws), and it too is hidden between independent
/// commands only with `overlap_fill`.
///
/// A shape with a zero dimension takes no cycles.
GemmCycles gemm_cycles(const GemmConfig& config, const GemmShape& shape);

}  // namespace cubevp::hw
