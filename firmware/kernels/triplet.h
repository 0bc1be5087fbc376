// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "firmware/kernels/attention_common.h"

namespace cubevp::kernels {

/// (m, l, O) of some rows in one contiguous buffer, [m | l | O], as it travels between ranks.
struct Triplet {
  tl::Tensor all;
  tl::Tensor m;
  tl::Tensor l;
  tl::Tensor o;

  std::int64_t rows() const { return o.rows(); }
};

constexpr std::int64_t triplet_bytes(std::int64_t rows, std::int64_t head_dim, DType dtype) {
  return rows * (head_dim + 2) * static_cast<std::int64_t>(size_bytes(dtype));
}

Triplet make_triplet(tl::Context& ctx, std::int64_t rows, std::int64_t head_dim, DType dtype);
/// The first `rows` rows' worth of a larger buffer, as a triplet of its own.
Triplet shrink(tl::Context& ctx, const Triplet& t, std::int64_t rows);

/// Element by element, from one type to another where they differ.
void copy(tl::Context& ctx, const Triplet& to, const Triplet& from);
/// Puts the state `from` into `wire`, whose type is that of the exchange. Rounding m alone would
/// weigh its rank wrongly, by a factor of exp(m - rounded m): l and O are scaled to make up for it.
void convert(tl::Context& ctx, const Triplet& wire, const Triplet& from);

/// One message with `pack`, else m, l and O as one each.
void send(tl::Context& ctx, const AttentionArgs& a, Direction to, const Triplet& t);
void recv(tl::Context& ctx, const AttentionArgs& a, Direction from, const Triplet& t);
/// Folds `from` into `into`.
void merge(tl::Context& ctx, const Triplet& into, const Triplet& from);

/// Ranks alternate between sending first and receiving first: with the commands of a PE in this
/// order no chain or ring of ranks can block, however few slots or commands are in flight.
inline bool sends_first(const AttentionArgs& a) {
  return a.rank % 2 == 0;
}

/// With overlap off every step of an exchange is complete before the next is issued.
inline void settle(tl::Context& ctx, const AttentionArgs& a) {
  if (!a.overlap) {
    ctx.fence();
  }
}

}  // namespace cubevp::kernels
