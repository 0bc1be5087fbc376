// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/attention_common.h"

#include <algorithm>
#include <limits>
#include <string>

namespace cubevp::kernels {

namespace {

// Rows of one piece of the final store.
constexpr std::int64_t kStoreRows = 256;

DType dtype_of(const tl::Args& args, const char* name) {
  const std::int64_t value = args.integer(name);
  if (value < 0 || value > static_cast<std::int64_t>(DType::f32)) {
    throw tl::KernelFault(std::string("argument ") + name + ": no type has the number " +
                          std::to_string(value));
  }
  return static_cast<DType>(value);
}

void require(bool ok, const char* what, std::int64_t value) {
  if (!ok) {
    throw tl::KernelFault(std::string("argument ") + what + ": " + std::to_string(value) +
                          " is out of range");
  }
}

}  // namespace

AttentionArgs AttentionArgs::from(const tl::Args& args) {
  AttentionArgs a;
  a.ranks = args.integer("ranks");
  require(a.ranks >= 1, "ranks", a.ranks);
  a.rank = args.integer("rank");
  require(a.rank >= 0 && a.rank < a.ranks, "rank", a.rank);
  const std::int64_t axis = args.integer("axis");
  require(axis == 0 || axis == 1, "axis", axis);
  a.axis = static_cast<RankAxis>(axis);
  a.head_dim = args.integer("head_dim");
  require(a.head_dim >= 1, "head_dim", a.head_dim);
  a.t_q = args.integer("t_q");
  require(a.t_q >= 1, "t_q", a.t_q);
  a.offset = args.integer("offset");
  a.causal = args.integer("causal") != 0;
  a.scale = static_cast<float>(args.real("scale"));
  a.softcap = static_cast<float>(args.real("softcap"));
  a.io = dtype_of(args, "io");
  a.p = dtype_of(args, "p");
  a.exchange = dtype_of(args, "exchange");
  a.pack = args.integer("pack") != 0;
  a.composite = args.integer("gemm") != 0;
  a.overlap = args.integer("overlap") != 0;
  a.tile_keys = args.integer("tile_keys");
  require(a.tile_keys >= 0, "tile_keys", a.tile_keys);
  const std::int64_t items = args.integer("items");
  require(items >= 0 && items <= std::numeric_limits<std::int32_t>::max(), "items", items);
  a.items = static_cast<std::uint32_t>(items);
  return a;
}

void reset(tl::Context& ctx, const RowState& state) {
  ctx.fill(state.m, -std::numeric_limits<float>::infinity());
  ctx.fill(state.l, 0.0F);
  ctx.fill(state.o, 0.0F);
}

void normalize_and_store(tl::Context& ctx, const AttentionArgs& a, const tl::Tensor& o,
                         const tl::Tensor& l, std::uint64_t address) {
  for (std::int64_t first = 0; first < o.rows(); first += kStoreRows) {
    const std::int64_t n = std::min(kStoreRows, o.rows() - first);
    const tl::ScratchScope piece(ctx);
    const tl::Tensor out = ctx.normalize(ctx.rows(o, first, n), ctx.rows(l, first, n), a.io);
    ctx.store(address + static_cast<std::uint64_t>(first) * a.row_bytes(), out);
  }
}

}  // namespace cubevp::kernels
