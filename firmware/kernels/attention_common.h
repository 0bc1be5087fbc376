// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "firmware/tl/context.h"

namespace cubevp::kernels {

/// The arguments that all attention kernels share; see attention_args.h.
struct AttentionArgs {
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  RankAxis axis = RankAxis::pe;
  std::int64_t head_dim = 0;
  std::int64_t t_q = 1;
  std::int64_t offset = 0;
  bool causal = false;
  float scale = 1.0F;
  float softcap = 0.0F;
  DType io = DType::f16;
  DType p = DType::f16;
  DType exchange = DType::f32;
  bool pack = true;
  bool composite = false;
  bool overlap = true;
  std::int64_t tile_keys = 0;
  std::uint32_t items = 0;

  /// Throws tl::KernelFault when a value cannot be.
  static AttentionArgs from(const tl::Args& args);

  std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(head_dim) * size_bytes(io); }
};

/// Running state of some query rows: maximum, sum and unnormalised output, f32.
struct RowState {
  tl::Tensor q;                ///< (rows, head_dim)
  tl::Tensor m;                ///< (rows, 1)
  tl::Tensor l;                ///< (rows, 1)
  tl::Tensor o;                ///< (rows, head_dim)
  std::int64_t first_row = 0;  ///< of the mask: row r is query (first_row + r) % t_q
};

/// The state before any key: (-inf, 0, 0).
void reset(tl::Context& ctx, const RowState& state);

/// Stores o / l of every row to `address`; works in pieces, so that little scratchpad is needed.
void normalize_and_store(tl::Context& ctx, const AttentionArgs& a, const tl::Tensor& o,
                         const tl::Tensor& l, std::uint64_t address);

}  // namespace cubevp::kernels
