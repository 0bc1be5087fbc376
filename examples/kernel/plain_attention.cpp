// SPDX-License-Identifier: Apache-2.0
#include <cubevp/firmware/tl/context.h>

// Attention in its plainest form: all keys of a head at once, on one rank. See docs/kernels.md.

namespace {

using namespace cubevp;

void plain_attention(tl::Context& ctx, const tl::Args& args) {
  const auto io = static_cast<DType>(args.integer("io"));
  const std::int64_t head_dim = args.integer("head_dim");

  Epilogue epilogue;
  epilogue.scale = static_cast<float>(args.real("scale"));

  for (std::uint32_t item = 0; item < args.integer("items"); ++item) {
    const tl::ScratchScope scope(ctx);
    const auto address = [&](const char* name) {
      return static_cast<std::uint64_t>(args.integer(name, item));
    };
    const std::int64_t rows = args.integer("rows", item);
    const std::int64_t keys = args.integer("keys", item);

    ctx.phase("attention");
    const tl::Tensor q = ctx.load(address("q"), {rows, head_dim}, io);
    const tl::Tensor k = ctx.load(address("k"), {keys, head_dim}, io);
    const tl::Tensor v = ctx.load(address("v"), {keys, head_dim}, io);
    const tl::Tensor scores = ctx.dot(q, ctx.trans(k), epilogue);  // (rows, keys) f32
    const tl::Tensor p = ctx.cast(ctx.softmax(scores), io);
    ctx.store(address("o"), ctx.cast(ctx.dot(p, v), io));
    ctx.count("tiles");
  }
}

}  // namespace

extern "C" void cubevp_register_kernels(cubevp::tl::KernelRegistry& registry) {
  registry.add({"plain_attention", "decode on one rank, all keys in the scratchpad at once",
                tl::Placement::sharded_kv, /*needs_ring=*/false, plain_attention});
}
