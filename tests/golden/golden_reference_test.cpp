// SPDX-License-Identifier: Apache-2.0
// The in-process reference against data that was made without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "platform/check/gates.h"
#include "platform/check/inputs.h"
#include "tests/golden/golden_cases.h"

namespace cubevp::test {
namespace {

using namespace cubevp::platform;

class GoldenReference : public testing::TestWithParam<GoldenCase> {};
class GoldenInputs : public testing::TestWithParam<GoldenCase> {};

std::vector<GoldenCase> generated_cases() {
  std::vector<GoldenCase> cases = golden_cases();
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [](const GoldenCase& c) { return c.dist.empty(); }),
              cases.end());
  return cases;
}

double finite_rms(const std::vector<double>& values) {
  double square = 0;
  double count = 0;
  for (const double value : values) {
    if (std::isfinite(value)) {
      square += value * value;
      count += 1;
    }
  }
  return count > 0 ? std::sqrt(square / count) : 0;
}

TEST_P(GoldenReference, AgreesToTheLastDigits) {
  const GoldenCase& c = GetParam();
  const std::vector<double> golden = c.output();
  AttentionOptions options = c.options;
  options.threads = 2;
  const ReferenceResult reference = reference_attention(c.inputs().inputs, c.shape, options);
  ASSERT_EQ(reference.o.size(), golden.size());
  ASSERT_FALSE(golden.empty());
  const double allowed = 1e-12 * finite_rms(golden);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (std::isfinite(golden[i])) {
      ASSERT_LE(std::fabs(reference.o[i] - golden[i]), allowed) << "element " << i;
    } else if (std::isnan(golden[i])) {
      ASSERT_TRUE(std::isnan(reference.o[i])) << "element " << i;
    } else {
      ASSERT_EQ(reference.o[i], golden[i]) << "element " << i;
    }
  }
}

/// The rounded golden output is the best that can be: it passes the tightest gate, and stops
/// passing the widest one when it is made 2 % larger.
TEST_P(GoldenReference, GatesAcceptTheRoundedOutputOnly) {
  const GoldenCase& c = GetParam();
  const std::vector<double> golden = c.output();
  Tensor16 o{DType::f16, tensor_shape(TensorRole::q, c.shape), {}};
  Tensor16 larger = o;
  for (const double value : golden) {
    o.bits.push_back(f16_from_double(value));
    larger.bits.push_back(f16_from_double(value * 1.02));
  }
  const CheckResult right = check_output(o, golden, c.shape, all_rows(c.shape), Gate::strict);
  EXPECT_EQ(right.status, CheckStatus::pass) << right.message;
  EXPECT_EQ(right.rows_checked, right.rows_total);
  // Subnormal outputs are coarser than 2 %, and zeros grow to zeros.
  if (finite_rms(golden) > 0x1p-10) {
    const CheckResult wrong =
        check_output(larger, golden, c.shape, all_rows(c.shape), Gate::wire16);
    EXPECT_EQ(wrong.status, CheckStatus::fail);
    EXPECT_FALSE(wrong.message.empty());
  }
}

/// What a distribution does not draw at random must be the same in both generators.
TEST_P(GoldenInputs, HaveTheStructureOfTheGeneratedOnes) {
  const GoldenCase& c = GetParam();
  const LoadedInputs loaded = c.inputs();
  const GeneratedInputs one(c.dist, 1, c.shape, DType::f16);
  const GeneratedInputs two(c.dist, 2, c.shape, DType::f16);
  for (const TensorRole role : kTensorRoles) {
    const Tensor16 golden = loaded.inputs.tensor(role);
    const Tensor16 first = one.tensor(role);
    const Tensor16 second = two.tensor(role);
    ASSERT_EQ(first.shape, golden.shape);
    ASSERT_EQ(first.bits.size(), golden.bits.size());
    if (first.bits == second.bits) {
      EXPECT_EQ(first.bits, golden.bits) << "tensor " << static_cast<int>(role);
      continue;
    }
    double square = 0;
    double golden_square = 0;
    for (std::size_t i = 0; i < golden.bits.size(); ++i) {
      const double expected = double_from_f16(golden.bits[i]);
      const double value = double_from_f16(first.bits[i]);
      ASSERT_EQ(std::isfinite(value), std::isfinite(expected)) << "element " << i;
      if (std::isfinite(value)) {
        square += value * value;
        golden_square += expected * expected;
      }
    }
    // Random values are of the same size.
    EXPECT_GT(square, 0.25 * golden_square);
    EXPECT_LT(square, 4 * golden_square);
  }
}

const auto kCaseName = [](const auto& param_info) { return param_info.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, GoldenReference, testing::ValuesIn(golden_cases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Cases, GoldenInputs, testing::ValuesIn(generated_cases()), kCaseName);

TEST(GoldenCases, CoverEveryDistributionOfTheGeneratorScript) {
  const std::vector<GoldenCase> cases = golden_cases();
  // The others are simpler than these, or are tested by their own properties.
  const std::vector<std::string_view> own = {"uniform", "zeros", "ones", "large"};
  for (const Distribution& d : distributions()) {
    if (std::find(own.begin(), own.end(), d.name) != own.end()) {
      continue;
    }
    const auto uses = [&d](const GoldenCase& c) { return c.dist == d.name; };
    EXPECT_GE(std::count_if(cases.begin(), cases.end(), uses), 2) << d.name;
  }
}

}  // namespace
}  // namespace cubevp::test
