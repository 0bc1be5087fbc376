// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

namespace {

Triplet parts_of(tl::Context& ctx, const tl::Tensor& all, std::int64_t rows,
                 std::int64_t head_dim) {
  return {all, ctx.slice(all, 0, {rows, 1}), ctx.slice(all, rows, {rows, 1}),
          ctx.slice(all, 2 * rows, {rows, head_dim})};
}

}  // namespace

Triplet make_triplet(tl::Context& ctx, std::int64_t rows, std::int64_t head_dim, DType dtype) {
  return parts_of(ctx, ctx.empty({rows * (head_dim + 2)}, dtype), rows, head_dim);
}

Triplet shrink(tl::Context& ctx, const Triplet& t, std::int64_t rows) {
  const std::int64_t head_dim = t.o.cols();
  return parts_of(ctx, ctx.slice(t.all, 0, {rows * (head_dim + 2)}), rows, head_dim);
}

void copy(tl::Context& ctx, const Triplet& to, const Triplet& from) {
  ctx.copy_to(to.m, from.m);
  ctx.copy_to(to.l, from.l);
  ctx.copy_to(to.o, from.o);
}

void convert(tl::Context& ctx, const Triplet& wire, const Triplet& from) {
  const tl::ScratchScope scope(ctx);
  ctx.copy_to(wire.m, from.m);
  const tl::Tensor rounded = ctx.cast(wire.m, DType::f32);
  // l is 0 where no key was seen; there m is -inf and the difference means nothing.
  const tl::Tensor lost = ctx.where(from.l, ctx.sub(from.m, rounded), from.l);
  const tl::Tensor factor = ctx.exp(lost);
  ctx.copy_to(wire.l, ctx.mul(from.l, factor));
  ctx.copy_to(wire.o, ctx.mul(from.o, factor));
}

void send(tl::Context& ctx, const AttentionArgs& a, Direction to, const Triplet& t) {
  const auto rows = static_cast<std::uint32_t>(t.rows());
  if (a.pack) {
    ctx.send(a.axis, to, t.all, rows);
  } else {
    ctx.send(a.axis, to, t.m, rows);
    ctx.send(a.axis, to, t.l);
    ctx.send(a.axis, to, t.o);
  }
  settle(ctx, a);
}

void recv(tl::Context& ctx, const AttentionArgs& a, Direction from, const Triplet& t) {
  if (a.pack) {
    ctx.recv_to(a.axis, from, t.all);
  } else {
    ctx.recv_to(a.axis, from, t.m);
    ctx.recv_to(a.axis, from, t.l);
    ctx.recv_to(a.axis, from, t.o);
  }
  settle(ctx, a);
}

void merge(tl::Context& ctx, const Triplet& into, const Triplet& from) {
  ctx.merge_mlo(into.m, into.l, into.o, from.m, from.l, from.o);
}

}  // namespace cubevp::kernels
