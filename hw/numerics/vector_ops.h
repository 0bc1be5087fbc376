// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>

#include "hw/base/command.h"
#include "hw/numerics/matrix_view.h"

namespace cubevp::numerics {

/// Executes one VectorOp (semantics: hw/base/command.h) on `operands`, in descriptor order. Types
/// may be mixed: every element is computed in f32 and rounded once when stored. Read operands are
/// R x C, or R x 1 or 1 x 1 and then broadcast; row reductions and the state operands of
/// softmax_update, merge_mlo and normalize are R x 1.
///
/// Details the comments of VectorOp leave open:
/// - Sums (row_sum, softmax, l) have 16 partial sums, partial j taking the elements j, j+16, ...
///   in ascending order, then added in pairs at distance 8, 4, 2, 1. The bits of every result are
///   the same on every SIMD target.
/// - exp is within 2 ulp, subnormal results included.
/// - Maxima are IEEE 754-2019 maximum: NaN if either is, +0 above -0; a row's
///   maximum that is zero is +0.
/// - Arithmetic that gives NaN gives the positive quiet one; copies between equal types keep bits.
/// - softmax, softmax_update, merge_mlo: exp(x - m) is 0 wherever x is -inf, whatever m is; a NaN
///   or +inf score makes its own row NaN and no other.
///
/// A written operand may be the same memory as a read one of the same layout and type; other
/// overlaps are not allowed. Throws std::invalid_argument, naming the operation, when count or
/// shapes do not fit.
void vector_op(VectorOp op, float scalar, const MatrixView* operands, std::size_t count);

inline void vector_op(VectorOp op, float scalar, std::initializer_list<MatrixView> operands) {
  vector_op(op, scalar, operands.begin(), operands.size());
}

}  // namespace cubevp::numerics
