// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/base/command.h"
#include "hw/base/dtype.h"

namespace cubevp::numerics {

/// An Operand resolved to host memory, read only. `rows` and `cols` are those of the stored
/// block; with `transposed` (gemm only) it is read as its transpose, cols x rows. The address
/// need not be aligned.
struct ConstMatrixView {
  const void* data = nullptr;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t row_stride_bytes = 0;
  DType dtype = DType::f32;
  bool transposed = false;

  const std::uint8_t* row(std::size_t r) const {
    return static_cast<const std::uint8_t*>(data) + r * row_stride_bytes;
  }
  bool contiguous() const { return row_stride_bytes == cols * size_bytes(dtype); }
};

/// The same, writable.
struct MatrixView {
  void* data = nullptr;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t row_stride_bytes = 0;
  DType dtype = DType::f32;
  bool transposed = false;

  std::uint8_t* row(std::size_t r) const {
    return static_cast<std::uint8_t*>(data) + r * row_stride_bytes;
  }
  bool contiguous() const { return row_stride_bytes == cols * size_bytes(dtype); }
  operator ConstMatrixView() const {
    return {data, rows, cols, row_stride_bytes, dtype, transposed};
  }
};

/// The view of `operand` whose first element lies at `data`.
inline MatrixView view_of(const Operand& operand, void* data) {
  return {data,          operand.rows,      operand.cols, operand.row_stride_bytes,
          operand.dtype, operand.transposed};
}

}  // namespace cubevp::numerics
