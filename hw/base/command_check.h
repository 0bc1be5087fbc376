// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "hw/base/command.h"

namespace cubevp {

/// "8x128 f16 at scratchpad 0x1000".
inline std::string describe(const Operand& o) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string address;
  for (std::uint64_t a = o.address; a != 0 || address.empty(); a >>= 4) {
    address.insert(address.begin(), kHex[a & 0xf]);
  }
  return std::to_string(o.rows) + "x" + std::to_string(o.cols) + " " +
         std::string(to_string(o.dtype)) + " at " +
         (o.space == Space::scratchpad ? "scratchpad" : "hbm") + " 0x" + address;
}

/// Why the operands of a command cannot be what they say, or empty: their number, rows that
/// overlap, scratchpad operands that reach beyond the scratchpad.
inline std::string operand_error(const Command& command, int operands,
                                 std::uint64_t scratchpad_bytes) {
  const std::string op(command.opcode == Opcode::vector ? to_string(command.vector_op)
                                                        : to_string(command.opcode));
  if (command.operand_count != operands) {
    return op + ": expected " + std::to_string(operands) + " operands, got " +
           std::to_string(command.operand_count);
  }
  for (int i = 0; i < operands; ++i) {
    const Operand& o = command.operands[static_cast<std::size_t>(i)];
    const std::string which = op + ": operand " + std::to_string(i) + " (" + describe(o) + ")";
    if (o.rows > 1 && o.row_stride_bytes < o.cols * size_bytes(o.dtype)) {
      return which + " has rows closer together than they are long";
    }
    if (o.space == Space::scratchpad &&
        (o.address > scratchpad_bytes || o.span_bytes() > scratchpad_bytes - o.address)) {
      return which + " reaches beyond the scratchpad's " + std::to_string(scratchpad_bytes) +
             " bytes";
    }
  }
  return {};
}

}  // namespace cubevp
