// SPDX-License-Identifier: Apache-2.0
#include "platform/check/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "platform/check/philox.h"

namespace cubevp::platform {
namespace {

const AttentionShape kShape{2, 4, 2, 5, 37, 24};

TEST(Philox, KnownAnswers) {
  // From the authors' test vectors.
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(GeneratedInputs, PagesInAnyOrderMakeTheWholeTensor) {
  for (const Distribution& d : distributions()) {
    const GeneratedInputs inputs(d.name, 3, kShape, DType::f16);
    for (const TensorRole role : kTensorRoles) {
      const Tensor16 whole = inputs.tensor(role);
      std::vector<std::uint16_t> pages(whole.bits.size());
      constexpr std::size_t kPage = 101;
      for (std::size_t first = (pages.size() - 1) / kPage * kPage;; first -= kPage) {
        inputs.read(role, static_cast<std::int64_t>(first), &pages[first],
                    std::min(kPage, pages.size() - first));
        if (first == 0) {
          break;
        }
      }
      ASSERT_EQ(pages, whole.bits) << d.name;
    }
  }
}

TEST(GeneratedInputs, OnePageCanBeMadeOnItsOwn) {
  const Tensor16 whole = GeneratedInputs("normal", 3, kShape, DType::f16).tensor(TensorRole::v);
  std::vector<std::uint16_t> page(50);
  generate("normal", 3, TensorRole::v, kShape, DType::f16, 333, page.data(), page.size());
  EXPECT_TRUE(std::equal(page.begin(), page.end(), whole.bits.begin() + 333));
}

TEST(GeneratedInputs, RandomTensorsDependOnSeedAndRole) {
  const AttentionShape square{1, 2, 2, 37, 37, 24};
  const GeneratedInputs one("normal", 1, square, DType::f16);
  const GeneratedInputs again("normal", 1, square, DType::f16);
  const GeneratedInputs other("normal", std::uint64_t{1} << 40, square, DType::f16);
  EXPECT_EQ(one.tensor(TensorRole::q).bits, again.tensor(TensorRole::q).bits);
  EXPECT_NE(one.tensor(TensorRole::q).bits, other.tensor(TensorRole::q).bits);
  EXPECT_NE(one.tensor(TensorRole::q).bits, one.tensor(TensorRole::k).bits);
  EXPECT_NE(one.tensor(TensorRole::k).bits, one.tensor(TensorRole::v).bits);
}

TEST(GeneratedInputs, ValuesStayTheSameFromReleaseToRelease) {
  // Results of users' runs depend on these.
  const GeneratedInputs normal("normal", 1, kShape, DType::f16);
  std::vector<std::uint16_t> values = normal.tensor(TensorRole::k).bits;
  values.resize(4);
  EXPECT_EQ(values, (std::vector<std::uint16_t>{48362, 49070, 46164, 47399}));
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double fourth = 0;
  double smallest = 0;
  double largest = 0;
};

Moments moments(const Tensor16& tensor) {
  Moments m;
  for (const std::uint16_t bits : tensor.bits) {
    const double x = widen(bits, tensor.dtype);
    m.mean += x;
    m.variance += x * x;
    m.fourth += x * x * x * x;
    m.smallest = std::min(m.smallest, x);
    m.largest = std::max(m.largest, x);
  }
  const auto n = static_cast<double>(tensor.bits.size());
  m.mean /= n;
  m.variance = m.variance / n - m.mean * m.mean;
  m.fourth /= n;
  return m;
}

TEST(GeneratedInputs, NormalIsNormal) {
  const AttentionShape shape{1, 1, 1, 1, 16384, 64};  // 2^20 values
  for (const DType type : {DType::f16, DType::bf16}) {
    const Moments m = moments(GeneratedInputs("normal", 5, shape, type).tensor(TensorRole::k));
    EXPECT_NEAR(m.mean, 0, 0.004);
    EXPECT_NEAR(m.variance, 1, 0.006);
    EXPECT_NEAR(m.fourth, 3, 0.04);
    EXPECT_GT(m.largest, 3.9);
    EXPECT_LT(m.smallest, -3.9);
  }
}

TEST(GeneratedInputs, UniformIsUniform) {
  const AttentionShape shape{1, 1, 1, 1, 16384, 64};
  const Moments m = moments(GeneratedInputs("uniform", 5, shape, DType::f16).tensor(TensorRole::v));
  EXPECT_NEAR(m.mean, 0, 0.003);
  EXPECT_NEAR(m.variance, 1.0 / 3, 0.003);
  EXPECT_LE(m.largest, 1);
  EXPECT_GE(m.smallest, -1);
}

TEST(GeneratedInputs, LargeScoresAreExactAndCloseToTheLimitOfF16) {
  const AttentionShape shape{1, 2, 1, 3, 64, 128};
  const GeneratedInputs inputs("large", 1, shape, DType::f16);
  const Tensor16 q = inputs.tensor(TensorRole::q);
  const Tensor16 k = inputs.tensor(TensorRole::k);
  std::set<double> seen;
  for (std::size_t key = 0; key < 64; ++key) {
    double score = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      score += double_from_f16(q.bits[i]) * double_from_f16(k.bits[key * 128 + i]);
    }
    EXPECT_GT(std::fabs(score), 59000);
    EXPECT_LT(std::fabs(score), 65504);
    EXPECT_EQ(score > 0, key % 2 == 0);
    EXPECT_EQ(score * 16, std::round(score * 16));
    seen.insert(score);
  }
  EXPECT_GT(seen.size(), 32U);
}

TEST(GeneratedInputs, NamesAreDifferentAndExplained) {
  std::set<std::string_view> names;
  for (const Distribution& d : distributions()) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name;
    EXPECT_FALSE(d.about.empty());
    EXPECT_TRUE(is_distribution(d.name));
  }
  for (const char* name : {"normal", "uniform", "zeros", "ones", "one_hot", "large", "subnormal"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
  EXPECT_FALSE(is_distribution("gaussian"));
  EXPECT_THROW(GeneratedInputs("gaussian", 1, kShape, DType::f16), std::invalid_argument);
  EXPECT_THROW(GeneratedInputs("normal", 1, kShape, DType::f32), std::invalid_argument);
}

TEST(GeneratedInputs, OneKeyOrOneColumnIsLegal) {
  for (const Distribution& d : distributions()) {
    for (const AttentionShape& shape :
         {AttentionShape{1, 1, 1, 1, 1, 1}, AttentionShape{1, 1, 1, 2, 0, 8},
          AttentionShape{1, 2, 1, 3, 5, 1}, AttentionShape{1, 2, 1, 3, 1, 8}}) {
      const GeneratedInputs inputs(d.name, 1, shape, DType::bf16);
      for (const TensorRole role : kTensorRoles) {
        EXPECT_EQ(static_cast<std::int64_t>(inputs.tensor(role).bits.size()),
                  element_count(tensor_shape(role, shape)));
      }
    }
  }
}

}  // namespace
}  // namespace cubevp::platform
