// SPDX-License-Identifier: Apache-2.0
#include "firmware/kernels/kernels.h"

namespace cubevp::kernels {

void register_kernels(tl::KernelRegistry& registry) {
  registry.add({"attention_mesh_mlo",
                "decode: local partial attention, bidirectional fan-out of (m, l, O) on an open "
                "chain of ranks",
                tl::Placement::sharded_kv, false, attention_mesh_mlo});
  registry.add({"attention_ring_mlo",
                "decode: local partial attention, reduce-scatter and all-gather of (m, l, O) on a "
                "closed ring of ranks",
                tl::Placement::sharded_kv, true, attention_ring_mlo});
  registry.add({"attention_tree_mlo",
                "decode: local partial attention, recursive doubling of (m, l, O) on an open chain "
                "of 2^k ranks",
                tl::Placement::sharded_kv, false, attention_tree_mlo});
  registry.add({"gqa_prefill_ring",
                "prefill: query rows stay, blocks of K and V rotate around a ring of cubes",
                tl::Placement::ring_kv, true, gqa_prefill_ring});
}

}  // namespace cubevp::kernels
