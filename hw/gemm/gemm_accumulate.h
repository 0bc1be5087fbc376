// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hw/base/command.h"
#include "hw/numerics/matrix_view.h"

namespace cubevp::hw {

/// One gemm of a chain over tiles of the inner dimension: goes on from `sums` where the command
/// has from_accumulators and leaves the new sums there where it has to_accumulators; else it
/// writes c = [c +] epilogue(sums). The chain gives the bits that one gemm over the whole inner
/// dimension gives. Products whose a is zero add nothing.
void gemm_chained(const Command& command, const numerics::MatrixView& c,
                  const numerics::ConstMatrixView& a, const numerics::ConstMatrixView& b,
                  std::vector<float>& sums);

}  // namespace cubevp::hw
