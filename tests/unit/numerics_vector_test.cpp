// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/vector_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/unit/numerics_test_matrix.h"

namespace cubevp::numerics {
namespace {

using test::Matrix;
using test::rounded;
using test::same;
using test::ulp_error;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float expected_binary(VectorOp op, float a, float b) {
  switch (op) {
    case VectorOp::add:
      return a + b;
    case VectorOp::sub:
      return a - b;
    case VectorOp::mul:
      return a * b;
    case VectorOp::div:
      return a / b;
    default:
      return std::isnan(a) || std::isnan(b) ? kNan : (a > b ? a : b);
  }
}

TEST(VectorOps, BinaryOperationsInEveryMixOfTypesAndBroadcasts) {
  const VectorOp ops[] = {VectorOp::add, VectorOp::sub, VectorOp::mul, VectorOp::div,
                          VectorOp::maximum};
  const DType types[] = {DType::f16, DType::bf16, DType::f32};
  for (const VectorOp op : ops) {
    for (const std::uint32_t cols : {1U, 5U, 16U, 37U, 1100U}) {
      for (const DType ta : types) {
        for (const DType td : types) {
          for (const int broadcast : {0, 1, 2}) {
            for (const std::uint32_t gap : {0U, 12U}) {
              const std::uint32_t rows = 3;
              Matrix a(rows, cols, ta, gap);
              Matrix b(broadcast == 2 ? 1 : rows, broadcast == 0 ? cols : 1, DType::f32, gap);
              Matrix dst(rows, cols, td, gap);
              a.randomize(1);
              b.randomize(2);
              b.set(0, 0, 0.0F);
              a.set(1, 0, kInf);
              a.set(2, cols - 1, kNan);
              vector_op(op, 0.0F, {dst.view(), a.view(), b.view()});
              ASSERT_TRUE(dst.gaps_intact());
              for (std::uint32_t r = 0; r < rows; ++r) {
                for (std::uint32_t c = 0; c < cols; ++c) {
                  const float second = b.at(broadcast == 2 ? 0 : r, broadcast == 0 ? c : 0);
                  const float expected = rounded(expected_binary(op, a.at(r, c), second), td);
                  ASSERT_TRUE(same(dst.at(r, c), expected))
                      << to_string(op) << " " << r << "," << c << ": " << dst.at(r, c)
                      << " expected " << expected;
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(VectorOps, MaximumOfSpecialValues) {
  Matrix a(1, 6, DType::f32);
  Matrix b(1, 6, DType::f32);
  Matrix dst(1, 6, DType::f32);
  const float first[] = {0.0F, -0.0F, kNan, 1.0F, -kInf, -kInf};
  const float second[] = {-0.0F, 0.0F, 1.0F, kNan, -kInf, -3e38F};
  const float expected[] = {0.0F, 0.0F, kNan, kNan, -kInf, -3e38F};
  for (std::uint32_t i = 0; i < 6; ++i) {
    a.set(0, i, first[i]);
    b.set(0, i, second[i]);
  }
  vector_op(VectorOp::maximum, 0.0F, {dst.view(), a.view(), b.view()});
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(same(dst.at(0, i), expected[i])) << i;
  }
}

TEST(VectorOps, FillCopyCastAndWhere) {
  for (const std::uint32_t cols : {1U, 15U, 16U, 33U, 2100U}) {
    for (const std::uint32_t gap : {0U, 6U}) {
      Matrix a(4, cols, DType::f32, gap);
      a.randomize(3, 100.0F);
      Matrix dst(4, cols, DType::f16, gap);
      vector_op(VectorOp::fill, -2.5F, {dst.view()});
      EXPECT_EQ(dst.at(3, cols - 1), -2.5F);
      EXPECT_EQ(dst.at(0, 0), -2.5F);
      EXPECT_TRUE(dst.gaps_intact());
      Matrix cond(4, cols, DType::bf16, gap);
      cond.randomize(4);
      cond.set(0, 0, 0.0F);
      cond.set(1, 0, -0.0F);
      cond.set(2, 0, kNan);
      Matrix column(4, 1, DType::f32);
      column.randomize(5);
      vector_op(VectorOp::cast, 0.0F, {dst.view(), a.view()});
      Matrix picked(4, cols, DType::f32, gap);
      vector_op(VectorOp::where, 0.0F, {picked.view(), cond.view(), a.view(), column.view()});
      for (std::uint32_t r = 0; r < 4; ++r) {
        for (std::uint32_t c = 0; c < cols; ++c) {
          ASSERT_EQ(dst.at(r, c), rounded(a.at(r, c), DType::f16));
          const float expected = cond.at(r, c) != 0.0F ? a.at(r, c) : column.at(r, 0);
          ASSERT_EQ(picked.at(r, c), expected) << r << "," << c;
        }
      }
      EXPECT_TRUE(dst.gaps_intact());
      EXPECT_TRUE(picked.gaps_intact());
    }
  }
}

TEST(VectorOps, CopyKeepsEveryBitAndWhereHidesNan) {
  Matrix a(2, 3, DType::f16);
  const std::uint16_t odd_nan = 0xfd01;
  std::memcpy(a.view().row(1), &odd_nan, sizeof odd_nan);
  Matrix dst(2, 3, DType::f16, 4);
  vector_op(VectorOp::copy, 0.0F, {dst.view(), a.view()});
  EXPECT_EQ(std::memcmp(dst.view().row(1), &odd_nan, sizeof odd_nan), 0);
  Matrix cond(2, 3, DType::f16);
  Matrix zero(1, 1, DType::f16);
  vector_op(VectorOp::where, 0.0F, {dst.view(), cond.view(), a.view(), zero.view()});
  EXPECT_EQ(dst.at(1, 0), 0.0F);
}

TEST(VectorOps, CopyBroadcasts) {
  Matrix column(3, 1, DType::f32);
  column.randomize(1);
  Matrix dst(3, 20, DType::f32);
  vector_op(VectorOp::copy, 0.0F, {dst.view(), column.view()});
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(dst.at(r, 0), column.at(r, 0));
    EXPECT_EQ(dst.at(r, 19), column.at(r, 0));
  }
}

TEST(VectorOps, ExpIsWithinTwoUlpOverTheWholeRange) {
  std::vector<float> inputs = {0.0F, -0.0F, 1.0F, -1.0F, kInf, -kInf, 1e-45F, -1e-40F, 1e-8F};
  for (int i = 0; i < 400000; ++i) {
    inputs.push_back(-110.0F + static_cast<float>(i) * 0.00051F);  // to 94
  }
  for (const float border : {88.72283F, 88.722839F, -87.33654F, -103.27893F, -103.97208F, 128.0F,
                             1e10F, -1e10F, 3.4e38F, -3.4e38F}) {
    inputs.push_back(std::nextafter(border, -kInf));
    inputs.push_back(border);
    inputs.push_back(std::nextafter(border, kInf));
  }
  inputs.push_back(kNan);
  std::vector<float> out(inputs.size());
  const auto count = static_cast<std::uint32_t>(inputs.size());
  vector_op(VectorOp::exp, 0.0F,
            {MatrixView{out.data(), 1, count, count * 4, DType::f32},
             MatrixView{inputs.data(), 1, count, count * 4, DType::f32}});
  double worst = 0.0;
  for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
    const double error = ulp_error(out[i], std::exp(static_cast<double>(inputs[i])));
    worst = std::max(worst, error);
    ASSERT_LE(error, 2.0) << inputs[i] << " gives " << out[i];
  }
  EXPECT_GT(worst, 0.0);
  EXPECT_TRUE(std::isnan(out.back()));
  EXPECT_EQ(out[0], 1.0F);
  EXPECT_EQ(out[5], 0.0F);
}

TEST(VectorOps, RowReductions) {
  for (const std::uint32_t cols : {1U, 7U, 16U, 31U, 64U, 1025U}) {
    for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
      Matrix a(5, cols, type, 10);
      a.randomize(cols);
      Matrix max(5, 1, DType::f32, 4);
      Matrix sum(5, 1, DType::f32, 4);
      for (std::uint32_t c = 0; c < cols; ++c) {
        a.set(2, c, -kInf);
      }
      a.set(3, cols / 2, kNan);
      vector_op(VectorOp::row_max, 0.0F, {max.view(), a.view()});
      vector_op(VectorOp::row_sum, 0.0F, {sum.view(), a.view()});
      EXPECT_TRUE(max.gaps_intact());
      for (const std::uint32_t r : {0U, 1U, 4U}) {
        float largest = -kInf;
        float partial[16] = {};
        double exact = 0.0;
        double magnitude = 0.0;
        for (std::uint32_t c = 0; c < cols; ++c) {
          largest = std::max(largest, a.at(r, c));
          partial[c % 16] += a.at(r, c);
          exact += a.at(r, c);
          magnitude += std::fabs(a.at(r, c));
        }
        for (std::size_t distance = 8; distance > 0; distance /= 2) {
          for (std::size_t i = 0; i < distance; ++i) {
            partial[i] += partial[i + distance];
          }
        }
        EXPECT_EQ(max.at(r, 0), largest);
        EXPECT_EQ(sum.at(r, 0), partial[0]) << "the documented order of additions";
        EXPECT_LE(std::fabs(sum.at(r, 0) - exact), 4e-6 * magnitude);
      }
      EXPECT_EQ(max.at(2, 0), -kInf);
      EXPECT_EQ(sum.at(2, 0), -kInf);
      EXPECT_TRUE(std::isnan(max.at(3, 0)));
      EXPECT_TRUE(std::isnan(sum.at(3, 0)));
    }
  }
}

TEST(VectorOps, RowReductionsOfNoColumns) {
  Matrix a(2, 0, DType::f32, 4);
  Matrix out(2, 1, DType::f32);
  out.fill(5.0F);
  vector_op(VectorOp::row_max, 0.0F, {out.view(), a.view()});
  EXPECT_EQ(out.at(1, 0), -kInf);
  vector_op(VectorOp::row_sum, 0.0F, {out.view(), a.view()});
  EXPECT_EQ(out.at(1, 0), 0.0F);
}

TEST(VectorOps, Softmax) {
  for (const std::uint32_t cols : {1U, 9U, 16U, 100U, 1500U}) {
    Matrix a(5, cols, DType::f32, 8);
    a.randomize(cols, 20.0F);
    for (std::uint32_t c = 0; c < cols; ++c) {
      a.set(1, c, -kInf);
    }
    a.set(2, 0, -kInf);
    a.set(3, cols - 1, kNan);
    if (cols > 1) {
      a.set(4, 0, 1e30F);
    }
    Matrix dst(5, cols, DType::f32, 8);
    vector_op(VectorOp::softmax, 0.0F, {dst.view(), a.view()});
    ASSERT_TRUE(dst.gaps_intact());
    for (const std::uint32_t r : {0U, 2U, 4U}) {
      double m = -kInf;
      double sum = 0.0;
      for (std::uint32_t c = 0; c < cols; ++c) {
        m = std::max(m, static_cast<double>(a.at(r, c)));
      }
      for (std::uint32_t c = 0; c < cols; ++c) {
        sum += m == -kInf ? 1.0 : std::exp(a.at(r, c) - m);
      }
      for (std::uint32_t c = 0; c < cols; ++c) {
        const double exact = m == -kInf ? 0.0 : std::exp(a.at(r, c) - m) / sum;
        // The difference to m is rounded to f32: 2^-24 of up to 200 appears in the exponent.
        ASSERT_NEAR(dst.at(r, c), exact, exact * 2e-5 + 1e-40) << r << "," << c;
      }
    }
    for (std::uint32_t c = 0; c < cols; ++c) {
      ASSERT_EQ(dst.at(1, c), 0.0F);
      ASSERT_TRUE(std::isnan(dst.at(3, c)));
    }
    if (cols > 1) {
      EXPECT_EQ(dst.at(2, 0), 0.0F);
      EXPECT_EQ(dst.at(4, 0), 1.0F);
    }
  }
}

struct State {
  Matrix m, l, alpha;
  explicit State(std::uint32_t rows)
      : m(rows, 1, DType::f32), l(rows, 1, DType::f32), alpha(rows, 1, DType::f32) {
    m.fill(-kInf);
    alpha.fill(123.0F);
  }
};

TEST(SoftmaxUpdate, StepsOverBlocksGiveTheSoftmaxOfTheWhole) {
  constexpr std::uint32_t kRows = 6;
  for (const DType p_type : {DType::f32, DType::f16}) {
    State state(kRows);
    std::vector<double> exact_max(kRows, -kInf);
    std::vector<std::vector<double>> scores(kRows);
    for (const std::uint32_t cols : {40U, 1U, 33U, 1040U}) {
      Matrix s(kRows, cols, DType::f32, 4);
      s.randomize(cols, 8.0F);
      s.set(2, 0, -kInf);
      for (std::uint32_t c = 0; c < cols; ++c) {
        s.set(3, c, -kInf);
      }
      const State old = state;
      Matrix p(kRows, cols, p_type, 6);
      vector_op(VectorOp::softmax_update, 0.0F,
                {p.view(), s.view(), state.m.view(), state.l.view(), state.alpha.view()});
      ASSERT_TRUE(p.gaps_intact());
      EXPECT_EQ(p.at(2, 0), 0.0F);
      for (std::uint32_t r = 0; r < kRows; ++r) {
        for (std::uint32_t c = 0; c < cols; ++c) {
          scores[r].push_back(s.at(r, c));
        }
        const double m = *std::max_element(scores[r].begin(), scores[r].end());
        EXPECT_EQ(state.m.at(r, 0), m);
        if (r == 3) {
          EXPECT_EQ(state.l.at(r, 0), 0.0F);
          EXPECT_EQ(state.alpha.at(r, 0), 0.0F);
          EXPECT_EQ(p.at(r, cols - 1), 0.0F);
          continue;
        }
        double l = 0.0;
        for (const double x : scores[r]) {
          l += std::exp(x - m);
        }
        EXPECT_NEAR(state.l.at(r, 0), l, 1e-5 * l);
        const double alpha = std::exp(static_cast<double>(old.m.at(r, 0)) - m);
        EXPECT_NEAR(state.alpha.at(r, 0), alpha, 1e-5 * alpha + 1e-40);
        for (std::uint32_t c = 0; c < cols; ++c) {
          const double exact = std::exp(s.at(r, c) - m);
          const double step = p_type == DType::f16 ? 0x1p-11 * exact + 0x1p-25 : 0.0;
          ASSERT_NEAR(p.at(r, c), exact, 1e-5 * exact + step + 1e-40);
        }
      }
    }
  }
}

TEST(SoftmaxUpdate, SumsBeforeRounding) {
  // exp(-0.3) is no f16; 1000 times its rounding error would show in l.
  constexpr std::uint32_t kCols = 1001;
  State state(1);
  Matrix s(1, kCols, DType::f32);
  s.fill(-0.3F);
  s.set(0, 0, 0.0F);
  Matrix p(1, kCols, DType::f16);
  vector_op(VectorOp::softmax_update, 0.0F,
            {p.view(), s.view(), state.m.view(), state.l.view(), state.alpha.view()});
  const double exact = 1.0 + 1000.0 * std::exp(static_cast<double>(-0.3F));
  const double rounded_first = 1.0 + 1000.0 * p.at(0, 1);
  EXPECT_GT(std::fabs(rounded_first - exact), 1e-5 * exact);
  EXPECT_NEAR(state.l.at(0, 0), exact, 1e-6 * exact);
}

TEST(SoftmaxUpdate, NonFiniteScoresStayInTheirRow) {
  State state(4);
  Matrix s(4, 20, DType::f32);
  s.randomize(1);
  s.set(1, 19, kNan);
  s.set(2, 3, kInf);
  s.set(1, 4, -kInf);
  Matrix p(4, 20, DType::f32);
  vector_op(VectorOp::softmax_update, 0.0F,
            {p.view(), s.view(), state.m.view(), state.l.view(), state.alpha.view()});
  for (const std::uint32_t r : {0U, 3U}) {
    EXPECT_TRUE(std::isfinite(state.l.at(r, 0)));
    EXPECT_TRUE(std::isfinite(p.at(r, 19)));
    EXPECT_EQ(state.alpha.at(r, 0), 0.0F);
  }
  EXPECT_TRUE(std::isnan(state.m.at(1, 0)));
  EXPECT_TRUE(std::isnan(state.l.at(1, 0)));
  EXPECT_TRUE(std::isnan(p.at(1, 0)));
  EXPECT_EQ(p.at(1, 4), 0.0F);
  EXPECT_EQ(state.m.at(2, 0), kInf);
  EXPECT_TRUE(std::isnan(state.l.at(2, 0)));
}

TEST(SoftmaxUpdate, ABlockWithoutColumnsKeepsTheState) {
  State state(2);
  state.m.set(0, 0, 3.0F);
  state.l.set(0, 0, 7.0F);
  Matrix s(2, 0, DType::f32, 4);
  Matrix p(2, 0, DType::f16, 4);
  vector_op(VectorOp::softmax_update, 0.0F,
            {p.view(), s.view(), state.m.view(), state.l.view(), state.alpha.view()});
  EXPECT_EQ(state.m.at(0, 0), 3.0F);
  EXPECT_EQ(state.l.at(0, 0), 7.0F);
  EXPECT_EQ(state.alpha.at(0, 0), 1.0F);
  EXPECT_EQ(state.m.at(1, 0), -kInf);
  EXPECT_EQ(state.l.at(1, 0), 0.0F);
}

TEST(MergeMlo, WeighsBothStatesByTheirMaxima) {
  for (const DType wire : {DType::f32, DType::f16}) {
    for (const std::uint32_t cols : {1U, 24U, 128U, 130U}) {
      constexpr std::uint32_t kRows = 6;
      Matrix m(kRows, 1, DType::f32);
      Matrix l(kRows, 1, DType::f32);
      Matrix o(kRows, cols, DType::f32, 8);
      Matrix m2(kRows, 1, wire);
      Matrix l2(kRows, 1, wire);
      Matrix o2(kRows, cols, wire, 4);
      m.randomize(1, 3.0F);
      l.randomize(2);
      o.randomize(3);
      m2.randomize(4, 3.0F);
      l2.randomize(5);
      o2.randomize(6);
      const auto neutral = [cols](Matrix& mm, Matrix& ll, Matrix& oo, std::uint32_t r) {
        mm.set(r, 0, -kInf);
        ll.set(r, 0, 0.0F);
        for (std::uint32_t c = 0; c < cols; ++c) {
          oo.set(r, c, 0.0F);
        }
      };
      neutral(m, l, o, 1);
      neutral(m2, l2, o2, 2);
      neutral(m, l, o, 3);
      neutral(m2, l2, o2, 3);
      m2.set(4, 0, kNan);
      Matrix old_m = m;
      Matrix old_l = l;
      Matrix old_o = o;
      vector_op(VectorOp::merge_mlo, 0.0F,
                {m.view(), l.view(), o.view(), m2.view(), l2.view(), o2.view()});
      ASSERT_TRUE(o.gaps_intact());
      for (const std::uint32_t r : {0U, 1U, 2U, 5U}) {
        const double max = std::max<double>(old_m.at(r, 0), m2.at(r, 0));
        const double a = std::exp(old_m.at(r, 0) - max);
        const double b = std::exp(m2.at(r, 0) - max);
        EXPECT_EQ(m.at(r, 0), max);
        const auto expect = [&](float got, double x, double y) {
          EXPECT_NEAR(got, a * x + b * y, 1e-6 * (std::fabs(a * x) + std::fabs(b * y)));
        };
        expect(l.at(r, 0), old_l.at(r, 0), l2.at(r, 0));
        for (std::uint32_t c = 0; c < cols; ++c) {
          expect(o.at(r, c), old_o.at(r, c), o2.at(r, c));
        }
      }
      EXPECT_EQ(m.at(3, 0), -kInf);
      EXPECT_EQ(l.at(3, 0), 0.0F);
      EXPECT_EQ(o.at(3, cols - 1), 0.0F);
      EXPECT_TRUE(std::isnan(m.at(4, 0)));
      EXPECT_TRUE(std::isnan(l.at(4, 0)));
      EXPECT_TRUE(std::isnan(o.at(4, 0)));
    }
  }
}

TEST(Normalize, DividesAndGivesZeroWhereNoKeyWasSeen) {
  Matrix o(4, 37, DType::f32, 4);
  Matrix l(4, 1, DType::f32);
  Matrix dst(4, 37, DType::f16, 2);
  o.randomize(1, 50.0F);
  l.randomize(2);
  l.set(1, 0, 0.0F);
  l.set(2, 0, kNan);
  o.set(1, 5, kNan);
  vector_op(VectorOp::normalize, 0.0F, {dst.view(), o.view(), l.view()});
  ASSERT_TRUE(dst.gaps_intact());
  for (std::uint32_t c = 0; c < 37; ++c) {
    EXPECT_EQ(dst.at(0, c), rounded(o.at(0, c) / l.at(0, 0), DType::f16));
    EXPECT_EQ(dst.at(1, c), 0.0F);
    EXPECT_TRUE(std::isnan(dst.at(2, c)));
    EXPECT_EQ(dst.at(3, c), rounded(o.at(3, c) / l.at(3, 0), DType::f16));
  }
}

TEST(VectorOps, MayWorkInPlace) {
  Matrix a(3, 1100, DType::f32);
  a.randomize(1);
  const Matrix before = a;
  vector_op(VectorOp::add, 0.0F, {a.view(), a.view(), a.view()});
  for (std::uint32_t c = 0; c < 1100; ++c) {
    ASSERT_EQ(a.at(2, c), 2.0F * before.at(2, c));
  }
  Matrix expected(3, 1100, DType::f32);
  vector_op(VectorOp::softmax, 0.0F, {expected.view(), a.view()});
  vector_op(VectorOp::softmax, 0.0F, {a.view(), a.view()});
  EXPECT_EQ(a.bytes(), expected.bytes());
}

TEST(VectorOps, RejectsWrongCountsAndShapes) {
  Matrix a(3, 4, DType::f32);
  Matrix wide(3, 5, DType::f32);
  Matrix row(1, 4, DType::f32);
  Matrix column(3, 1, DType::f32);
  const auto rejects = [](VectorOp op, std::initializer_list<MatrixView> operands) {
    EXPECT_THROW(vector_op(op, 0.0F, operands), std::invalid_argument) << to_string(op);
  };
  rejects(VectorOp::add, {a.view(), a.view()});
  rejects(VectorOp::add, {a.view(), a.view(), wide.view()});
  rejects(VectorOp::add, {a.view(), a.view(), row.view()});
  rejects(VectorOp::add, {a.view(), a.view(true), a.view()});
  rejects(VectorOp::row_max, {row.view(), a.view()});
  rejects(VectorOp::softmax, {wide.view(), a.view()});
  rejects(VectorOp::softmax_update, {a.view(), a.view(), column.view(), row.view(), column.view()});
  rejects(VectorOp::merge_mlo,
          {column.view(), column.view(), a.view(), column.view(), column.view(), wide.view()});
  rejects(VectorOp::normalize, {a.view(), a.view(), row.view()});
  rejects(VectorOp::where, {a.view(), a.view(), a.view()});
}

}  // namespace
}  // namespace cubevp::numerics
