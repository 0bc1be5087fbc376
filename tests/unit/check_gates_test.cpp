// SPDX-License-Identifier: Apache-2.0
#include "platform/check/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "platform/check/inputs.h"

namespace cubevp::platform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An output of one row and what it should be.
CheckResult check(const std::vector<double>& o, const std::vector<double>& expected, Gate gate,
                  DType type = DType::f16, DType p = DType::f16) {
  const AttentionShape shape{1, 1, 1, 1, 1, static_cast<std::int64_t>(o.size())};
  Tensor16 tensor{type, tensor_shape(TensorRole::q, shape), {}};
  for (const double value : o) {
    tensor.bits.push_back(narrow(value, type));
  }
  return check_output(tensor, expected, shape, all_rows(shape), gate, p);
}

/// `count` values of 1, the first replaced.
std::vector<double> ones(double first, std::size_t count = 1000) {
  std::vector<double> values(count, 1.0);
  values[0] = first;
  return values;
}

TEST(Ulp16, IsTheDistanceOfNeighbours) {
  EXPECT_EQ(ulp16(1, DType::f16), 0x1p-10);
  EXPECT_EQ(ulp16(-1.999, DType::f16), 0x1p-10);
  EXPECT_EQ(ulp16(65504, DType::f16), 32);
  EXPECT_EQ(ulp16(0, DType::f16), 0x1p-24);
  EXPECT_EQ(ulp16(0x1p-20, DType::f16), 0x1p-24);
  EXPECT_EQ(ulp16(1, DType::bf16), 0x1p-7);
  EXPECT_EQ(ulp16(0, DType::bf16), 0x1p-133);
}

TEST(Gates, HaveNames) {
  for (const Gate gate : {Gate::strict, Gate::seq, Gate::wire16}) {
    EXPECT_EQ(gate_from_string(to_string(gate)), gate);
  }
  EXPECT_FALSE(gate_from_string("loose"));
}

TEST(Gates, AcceptTheRoundedReference) {
  const std::vector<double> expected = {1.0003, -0.3, 12.7, 1e-6, 0};
  for (const Gate gate : {Gate::strict, Gate::seq, Gate::wire16}) {
    const CheckResult result = check(expected, expected, gate);
    EXPECT_EQ(result.status, CheckStatus::pass) << result.message;
    EXPECT_LE(result.max_ulp16, 0.5);
    EXPECT_DOUBLE_EQ(result.nmse, result.nmse_ideal);
    EXPECT_NEAR(result.rms_ref, std::sqrt((1.0003 * 1.0003 + 0.09 + 12.7 * 12.7) / 5), 1e-9);
  }
}

/// An error of `ulps` in one value of 1000; which gates allow it is the rule worked out by hand,
/// with rms = 1 and ulp = 2^-10.
TEST(Gates, AllowWhatTheRuleSays) {
  const auto passes = [](double reference, double value, Gate gate) {
    return check(ones(value), ones(reference), gate).status == CheckStatus::pass;
  };
  const double ulp = 0x1p-10;
  // strict: 0.51 ulp + 2e-5 = 0.5305 ulp
  EXPECT_TRUE(passes(1 + 0.525 * ulp, 1, Gate::strict) && !passes(1 + 0.54 * ulp, 1, Gate::strict));
  // seq: 0.51 ulp + 3e-4 = 0.817 ulp
  EXPECT_TRUE(passes(1 + 0.81 * ulp, 1, Gate::seq));
  EXPECT_FALSE(passes(1 + 0.83 * ulp, 1, Gate::seq));
  // wire16: 1 ulp + 4e-3 = 5.096 ulp
  EXPECT_TRUE(passes(1 + 5.09 * ulp, 1, Gate::wire16));
  EXPECT_FALSE(passes(1 + 5.11 * ulp, 1, Gate::wire16));
}

TEST(Gates, LimitTheMeanSquareErrorToo) {
  // Every value within its own limit, but all of them off: 4e-3 + half an ulp.
  const std::vector<double> expected(1000, 1 + 4.6 * 0x1p-10);
  const CheckResult result = check(std::vector<double>(1000, 1.0), expected, Gate::wire16);
  EXPECT_EQ(result.status, CheckStatus::fail);
  EXPECT_NE(result.message.find("mean square"), std::string::npos) << result.message;
}

TEST(Gates, AreRelativeToTheData) {
  // What an absolute tolerance of 2e-3 lets through: all zero at 1 Mi tokens.
  std::vector<double> expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(1e-3 * std::sin(i));
  }
  EXPECT_EQ(check(std::vector<double>(1000, 0.0), expected, Gate::wire16).status,
            CheckStatus::fail);
}

TEST(Gates, NameTheWorstElement) {
  const AttentionShape shape{2, 3, 1, 4, 8, 5};
  Tensor16 o{DType::f16, tensor_shape(TensorRole::q, shape), {}};
  std::vector<double> expected(static_cast<std::size_t>(element_count(o.shape)), 1.0);
  o.bits.assign(expected.size(), f16_from_double(1));
  const std::size_t wrong = ((1 * 3 + 2) * 4 + 3) * 5 + 1;
  o.bits[wrong] = f16_from_double(1.5);
  const CheckResult result = check_output(o, expected, shape, all_rows(shape), Gate::wire16);
  EXPECT_EQ(result.status, CheckStatus::fail);
  EXPECT_EQ(result.worst_index.batch, 1);
  EXPECT_EQ(result.worst_index.head, 2);
  EXPECT_EQ(result.worst_index.t, 3);
  EXPECT_EQ(result.worst_index.d, 1);
  EXPECT_EQ(result.max_abs_err, 0.5);
  EXPECT_EQ(result.max_ulp16, 512);
  EXPECT_EQ(result.rows_checked, 24);
  EXPECT_NE(result.message.find("batch 1 head 2 query 3 column 1 is 1.5, expected 1"),
            std::string::npos)
      << result.message;
  // The rows that are not looked at do not matter.
  const std::vector<RowIndex> some = {{0, 0, 0}, {1, 2, 2}};
  const CheckResult sampled = check_output(o, expected, shape, some, Gate::strict);
  EXPECT_EQ(sampled.status, CheckStatus::pass);
  EXPECT_EQ(sampled.rows_checked, 2);
  EXPECT_EQ(sampled.rows_total, 24);
}

TEST(Gates, NanAndInfinityStandExactlyWhereTheReferenceHasThem) {
  const auto mismatches = [](double value, double reference) {
    const CheckResult result = check(ones(value), ones(reference), Gate::wire16);
    EXPECT_EQ(result.status == CheckStatus::fail, result.nonfinite_mismatches > 0);
    return result.nonfinite_mismatches;
  };
  EXPECT_EQ(mismatches(kNan, kNan), 0);
  EXPECT_EQ(mismatches(kInf, kInf), 0);
  EXPECT_EQ(mismatches(kInf, 65520), 0);
  EXPECT_EQ(mismatches(-kInf, -1e9), 0);
  EXPECT_EQ(mismatches(65504, 65519), 0);
  EXPECT_EQ(mismatches(kNan, 1), 1);
  EXPECT_EQ(mismatches(1, kNan), 1);
  EXPECT_EQ(mismatches(kInf, 1), 1);
  EXPECT_EQ(mismatches(kInf, 65519), 1);
  EXPECT_EQ(mismatches(65504, 65520), 1);
  EXPECT_EQ(mismatches(kInf, -kInf), 1);
  EXPECT_EQ(mismatches(kInf, kNan), 1);
  EXPECT_EQ(mismatches(0, kInf), 1);
}

TEST(Gates, AllZeroAndAllNanReferences) {
  const std::vector<double> zeros(8, 0.0);
  EXPECT_EQ(check(zeros, zeros, Gate::strict).status, CheckStatus::pass);
  EXPECT_EQ(check(std::vector<double>(8, -0.0), zeros, Gate::strict).status, CheckStatus::pass);
  EXPECT_EQ(check(ones(1, 8), zeros, Gate::wire16).status, CheckStatus::fail);
  const std::vector<double> nans(8, kNan);
  const CheckResult result = check(nans, nans, Gate::strict);
  EXPECT_EQ(result.status, CheckStatus::pass);
  EXPECT_EQ(result.nmse, 0);
}

TEST(Gates, Bf16HasItsOwnUlpAndRoundingOfP) {
  // 1 ulp of bf16 is 8 of f16; k_rms grows only when P is bf16.
  const double ulp = 0x1p-7;
  const auto passes = [](double reference, DType p) {
    return check(ones(1), ones(reference), Gate::wire16, DType::bf16, p).status ==
           CheckStatus::pass;
  };
  EXPECT_TRUE(passes(1 + 1.5 * ulp, DType::f16));
  EXPECT_FALSE(passes(1 + 1.6 * ulp, DType::f16));
  EXPECT_TRUE(passes(1 + 5.0 * ulp, DType::bf16));
  EXPECT_FALSE(passes(1 + 5.2 * ulp, DType::bf16));
}

TEST(Gates, RefuseAnOutputOfAnotherShape) {
  const AttentionShape shape{1, 2, 1, 1, 4, 8};
  const GeneratedInputs inputs("normal", 1, shape, DType::f16);
  const ReferenceResult reference = reference_attention(inputs, shape, {});
  EXPECT_THROW(check_output(inputs.tensor(TensorRole::k), reference, shape, Gate::strict),
               std::invalid_argument);
}

/// A row of ones, the first element replaced by the neighbour `steps` away.
Tensor16 row_of_ones(int steps, std::size_t count = 1000) {
  Tensor16 t{DType::f16, {1, 1, 1, static_cast<std::int64_t>(count)}, {}};
  t.bits.assign(count, 0x3c00);
  t.bits[0] = static_cast<std::uint16_t>(0x3c00 + steps);
  return t;
}

TEST(OutputsAgree, WhenBitsAreEqualOrNeighbours) {
  EXPECT_TRUE(outputs_agree(row_of_ones(0), row_of_ones(0)));
  EXPECT_TRUE(outputs_agree(row_of_ones(0), row_of_ones(1)));
  EXPECT_FALSE(outputs_agree(row_of_ones(0), row_of_ones(2)));
}

TEST(OutputsAgree, WithinTheRoundingOfAnF32SumForTinyElements) {
  Tensor16 a = row_of_ones(0);
  Tensor16 b = row_of_ones(0);
  a.bits[7] = 0x0001;  // 6e-8, where 2e-5 of the rms is 2e-5
  b.bits[7] = 0x8100;  // -1.5e-5
  EXPECT_TRUE(outputs_agree(a, b));
  b.bits[7] = 0x8200;  // -3.05e-5
  EXPECT_FALSE(outputs_agree(a, b));
}

TEST(OutputsAgree, OnlyWithNonFiniteValuesAtTheSamePlaces) {
  Tensor16 a = row_of_ones(0);
  Tensor16 b = row_of_ones(0);
  a.bits[3] = 0x7e00;
  EXPECT_FALSE(outputs_agree(a, b));
  b.bits[3] = 0x7e01;  // another NaN
  EXPECT_TRUE(outputs_agree(a, b));
  a.bits[4] = 0x7c00;
  b.bits[4] = 0xfc00;
  EXPECT_FALSE(outputs_agree(a, b));
  b.bits[4] = 0x7c00;
  EXPECT_TRUE(outputs_agree(a, b));
}

TEST(OutputsAgree, OnlyInShapeAndType) {
  Tensor16 b = row_of_ones(0);
  b.dtype = DType::bf16;
  EXPECT_FALSE(outputs_agree(row_of_ones(0), b));
  EXPECT_FALSE(outputs_agree(row_of_ones(0), row_of_ones(0, 999)));
}

}  // namespace
}  // namespace cubevp::platform
