// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "firmware/kernels/triplet.h"

namespace cubevp::kernels {

/// Makes the answer out of every rank's local state, and stores it to `o_address`.
using Exchange = void (*)(tl::Context& ctx, const AttentionArgs& a, const Triplet& state,
                          std::uint64_t o_address);

/// What kernels of placement sharded_kv have in common: for every item, this rank's partial
/// attention over its shard, then the exchange. Query rows are cut into passes whose state and
/// `exchange_triplets` more triplets fit the scratchpad; the cut depends only on what all ranks
/// have in common, so that they agree on it.
void run_sharded_kv(tl::Context& ctx, const tl::Args& args, std::int64_t exchange_triplets,
                    Exchange exchange);

}  // namespace cubevp::kernels
