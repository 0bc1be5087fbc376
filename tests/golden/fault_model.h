// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "platform/check/reference.h"
#include "platform/check/tensors.h"

namespace cubevp::test {

/// Mistakes that attention kernels are known for.
enum class Fault : std::uint8_t {
  none,
  average_without_l,
  mixed_log_bases,
  last_shard_dropped,
  first_shard_twice,
  v_lags_one_step,
  o_not_rescaled_in_merge,
  scale_missing,
  scale_one_over_d,
  scale_of_padded_d,
  gqa_by_modulo,
  gqa_by_number_of_kv_heads,
  k_reshaped_not_transposed,
  causal_ignored,
  causal_top_left,
  causal_strict,
  causal_with_local_positions,
  one_step_too_many_skipped,
  sentinel_1e4,
  sentinel_5e4,
  nan_from_empty_row,
  nan_from_merging_empty_states,
  padding_counted_in_l,
  softcap_ignored,
  no_running_max,
  max_started_at_zero,
  merge_without_max,
  scores_in_f16,
  exp_in_f16,
  l_in_f16,
  o_in_f16,
  subnormals_flushed,
  masked_nan_leaks,
};

struct ModelConfig {
  platform::AttentionShape shape;
  platform::AttentionOptions options;
  std::int64_t shards = 4;  ///< keys are split evenly over so many ranks
  std::int64_t tile = 4;    ///< keys in a step of the online softmax; the last tile is padded
  bool p_f16 = true;        ///< P is rounded to f16 before it multiplies V
};

/// A kernel in miniature: each rank runs an online softmax in f32 over tiles of its keys, the
/// partial states (m, l, O) are merged, and O is divided by l once. With a fault switched on it
/// makes that mistake and no other.
platform::Tensor16 run_model(const platform::TensorInputs& inputs, const ModelConfig& config,
                             Fault fault);

}  // namespace cubevp::test
