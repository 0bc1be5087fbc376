// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/tl/kernel.h"
#include "hw/base/address_map.h"
#include "platform/config/run_config.h"
#include "platform/host/topology.h"

namespace cubevp::platform {

enum class TensorKind : std::uint8_t { q, k, v, o };

/// Rows of a host tensor that lie contiguously in the machine's memory. Host tensors are seen as
/// (rows x head_dim): Q and O row = (batch, head, query), K and V row = (batch, kv head, key).
struct TensorRegion {
  TensorKind kind = TensorKind::q;
  Address address = 0;
  std::int64_t first_row = 0;
  std::int64_t row_step = 1;
  std::int64_t rows = 0;
  /// o: which of the replicas of these rows this is, 0 being the one that is checked.
  std::int64_t replica = 0;
};

/// One PE's share of a run.
struct PeLaunch {
  CubeId cube{};
  PeId pe{};
  Address args_address = 0;
  tl::Args args;
};

/// Everything the driver does before it starts the PEs, and where it finds the result.
struct Placement {
  std::vector<SfrWrite> sfr_writes;
  std::vector<TensorRegion> inputs;
  std::vector<TensorRegion> outputs;
  std::vector<PeLaunch> launches;
  std::int64_t chains = 0;    ///< independent chains of ranks
  std::int64_t replicas = 1;  ///< copies of each output row
};

/// Places a workload: which PE works on what, and where its tensors lie. Throws
/// std::invalid_argument with one line when it does not fit (ranks beyond the hardware, a slab
/// that is too small).
Placement place(const RunConfig& config, const tl::KernelInfo& kernel);

}  // namespace cubevp::platform
