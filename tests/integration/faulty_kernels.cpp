// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "firmware/tl/context.h"

// Kernels that do not end well, for the tests of what the platform says then. Loaded by
// --kernel-lib, as a user's own are.

namespace cubevp {

namespace {

void receives_what_nobody_sends(tl::Context& ctx, const tl::Args&) {
  if (ctx.program_id(0) == 1) {
    ctx.recv(RankAxis::pe, Direction::west, {1, 16}, DType::f32);
    ctx.fence();
  }
}

void waits_in_a_cycle(tl::Context& ctx, const tl::Args&) {
  // PE 0 and 1 each receive before they send.
  const std::int64_t pe = ctx.program_id(0);
  if (pe > 1) {
    return;
  }
  const Direction other = pe == 0 ? Direction::east : Direction::west;
  const tl::Tensor got = ctx.recv(RankAxis::pe, other, {1, 16}, DType::f32);
  ctx.send(RankAxis::pe, other, got);
}

void runs_out_of_credits(tl::Context& ctx, const tl::Args&) {
  // More messages than the receiver has slots, and nobody receives before all are sent.
  const std::int64_t pe = ctx.program_id(0);
  if (pe > 1) {
    return;
  }
  const Direction other = pe == 0 ? Direction::east : Direction::west;
  const tl::Tensor message = ctx.full({1, 1024}, 1.0F, DType::f32);
  for (int i = 0; i < 64; ++i) {
    ctx.send(RankAxis::pe, other, message);
  }
  ctx.fence();
}

void sends_off_the_edge(tl::Context& ctx, const tl::Args&) {
  ctx.send(RankAxis::cube, Direction::west, ctx.full({1, 16}, 0.0F, DType::f32));
  ctx.fence();
}

void wants_a_ring(tl::Context& ctx, const tl::Args&) {
  ctx.require_ring(RankAxis::cube, ctx.num_programs(1));
}

void fills_the_scratchpad(tl::Context& ctx, const tl::Args&) {
  ctx.empty({1024, 1024}, DType::f32);
}

void uses_a_dead_handle(tl::Context& ctx, const tl::Args&) {
  tl::Tensor dead;
  {
    const tl::ScratchScope scope(ctx);
    dead = ctx.full({4, 4}, 1.0F, DType::f32);
  }
  ctx.sum(dead);
}

void reads_nowhere(tl::Context& ctx, const tl::Args&) {
  ctx.load(std::uint64_t{200} << 40, {1, 16}, DType::f16);
  ctx.fence();
}

void throws_its_own(tl::Context&, const tl::Args&) {
  throw std::runtime_error("the kernel's own words");
}

void never_ends(tl::Context& ctx, const tl::Args&) {
  const tl::Tensor t = ctx.full({64, 64}, 1.0F, DType::f32);
  for (;;) {
    const tl::ScratchScope scope(ctx);
    ctx.exp(t);
    ctx.fence();
  }
}

}  // namespace

}  // namespace cubevp

extern "C" void cubevp_register_kernels(cubevp::tl::KernelRegistry& registry) {
  using namespace cubevp;
  const auto add = [&registry](const char* name, tl::KernelFunction function) {
    registry.add({name, "a test", tl::Placement::sharded_kv, false, function});
  };
  add("receives_what_nobody_sends", receives_what_nobody_sends);
  add("waits_in_a_cycle", waits_in_a_cycle);
  add("runs_out_of_credits", runs_out_of_credits);
  add("sends_off_the_edge", sends_off_the_edge);
  add("wants_a_ring", wants_a_ring);
  add("fills_the_scratchpad", fills_the_scratchpad);
  add("uses_a_dead_handle", uses_a_dead_handle);
  add("reads_nowhere", reads_nowhere);
  add("throws_its_own", throws_its_own);
  add("never_ends", never_ends);
}
