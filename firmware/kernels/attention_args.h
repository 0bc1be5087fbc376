// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cubevp::kernels {

// The arguments that the driver passes to attention kernels, by name (tl::Args). Addresses are
// system addresses in HBM; tensors are row-major and contiguous.
//
// Common
//   ranks, rank, axis (0 pe, 1 cube), head_dim, t_q, offset (S_kv - T_q), causal (0/1),
//   scale (real), softcap (real, 0 off), io (DType), p (DType), tile_keys (0: automatic),
//   gemm (0 dot, 1 composite), overlap (0 none, 1 async), exchange (DType of m, l, O on the wire:
//   f32 or f16), pack (0/1), items
//
// An item is one independent attention problem: some query rows against one KV head of one user.
// Every rank of a chain has the same items with the same `rows` (sharded_kv), or the same items
// with the same blocks (ring_kv).
//
// Placement sharded_kv, for item i
//   q[i]     (rows, head_dim)   the same on every rank
//   k[i], v[i] (keys, head_dim) this rank's shard
//   o[i]     (rows, head_dim)   this rank's replica of the result
//   rows[i] = heads x T_q, in (head, query) order; keys[i]; first_key[i]: position of the
//   shard's first key in the sequence
//
// Placement ring_kv, for item i
//   q[i], o[i] (rows, head_dim): this PE's rows; rows[i] may be 0
//   first_row[i]: number of its first row in (head, query) order over the group; query t of row r
//   is (first_row + r) % t_q
//   max_rows[i]: the most rows that any PE of the ring has; may be left out where every PE's rows
//   fit the scratchpad at once, since it only serves to agree on the number of passes
//   slices: PEs of the cube that share the block (pe_tiling), slice: this PE's number among them
//   k[s*slices + p of item i], see key_slot(): the two slots in which a block lives, slice p each
//   keys of block b: block_keys[i*ranks + b]; block b starts at rank b
//   positions of a block's keys, in up to two runs: run_keys, run_first, run_stride, indexed by
//   run_index(i, ranks, b, run)
//   pe_active (0/1): this PE computes rows; an inactive one still passes its slice on

/// Index of slot s (0, 1), slice p in the k and v arrays of item i.
constexpr std::uint32_t key_slot(std::uint32_t item, std::uint32_t slices, std::uint32_t s,
                                 std::uint32_t p) {
  return (item * 2 + s) * slices + p;
}
constexpr std::uint32_t block_index(std::uint32_t item, std::uint32_t ranks, std::uint32_t block) {
  return item * ranks + block;
}
constexpr std::uint32_t run_index(std::uint32_t item, std::uint32_t ranks, std::uint32_t block,
                                  std::uint32_t run) {
  return (item * ranks + block) * 2 + run;
}
/// First key of part p when n keys are dealt to `parts` parts that differ by at most one.
constexpr std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t p) {
  return p * n / parts;
}

}  // namespace cubevp::kernels
