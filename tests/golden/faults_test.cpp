// SPDX-License-Identifier: Apache-2.0
// The gates notice every known mistake, and do not mind a right kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "platform/check/gates.h"
#include "platform/check/inputs.h"
#include "tests/golden/fault_model.h"

namespace cubevp::test {
namespace {

using namespace cubevp::platform;

struct Situation {
  std::string name;
  ModelConfig config;
  TensorInputs inputs;
};

TensorInputs generated(std::string_view dist, const AttentionShape& shape) {
  const GeneratedInputs g(dist, 7, shape, DType::f16);
  return TensorInputs(g.tensor(TensorRole::q), g.tensor(TensorRole::k), g.tensor(TensorRole::v));
}

AttentionOptions causal() {
  AttentionOptions options;
  options.causal = true;
  return options;
}

/// One key at score 8.5037, 4915 at 0: together they weigh as much as it does, and their values
/// nearly cancel. exp(-8.5037) is 0.4 % off when its argument is rounded to f16.
Situation balanced_tail() {
  AttentionShape shape{1, 1, 1, 1, 4916, 8};
  AttentionOptions options;
  options.scale = 1;
  const auto fill = [](std::vector<std::int64_t> extents, double value) {
    Tensor16 tensor{DType::f16, std::move(extents), {}};
    tensor.bits.assign(static_cast<std::size_t>(element_count(tensor.shape)),
                       f16_from_double(value));
    return tensor;
  };
  Tensor16 q = fill(tensor_shape(TensorRole::q, shape), 1);
  Tensor16 k = fill(tensor_shape(TensorRole::k, shape), 0);
  Tensor16 v = fill(tensor_shape(TensorRole::v, shape), -0.8);
  k.bits[0] = f16_from_double(8.5);
  k.bits[1] = f16_from_double(0.0037);
  std::fill_n(v.bits.begin(), shape.d, f16_from_double(1));
  return {"balanced_tail",
          {shape, options, 4, 64},
          TensorInputs(std::move(q), std::move(k), std::move(v))};
}

std::vector<Situation> situations() {
  std::vector<Situation> list;
  const auto add = [&list](const std::string& dist, const AttentionShape& shape,
                           const AttentionOptions& options = {}, std::int64_t tile = 4) {
    list.push_back({dist + (options.causal ? " causal" : "") + " #" + std::to_string(list.size()),
                    {shape, options, 4, tile},
                    generated(dist, shape)});
  };
  const AttentionShape odd{1, 4, 2, 5, 37, 24};
  for (const char* dist :
       {"normal", "uniform", "peaked", "ones", "zeros", "zero_scores", "shard_ramp", "one_hot",
        "alternating", "alternating_scores", "ascending", "descending", "long_prefix_short_suffix",
        "subnormal", "subnormal_qk", "v_max", "neg_zero", "inf_v", "nan_q_row"}) {
    add(dist, odd);
    add(dist, odd, causal());
  }
  add("normal", {2, 8, 2, 3, 19, 59}, causal());
  add("normal", {1, 4, 2, 9, 5, 16}, causal());  // queries that see nothing
  add("normal", {1, 4, 2, 1, 2, 64});            // ranks without keys
  add("head_tag", {1, 8, 2, 1, 16, 32});
  add("lse_gap", {1, 4, 2, 3, 64, 64});
  add("lse_gap2", {1, 4, 2, 1, 64, 64});
  add("l_gap", {1, 4, 2, 1, 64, 64});
  add("below_sentinel", {1, 8, 4, 1, 64, 128});
  add("score_overflow_const", {1, 2, 1, 1, 32, 128});
  add("large", {1, 4, 2, 3, 37, 64});
  add("masked_dominates", {1, 2, 1, 16, 16, 32}, causal());
  add("zero_scores_ones", {1, 1, 1, 1, 12000, 4}, {}, 50);
  AttentionOptions capped = causal();
  capped.softcap = 2;
  add("peaked", odd, capped);
  // Exactly the NaN are out of sight.
  AttentionOptions tail = causal();
  tail.offset = odd.s_kv - odd.t_q - odd.s_kv / 4;
  add("nan_in_masked_tail", odd, tail);
  list.push_back(balanced_tail());
  return list;
}

CheckResult check(const Situation& s, Fault fault, Gate gate, bool p_f16) {
  ModelConfig config = s.config;
  config.p_f16 = p_f16;
  const ReferenceResult reference = reference_attention(s.inputs, config.shape, config.options);
  return check_output(run_model(s.inputs, config, fault), reference, config.shape, gate);
}

TEST(RightModel, PassesTheDefaultGateOnAllInputs) {
  for (const Situation& s : situations()) {
    const CheckResult result = check(s, Fault::none, Gate::wire16, true);
    EXPECT_EQ(result.status, CheckStatus::pass) << s.name << ": " << result.message;
  }
}

TEST(RightModel, PassesTheGateForF32OnAllInputs) {
  for (const Situation& s : situations()) {
    const CheckResult result = check(s, Fault::none, Gate::seq, false);
    EXPECT_EQ(result.status, CheckStatus::pass) << s.name << ": " << result.message;
  }
}

/// The names of the inputs on which the fault fails the default gate.
std::vector<std::string> noticed_by(Fault fault) {
  std::vector<std::string> names;
  for (const Situation& s : situations()) {
    if (check(s, fault, Gate::wire16, true).status == CheckStatus::fail) {
      names.push_back(s.name);
    }
  }
  return names;
}

void expect_noticed(Fault fault) {
  const std::vector<std::string> names = noticed_by(fault);
  EXPECT_FALSE(names.empty());
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  testing::Test::RecordProperty("noticed_by", text);
}

TEST(FaultIsNoticed, AverageWithoutL) {
  expect_noticed(Fault::average_without_l);
}
TEST(FaultIsNoticed, MixedLogBases) {
  expect_noticed(Fault::mixed_log_bases);
}
TEST(FaultIsNoticed, LastShardDropped) {
  expect_noticed(Fault::last_shard_dropped);
}
TEST(FaultIsNoticed, FirstShardTwice) {
  expect_noticed(Fault::first_shard_twice);
}
TEST(FaultIsNoticed, VLagsOneStep) {
  expect_noticed(Fault::v_lags_one_step);
}
TEST(FaultIsNoticed, ONotRescaledInMerge) {
  expect_noticed(Fault::o_not_rescaled_in_merge);
}
TEST(FaultIsNoticed, ScaleMissing) {
  expect_noticed(Fault::scale_missing);
}
TEST(FaultIsNoticed, ScaleOneOverD) {
  expect_noticed(Fault::scale_one_over_d);
}
TEST(FaultIsNoticed, ScaleOfPaddedD) {
  expect_noticed(Fault::scale_of_padded_d);
}
TEST(FaultIsNoticed, GqaByModulo) {
  expect_noticed(Fault::gqa_by_modulo);
}
TEST(FaultIsNoticed, GqaByNumberOfKvHeads) {
  expect_noticed(Fault::gqa_by_number_of_kv_heads);
}
TEST(FaultIsNoticed, KReshapedNotTransposed) {
  expect_noticed(Fault::k_reshaped_not_transposed);
}
TEST(FaultIsNoticed, CausalIgnored) {
  expect_noticed(Fault::causal_ignored);
}
TEST(FaultIsNoticed, CausalTopLeft) {
  expect_noticed(Fault::causal_top_left);
}
TEST(FaultIsNoticed, CausalStrict) {
  expect_noticed(Fault::causal_strict);
}
TEST(FaultIsNoticed, CausalWithLocalPositions) {
  expect_noticed(Fault::causal_with_local_positions);
}
TEST(FaultIsNoticed, OneStepTooManySkipped) {
  expect_noticed(Fault::one_step_too_many_skipped);
}
TEST(FaultIsNoticed, Sentinel1e4) {
  expect_noticed(Fault::sentinel_1e4);
}
TEST(FaultIsNoticed, Sentinel5e4) {
  expect_noticed(Fault::sentinel_5e4);
}
TEST(FaultIsNoticed, NanFromEmptyRow) {
  expect_noticed(Fault::nan_from_empty_row);
}
TEST(FaultIsNoticed, NanFromMergingEmptyStates) {
  expect_noticed(Fault::nan_from_merging_empty_states);
}
TEST(FaultIsNoticed, PaddingCountedInL) {
  expect_noticed(Fault::padding_counted_in_l);
}
TEST(FaultIsNoticed, SoftcapIgnored) {
  expect_noticed(Fault::softcap_ignored);
}
TEST(FaultIsNoticed, NoRunningMax) {
  expect_noticed(Fault::no_running_max);
}
TEST(FaultIsNoticed, MaxStartedAtZero) {
  expect_noticed(Fault::max_started_at_zero);
}
TEST(FaultIsNoticed, MergeWithoutMax) {
  expect_noticed(Fault::merge_without_max);
}
TEST(FaultIsNoticed, ScoresInF16) {
  expect_noticed(Fault::scores_in_f16);
}
TEST(FaultIsNoticed, ExpInF16) {
  expect_noticed(Fault::exp_in_f16);
}
TEST(FaultIsNoticed, LInF16) {
  expect_noticed(Fault::l_in_f16);
}
TEST(FaultIsNoticed, OInF16) {
  expect_noticed(Fault::o_in_f16);
}
TEST(FaultIsNoticed, SubnormalsFlushed) {
  expect_noticed(Fault::subnormals_flushed);
}
TEST(FaultIsNoticed, MaskedNanLeaks) {
  expect_noticed(Fault::masked_nan_leaks);
}

}  // namespace
}  // namespace cubevp::test
