// SPDX-License-Identifier: Apache-2.0
#include "hw/command_processor/composite.h"

#include <algorithm>

#include "hw/base/command_check.h"
#include "hw/base/units.h"

namespace cubevp::hw {

namespace {
// The numbers of a composite's parts share a word with the command's number.
constexpr std::int64_t kMaxTiles = std::int64_t{1} << 22;
}  // namespace

std::string composite_error(const Command& composite, std::uint64_t scratchpad_bytes) {
  const std::string error = operand_error(composite, 3, scratchpad_bytes);
  if (!error.empty()) {
    return error;
  }
  const Operand& b = composite.operands[2];
  const std::uint32_t tile_rows = composite.composite.tile_rows;
  if (b.space != Space::hbm) {
    return "composite: operand 2 (" + describe(b) + ") is not in hbm";
  }
  if (tile_rows == 0) {
    return "composite: tile_rows is 0";
  }
  if (ceil_div(b.rows, tile_rows) > kMaxTiles) {
    return "composite: " + std::to_string(b.rows) + " rows in tiles of " +
           std::to_string(tile_rows) + " are more than " + std::to_string(kMaxTiles) + " tiles";
  }
  const std::uint64_t staging = 2 * std::uint64_t{tile_rows} * b.cols * size_bytes(b.dtype);
  const std::uint64_t address = composite.composite.staging_address;
  if (address > scratchpad_bytes || staging > scratchpad_bytes - address) {
    return "composite: staging of " + std::to_string(staging) + " bytes at " +
           std::to_string(address) + " reaches beyond the scratchpad's " +
           std::to_string(scratchpad_bytes) + " bytes";
  }
  return {};
}

std::uint32_t CompositeExpansion::tiles() const {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(
      1, ceil_div(composite_.operands[2].rows, composite_.composite.tile_rows)));
}

std::uint32_t CompositeExpansion::tile_rows(std::uint32_t i) const {
  return std::min(composite_.composite.tile_rows, composite_.operands[2].rows - first_row(i));
}

Operand CompositeExpansion::staging(std::uint32_t i) const {
  const Operand& b = composite_.operands[2];
  Operand tile;
  tile.space = Space::scratchpad;
  tile.dtype = b.dtype;
  tile.rows = tile_rows(i);
  tile.cols = b.cols;
  tile.row_stride_bytes = static_cast<std::uint32_t>(b.cols * size_bytes(b.dtype));
  tile.address = composite_.composite.staging_address +
                 std::uint64_t{i % 2} * composite_.composite.tile_rows * tile.row_stride_bytes;
  return tile;
}

Command CompositeExpansion::load(std::uint32_t i) const {
  Command load;
  load.id = composite_.id;
  load.opcode = Opcode::dma_load;
  load.label = composite_.label;
  load.operand_count = 2;
  load.writes = 0b01;
  load.reads = 0b10;
  load.operands[0] = staging(i);
  Operand& source = load.operands[1];
  source = composite_.operands[2];
  source.transposed = false;
  source.rows = tile_rows(i);
  source.address += std::uint64_t{first_row(i)} * source.row_stride_bytes;
  return load;
}

Command CompositeExpansion::gemm(std::uint32_t i) const {
  const bool by_columns = composite_.operands[2].transposed;
  Command gemm = composite_;
  gemm.opcode = Opcode::gemm;
  gemm.composite = {};
  gemm.reads = static_cast<std::uint8_t>(composite_.accumulate ? 0b111 : 0b110);
  gemm.writes = 0b001;
  gemm.operands[2] = staging(i);
  gemm.operands[2].transposed = by_columns;
  if (by_columns) {
    Operand& c = gemm.operands[0];
    c.cols = tile_rows(i);
    c.address += std::uint64_t{first_row(i)} * size_bytes(c.dtype);
    gemm.epilogue.mask.first_key += first_row(i) * gemm.epilogue.mask.key_stride;
    return gemm;
  }
  Operand& a = gemm.operands[1];
  if (a.transposed) {
    a.rows = tile_rows(i);
    a.address += std::uint64_t{first_row(i)} * a.row_stride_bytes;
  } else {
    a.cols = tile_rows(i);
    a.address += std::uint64_t{first_row(i)} * size_bytes(a.dtype);
  }
  gemm.from_accumulators = i != 0;
  gemm.to_accumulators = i + 1 != tiles();
  if (gemm.to_accumulators) {
    gemm.reads = 0b110;
    gemm.writes = 0;
  }
  return gemm;
}

}  // namespace cubevp::hw
