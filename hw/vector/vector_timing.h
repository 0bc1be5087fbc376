// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "hw/base/command.h"
#include "hw/vector/vector_config.h"

namespace cubevp::hw {

/// What a vector command costs. `exps` counts exponentials and divisions, which share the slow
/// pipe.
struct VectorCycles {
  std::int64_t cycles = 0;
  std::uint64_t elements = 0;
  std::uint64_t exps = 0;
};

/// With L lanes, E exponentials a cycle and
///
///   pass(n) = ceil(n / L)     slow(n) = ceil(n / E)     reduce(R, C) = R ceil(C / L) + log2 L
///
/// where the tree of a reduction is paid once, the rows following each other through it:
///
///   fill, copy, cast, add, sub, mul, maximum, where   pass(RC)
///   exp, div                                          slow(RC)
///   row_max, row_sum                                  reduce(R, C)
///   softmax         row max, subtract with exponential, row sum, reciprocal of the sums, multiply:
///                   2 reduce(R, C) + slow(RC) + slow(R) + pass(RC)
///   softmax_update  row max of S; max, subtract and exponential of the row values; subtract,
///                   exponential and rounding of S in one pass; row sum of P; l by fma:
///                   2 reduce(R, C) + 3 pass(R) + slow(R) + slow(RC)
///   merge_mlo       max, two subtractions, two exponentials, l by mul and fma, then O by mul and
///                   fma:   5 pass(R) + 2 slow(R) + 2 pass(R d)
///   normalize       reciprocal of l, one multiplication:   slow(R) + pass(R d)
///
/// R x C is the shape of the widest operand, R x d that of O. No elements, no cycles.
VectorCycles vector_cycles(const VectorConfig& config, const Command& command);

/// Why the shapes of a vector command do not fit its operation, or empty.
std::string vector_error(const Command& command, std::uint64_t scratchpad_bytes);

}  // namespace cubevp::hw
