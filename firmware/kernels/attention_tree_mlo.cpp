// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "firmware/kernels/kernels.h"
#include "firmware/kernels/sharded_kv.h"
#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

namespace {

/// One direction of one round. In a round of distance D, blocks of 2D ranks swap halves: what the
/// D ranks upstream hold goes D hops downstream, one hop a slot, all of them in step.
class Shift {
 public:
  Shift(Direction from, Direction to, std::int64_t position, std::int64_t distance)
      : from_(from), to_(to), position_(position), distance_(distance) {}

  void send(tl::Context& ctx, const AttentionArgs& a, const Triplet& own,
            const std::array<Triplet, 2>& buffers, std::int64_t slot) const {
    if (is_source(position_ - slot + 1)) {
      kernels::send(ctx, a, to_, slot == 1 ? own : buffers[buffer(slot - 1)]);
    }
  }
  bool receives(std::int64_t slot) const { return is_source(position_ - slot); }
  void recv(tl::Context& ctx, const AttentionArgs& a, const std::array<Triplet, 2>& buffers,
            std::int64_t slot) const {
    if (receives(slot)) {
      kernels::recv(ctx, a, from_, buffers[buffer(slot)]);
    }
  }
  static std::size_t buffer(std::int64_t slot) { return static_cast<std::size_t>(slot) % 2; }

 private:
  bool is_source(std::int64_t position) const { return position >= 0 && position < distance_; }

  const Direction from_;
  const Direction to_;
  const std::int64_t position_;  // in the block, counted downstream
  const std::int64_t distance_;
};

void recursive_doubling(tl::Context& ctx, const AttentionArgs& a, const Triplet& state) {
  const tl::ScratchScope scope(ctx);
  const bool converted = a.exchange != DType::f32;
  const auto make = [&] { return make_triplet(ctx, state.rows(), a.head_dim, a.exchange); };
  const Triplet own = converted ? make() : state;
  const std::array<Triplet, 2> from_west{make(), make()};
  const std::array<Triplet, 2> from_east{make(), make()};
  for (std::int64_t distance = 1; distance < a.ranks; distance *= 2) {
    if (converted) {
      convert(ctx, own, state);
      copy(ctx, state, own);  // merged here as at the partner: all ranks end with one answer
    }
    const std::int64_t position = a.rank % (2 * distance);
    const Shift east(Direction::west, Direction::east, position, distance);
    const Shift west(Direction::east, Direction::west, 2 * distance - 1 - position, distance);
    for (std::int64_t slot = 1; slot <= distance; ++slot) {
      const auto send_both = [&] {
        east.send(ctx, a, own, from_west, slot);
        west.send(ctx, a, own, from_east, slot);
      };
      if (sends_first(a)) {
        send_both();
      }
      east.recv(ctx, a, from_west, slot);
      west.recv(ctx, a, from_east, slot);
      if (!sends_first(a)) {
        send_both();
      }
    }
    // What comes in the last slot is the partner's.
    merge(ctx, state, (east.receives(distance) ? from_west : from_east)[Shift::buffer(distance)]);
  }
}

void exchange(tl::Context& ctx, const AttentionArgs& a, const Triplet& state,
              std::uint64_t o_address) {
  if ((a.ranks & (a.ranks - 1)) != 0) {
    throw tl::KernelFault("argument ranks: recursive doubling needs a power of two, got " +
                          std::to_string(a.ranks));
  }
  if (a.ranks > 1) {
    ctx.phase("exchange");
    recursive_doubling(ctx, a, state);
  }
  ctx.phase("normalize");
  normalize_and_store(ctx, a, state.o, state.l, o_address);
}

}  // namespace

void attention_tree_mlo(tl::Context& ctx, const tl::Args& args) {
  run_sharded_kv(ctx, args, 5, exchange);
}

}  // namespace cubevp::kernels
