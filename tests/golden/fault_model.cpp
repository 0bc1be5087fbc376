// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/fault_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace cubevp::test {
namespace {

using namespace cubevp::platform;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::int64_t kPadding = 32;

float to_f16(float x) {
  return static_cast<float>(double_from_f16(f16_from_double(x)));
}

/// exp(a - b) where -inf minus anything is -inf.
float exp_difference(float a, float b) {
  return a == -kInf ? 0.0F : std::exp(a - b);
}

float max_with_nan(float a, float b) {
  return b > a || std::isnan(b) ? b : a;
}

struct State {
  float m = -kInf;
  float l = 0;
  std::vector<float> o;
};

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

class Model {
 public:
  Model(const TensorInputs& inputs, const ModelConfig& config, Fault fault)
      : inputs_(inputs),
        config_(config),
        shape_(config.shape),
        fault_(fault),
        offset_(has(Fault::causal_top_left)
                    ? 0
                    : config.options.offset.value_or(shape_.s_kv - shape_.t_q)),
        scale_(scale()) {
    for (std::int64_t r = 0; r < config.shards; ++r) {
      shards_.push_back({r * shape_.s_kv / config.shards, (r + 1) * shape_.s_kv / config.shards});
    }
  }

  std::vector<float> row(const RowIndex& at) const {
    std::vector<State> partials;
    for (std::size_t r = 0; r < shards_.size(); ++r) {
      if (skipped(shards_[r], at) || (has(Fault::last_shard_dropped) && r + 1 == shards_.size())) {
        continue;
      }
      partials.push_back(partial(at, r));
      if (has(Fault::first_shard_twice) && r == 0) {
        partials.push_back(partials.front());
      }
    }
    return normalised(combine(partials));
  }

 private:
  bool has(Fault fault) const { return fault_ == fault; }

  float scale() const {
    const auto d = static_cast<double>(shape_.d);
    if (has(Fault::scale_missing)) {
      return 1;
    }
    if (has(Fault::scale_one_over_d)) {
      return static_cast<float>(1 / d);
    }
    if (has(Fault::scale_of_padded_d)) {
      return static_cast<float>(1 / std::sqrt(std::ceil(d / kPadding) * kPadding));
    }
    return static_cast<float>(config_.options.scale.value_or(1 / std::sqrt(d)));
  }

  std::int64_t kv_head(std::int64_t head) const {
    if (has(Fault::gqa_by_modulo)) {
      return head % shape_.kv_heads;
    }
    if (has(Fault::gqa_by_number_of_kv_heads)) {
      return head / shape_.kv_heads % shape_.kv_heads;
    }
    return head / (shape_.q_heads / shape_.kv_heads);
  }

  float element(TensorRole role, std::int64_t batch, std::int64_t head, std::int64_t row,
                std::int64_t col) const {
    const Tensor16& tensor = inputs_.tensor(role);
    const std::int64_t i =
        ((batch * tensor.shape[1] + head) * tensor.shape[2] + row) * shape_.d + col;
    const auto value =
        static_cast<float>(double_from_f16(tensor.bits[static_cast<std::size_t>(i)]));
    return has(Fault::subnormals_flushed) && std::fabs(value) < 0x1p-14F ? 0.0F : value;
  }

  bool visible(const RowIndex& at, std::int64_t key, const Range& shard) const {
    if (!config_.options.causal || has(Fault::causal_ignored)) {
      return true;
    }
    const std::int64_t position = has(Fault::causal_with_local_positions) ? key - shard.begin : key;
    const std::int64_t last = at.t + offset_ - (has(Fault::causal_strict) ? 1 : 0);
    return position <= last;
  }

  /// A rank whose keys are all invisible has nothing to compute.
  bool skipped(const Range& shard, const RowIndex& at) const {
    if (!config_.options.causal || has(Fault::causal_ignored) ||
        has(Fault::causal_with_local_positions)) {
      return false;
    }
    const std::int64_t key = has(Fault::one_step_too_many_skipped) ? shard.end - 1 : shard.begin;
    return key > at.t + offset_;
  }

  float score(const RowIndex& at, std::int64_t key, const Range& shard) const {
    const std::int64_t g = kv_head(at.head);
    float dot = 0;
    for (std::int64_t i = 0; i < shape_.d; ++i) {
      std::int64_t k_row = key;
      std::int64_t k_col = i;
      if (has(Fault::k_reshaped_not_transposed)) {
        const std::int64_t flat = i * (shard.end - shard.begin) + (key - shard.begin);
        k_row = shard.begin + flat / shape_.d;
        k_col = flat % shape_.d;
      }
      dot += element(TensorRole::q, at.batch, at.head, at.t, i) *
             element(TensorRole::k, at.batch, g, k_row, k_col);
    }
    if (has(Fault::scores_in_f16)) {
      dot = to_f16(dot);
    }
    const float scaled = dot * scale_;
    const auto cap = static_cast<float>(config_.options.softcap);
    return cap > 0 && !has(Fault::softcap_ignored) ? cap * std::tanh(scaled / cap) : scaled;
  }

  float first_max() const {
    switch (fault_) {
      case Fault::sentinel_1e4:  // of unscaled scores
        return -1e4F * scale_;
      case Fault::sentinel_5e4:
        return -5e4F * scale_;
      case Fault::max_started_at_zero:
      case Fault::no_running_max:
        return 0;
      default:
        return -kInf;
    }
  }

  State partial(const RowIndex& at, std::size_t rank) const {
    const Range& shard = shards_[rank];
    State state{first_max(), 0, std::vector<float>(static_cast<std::size_t>(shape_.d), 0.0F)};
    for (std::int64_t key = shard.begin; key < shard.end; key += config_.tile) {
      add_tile(state, at, key, rank);
    }
    return state;
  }

  void add_tile(State& state, const RowIndex& at, std::int64_t first, std::size_t rank) const {
    const Range& shard = shards_[rank];
    std::vector<float> scores(static_cast<std::size_t>(config_.tile), -kInf);
    float m = state.m;
    for (std::int64_t j = 0; j < config_.tile; ++j) {
      float& s = scores[static_cast<std::size_t>(j)];
      if (first + j >= shard.end) {
        s = has(Fault::padding_counted_in_l) ? 0.0F : -kInf;
      } else if (visible(at, first + j, shard)) {
        s = score(at, first + j, shard);
      }
      if (!has(Fault::no_running_max)) {
        m = max_with_nan(m, s);
      }
    }
    const float alpha = exp_difference(state.m, m);
    state.m = m;
    state.l *= alpha;
    for (float& o : state.o) {
      o *= alpha;
    }
    for (std::int64_t j = 0; j < config_.tile; ++j) {
      add_key(state, at, first + j, scores[static_cast<std::size_t>(j)], rank);
    }
  }

  void add_key(State& state, const RowIndex& at, std::int64_t key, float s,
               std::size_t rank) const {
    float p = exp_difference(s, state.m);
    if (has(Fault::exp_in_f16)) {
      p = s == -kInf ? 0.0F : to_f16(std::exp(to_f16(s - state.m)));
    }
    state.l += p;
    if (has(Fault::l_in_f16)) {
      state.l = to_f16(state.l);
    }
    const bool in_shard = key < shards_[rank].end;
    if (!in_shard || (s == -kInf && !has(Fault::masked_nan_leaks))) {
      return;
    }
    const float factor = config_.p_f16 ? to_f16(p) : p;
    const std::int64_t v_key = value_key(key, rank);
    for (std::int64_t i = 0; i < shape_.d; ++i) {
      float& o = state.o[static_cast<std::size_t>(i)];
      o += factor * element(TensorRole::v, at.batch, kv_head(at.head), v_key, i);
      if (has(Fault::o_in_f16)) {
        o = to_f16(o);
      }
    }
  }

  /// Key whose V goes with the K of `key`.
  std::int64_t value_key(std::int64_t key, std::size_t rank) const {
    if (!has(Fault::v_lags_one_step)) {
      return key;
    }
    const Range& behind = shards_[(rank + shards_.size() - 1) % shards_.size()];
    return std::clamp(behind.begin + key - shards_[rank].begin, std::int64_t{0},
                      std::max(behind.end, std::int64_t{1}) - 1);
  }

  float merge_weight(float part, float m) const {
    switch (fault_) {
      case Fault::merge_without_max:
        return std::exp(part);
      case Fault::nan_from_merging_empty_states:
        return std::exp(part - m);
      default:
        return exp_difference(part, m);
    }
  }

  State combine(const std::vector<State>& partials) const {
    State total{-kInf, 0, std::vector<float>(static_cast<std::size_t>(shape_.d), 0.0F)};
    if (has(Fault::average_without_l) || has(Fault::mixed_log_bases)) {
      return combine_normalised(partials, total);
    }
    for (const State& next : partials) {
      const float m = max_with_nan(total.m, next.m);
      const bool without_max = has(Fault::merge_without_max);
      const float a = merge_weight(total.m, m);
      const float b = merge_weight(next.m, m);
      total.m = without_max ? 0 : m;
      total.l = a * total.l + b * next.l;
      for (std::size_t i = 0; i < total.o.size(); ++i) {
        total.o[i] = has(Fault::o_not_rescaled_in_merge) ? total.o[i] + next.o[i]
                                                         : a * total.o[i] + b * next.o[i];
      }
    }
    return total;
  }

  /// The two mistakes of merging outputs that are normalised already.
  State combine_normalised(const std::vector<State>& partials, State total) const {
    const auto logarithm = [this](const State& s) {
      return has(Fault::average_without_l) ? s.m
                                           : (s.m + std::log(s.l)) / std::log(2.0F);  // base 2
    };
    for (const State& s : partials) {
      total.m = s.l > 0 ? std::max(total.m, logarithm(s)) : total.m;
    }
    for (const State& s : partials) {
      const float weight = s.l > 0 ? std::exp(logarithm(s) - total.m) : 0.0F;
      total.l += weight;
      for (std::size_t i = 0; i < total.o.size(); ++i) {
        total.o[i] += s.l > 0 ? weight * (s.o[i] / s.l) : 0.0F;
      }
    }
    return total;
  }

  std::vector<float> normalised(State state) const {
    for (float& o : state.o) {
      o = state.l == 0 && !has(Fault::nan_from_empty_row) ? 0.0F : o / state.l;
    }
    return state.o;
  }

  const TensorInputs& inputs_;
  const ModelConfig& config_;
  const AttentionShape& shape_;
  const Fault fault_;
  const std::int64_t offset_;
  const float scale_;
  std::vector<Range> shards_;
};

}  // namespace

Tensor16 run_model(const TensorInputs& inputs, const ModelConfig& config, Fault fault) {
  const Model model(inputs, config, fault);
  Tensor16 o{DType::f16, tensor_shape(TensorRole::q, config.shape), {}};
  for (const RowIndex& at : all_rows(config.shape)) {
    for (const float value : model.row(at)) {
      o.bits.push_back(f16_from_double(value));
    }
  }
  return o;
}

}  // namespace cubevp::test
