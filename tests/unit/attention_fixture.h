// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/base/dtype.h"
#include "hw/base/ids.h"
#include "tests/support/fake_machine.h"

namespace cubevp::test {

enum class Sharding : std::uint8_t { contiguous, striped, zigzag };

/// One layer of attention and how it is run.
struct AttentionCase {
  std::string kernel = "attention_mesh_mlo";
  std::int64_t ranks = 8;
  RankAxis axis = RankAxis::pe;
  std::int64_t q_heads = 8;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 64;
  std::int64_t keys = 130;
  std::int64_t t_q = 1;
  bool causal = true;
  double softcap = 0;
  DType p = DType::f16;
  DType exchange = DType::f32;
  bool pack = true;
  bool composite = false;
  bool overlap = true;
  std::int64_t tile_keys = 0;
  // prefill
  Sharding sharding = Sharding::contiguous;
  std::int64_t slices = 2;
  bool one_active = false;  ///< only the first PE of a cube computes
  // machine
  bool configure_ring = true;
  std::uint64_t scratchpad_bytes = 1 << 20;
  std::uint64_t channel_bytes = 8 * 8192;
  unsigned seed = 1;
};

/// (batch of one) q: q_heads x t_q x d; k, v: kv_heads x keys x d. Values are those of f16.
struct AttentionInputs {
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
};

struct AttentionResult {
  std::unique_ptr<FakeMachine> machine;
  /// One for each rank that holds the whole output (decode), or one (prefill); as q.
  std::vector<std::vector<double>> replicas;
};

AttentionInputs normal_inputs(const AttentionCase& c, double scale = 1.0);
/// Straight from the definition, in double.
std::vector<double> reference(const AttentionCase& c, const AttentionInputs& in);
/// Runs the case on a machine without time.
AttentionResult run_attention(const AttentionCase& c, const AttentionInputs& in);

struct Gate {
  double ulp;
  double rms;
  double nmse;
};
inline constexpr Gate kSeq{0.51, 3e-4, 1.5};
inline constexpr Gate kWire16{1.0, 4e-3, 3.0};
/// Empty when `o` passes the gate against `ref`, else what is wrong.
std::string gate_failure(const std::vector<double>& o, const std::vector<double>& ref,
                         const Gate& gate);

/// Runs the case and checks every replica.
AttentionResult expect_right(const AttentionCase& c, const AttentionInputs& in, const Gate& gate);
AttentionResult expect_right(const AttentionCase& c, const Gate& gate = kWire16);

/// "ranks 8 heads 8/2 d 64 ..."
std::string describe(const AttentionCase& c);

}  // namespace cubevp::test
