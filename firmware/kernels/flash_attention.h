// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "firmware/kernels/attention_common.h"

namespace cubevp::kernels {

/// Keys that lie contiguously in HBM and at equal steps in the sequence.
struct KeySegment {
  std::uint64_t k = 0;
  std::uint64_t v = 0;
  std::int64_t keys = 0;
  std::int64_t first_key = 0;
  std::int64_t key_stride = 1;
};

/// Folds keys into the running state of query rows, tile by tile: rows x keys of one tile are
/// what the scratchpad holds at once. The tiles of K and V stream through two buffers each, the
/// next one loading while the current one computes; likewise the scores of the next tile are
/// issued before the P x V of the current one, so that gemm and vector unit work at once. Nothing
/// here waits: the scoreboard orders commands by the buffers they use.
///
/// Tiles that no row of theirs can see are skipped, and counted.
class FlashAttention {
 public:
  /// Called after the commands of a tile: `done` of `total` tiles are issued.
  using TileHook = std::function<void(std::int64_t done, std::int64_t total)>;

  FlashAttention(tl::Context& ctx, const AttentionArgs& args) : ctx_(ctx), args_(args) {}

  /// Allocates the buffers in the current scope, for states of up to `rows` rows and segments of
  /// up to `keys` keys, leaving `reserve_bytes` of the scratchpad free.
  void allocate(std::int64_t rows, std::int64_t keys, std::int64_t reserve_bytes = 0);
  /// Whether any of the rows sees any of the keys.
  bool any_visible(const RowState& state, const std::vector<KeySegment>& segments) const;
  void run(const RowState& state, const std::vector<KeySegment>& segments,
           const TileHook& after_tile = {});

  std::int64_t row_tile() const { return row_tile_; }
  std::int64_t key_tile() const { return key_tile_; }

 private:
  /// Tiles of K and V each: one computes, the others load.
  static constexpr std::size_t kStreamBuffers = 3;

  struct Tile {
    std::int64_t first_row = 0;  // of the state
    std::int64_t rows = 0;
    std::uint64_t k = 0;
    std::uint64_t v = 0;
    std::int64_t keys = 0;
    std::int64_t first_key = 0;
    std::int64_t key_stride = 1;
    bool masked = false;  // some pair of it is not seen
  };

  std::int64_t buffer_bytes(std::int64_t rows, std::int64_t keys) const;
  /// Latest and earliest query among n rows of the mask's numbering.
  std::int64_t latest_query(std::int64_t first_row, std::int64_t n) const;
  std::int64_t earliest_query(std::int64_t first_row, std::int64_t n) const;
  std::vector<Tile> cut(const RowState& state, const std::vector<KeySegment>& segments) const;
  Mask mask_of(const RowState& state, const Tile& tile) const;
  void load(const Tile& tile, std::size_t i);
  void scores(const RowState& state, const Tile& tile, std::size_t i);
  void accumulate(const RowState& state, const Tile& tile, std::size_t i);

  tl::Context& ctx_;
  const AttentionArgs& args_;
  std::int64_t row_tile_ = 0;
  std::int64_t key_tile_ = 0;
  std::array<tl::Tensor, kStreamBuffers> k_;
  std::array<tl::Tensor, kStreamBuffers> v_;
  std::array<tl::Tensor, 2> s_;
  std::array<tl::Tensor, 2> p_;
  tl::Tensor alpha_;
};

}  // namespace cubevp::kernels
