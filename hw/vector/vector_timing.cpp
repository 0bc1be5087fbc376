// SPDX-License-Identifier: Apache-2.0
#include "hw/vector/vector_timing.h"

#include <algorithm>

#include "hw/base/command_check.h"

namespace cubevp::hw {

namespace {

// The operand that gives R x C: the one with all the elements an operation visits.
const Operand& widest(const Command& c) {
  const Operand* widest = &c.operands[0];
  for (int i = 1; i < c.operand_count; ++i) {
    const Operand& o = c.operands[static_cast<std::size_t>(i)];
    widest = o.elements() > widest->elements() ? &o : widest;
  }
  return *widest;
}

std::int64_t log2_ceil(std::int64_t n) {
  std::int64_t log = 0;
  while ((std::int64_t{1} << log) < n) {
    ++log;
  }
  return log;
}

int operands_of(VectorOp op) {
  switch (op) {
    case VectorOp::fill:
      return 1;
    case VectorOp::copy:
    case VectorOp::cast:
    case VectorOp::exp:
    case VectorOp::row_max:
    case VectorOp::row_sum:
    case VectorOp::softmax:
      return 2;
    case VectorOp::where:
      return 4;
    case VectorOp::softmax_update:
      return 5;
    case VectorOp::merge_mlo:
      return 6;
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::mul:
    case VectorOp::div:
    case VectorOp::maximum:
    case VectorOp::normalize:
      return 3;
  }
  return -1;
}

// Operand that fixes R x C, and the operands that must be that shape or hold one value a row.
struct ShapeRule {
  int reference;
  unsigned same;
  unsigned per_row;
};

ShapeRule rule_of(VectorOp op) {
  switch (op) {
    case VectorOp::row_max:
    case VectorOp::row_sum:
      return {1, 0, 0b1};
    case VectorOp::softmax:
      return {1, 0b1, 0};
    case VectorOp::softmax_update:
      return {1, 0b1, 0b11100};
    case VectorOp::merge_mlo:
      return {2, 0b100000, 0b011011};
    case VectorOp::normalize:
      return {1, 0b1, 0b100};
    default:
      return {0, 0, 0};
  }
}

bool broadcasts(const Operand& o, const Operand& to) {
  const bool rows = o.rows == to.rows || (o.rows == 1 && o.cols == 1);
  return rows && (o.cols == to.cols || o.cols == 1);
}

}  // namespace

VectorCycles vector_cycles(const VectorConfig& config, const Command& command) {
  const Operand& shape = widest(command);
  const std::int64_t rows = shape.rows;
  const std::int64_t cols = shape.cols;
  const std::int64_t n = rows * cols;
  VectorCycles cost;
  cost.elements = static_cast<std::uint64_t>(n);
  if (n == 0) {
    return cost;
  }
  const auto pass = [&](std::int64_t count) { return ceil_div(count, config.lanes); };
  const auto slow = [&](std::int64_t count) {
    cost.exps += static_cast<std::uint64_t>(count);
    return ceil_div(count, config.exp_per_cycle);
  };
  const std::int64_t reduce = rows * ceil_div(cols, config.lanes) + log2_ceil(config.lanes);
  switch (command.vector_op) {
    case VectorOp::fill:
    case VectorOp::copy:
    case VectorOp::cast:
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::mul:
    case VectorOp::maximum:
    case VectorOp::where:
      cost.cycles = pass(n);
      break;
    case VectorOp::exp:
    case VectorOp::div:
      cost.cycles = slow(n);
      break;
    case VectorOp::row_max:
    case VectorOp::row_sum:
      cost.cycles = reduce;
      break;
    case VectorOp::softmax:
      cost.cycles = 2 * reduce + slow(n) + slow(rows) + pass(n);
      break;
    case VectorOp::softmax_update:
      cost.cycles = 2 * reduce + 3 * pass(rows) + slow(rows) + slow(n);
      break;
    case VectorOp::merge_mlo:
      cost.cycles = 5 * pass(rows) + slow(rows) + slow(rows) + 2 * pass(n);
      break;
    case VectorOp::normalize:
      cost.cycles = slow(rows) + pass(n);
      break;
  }
  return cost;
}

std::string vector_error(const Command& command, std::uint64_t scratchpad_bytes) {
  if (command.opcode != Opcode::vector) {
    return "the vector unit was given a " + std::string(to_string(command.opcode));
  }
  const VectorOp op = command.vector_op;
  const int operands = operands_of(op);
  if (operands < 0) {
    return "vector: unknown operation " + std::to_string(static_cast<int>(op));
  }
  const std::string error = operand_error(command, operands, scratchpad_bytes);
  if (!error.empty()) {
    return error;
  }
  const ShapeRule rule = rule_of(op);
  const Operand& reference = command.operands[static_cast<std::size_t>(rule.reference)];
  for (int i = 0; i < operands; ++i) {
    const Operand& o = command.operands[static_cast<std::size_t>(i)];
    const unsigned bit = 1U << static_cast<unsigned>(i);
    const bool same = o.rows == reference.rows && o.cols == reference.cols;
    const bool per_row = o.rows == reference.rows && o.cols == 1;
    bool fits = same;
    if ((rule.per_row & bit) != 0) {
      fits = per_row;
    } else if (rule.same == 0 && rule.per_row == 0) {
      fits = broadcasts(o, reference);
    }
    if (!fits || o.transposed || o.space != Space::scratchpad) {
      return std::string(to_string(op)) + ": operand " + std::to_string(i) + " (" + describe(o) +
             ") does not fit operand " + std::to_string(rule.reference) + " (" +
             describe(reference) + ")";
    }
  }
  return {};
}

}  // namespace cubevp::hw
