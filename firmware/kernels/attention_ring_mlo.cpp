// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "firmware/kernels/attention_args.h"
#include "firmware/kernels/kernels.h"
#include "firmware/kernels/sharded_kv.h"
#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

namespace {

/// The rows of a state cut into one chunk a rank; chunks differ by at most one row and may be
/// empty.
class Chunks {
 public:
  Chunks(std::int64_t rows, std::int64_t ranks) : rows_(rows), ranks_(ranks) {}

  std::int64_t wrap(std::int64_t chunk) const { return (chunk % ranks_ + ranks_) % ranks_; }
  std::int64_t first(std::int64_t chunk) const { return part_begin(rows_, ranks_, wrap(chunk)); }
  std::int64_t rows(std::int64_t chunk) const {
    return part_begin(rows_, ranks_, wrap(chunk) + 1) - first(chunk);
  }
  std::int64_t largest() const { return (rows_ + ranks_ - 1) / ranks_; }

 private:
  const std::int64_t rows_;
  const std::int64_t ranks_;
};

/// The state's rows of a chunk, in place.
Triplet rows_of(tl::Context& ctx, const Triplet& state, std::int64_t first, std::int64_t n) {
  return {
      {}, ctx.rows(state.m, first, n), ctx.rows(state.l, first, n), ctx.rows(state.o, first, n)};
}

/// Sends and receives in the order that cannot block, see sends_first().
template <class Send, class Recv>
void swap_messages(const AttentionArgs& a, Send send_one, Recv recv_one) {
  if (sends_first(a)) {
    send_one();
    recv_one();
  } else {
    recv_one();
    send_one();
  }
}

/// After ranks-1 steps this rank holds chunk rank+1 merged over all ranks, and returns it.
/// At step s it passes chunk rank-s east and merges its own part of chunk rank-s-1 with what comes
/// from the west.
Triplet reduce_scatter(tl::Context& ctx, const AttentionArgs& a, const Triplet& state,
                       const Chunks& chunks) {
  const bool converted = a.exchange != DType::f32;
  // A chunk's m, l and O lie apart in the state. To leave as one message it is merged in a buffer
  // of its own, copied there before its partner arrives; to be converted it is merged in place in
  // f32 and copied last. Three buffers: a late send must not hold up the next copy.
  const bool merged_in_buffer = a.pack && !converted;
  std::array<Triplet, 3> out;
  std::array<Triplet, 2> in;
  for (Triplet& t : in) {
    t = make_triplet(ctx, chunks.largest(), a.head_dim, a.exchange);
  }
  for (Triplet& t : out) {
    if (merged_in_buffer || converted) {
      t = make_triplet(ctx, chunks.largest(), a.head_dim, a.exchange);
    }
  }
  const auto own_part = [&](std::int64_t chunk, std::size_t buffer) {
    const Triplet in_place = rows_of(ctx, state, chunks.first(chunk), chunks.rows(chunk));
    if (!merged_in_buffer) {
      return in_place;
    }
    const Triplet copied = shrink(ctx, out[buffer % out.size()], chunks.rows(chunk));
    copy(ctx, copied, in_place);
    return copied;
  };

  Triplet held = own_part(a.rank, 0);
  for (std::int64_t step = 0; step + 1 < a.ranks; ++step) {
    const std::int64_t incoming = a.rank - step - 1;
    const std::size_t buffer = static_cast<std::size_t>(step);
    const Triplet next = own_part(incoming, buffer + 1);
    const Triplet received = shrink(ctx, in[buffer % in.size()], chunks.rows(incoming));
    swap_messages(
        a,
        [&] {
          if (converted) {
            const Triplet wire = shrink(ctx, out[buffer % out.size()], held.rows());
            convert(ctx, wire, held);
            send(ctx, a, Direction::east, wire);
          } else {
            send(ctx, a, Direction::east, held);
          }
        },
        [&] { recv(ctx, a, Direction::west, received); });
    merge(ctx, next, received);
    held = next;
  }
  return held;
}

/// Finished rows go around in the output's type: all ranks end with the same bits.
void all_gather(tl::Context& ctx, const AttentionArgs& a, const tl::Tensor& out,
                const Chunks& chunks) {
  for (std::int64_t step = 0; step + 1 < a.ranks; ++step) {
    const std::int64_t outgoing = a.rank + 1 - step;
    const std::int64_t incoming = a.rank - step;
    swap_messages(
        a,
        [&] {
          ctx.send(a.axis, Direction::east,
                   ctx.rows(out, chunks.first(outgoing), chunks.rows(outgoing)));
          settle(ctx, a);
        },
        [&] {
          ctx.recv_to(a.axis, Direction::west,
                      ctx.rows(out, chunks.first(incoming), chunks.rows(incoming)));
          settle(ctx, a);
        });
  }
}

void exchange(tl::Context& ctx, const AttentionArgs& a, const Triplet& state,
              std::uint64_t o_address) {
  if (a.ranks == 1) {
    ctx.phase("normalize");
    normalize_and_store(ctx, a, state.o, state.l, o_address);
    return;
  }
  ctx.require_ring(a.axis, a.ranks);
  ctx.phase("exchange");
  const Chunks chunks(state.rows(), a.ranks);
  const tl::Tensor out = ctx.empty({state.rows(), a.head_dim}, a.io);
  {
    const tl::ScratchScope scope(ctx);
    const Triplet done = reduce_scatter(ctx, a, state, chunks);
    ctx.phase("normalize");
    ctx.copy_to(ctx.rows(out, chunks.first(a.rank + 1), done.rows()),
                ctx.normalize(done.o, done.l, a.io));
  }
  ctx.phase("all-gather");
  all_gather(ctx, a, out, chunks);
  ctx.store(o_address, out);
}

}  // namespace

void attention_ring_mlo(tl::Context& ctx, const tl::Args& args) {
  // Three outgoing and two incoming chunks, each half a triplet at two ranks and less at more, and
  // the gathered output.
  run_sharded_kv(ctx, args, 4, exchange);
}

}  // namespace cubevp::kernels
