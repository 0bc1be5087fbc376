// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "firmware/kernels/kernels.h"
#include "firmware/kernels/sharded_kv.h"
#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

namespace {

// Receive buffers beyond two a direction keep a late send of a forwarded triplet from holding up
// the next receive; more than this gains nothing.
constexpr std::int64_t kMaxBuffers = 4;

/// One direction of travel: triplets arrive from `from` and are passed on to `to`.
class Wave {
 public:
  Wave(Direction from, Direction to, std::int64_t sources, bool forwards)
      : from_(from), to_(to), sources_(sources), forwards_(forwards) {}

  void allocate(tl::Context& ctx, const AttentionArgs& a, std::int64_t rows, std::int64_t buffers) {
    for (std::int64_t i = 0; i < std::min(buffers, sources_); ++i) {
      buffers_.push_back(make_triplet(ctx, rows, a.head_dim, a.exchange));
    }
  }
  /// At step s the triplet goes out that came in at step s-1, the rank's own at step 1.
  void send(tl::Context& ctx, const AttentionArgs& a, const Triplet& own, std::int64_t step) {
    if (forwards_ && step <= sources_ + 1) {
      kernels::send(ctx, a, to_, step == 1 ? own : buffer(step - 1));
    }
  }
  void recv(tl::Context& ctx, const AttentionArgs& a, std::int64_t step) {
    if (step <= sources_) {
      kernels::recv(ctx, a, from_, buffer(step));
    }
  }
  void merge(tl::Context& ctx, const Triplet& state, std::int64_t step) {
    if (step <= sources_) {
      kernels::merge(ctx, state, buffer(step));
    }
  }

 private:
  const Triplet& buffer(std::int64_t step) const {
    return buffers_[static_cast<std::size_t>(step) % buffers_.size()];
  }

  const Direction from_;
  const Direction to_;
  const std::int64_t sources_;  // ranks upstream: the triplet of the s-th nearest arrives at step s
  const bool forwards_;         // there is a rank downstream
  std::vector<Triplet> buffers_;
};

void fan_out(tl::Context& ctx, const AttentionArgs& a, const Triplet& state) {
  if (a.ranks == 1 || state.rows() == 0) {
    return;
  }
  Triplet own = state;
  if (a.exchange != DType::f32) {
    own = make_triplet(ctx, state.rows(), a.head_dim, a.exchange);
    convert(ctx, own, state);
    copy(ctx, state, own);  // merged here as everywhere else: all ranks end with one answer
  }
  Wave eastbound(Direction::west, Direction::east, a.rank, a.rank < a.ranks - 1);
  Wave westbound(Direction::east, Direction::west, a.ranks - 1 - a.rank, a.rank > 0);
  const std::int64_t bytes = triplet_bytes(state.rows(), a.head_dim, a.exchange) +
                             static_cast<std::int64_t>(sizeof(float)) * 16;
  const std::int64_t buffers =
      std::clamp<std::int64_t>(ctx.scratchpad_free_bytes() / (2 * bytes), 2, kMaxBuffers);
  eastbound.allocate(ctx, a, state.rows(), buffers);
  westbound.allocate(ctx, a, state.rows(), buffers);

  for (std::int64_t step = 1; step < a.ranks; ++step) {
    const auto send_both = [&] {
      eastbound.send(ctx, a, own, step);
      westbound.send(ctx, a, own, step);
    };
    if (sends_first(a)) {
      send_both();
    }
    eastbound.recv(ctx, a, step);
    westbound.recv(ctx, a, step);
    if (!sends_first(a)) {
      send_both();
    }
    eastbound.merge(ctx, state, step);
    westbound.merge(ctx, state, step);
  }
}

void exchange(tl::Context& ctx, const AttentionArgs& a, const Triplet& state,
              std::uint64_t o_address) {
  ctx.phase("exchange");
  fan_out(ctx, a, state);
  ctx.phase("normalize");
  normalize_and_store(ctx, a, state.o, state.l, o_address);
}

}  // namespace

void attention_mesh_mlo(tl::Context& ctx, const tl::Args& args) {
  // The rank's own triplet in the type of the wire, and two receive buffers a direction; what
  // converting takes besides is made up for by the wire's smaller type.
  run_sharded_kv(ctx, args, 5, exchange);
}

}  // namespace cubevp::kernels
