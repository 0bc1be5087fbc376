// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/flash_attention.h"

#include <algorithm>

namespace cubevp::kernels {

namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kMaxRowTile = 256;
constexpr std::int64_t kKeyStep = 64;
constexpr std::int64_t kMaxKeyTile = 512;
// Few tiles leave the last one's arithmetic exposed behind the last load; many cost issue time.
constexpr std::int64_t kTilesAShard = 8;
// Below this many keys a tile is mostly fill; rather have fewer rows.
constexpr std::int64_t kMinKeyTile = 128;
constexpr std::int64_t kMinRowTile = 8;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace

std::int64_t FlashAttention::buffer_bytes(std::int64_t rows, std::int64_t keys) const {
  const auto p_size = static_cast<std::int64_t>(size_bytes(args_.p));
  const std::int64_t row = static_cast<std::int64_t>(args_.row_bytes());
  // A composite streams through staging of its own, twice two tiles of it.
  const std::int64_t streamed =
      args_.composite ? 4 * aligned(std::min(keys, kKeyStep) * row)
                      : 2 * static_cast<std::int64_t>(kStreamBuffers) * aligned(keys * row);
  return streamed + 2 * aligned(rows * keys * 4) + 2 * aligned(rows * keys * p_size) +
         aligned(rows * 4) + kAlignment;
}

void FlashAttention::allocate(std::int64_t rows, std::int64_t keys, std::int64_t reserve_bytes) {
  const std::int64_t free = ctx_.scratchpad_free_bytes() - reserve_bytes;
  keys = std::max<std::int64_t>(1, keys);
  row_tile_ = std::max<std::int64_t>(1, std::min(rows, kMaxRowTile));
  if (args_.tile_keys != 0) {
    key_tile_ = std::min(args_.tile_keys, keys);
    while (row_tile_ > 1 && buffer_bytes(row_tile_, key_tile_) > free) {
      row_tile_ = (row_tile_ + 1) / 2;
    }
  } else {
    const std::int64_t wanted = std::min(
        keys, std::min(kMaxKeyTile, round_up((keys + kTilesAShard - 1) / kTilesAShard, kKeyStep)));
    key_tile_ = wanted;
    const auto shrink_keys = [&](std::int64_t least) {
      while (key_tile_ > least && buffer_bytes(row_tile_, key_tile_) > free) {
        key_tile_ =
            key_tile_ > kKeyStep ? round_up(key_tile_ - kKeyStep, kKeyStep) : (key_tile_ + 1) / 2;
      }
      key_tile_ = std::max(key_tile_, least);
      return buffer_bytes(row_tile_, key_tile_) <= free;
    };
    while (!shrink_keys(std::min(wanted, kMinKeyTile)) && row_tile_ > kMinRowTile) {
      row_tile_ = std::max(kMinRowTile, (row_tile_ + 1) / 2);
      key_tile_ = wanted;
    }
    while (!shrink_keys(1) && row_tile_ > 1) {
      row_tile_ = (row_tile_ + 1) / 2;
    }
  }
  for (std::size_t i = 0; i < kStreamBuffers && !args_.composite; ++i) {
    k_[i] = ctx_.empty({key_tile_, args_.head_dim}, args_.io);
    v_[i] = ctx_.empty({key_tile_, args_.head_dim}, args_.io);
  }
  for (std::size_t i = 0; i < s_.size(); ++i) {
    s_[i] = ctx_.empty({row_tile_ * key_tile_}, DType::f32);
    p_[i] = ctx_.empty({row_tile_ * key_tile_}, args_.p);
  }
  alpha_ = ctx_.empty({row_tile_, 1}, DType::f32);
}

std::int64_t FlashAttention::latest_query(std::int64_t first_row, std::int64_t n) const {
  const std::int64_t t = first_row % args_.t_q;
  return std::min(t + n, args_.t_q) - 1;
}

std::int64_t FlashAttention::earliest_query(std::int64_t first_row, std::int64_t n) const {
  const std::int64_t t = first_row % args_.t_q;
  return t + n > args_.t_q ? 0 : t;
}

bool FlashAttention::any_visible(const RowState& state,
                                 const std::vector<KeySegment>& segments) const {
  if (state.q.rows() == 0) {
    return false;
  }
  const std::int64_t latest = latest_query(state.first_row, state.q.rows());
  return std::any_of(segments.begin(), segments.end(), [&](const KeySegment& s) {
    return s.keys > 0 && (!args_.causal || s.first_key <= latest + args_.offset);
  });
}

std::vector<FlashAttention::Tile> FlashAttention::cut(
    const RowState& state, const std::vector<KeySegment>& segments) const {
  std::vector<Tile> tiles;
  std::uint64_t skipped = 0;
  for (std::int64_t row = 0; row < state.q.rows(); row += row_tile_) {
    const std::int64_t rows = std::min(row_tile_, state.q.rows() - row);
    const std::int64_t latest = latest_query(state.first_row + row, rows) + args_.offset;
    const std::int64_t earliest = earliest_query(state.first_row + row, rows) + args_.offset;
    for (const KeySegment& s : segments) {
      for (std::int64_t key = 0; key < s.keys; key += key_tile_) {
        Tile t;
        t.first_row = row;
        t.rows = rows;
        t.keys = std::min(key_tile_, s.keys - key);
        t.k = s.k + static_cast<std::uint64_t>(key) * args_.row_bytes();
        t.v = s.v + static_cast<std::uint64_t>(key) * args_.row_bytes();
        t.first_key = s.first_key + key * s.key_stride;
        t.key_stride = s.key_stride;
        if (args_.causal) {
          if (t.first_key > latest) {
            ++skipped;
            continue;
          }
          t.masked = t.first_key + (t.keys - 1) * t.key_stride > earliest;
        }
        tiles.push_back(t);
      }
    }
  }
  if (!tiles.empty()) {
    ctx_.count("tiles", tiles.size());
  }
  if (skipped != 0) {
    ctx_.count("tiles_skipped", skipped);
  }
  return tiles;
}

Mask FlashAttention::mask_of(const RowState& state, const Tile& tile) const {
  Mask mask;
  mask.causal = tile.masked;
  mask.first_row = state.first_row + tile.first_row;
  mask.rows_per_head = args_.t_q;
  mask.first_key = tile.first_key;
  mask.key_stride = tile.key_stride;
  mask.offset = args_.offset;
  return mask;
}

void FlashAttention::load(const Tile& tile, std::size_t i) {
  if (args_.composite) {
    return;
  }
  const tl::Shape shape{tile.keys, args_.head_dim};
  ctx_.load_to(ctx_.rows(k_[i % k_.size()], 0, tile.keys), ctx_.hbm(tile.k, shape, args_.io, 0));
  ctx_.load_to(ctx_.rows(v_[i % v_.size()], 0, tile.keys), ctx_.hbm(tile.v, shape, args_.io, 0));
}

void FlashAttention::scores(const RowState& state, const Tile& tile, std::size_t i) {
  Epilogue epilogue;
  epilogue.scale = args_.scale;
  epilogue.softcap = args_.softcap;
  epilogue.mask = mask_of(state, tile);
  const tl::Tensor q = ctx_.rows(state.q, tile.first_row, tile.rows);
  const tl::Tensor s = ctx_.slice(s_[i % s_.size()], 0, {tile.rows, tile.keys});
  if (args_.composite) {
    const tl::Tensor k = ctx_.hbm(tile.k, {tile.keys, args_.head_dim}, args_.io, 0);
    ctx_.composite_to(s, q, ctx_.trans(k), false, epilogue);
  } else {
    ctx_.dot_to(s, q, ctx_.trans(ctx_.rows(k_[i % k_.size()], 0, tile.keys)), false, epilogue);
  }
}

void FlashAttention::accumulate(const RowState& state, const Tile& tile, std::size_t i) {
  const tl::Tensor s = ctx_.slice(s_[i % s_.size()], 0, {tile.rows, tile.keys});
  const tl::Tensor p = ctx_.slice(p_[i % p_.size()], 0, {tile.rows, tile.keys});
  const tl::Tensor m = ctx_.rows(state.m, tile.first_row, tile.rows);
  const tl::Tensor l = ctx_.rows(state.l, tile.first_row, tile.rows);
  const tl::Tensor o = ctx_.rows(state.o, tile.first_row, tile.rows);
  const tl::Tensor alpha = ctx_.rows(alpha_, 0, tile.rows);
  ctx_.softmax_update(p, s, m, l, alpha);
  ctx_.scale_rows(o, alpha);
  // P is 0 where the mask hides a key; what V holds there must not turn that into a NaN.
  Epilogue epilogue;
  epilogue.inner = mask_of(state, tile);
  if (args_.composite) {
    const tl::Tensor v = ctx_.hbm(tile.v, {tile.keys, args_.head_dim}, args_.io, 0);
    ctx_.composite_to(o, p, v, true, epilogue);
  } else {
    ctx_.dot_to(o, p, ctx_.rows(v_[i % v_.size()], 0, tile.keys), true, epilogue);
  }
}

void FlashAttention::run(const RowState& state, const std::vector<KeySegment>& segments,
                         const TileHook& after_tile) {
  const std::vector<Tile> tiles = cut(state, segments);
  if (tiles.empty()) {
    return;
  }
  // Loads run ahead as far as there are buffers, scores one tile.
  constexpr std::size_t kAhead = kStreamBuffers - 1;
  for (std::size_t i = 0; i < std::min(kAhead, tiles.size()); ++i) {
    load(tiles[i], i);
  }
  scores(state, tiles[0], 0);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (i + kAhead < tiles.size()) {
      load(tiles[i + kAhead], i + kAhead);
    }
    if (i + 1 < tiles.size()) {
      scores(state, tiles[i + 1], i + 1);
    }
    accumulate(state, tiles[i], i);
    if (after_tile) {
      after_tile(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(tiles.size()));
    }
  }
}

}  // namespace cubevp::kernels
