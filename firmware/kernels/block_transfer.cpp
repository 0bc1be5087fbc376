// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/block_transfer.h"

#include <algorithm>

namespace cubevp::kernels {

namespace {

// Large enough to hide the cost of a message, small enough to start early.
constexpr std::int64_t kMaxChunkBytes = 128 * 1024;
constexpr std::int64_t kShareOfScratchpad = 16;

}  // namespace

BlockTransfer::BlockTransfer(tl::Context& ctx, const AttentionArgs& a, std::int64_t chunk_bytes)
    : ctx_(ctx),
      a_(a),
      chunk_rows_(
          std::max<std::int64_t>(1, chunk_bytes / static_cast<std::int64_t>(a.row_bytes()))) {}

std::int64_t BlockTransfer::chunk_bytes(std::int64_t scratchpad_bytes, const AttentionArgs& a) {
  const auto row = static_cast<std::int64_t>(a.row_bytes());
  const std::int64_t bytes = std::min(kMaxChunkBytes, scratchpad_bytes / kShareOfScratchpad);
  return std::max<std::int64_t>(1, bytes / row) * row;
}

void BlockTransfer::allocate() {
  for (std::size_t i = 0; i < 2; ++i) {
    out_[i] = ctx_.empty({chunk_rows_, a_.head_dim}, a_.io);
    in_[i] = ctx_.empty({chunk_rows_, a_.head_dim}, a_.io);
  }
}

void BlockTransfer::begin(const BlockSlice& outgoing, const BlockSlice& incoming) {
  outgoing_ = outgoing;
  incoming_ = incoming;
  issued_ = 0;
}

std::int64_t BlockTransfer::chunks_of(const BlockSlice& slice) const {
  return 2 * ((slice.keys + chunk_rows_ - 1) / chunk_rows_);
}

std::int64_t BlockTransfer::chunks() const {
  return std::max(chunks_of(outgoing_), chunks_of(incoming_));
}

tl::Tensor BlockTransfer::memory(const BlockSlice& slice, std::int64_t chunk) const {
  const std::int64_t half = chunks_of(slice) / 2;  // the chunks of K come first, then those of V
  const std::int64_t first = chunk % half * chunk_rows_;
  const std::uint64_t base = chunk < half ? slice.k : slice.v;
  return ctx_.hbm(base + static_cast<std::uint64_t>(first) * a_.row_bytes(),
                  {std::min(chunk_rows_, slice.keys - first), a_.head_dim}, a_.io, 0);
}

void BlockTransfer::send(std::int64_t chunk) {
  if (chunk >= chunks_of(outgoing_)) {
    return;
  }
  const tl::Tensor from = memory(outgoing_, chunk);
  const tl::Tensor buffer =
      ctx_.rows(out_[static_cast<std::size_t>(chunk) % out_.size()], 0, from.rows());
  ctx_.load_to(buffer, from);
  ctx_.send(RankAxis::cube, Direction::west, buffer);
}

void BlockTransfer::recv(std::int64_t chunk) {
  if (chunk >= chunks_of(incoming_)) {
    return;
  }
  const tl::Tensor to = memory(incoming_, chunk);
  const tl::Tensor buffer =
      ctx_.rows(in_[static_cast<std::size_t>(chunk) % in_.size()], 0, to.rows());
  ctx_.recv_to(RankAxis::cube, Direction::east, buffer);
  ctx_.store(to, buffer);
}

void BlockTransfer::advance(std::int64_t n) {
  for (n = std::min(n, chunks()); issued_ < n; ++issued_) {
    if (sends_first(a_)) {
      send(issued_);
      recv(issued_);
    } else {
      recv(issued_);
      send(issued_);
    }
    settle(ctx_, a_);
  }
}

}  // namespace cubevp::kernels
