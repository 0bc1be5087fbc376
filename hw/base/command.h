// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "hw/base/address_map.h"
#include "hw/base/dtype.h"
#include "hw/base/ids.h"

namespace cubevp {

// The command descriptor: the contract between firmware and machine. Firmware fills one in and
// writes it to the command queue; the command processor and the engines read it.

enum class Space : std::uint8_t { scratchpad, hbm };

/// A 2-D block of memory, row-major: `rows` x `cols` elements, rows `row_stride_bytes` apart.
/// A vector of n values is n x 1 when it holds one value a row (m, l, row maxima).
struct Operand {
  Space space = Space::scratchpad;
  /// Byte offset in the PE's own scratchpad, or a system address of region hbm.
  std::uint64_t address = 0;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t row_stride_bytes = 0;
  DType dtype = DType::f16;
  /// gemm only: the block is read as its transpose (cols x rows).
  bool transposed = false;

  constexpr std::uint64_t elements() const { return std::uint64_t{rows} * cols; }
  /// Bytes that the block's elements take, gaps between rows left out.
  constexpr std::uint64_t bytes() const { return elements() * size_bytes(dtype); }
  constexpr bool contiguous() const { return row_stride_bytes == cols * size_bytes(dtype); }
  /// Bytes from the first element to the end of the last row.
  constexpr std::uint64_t span_bytes() const {
    return rows == 0 ? 0 : std::uint64_t{rows - 1} * row_stride_bytes + cols * size_bytes(dtype);
  }
};

enum class Opcode : std::uint8_t {
  dma_load,   ///< operand 0 (scratchpad, written) <- operand 1 (hbm, read)
  dma_store,  ///< operand 0 (hbm, written) <- operand 1 (scratchpad, read)
  gemm,       ///< operand 0 (written) = [operand 0 +] epilogue(operand 1 x operand 2)
  vector,     ///< see VectorOp
  send,       ///< operand 0 (scratchpad, read) to the logical neighbour in `direction`
  recv,       ///< operand 0 (scratchpad, written) from the logical neighbour in `direction`
  composite,  ///< a gemm whose operand 2 is in hbm, streamed in tiles; see CompositeParams
};
inline constexpr int kOpcodes = 7;
constexpr std::string_view to_string(Opcode op) {
  constexpr std::string_view names[] = {"load", "store", "gemm",     "vector",
                                        "send", "recv",  "composite"};
  return names[static_cast<int>(op)];
}

/// Vector operations. R x C is the shape of the first read operand unless said otherwise; a
/// second read operand is R x C, R x 1 (one value a row) or 1 x 1, and is broadcast to R x C.
/// Operands are named in the order in which the descriptor lists them.
enum class VectorOp : std::uint8_t {
  fill,     ///< dst = scalar
  copy,     ///< dst = a
  cast,     ///< dst = a in dst's type, rounded to nearest even
  add,      ///< dst = a + b
  sub,      ///< dst = a - b
  mul,      ///< dst = a * b
  div,      ///< dst = a / b
  maximum,  ///< dst = max(a, b), NaN if either is
  where,    ///< dst = cond != 0 ? a : b              operands dst, cond, a, b
  exp,      ///< dst = exp(a)
  row_max,  ///< dst[R x 1] = max over the row, -inf for C = 0
  row_sum,  ///< dst[R x 1] = sum over the row
  softmax,  ///< dst = softmax over each row; a row of only -inf gives 0
  /// Online-softmax step. Operands P (written), S (read; f32 scores, scaled and masked by the
  /// gemm's epilogue), m, l (R x 1, read and written), alpha (R x 1, written):
  ///   m' = max(m, rowmax S);  alpha = exp(m - m');  P = exp(S - m');  l = l*alpha + rowsum P
  /// with exp(-inf - -inf) = 0. l sums P before P is rounded to its type.
  softmax_update,
  /// Merge of two partial states. Operands m, l, O (read and written), m2, l2, O2 (read):
  ///   M = max(m, m2);  a = exp(m - M);  b = exp(m2 - M)   (exp(-inf - -inf) = 0)
  ///   m = M;  l = a*l + b*l2;  O = a*O + b*O2
  merge_mlo,
  /// dst = O / l in dst's type, rows of l = 0 give 0.    operands dst, O, l
  normalize,
};
inline constexpr int kVectorOps = 16;
constexpr std::string_view to_string(VectorOp op) {
  constexpr std::string_view names[] = {
      "fill",    "copy",           "cast",      "add",      "sub",     "mul",
      "div",     "maximum",        "where",     "exp",      "row_max", "row_sum",
      "softmax", "softmax_update", "merge_mlo", "normalize"};
  return names[static_cast<int>(op)];
}

/// Which (query, key) pairs of a score block a query sees. Row r of the block is query
/// t = (first_row + r) % rows_per_head of its head; column c is key first_key + c*key_stride.
/// With `causal`, the key is seen iff key <= t + offset (offset = S_kv - T_q: bottom right).
/// Unseen pairs score -inf, by selection, never by adding.
struct Mask {
  bool causal = false;
  std::int64_t first_row = 0;
  std::int64_t rows_per_head = 1;
  std::int64_t first_key = 0;
  std::int64_t key_stride = 1;
  std::int64_t offset = 0;

  constexpr bool sees(std::int64_t row, std::int64_t column) const {
    return !causal || first_key + column * key_stride <= (first_row + row) % rows_per_head + offset;
  }
};

/// What the gemm unit does to the f32 accumulator on its way out, in this order; it takes no
/// time, the drain being pipelined.
struct Epilogue {
  float scale = 1.0F;    ///< multiply
  float softcap = 0.0F;  ///< c > 0: c * tanh(x / c)
  Mask mask;             ///< select -inf
  /// Which elements (row, k) of the first factor take part, k its column: an unseen one adds
  /// nothing to the accumulator whatever the second factor holds, so that a NaN in V at a masked
  /// key cannot leak through 0 x NaN. Selection at the multipliers, before the accumulator.
  Mask inner;
};

/// A composite streams operand 2 from hbm in tiles of `tile_rows` of its stored rows, through two
/// staging buffers in the scratchpad. With operand 2 transposed (scores: Q x K^T) a tile gives
/// tile_rows columns of the result; else (P x V) a tile is tile_rows of the inner dimension and
/// the tiles accumulate.
struct CompositeParams {
  std::uint32_t tile_rows = 0;
  std::uint64_t staging_address = 0;  ///< scratchpad offset of 2 * tile_rows * row bytes
};

struct MessageParams {
  RankAxis axis = RankAxis::pe;
  Direction direction = Direction::east;
  /// send: the first values of the payload that may be -inf (row maxima of empty shards); any
  /// other non-finite value is counted as a fault of the exchange.
  std::uint32_t may_be_neg_inf = 0;
};

struct Command {
  static constexpr int kMaxOperands = 6;

  CommandId id{};
  Opcode opcode = Opcode::vector;
  VectorOp vector_op = VectorOp::copy;
  std::uint8_t operand_count = 0;
  std::uint8_t reads = 0;   ///< bit i: operand i is read
  std::uint8_t writes = 0;  ///< bit i: operand i is written
  bool accumulate = false;  ///< gemm, composite: add to operand 0 (then also read)
  /// The scoreboard ignores what this command writes until firmware has waited for it
  /// (recv_async): reading too early reads stale bytes, as on silicon.
  bool untracked = false;
  /// gemm, set by the command processor for the tiles of a composite: the sums start from what the
  /// gemm before left in the unit's f32 accumulators, or stay there and operand 0 is not written.
  bool from_accumulators = false;
  bool to_accumulators = false;
  float scalar = 0.0F;  ///< fill
  std::array<Operand, kMaxOperands> operands{};
  Epilogue epilogue;
  CompositeParams composite;
  MessageParams message;
  /// Name that traces show; a string literal.
  const char* label = "";
};

}  // namespace cubevp
