// SPDX-License-Identifier: Apache-2.0
#include "platform/check/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "platform/check/f64_product.h"
#include "platform/check/inputs.h"

namespace cubevp::platform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TensorInputs tensors(const InputSource& source, const AttentionShape& shape) {
  const auto all = [&](TensorRole role) {
    Tensor16 tensor{source.dtype(), tensor_shape(role, shape), {}};
    tensor.bits.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    source.read(role, 0, tensor.bits.data(), tensor.bits.size());
    return tensor;
  };
  return TensorInputs(all(TensorRole::q), all(TensorRole::k), all(TensorRole::v));
}

/// The definition with three loops and nothing else.
std::vector<double> slow_row(const TensorInputs& inputs, const AttentionShape& s,
                             const AttentionOptions& options, const RowIndex& at) {
  const auto value = [&](TensorRole role, std::int64_t head, std::int64_t row, std::int64_t i) {
    const Tensor16& t = inputs.tensor(role);
    return widen(t.bits[static_cast<std::size_t>(
                     ((at.batch * t.shape[1] + head) * t.shape[2] + row) * s.d + i)],
                 t.dtype);
  };
  const std::int64_t g = at.head / (s.q_heads / s.kv_heads);
  const std::int64_t offset = options.offset.value_or(s.s_kv - s.t_q);
  std::vector<double> scores;
  for (std::int64_t j = 0; j < s.s_kv && (!options.causal || j <= at.t + offset); ++j) {
    double dot = 0;
    for (std::int64_t i = 0; i < s.d; ++i) {
      dot += value(TensorRole::q, at.head, at.t, i) * value(TensorRole::k, g, j, i);
    }
    const double x = dot * options.scale.value_or(1 / std::sqrt(static_cast<double>(s.d)));
    scores.push_back(options.softcap > 0 ? options.softcap * std::tanh(x / options.softcap) : x);
  }
  double m = -kInf;
  for (const double x : scores) {
    m = std::max(m, x);
  }
  long double l = 0;
  std::vector<long double> sums(static_cast<std::size_t>(s.d), 0);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double p = std::exp(scores[j] - m);
    l += p;
    for (std::int64_t i = 0; i < s.d; ++i) {
      sums[static_cast<std::size_t>(i)] +=
          p * static_cast<long double>(value(TensorRole::v, g, static_cast<std::int64_t>(j), i));
    }
  }
  std::vector<double> o;
  for (const long double sum : sums) {
    o.push_back(scores.empty() ? 0 : static_cast<double>(sum / l));
  }
  return o;
}

void expect_matches_definition(const AttentionShape& shape, const AttentionOptions& options,
                               DType type = DType::f16) {
  const TensorInputs inputs = tensors(GeneratedInputs("normal", 11, shape, type), shape);
  const ReferenceResult result = reference_attention(inputs, shape, options);
  ASSERT_EQ(static_cast<std::int64_t>(result.rows.size()), shape.batch * shape.q_heads * shape.t_q);
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    const std::vector<double> expected = slow_row(inputs, shape, options, result.rows[r]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(result.o[r * expected.size() + i], expected[i], 1e-13) << r << " " << i;
    }
  }
}

TEST(Reference, MatchesTheDefinitionInManyShapes) {
  AttentionOptions causal;
  causal.causal = true;
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 1, 1}, AttentionShape{1, 4, 2, 5, 37, 24},
        AttentionShape{2, 6, 3, 9, 5, 59}, AttentionShape{1, 7, 1, 3, 256, 16},
        AttentionShape{1, 2, 1, 140, 257, 17}, AttentionShape{3, 2, 2, 1, 600, 40}}) {
    expect_matches_definition(shape, {});
    expect_matches_definition(shape, causal);
    expect_matches_definition(shape, causal, DType::bf16);
  }
}

TEST(Reference, MatchesTheDefinitionWithEveryAttribute) {
  AttentionOptions options;
  options.causal = true;
  options.scale = 0.3;
  options.softcap = 2;
  for (const std::int64_t offset : {-4, 0, 20, 1000}) {
    options.offset = offset;
    expect_matches_definition({1, 4, 2, 6, 37, 24}, options);
  }
}

TEST(Reference, DoesNotDependOnThreadsNorOnWhichRowsAreAsked) {
  const AttentionShape shape{2, 8, 2, 40, 300, 32};
  const GeneratedInputs inputs("peaked", 1, shape, DType::f16);
  AttentionOptions options;
  options.causal = true;
  const ReferenceResult one = reference_attention(inputs, shape, options);
  options.threads = 4;
  const ReferenceResult four = reference_attention(inputs, shape, options);
  EXPECT_EQ(one.o, four.o);
  EXPECT_EQ(one.l, four.l);
  const auto d = static_cast<std::size_t>(shape.d);
  const ReferenceResult some = reference_attention(inputs, shape, options, sample_rows(shape, 23));
  ASSERT_EQ(some.rows.size(), 23U);
  for (std::size_t r = 0; r < some.rows.size(); ++r) {
    const RowIndex& at = some.rows[r];
    const auto row =
        static_cast<std::size_t>((at.batch * shape.q_heads + at.head) * shape.t_q + at.t);
    for (std::size_t i = 0; i < d; ++i) {
      ASSERT_EQ(some.o[r * d + i], one.o[row * d + i]);
    }
  }
}

TEST(Reference, GivesTheStateOfTheSoftmax) {
  const AttentionShape shape{1, 1, 1, 2, 1000, 4};
  const GeneratedInputs zeros("zero_scores", 1, shape, DType::f16);
  AttentionOptions options;
  options.causal = true;
  const ReferenceResult result = reference_attention(zeros, shape, options);
  EXPECT_EQ(result.m[0], 0);
  EXPECT_EQ(result.l[0], 999);
  EXPECT_EQ(result.l[1], 1000);
  EXPECT_DOUBLE_EQ(result.lse[1], std::log(1000));
}

TEST(Reference, RowWithoutKeysIsZero) {
  AttentionOptions options;
  options.causal = true;
  options.offset = -1;
  const AttentionShape shape{1, 1, 1, 2, 8, 4};
  const ReferenceResult result =
      reference_attention(GeneratedInputs("normal", 1, shape, DType::f16), shape, options);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.o[i], 0);
    EXPECT_NE(result.o[4 + i], 0);
  }
  EXPECT_EQ(result.m[0], -kInf);
  EXPECT_EQ(result.l[0], 0);
  EXPECT_EQ(result.lse[0], -kInf);
  const AttentionShape empty{1, 2, 1, 3, 0, 4};
  const ReferenceResult nothing =
      reference_attention(GeneratedInputs("normal", 1, empty, DType::f16), empty, {});
  EXPECT_EQ(nothing.o, std::vector<double>(24, 0.0));
}

TEST(Reference, WhatIsMaskedNeverLeaks) {
  const AttentionShape shape{1, 2, 1, 4, 600, 8};
  const GeneratedInputs poisoned("nan_in_masked_tail", 1, shape, DType::f16);
  const GeneratedInputs clean("normal", 1, shape, DType::f16);
  AttentionOptions options;
  options.causal = true;
  options.offset = shape.s_kv - shape.s_kv / 4 - shape.t_q;  // the last query sees all but the NaN
  EXPECT_EQ(reference_attention(poisoned, shape, options).o,
            reference_attention(clean, shape, options).o);
  options.offset = *options.offset + 1;  // now it sees one
  const ReferenceResult result = reference_attention(poisoned, shape, options);
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    EXPECT_EQ(std::isnan(result.o[r * 8]), result.rows[r].t == 3);
  }
}

TEST(Reference, NonFiniteInputsFollowIeee) {
  const AttentionShape shape{1, 1, 1, 2, 5, 3};
  const ReferenceResult inf =
      reference_attention(GeneratedInputs("inf_v", 1, shape, DType::f16), shape, {});
  EXPECT_EQ(inf.o[0], kInf);
  EXPECT_TRUE(std::isfinite(inf.o[1]));
  const ReferenceResult nan =
      reference_attention(GeneratedInputs("nan_q_row", 1, shape, DType::f16), shape, {});
  EXPECT_TRUE(std::isnan(nan.o[0]));
  EXPECT_TRUE(std::isnan(nan.o[2]));
  EXPECT_TRUE(std::isfinite(nan.o[3]));
}

TEST(Reference, SamplesAreSpreadAndDifferent) {
  const AttentionShape shape{2, 64, 8, 512, 512, 8};
  const std::vector<RowIndex> rows = sample_rows(shape, 64);
  ASSERT_EQ(rows.size(), 64U);
  EXPECT_EQ(rows.front().batch + rows.front().head + rows.front().t, 0);
  EXPECT_EQ(rows.back().batch, 1);
  EXPECT_EQ(rows.back().head, 63);
  EXPECT_EQ(rows.back().t, 511);
  std::vector<bool> kv_heads(16);
  for (const RowIndex& row : rows) {
    kv_heads[static_cast<std::size_t>(row.batch * 8 + row.head / 8)] = true;
  }
  EXPECT_EQ(std::count(kv_heads.begin(), kv_heads.end(), true), 16);
  EXPECT_EQ(sample_rows({1, 2, 1, 3, 9, 8}, 100).size(), 6U);
}

TEST(Reference, RefusesWhatIsNoAttention) {
  const AttentionShape shape{1, 3, 2, 1, 4, 8};
  const GeneratedInputs inputs("normal", 1, shape, DType::f16);
  EXPECT_THROW(reference_attention(inputs, shape, {}), std::invalid_argument);
  const AttentionShape good{1, 4, 2, 1, 4, 8};
  EXPECT_THROW(reference_attention(inputs, good, {}, {{0, 4, 0}}), std::invalid_argument);
}

TEST(Reference, FailureOfTheSourceReachesTheCaller) {
  class Broken final : public InputSource {
    DType dtype() const override { return DType::f16; }
    void read(TensorRole, std::int64_t, std::uint16_t*, std::size_t) const override {
      throw std::runtime_error("disk gone");
    }
  };
  AttentionOptions options;
  options.threads = 3;
  EXPECT_THROW(reference_attention(Broken(), {1, 8, 8, 1, 4, 8}, options), std::runtime_error);
}

TEST(F64Product, MatchesSumsInOrder) {
  constexpr std::size_t kDepth = 21;
  constexpr std::size_t kCols = 2 * kF64ColumnUnit;
  for (std::size_t rows = 1; rows <= 19; ++rows) {
    std::vector<double> a(rows * kDepth);
    std::vector<double> b(kDepth * kCols);
    std::vector<double> c(rows * kCols, kInf);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<double>(i % 13) - 6;
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = static_cast<double>(i % 17) - 8;
    }
    f64_product({a.data(), kDepth}, {b.data(), kCols}, rows, kDepth, kCols, c.data(), kCols);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < kCols; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
          sum += a[r * kDepth + k] * b[k * kCols + j];
        }
        ASSERT_EQ(c[r * kCols + j], sum);  // integers: exact
      }
    }
  }
}

}  // namespace
}  // namespace cubevp::platform
