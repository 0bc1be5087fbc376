// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hw/base/command.h"
#include "hw/numerics/matrix_view.h"

namespace cubevp::numerics {

// How gemm.cpp cuts a product into pieces. b is packed to f32 in panels of kPanelCols columns by
// kPanelDepth of the inner dimension, 32 KiB: what a first-level cache holds.
inline constexpr std::size_t kPanelCols = 64;
inline constexpr std::size_t kPanelDepth = 128;
/// Stored rows of a transposed b that are converted before their transposition.
inline constexpr std::size_t kStageRows = 16;
/// Padded, so that the rows of a stage do not share a cache set.
inline constexpr std::size_t kStageStride = kPanelDepth + 16;

/// One call of gemm() and its scratch memory, handed to the code of the SIMD target in use.
struct GemmCall {
  MatrixView c;
  ConstMatrixView a;
  ConstMatrixView b;
  bool accumulate = false;
  Epilogue epilogue;
  bool zero_a_skips = false;
  std::size_t rows = 0;     ///< M
  std::size_t cols = 0;     ///< N
  std::size_t depth = 0;    ///< K
  float* a_rows = nullptr;  ///< a as f32, rows a_stride apart
  std::size_t a_stride = 0;
  float* panel = nullptr;  ///< kPanelDepth x kPanelCols of b
  float* stage = nullptr;  ///< kStageRows x kStageStride
  float* sums = nullptr;   ///< M x kPanelCols
};

}  // namespace cubevp::numerics
