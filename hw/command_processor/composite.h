// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "hw/base/command.h"

namespace cubevp::hw {

/// Why a composite cannot be expanded, or empty.
std::string composite_error(const Command& composite, std::uint64_t scratchpad_bytes);

/// Cuts a composite into tiles: a load of `tile_rows` stored rows of operand 2 into one of two
/// staging buffers, and a gemm on it. Tile i+2 takes tile i's buffer; the scoreboard holds its
/// load back until the gemm that reads the buffer is complete.
///
/// With operand 2 transposed a tile is columns of the result and has the whole epilogue, the mask
/// moved along. Otherwise a tile is part of the inner dimension: the sums stay in the gemm unit's
/// accumulators and the last tile applies the epilogue, so that the result has the bits of one
/// gemm.
class CompositeExpansion {
 public:
  explicit CompositeExpansion(const Command& composite) : composite_(composite) {}

  /// At least one, even when operand 2 has no rows: its gemm then writes the epilogue of 0.
  std::uint32_t tiles() const;
  /// False when tile `i` has no rows to load.
  bool has_load(std::uint32_t i) const { return tile_rows(i) != 0; }
  Command load(std::uint32_t i) const;
  Command gemm(std::uint32_t i) const;

 private:
  std::uint32_t first_row(std::uint32_t i) const { return i * composite_.composite.tile_rows; }
  std::uint32_t tile_rows(std::uint32_t i) const;
  Operand staging(std::uint32_t i) const;

  const Command composite_;
};

}  // namespace cubevp::hw
