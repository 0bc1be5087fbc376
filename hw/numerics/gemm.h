// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/command.h"
#include "hw/numerics/matrix_view.h"

namespace cubevp::numerics {

/// c[M x N] = [c +] epilogue(a[M x K] x b[K x N]), the operands in any mix of types.
///
/// Each element is summed in f32 over ascending k, one product after the other, starting from 0;
/// products are rounded to f32 (those of f16 operands are exact). The bits of the result therefore
/// depend neither on the SIMD target nor on the blocking. The sum goes through the epilogue and is
/// rounded to c's type once; with `accumulate` the old c is added, in f32, after the epilogue.
/// Positions the mask hides are -inf by selection: whatever b holds there does not matter.
/// A NaN in the result is always the positive quiet one.
///
/// With `zero_a_skips` a product whose a is zero adds nothing even where b is NaN or infinite: the
/// probabilities of masked keys are exactly 0, and what memory holds behind the mask must not leak.
///
/// c must not overlap a or b. Throws std::invalid_argument when the shapes do not fit.
void gemm(const MatrixView& c, const ConstMatrixView& a, const ConstMatrixView& b, bool accumulate,
          const Epilogue& epilogue, bool zero_a_skips = false);

}  // namespace cubevp::numerics
