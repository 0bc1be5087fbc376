// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

/// This PE's slice of a block in HBM.
struct BlockSlice {
  std::uint64_t k = 0;
  std::uint64_t v = 0;
  std::int64_t keys = 0;
};

/// Passes a slice of K and V from HBM to the west neighbour and takes the next one from the east
/// into HBM, in chunks through the scratchpad. Chunks of both directions alternate, in an order in
/// which no ring of ranks can block (sends_first), and are issued as the caller says, so that
/// they mix with its own commands.
class BlockTransfer {
 public:
  static constexpr std::int64_t kBuffers = 4;  ///< two a direction

  BlockTransfer(tl::Context& ctx, const AttentionArgs& a, std::int64_t chunk_bytes);
  /// Bytes of a chunk: ranks agree on it, so it depends only on what they have in common.
  static std::int64_t chunk_bytes(std::int64_t scratchpad_bytes, const AttentionArgs& a);

  void allocate();
  void begin(const BlockSlice& outgoing, const BlockSlice& incoming);
  std::int64_t chunks() const;
  /// Issues chunks until `n` are, or all.
  void advance(std::int64_t n);

 private:
  std::int64_t chunks_of(const BlockSlice& slice) const;
  tl::Tensor memory(const BlockSlice& slice, std::int64_t chunk) const;
  void send(std::int64_t chunk);
  void recv(std::int64_t chunk);

  tl::Context& ctx_;
  const AttentionArgs& a_;
  const std::int64_t chunk_rows_;
  BlockSlice outgoing_;
  BlockSlice incoming_;
  std::int64_t issued_ = 0;
  std::array<tl::Tensor, 2> out_;
  std::array<tl::Tensor, 2> in_;
};

}  // namespace cubevp::kernels
