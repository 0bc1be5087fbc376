// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cubevp::platform {

/// Columns of a double matrix are padded to a multiple of this, so that rows hold whole vectors.
inline constexpr std::size_t kF64ColumnUnit = 16;

/// A row-major double matrix; `stride` is the distance between rows in elements.
struct F64View {
  const double* data;
  std::size_t stride;
};

/// c[rows x cols] = a[rows x depth] * b[depth x cols] in double, each element summed over `depth`
/// in order. `cols` is a multiple of kF64ColumnUnit. The same row gives the same bits whatever
/// rows are computed with it.
void f64_product(F64View a, F64View b, std::size_t rows, std::size_t depth, std::size_t cols,
                 double* c, std::size_t c_stride);

}  // namespace cubevp::platform
