// SPDX-License-Identifier: Apache-2.0
#include "hw/gemm/gemm_accumulate.h"

#include <cstddef>

#include "hw/numerics/convert.h"
#include "hw/numerics/gemm.h"

namespace cubevp::hw {

namespace {

using numerics::ConstMatrixView;
using numerics::MatrixView;

MatrixView f32_view(std::vector<float>& values, std::size_t rows, std::size_t cols) {
  MatrixView view;
  view.data = values.data();
  view.rows = static_cast<std::uint32_t>(rows);
  view.cols = static_cast<std::uint32_t>(cols);
  view.row_stride_bytes = static_cast<std::uint32_t>(cols * sizeof(float));
  view.dtype = DType::f32;
  return view;
}

/// [I a]: multiplied with [sums; b] it starts every element from its sum and then adds the
/// products in order. Products of 16-bit values are exact in f32, so widening changes no bit.
std::vector<float> widen_a(const ConstMatrixView& a, std::size_t rows, std::size_t depth) {
  const std::size_t width = rows + depth;
  std::vector<float> wide(rows * width, 0.0F);
  std::vector<float> column(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    wide[r * width + r] = 1.0F;
    if (!a.transposed) {
      numerics::to_f32(a.row(r), a.dtype, depth, &wide[r * width + rows]);
    }
  }
  if (a.transposed) {
    for (std::size_t k = 0; k < depth; ++k) {
      numerics::to_f32(a.row(k), a.dtype, rows, column.data());
      for (std::size_t r = 0; r < rows; ++r) {
        wide[r * width + rows + k] = column[r];
      }
    }
  }
  return wide;
}

}  // namespace

void gemm_chained(const Command& command, const MatrixView& c, const ConstMatrixView& a,
                  const ConstMatrixView& b, std::vector<float>& sums) {
  const std::size_t rows = a.transposed ? a.cols : a.rows;
  const std::size_t depth = a.transposed ? a.rows : a.cols;
  const std::size_t cols = b.cols;
  if (!command.from_accumulators) {
    sums.assign(rows * cols, 0.0F);
    numerics::gemm(f32_view(sums, rows, cols), a, b, false, Epilogue{}, true);
    return;
  }
  std::vector<float> wide_a = widen_a(a, rows, depth);
  std::vector<float> wide_b = sums;
  wide_b.resize((rows + depth) * cols);
  for (std::size_t k = 0; k < depth; ++k) {
    numerics::to_f32(b.row(k), b.dtype, cols, &wide_b[(rows + k) * cols]);
  }
  const MatrixView left = f32_view(wide_a, rows, rows + depth);
  const MatrixView right = f32_view(wide_b, rows + depth, cols);
  if (command.to_accumulators) {
    numerics::gemm(f32_view(sums, rows, cols), left, right, false, Epilogue{}, true);
  } else {
    numerics::gemm(c, left, right, command.accumulate, command.epilogue, true);
  }
}

}  // namespace cubevp::hw
