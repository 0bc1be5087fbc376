// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/tl/context.h"

namespace cubevp::kernels {

/// Decode. Partial attention over this rank's shard of the keys, then the original (m, l, O) of
/// every rank travels along the open chain of ranks, eastbound and westbound at once: what starts
/// at rank i reaches rank j at step |i - j|. All ranks end with the whole answer.
void attention_mesh_mlo(tl::Context& ctx, const tl::Args& args);

/// Decode over a closed ring of ranks: reduce-scatter of (m, l, O) by rows, then all-gather of the
/// finished rows.
void attention_ring_mlo(tl::Context& ctx, const tl::Args& args);

/// Decode over an open chain of ranks, a power of two of them: recursive doubling, log2 n merges.
/// Partners are 1, 2, 4, ... ranks apart, and the ranks between them pass their messages on.
void attention_tree_mlo(tl::Context& ctx, const tl::Args& args);

/// Prefill. Each PE keeps its query rows; the blocks of K and V pass westwards around the ring of
/// cubes, transfer and computation overlapping.
void gqa_prefill_ring(tl::Context& ctx, const tl::Args& args);

/// The kernels of the firmware image, in a fixed order.
void register_kernels(tl::KernelRegistry& registry);

}  // namespace cubevp::kernels
