// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/sharded_kv.h"

#include <algorithm>

#include "firmware/kernels/flash_attention.h"

namespace cubevp::kernels {

namespace {

std::int64_t rows_a_pass(std::int64_t free_bytes, const AttentionArgs& a, std::int64_t rows,
                         std::int64_t exchange_triplets) {
  const std::int64_t a_row = (1 + exchange_triplets) * triplet_bytes(1, a.head_dim, DType::f32) +
                             static_cast<std::int64_t>(a.row_bytes());
  // The rest is for tiles, and for the gaps between allocations.
  return std::clamp<std::int64_t>(free_bytes * 5 / 8 / a_row, 1, std::max<std::int64_t>(1, rows));
}

}  // namespace

void run_sharded_kv(tl::Context& ctx, const tl::Args& args, std::int64_t exchange_triplets,
                    Exchange exchange) {
  const AttentionArgs a = AttentionArgs::from(args);
  for (std::uint32_t item = 0; item < a.items; ++item) {
    const std::int64_t rows = args.integer("rows", item);
    KeySegment shard;
    shard.k = static_cast<std::uint64_t>(args.integer("k", item));
    shard.v = static_cast<std::uint64_t>(args.integer("v", item));
    shard.keys = args.integer("keys", item);
    shard.first_key = args.integer("first_key", item);
    const auto q = static_cast<std::uint64_t>(args.integer("q", item));
    const auto o = static_cast<std::uint64_t>(args.integer("o", item));

    const std::int64_t pass_rows =
        rows_a_pass(ctx.scratchpad_free_bytes(), a, rows, exchange_triplets);
    for (std::int64_t first = 0; first < rows; first += pass_rows) {
      const std::int64_t n = std::min(pass_rows, rows - first);
      const std::uint64_t offset = static_cast<std::uint64_t>(first) * a.row_bytes();
      const tl::ScratchScope pass(ctx);
      ctx.phase("local");
      const Triplet state = make_triplet(ctx, n, a.head_dim, DType::f32);
      const tl::Tensor q_rows = ctx.load(q + offset, {n, a.head_dim}, a.io);
      const RowState running{q_rows, state.m, state.l, state.o, first};
      reset(ctx, running);
      {
        const tl::ScratchScope local(ctx);
        FlashAttention flash(ctx, a);
        flash.allocate(n, shard.keys);
        flash.run(running, {shard});
      }
      exchange(ctx, a, state, o + offset);
    }
  }
}

}  // namespace cubevp::kernels
