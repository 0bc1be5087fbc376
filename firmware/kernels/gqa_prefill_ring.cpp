// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "firmware/kernels/attention_args.h"
#include "firmware/kernels/block_transfer.h"
#include "firmware/kernels/flash_attention.h"
#include "firmware/kernels/kernels.h"

namespace cubevp::kernels {

namespace {

/// One item's blocks: which keys they hold, and where the cube keeps the one it has.
class Blocks {
 public:
  Blocks(const tl::Args& args, const AttentionArgs& a, std::uint32_t item, std::uint32_t slices)
      : args_(args),
        a_(a),
        item_(item),
        slices_(slices),
        ranks_(static_cast<std::uint32_t>(a.ranks)) {}

  std::int64_t keys(std::uint32_t block) const {
    return args_.integer("block_keys", block_index(item_, ranks_, block));
  }
  std::int64_t slice_begin(std::uint32_t block, std::uint32_t slice) const {
    return part_begin(keys(block), slices_, slice);
  }
  std::int64_t slice_keys(std::uint32_t block, std::uint32_t slice) const {
    return slice_begin(block, slice + 1) - slice_begin(block, slice);
  }
  BlockSlice place(std::uint32_t block, std::uint32_t slot, std::uint32_t slice) const {
    const std::uint32_t at = key_slot(item_, slices_, slot, slice);
    return {static_cast<std::uint64_t>(args_.integer("k", at)),
            static_cast<std::uint64_t>(args_.integer("v", at)), slice_keys(block, slice)};
  }
  std::int64_t largest_slice() const {
    std::int64_t most = 0;
    for (std::uint32_t b = 0; b < ranks_; ++b) {
      most = std::max(most, (keys(b) + slices_ - 1) / slices_);
    }
    return most;
  }
  /// The whole block, read from the slot's slices; `first` is read first, so that the PEs of a
  /// cube start at different memories.
  std::vector<KeySegment> segments(std::uint32_t block, std::uint32_t slot,
                                   std::uint32_t first) const;

 private:
  const tl::Args& args_;
  const AttentionArgs& a_;
  const std::uint32_t item_;
  const std::uint32_t slices_;
  const std::uint32_t ranks_;
};

std::vector<KeySegment> Blocks::segments(std::uint32_t block, std::uint32_t slot,
                                         std::uint32_t first) const {
  std::vector<KeySegment> result;
  for (std::uint32_t i = 0; i < slices_; ++i) {
    const std::uint32_t slice = (first + i) % slices_;
    const std::int64_t begin = slice_begin(block, slice);
    const BlockSlice where = place(block, slot, slice);
    std::int64_t run_begin = 0;
    for (std::uint32_t run = 0; run < 2; ++run) {
      const std::uint32_t at = run_index(item_, ranks_, block, run);
      const std::int64_t run_end = run_begin + args_.integer("run_keys", at);
      const std::int64_t from = std::max(begin, run_begin);
      const std::int64_t to = std::min(begin + where.keys, run_end);
      if (from < to) {
        const std::uint64_t offset = static_cast<std::uint64_t>(from - begin) * a_.row_bytes();
        const std::int64_t stride = args_.integer("run_stride", at);
        result.push_back({where.k + offset, where.v + offset, to - from,
                          args_.integer("run_first", at) + stride * (from - run_begin), stride});
      }
      run_begin = run_end;
    }
  }
  return result;
}

/// One PE's part in the ring.
class RingPrefill {
 public:
  RingPrefill(tl::Context& ctx, const tl::Args& args)
      : ctx_(ctx),
        args_(args),
        a_(AttentionArgs::from(args)),
        slices_(static_cast<std::uint32_t>(args.integer("slices"))),
        slice_(static_cast<std::uint32_t>(args.integer("slice"))),
        active_(args.integer("pe_active") != 0),
        chunk_bytes_(a_.ranks > 1 ? BlockTransfer::chunk_bytes(ctx.scratchpad_free_bytes(), a_)
                                  : 0) {
    if (slices_ == 0 || slice_ >= slices_) {
      throw tl::KernelFault("argument slice: " + std::to_string(slice_) + " of " +
                            std::to_string(slices_));
    }
  }

  void run() {
    if (a_.ranks > 1) {
      ctx_.require_ring(RankAxis::cube, a_.ranks);
    }
    for (std::uint32_t item = 0; item < a_.items; ++item) {
      run_item(item);
    }
  }

 private:
  std::int64_t rows_a_pass(std::int64_t most_rows) const;
  void run_item(std::uint32_t item);
  void run_pass(const Blocks& blocks, std::uint32_t item, std::int64_t first_row, std::int64_t rows,
                bool last);
  void step(const Blocks& blocks, FlashAttention& flash, const RowState& state,
            BlockTransfer* transfer, std::uint32_t block);
  void compute(const Blocks& blocks, FlashAttention& flash, const RowState& state,
               std::uint32_t block, const FlashAttention::TileHook& after_tile);

  tl::Context& ctx_;
  const tl::Args& args_;
  const AttentionArgs a_;
  const std::uint32_t slices_;
  const std::uint32_t slice_;
  const bool active_;
  const std::int64_t chunk_bytes_;
  std::uint32_t slot_ = 0;  // where the block that the cube has now lives
};

// All PEs of the ring must agree on the number of passes: only what they have in common counts.
std::int64_t RingPrefill::rows_a_pass(std::int64_t most_rows) const {
  const std::int64_t a_row =
      triplet_bytes(1, a_.head_dim, DType::f32) + static_cast<std::int64_t>(a_.row_bytes());
  const std::int64_t room =
      (ctx_.scratchpad_free_bytes() - BlockTransfer::kBuffers * chunk_bytes_) * 5 / 8;
  return std::clamp<std::int64_t>(room / a_row, 1, std::max<std::int64_t>(1, most_rows));
}

void RingPrefill::run_item(std::uint32_t item) {
  const Blocks blocks(args_, a_, item, slices_);
  const std::int64_t rows = active_ ? args_.integer("rows", item) : 0;
  const bool most_known = args_.has("max_rows", item);
  const std::int64_t most_rows = most_known ? args_.integer("max_rows", item) : rows;
  const std::int64_t pass_rows = rows_a_pass(most_rows);
  const std::int64_t passes = std::max<std::int64_t>(1, (most_rows + pass_rows - 1) / pass_rows);
  if (passes > 1 && a_.ranks > 1 && !most_known) {
    throw tl::KernelFault("argument max_rows[" + std::to_string(item) + "] is needed: " +
                          std::to_string(rows) + " rows do not fit the scratchpad at once, and " +
                          "the ranks must agree on the number of passes");
  }
  slot_ = 0;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const std::int64_t first = std::min(rows, pass * pass_rows);
    run_pass(blocks, item, first, std::min(pass_rows, rows - first), pass + 1 == passes);
  }
}

void RingPrefill::run_pass(const Blocks& blocks, std::uint32_t item, std::int64_t first_row,
                           std::int64_t rows, bool last) {
  const tl::ScratchScope scope(ctx_);
  const std::uint64_t offset = static_cast<std::uint64_t>(first_row) * a_.row_bytes();
  const tl::Shape column{rows, 1};
  const tl::Shape matrix{rows, a_.head_dim};
  BlockTransfer transfer(ctx_, a_, chunk_bytes_);
  if (a_.ranks > 1) {
    transfer.allocate();
  }
  RowState state;
  state.first_row = args_.integer("first_row", item) + first_row;
  state.q = ctx_.load(static_cast<std::uint64_t>(args_.integer("q", item)) + offset, matrix, a_.io);
  state.m = ctx_.empty(column, DType::f32);
  state.l = ctx_.empty(column, DType::f32);
  state.o = ctx_.empty(matrix, DType::f32);
  reset(ctx_, state);
  {
    const tl::ScratchScope tiles(ctx_);
    FlashAttention flash(ctx_, a_);
    if (rows > 0) {
      flash.allocate(rows, blocks.largest_slice());
    }
    // The last pass needs each block once; earlier ones bring every block home again.
    const std::int64_t transfers = a_.ranks == 1 ? 0 : last ? a_.ranks - 1 : a_.ranks;
    for (std::int64_t s = 0; s < a_.ranks; ++s) {
      step(blocks, flash, state, s < transfers ? &transfer : nullptr,
           static_cast<std::uint32_t>((a_.rank + s) % a_.ranks));
    }
  }
  ctx_.phase("normalize");
  normalize_and_store(ctx_, a_, state.o, state.l,
                      static_cast<std::uint64_t>(args_.integer("o", item)) + offset);
}

void RingPrefill::step(const Blocks& blocks, FlashAttention& flash, const RowState& state,
                       BlockTransfer* transfer, std::uint32_t block) {
  ctx_.phase("ring step");
  FlashAttention::TileHook after_tile;
  if (transfer != nullptr) {
    const auto next = static_cast<std::uint32_t>((block + 1) % a_.ranks);
    transfer->begin(blocks.place(block, slot_, slice_), blocks.place(next, 1 - slot_, slice_));
    if (a_.overlap) {
      // The next block comes in as this one is worked on: the chunks are spread over the tiles,
      // two ahead.
      after_tile = [transfer](std::int64_t done, std::int64_t total) {
        transfer->advance((done * transfer->chunks() + total - 1) / total + 2);
      };
    } else {
      transfer->advance(transfer->chunks());
    }
    if (slice_ == 0) {
      ctx_.count("ring_steps");
    }
  }
  compute(blocks, flash, state, block, after_tile);
  if (transfer != nullptr) {
    transfer->advance(transfer->chunks());
    slot_ = 1 - slot_;
    if (slices_ > 1) {
      // Every slice of the next block is in place, and nobody reads the old one any more.
      ctx_.barrier();
    }
  }
}

void RingPrefill::compute(const Blocks& blocks, FlashAttention& flash, const RowState& state,
                          std::uint32_t block, const FlashAttention::TileHook& after_tile) {
  if (state.q.rows() == 0) {
    return;
  }
  const std::vector<KeySegment> segments = blocks.segments(block, slot_, slice_);
  if (!segments.empty() && !flash.any_visible(state, segments)) {
    ctx_.count("steps_skipped");
  }
  flash.run(state, segments, after_tile);
}

}  // namespace

void gqa_prefill_ring(tl::Context& ctx, const tl::Args& args) {
  RingPrefill(ctx, args).run();
}

}  // namespace cubevp::kernels
