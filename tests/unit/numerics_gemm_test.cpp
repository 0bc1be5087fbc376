// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/unit/numerics_test_matrix.h"

namespace cubevp::numerics {
namespace {

using test::Matrix;
using test::rounded;
using test::same;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float read(const Matrix& m, bool transposed, std::size_t r, std::size_t c) {
  return transposed ? m.at(c, r) : m.at(r, c);
}

/// The contract of gemm() without epilogue: products one after the other, over ascending k.
float sequential(const Matrix& a, bool ta, const Matrix& b, bool tb, std::size_t r, std::size_t c,
                 std::size_t depth) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < depth; ++k) {
    const float product = read(a, ta, r, k) * read(b, tb, k, c);
    sum = sum + product;
  }
  return sum;
}

struct Shape {
  std::uint32_t m, n, k;
};

void expect_sequential(const Shape& shape, bool ta, bool tb, DType type_a, DType type_b,
                       DType type_c, bool accumulate) {
  const auto [m, n, k] = shape;
  Matrix a(ta ? k : m, ta ? m : k, type_a, 6);
  Matrix b(tb ? n : k, tb ? k : n, type_b, 10);
  Matrix c(m, n, type_c, 8);
  a.randomize(1);
  b.randomize(2);
  c.randomize(3, 10.0F);
  const Matrix old = c;
  gemm(c.view(), a.view(ta), b.view(tb), accumulate, Epilogue{});
  EXPECT_TRUE(c.gaps_intact());
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) {
      const float sum = sequential(a, ta, b, tb, i, j, k);
      const float expected = rounded(accumulate ? old.at(i, j) + sum : sum, type_c);
      ASSERT_TRUE(same(c.at(i, j), expected))
          << m << "x" << n << "x" << k << " ta " << ta << " tb " << tb << " at " << i << "," << j
          << ": " << c.at(i, j) << " expected " << expected;
    }
  }
}

class GemmShapeTest : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, GemmShapeTest,
                         testing::Values(Shape{1, 1, 1}, Shape{1, 16, 16}, Shape{1, 200, 128},
                                         Shape{2, 65, 129}, Shape{3, 63, 127}, Shape{5, 64, 260},
                                         Shape{7, 17, 33}, Shape{8, 128, 64}, Shape{8, 100, 513},
                                         Shape{13, 33, 5}, Shape{64, 70, 128}, Shape{64, 16, 300},
                                         Shape{130, 66, 130}),
                         [](const auto& test) {
                           return std::to_string(test.param.m) + "x" +
                                  std::to_string(test.param.n) + "x" + std::to_string(test.param.k);
                         });

TEST_P(GemmShapeTest, HasTheBitsOfTheSequentialSumInEveryLayout) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      expect_sequential(GetParam(), ta, tb, DType::f16, DType::f16, DType::f32, false);
      expect_sequential(GetParam(), ta, tb, DType::f32, DType::f32, DType::f32, true);
      expect_sequential(GetParam(), ta, tb, DType::f32, DType::f16, DType::f16, false);
      expect_sequential(GetParam(), ta, tb, DType::bf16, DType::bf16, DType::bf16, true);
    }
  }
}

TEST(Gemm, EveryMixOfTypes) {
  for (const DType a : {DType::f16, DType::bf16, DType::f32}) {
    for (const DType b : {DType::f16, DType::bf16, DType::f32}) {
      for (const DType c : {DType::f16, DType::bf16, DType::f32}) {
        expect_sequential({9, 37, 45}, false, true, a, b, c, false);
        expect_sequential({9, 37, 45}, false, false, a, b, c, true);
      }
    }
  }
}

TEST(Gemm, IsCloseToTheExactProduct) {
  constexpr std::uint32_t kDepth = 4096;
  Matrix a(8, kDepth, DType::f16);
  Matrix b(96, kDepth, DType::f16);
  Matrix c(8, 96, DType::f32);
  a.randomize(11);
  b.randomize(12);
  gemm(c.view(), a.view(), b.view(true), false, Epilogue{});
  double error = 0.0;
  double energy = 0.0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    for (std::uint32_t j = 0; j < 96; ++j) {
      double exact = 0.0;
      for (std::uint32_t k = 0; k < kDepth; ++k) {
        exact += static_cast<double>(a.at(i, k)) * b.at(j, k);
      }
      error += (c.at(i, j) - exact) * (c.at(i, j) - exact);
      energy += exact * exact;
    }
  }
  EXPECT_GT(energy, 0.0);
  EXPECT_LT(std::sqrt(error / energy), 1e-5);
}

TEST(Gemm, EmptyInnerDimensionGivesZeroAndEmptyResultIsLegal) {
  Matrix a(3, 0, DType::f16, 4);
  Matrix b(0, 5, DType::f16);
  Matrix c(3, 5, DType::f32);
  c.fill(7.0F);
  gemm(c.view(), a.view(), b.view(), false, Epilogue{});
  EXPECT_EQ(c.at(2, 4), 0.0F);
  Matrix none(0, 5, DType::f32);
  Matrix no_rows(0, 4, DType::f16);
  Matrix b4(4, 5, DType::f16);
  gemm(none.view(), no_rows.view(), b4.view(), false, Epilogue{});
}

TEST(Gemm, RejectsShapesThatDoNotFit) {
  Matrix a(3, 4, DType::f16);
  Matrix b(4, 5, DType::f16);
  Matrix c(3, 5, DType::f32);
  Matrix wrong(3, 4, DType::f32);
  EXPECT_THROW(gemm(wrong.view(), a.view(), b.view(), false, Epilogue{}), std::invalid_argument);
  EXPECT_THROW(gemm(c.view(), a.view(), b.view(true), false, Epilogue{}), std::invalid_argument);
  EXPECT_THROW(gemm(c.view(true), a.view(), b.view(), false, Epilogue{}), std::invalid_argument);
  Epilogue epilogue;
  epilogue.mask.causal = true;
  epilogue.mask.rows_per_head = 0;
  EXPECT_THROW(gemm(c.view(), a.view(), b.view(), false, epilogue), std::invalid_argument);
}

TEST(Gemm, ScaleAndSoftcapFollowTheSum) {
  Matrix a(5, 64, DType::f16);
  Matrix b(70, 64, DType::f16);
  a.randomize(4);
  b.randomize(5);
  for (const float cap : {0.0F, 1.5F, 50.0F}) {
    Epilogue epilogue;
    epilogue.scale = 0.125F;
    epilogue.softcap = cap;
    Matrix c(5, 70, DType::f32);
    gemm(c.view(), a.view(), b.view(true), false, epilogue);
    for (std::uint32_t i = 0; i < 5; ++i) {
      for (std::uint32_t j = 0; j < 70; ++j) {
        const float x = sequential(a, false, b, true, i, j, 64) * 0.125F;
        if (cap == 0.0F) {
          ASSERT_EQ(c.at(i, j), x);
        } else {
          const double exact = cap * std::tanh(static_cast<double>(x) / cap);
          ASSERT_LE(test::ulp_error(c.at(i, j), exact), 8.0) << x;
        }
      }
    }
  }
}

TEST(Gemm, SoftcapOfAnyScore) {
  Epilogue epilogue;
  epilogue.softcap = 30.0F;
  Matrix one(1, 1, DType::f32);
  one.set(0, 0, 1.0F);
  for (const float x : {0.0F, -0.0F, 1e-30F, -1e-4F, 0.3F, 18.7F, 18.8F, -40.0F, 300.0F, 1e30F,
                        -3e38F, kInf, -kInf, kNan, 1e-42F}) {
    Matrix a(1, 1, DType::f32);
    Matrix c(1, 1, DType::f32);
    a.set(0, 0, x);
    gemm(c.view(), a.view(), one.view(), false, epilogue);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(c.at(0, 0)));
    } else {
      EXPECT_LE(test::ulp_error(c.at(0, 0), 30.0 * std::tanh(static_cast<double>(x) / 30.0)), 8.0)
          << x;
    }
  }
}

TEST(Gemm, MaskSelectsMinusInfinityWhateverTheKeysHold) {
  constexpr std::uint32_t kRows = 20;
  constexpr std::uint32_t kCols = 150;
  Matrix a(kRows, 16, DType::f16);
  Matrix b(kCols, 16, DType::f16);
  a.randomize(6);
  b.randomize(7);
  for (const std::int64_t rows_per_head : {1, 4, 7, 1000}) {
    for (const std::int64_t key_stride : {1, 3, 8, 0, -2}) {
      for (const std::int64_t offset : {-5, 0, 60, 149, 2000}) {
        for (const std::int64_t first_key : {0, 13}) {
          Epilogue epilogue;
          epilogue.mask = {true, 3, rows_per_head, first_key, key_stride, offset};
          Matrix keys = b;
          for (std::uint32_t c = 0; c < kCols; ++c) {
            bool seen = false;
            for (std::uint32_t r = 0; r < kRows; ++r) {
              const std::int64_t t = (3 + static_cast<std::int64_t>(r)) % rows_per_head;
              seen = seen || first_key + c * key_stride <= t + offset;
            }
            if (!seen) {
              keys.set(c, c % 16, c % 2 == 0 ? kNan : kInf);
            }
          }
          Matrix out(kRows, kCols, DType::f32);
          gemm(out.view(), a.view(), keys.view(true), false, epilogue);
          for (std::uint32_t r = 0; r < kRows; ++r) {
            for (std::uint32_t c = 0; c < kCols; ++c) {
              const std::int64_t t = (3 + static_cast<std::int64_t>(r)) % rows_per_head;
              const bool seen = first_key + c * key_stride <= t + offset;
              const float expected = seen ? sequential(a, false, keys, true, r, c, 16) : -kInf;
              ASSERT_EQ(out.at(r, c), expected)
                  << r << "," << c << " rows_per_head " << rows_per_head << " key_stride "
                  << key_stride << " offset " << offset << " first_key " << first_key;
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, ZeroProbabilitiesHideNonFiniteValuesWhenAsked) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    for (const bool tb : {false, true}) {
      for (const std::uint32_t rows : {1U, 3U, 8U, 17U}) {
        Matrix p(rows, 300, type);
        Matrix v(tb ? 80 : 300, tb ? 300 : 80, type);
        p.randomize(8);
        v.randomize(9);
        for (const std::uint32_t k : {5U, 140U, 299U}) {
          for (std::uint32_t r = 0; r < rows; ++r) {
            p.set(r, k, r % 2 == 0 ? 0.0F : -0.0F);
          }
        }
        Matrix clean = v;
        for (std::uint32_t n = 0; n < 80; ++n) {
          const auto set = [&](std::uint32_t k, float x) { tb ? v.set(n, k, x) : v.set(k, n, x); };
          set(5, kNan);
          set(140, kInf);
          set(299, -kInf);
        }
        Matrix hidden(rows, 80, DType::f32);
        Matrix plain(rows, 80, DType::f32);
        Matrix leaky(rows, 80, DType::f32);
        gemm(hidden.view(), p.view(), v.view(tb), false, Epilogue{}, true);
        gemm(plain.view(), p.view(), clean.view(tb), false, Epilogue{}, true);
        gemm(leaky.view(), p.view(), v.view(tb), false, Epilogue{}, false);
        EXPECT_EQ(hidden.bytes(), plain.bytes());
        EXPECT_TRUE(std::isnan(leaky.at(0, 0)));
      }
    }
  }
}

TEST(Gemm, NonFiniteValuesPropagateWhereProbabilitiesAreNotZero) {
  Matrix p(2, 40, DType::f16);
  Matrix v(40, 20, DType::f16);
  p.fill(0.5F);
  v.fill(1.0F);
  p.set(0, 3, 0.0F);
  v.set(3, 7, kInf);
  v.set(4, 8, kNan);
  Matrix c(2, 20, DType::f32);
  gemm(c.view(), p.view(), v.view(), false, Epilogue{}, true);
  EXPECT_EQ(c.at(0, 7), 19.5F);
  EXPECT_EQ(c.at(1, 7), kInf);
  EXPECT_TRUE(std::isnan(c.at(0, 8)));
  EXPECT_TRUE(std::isnan(c.at(1, 8)));
  EXPECT_EQ(c.at(1, 9), 20.0F);
}

TEST(Gemm, HonoursSubnormalsAndTheLargestF16) {
  Matrix a(1, 2, DType::f16);
  Matrix b(2, 1, DType::f16);
  Matrix c(1, 1, DType::f32);
  a.set(0, 0, 0x1p-24F);
  b.set(0, 0, 0x1p-24F);
  gemm(c.view(), a.view(), b.view(), false, Epilogue{});
  EXPECT_EQ(c.at(0, 0), 0x1p-48F);
  a.fill(65504.0F);
  b.fill(65504.0F);
  gemm(c.view(), a.view(), b.view(), false, Epilogue{});
  EXPECT_EQ(c.at(0, 0), 2.0F * (65504.0F * 65504.0F));
  Matrix half(1, 1, DType::f16);
  gemm(half.view(), a.view(), b.view(), false, Epilogue{});
  EXPECT_EQ(half.at(0, 0), kInf);
}

TEST(Gemm, AccumulatesInTheTypeOfTheResultAfterTheEpilogue) {
  Matrix a(1, 1, DType::f16);
  Matrix c(1, 1, DType::f16);
  a.fill(3.0F);
  c.fill(100.0F);
  Epilogue epilogue;
  epilogue.scale = 0.5F;
  gemm(c.view(), a.view(), a.view(), true, epilogue);
  EXPECT_EQ(c.at(0, 0), rounded(104.5F, DType::f16));
}

}  // namespace
}  // namespace cubevp::numerics
