// SPDX-License-Identifier: Apache-2.0
#include "platform/report/exchange_latency.h"

#include <algorithm>

#include "hw/noc/noc_timing.h"

namespace cubevp::platform {

namespace {

/// Idle path of a message of `bytes` to the next rank: software cost, hop, bytes at the speed of
/// the PE's network port.
Ps message_ps(const RunConfig& config, std::int64_t bytes) {
  const hw::SystemConfig& h = config.hardware;
  const Ps stream =
      Bandwidth{h.noc.bytes_per_s()}.serialisation_ps(static_cast<std::uint64_t>(bytes));
  const Ps hop = config.workload.rank_axis == RankAxis::pe
                     ? hw::noc_one_way_ps(h.noc, 1, 0) - hw::noc_serialisation_ps(h.noc, 0)
                     // A package link takes longer, so this is the least.
                     : h.link.neighbour_latency_ps - hw::noc_serialisation_ps(h.noc, 0);
  return h.pe.message_queue.software_cost_ps + std::max<Ps>(hop, 0) + stream;
}

}  // namespace

Ps exchange_latency_ps(const RunConfig& config) {
  const WorkloadConfig& w = config.workload;
  const std::int64_t n = w.ranks;
  if (n <= 1) {
    return 0;
  }
  if (w.kernel == "gqa_prefill_ring") {
    const std::int64_t pes = config.hardware.pes_per_cube();
    const std::int64_t slice = w.context / n / (w.pe_tiling ? pes : 1) * w.head_dim * 2;
    return (n - 1) * message_ps(config, slice);
  }
  // One query row of (m, l, O) at least; several items share no message.
  const std::int64_t value = w.exchange == Exchange::f32 ? 4 : 2;
  const std::int64_t row = (w.head_dim + 2) * value;
  if (w.kernel == "attention_mesh_mlo") {
    return (n - 1) * message_ps(config, row);
  }
  if (w.kernel == "attention_ring_mlo") {
    return 2 * (n - 1) * message_ps(config, w.head_dim * 2);
  }
  if (w.kernel == "attention_tree_mlo") {
    Ps sum = 0;
    for (std::int64_t reach = 1; reach < n; reach *= 2) {
      sum += message_ps(config, row);
    }
    return sum;
  }
  return 0;
}

}  // namespace cubevp::platform
