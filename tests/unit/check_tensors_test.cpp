// SPDX-License-Identifier: Apache-2.0
#include "platform/check/tensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace cubevp::platform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The value of a code by the definition of the format.
double defined_value(std::uint32_t code, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(code >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction =
      static_cast<double>(code & ((1U << fraction_bits) - 1)) / (1 << fraction_bits);
  const double sign = (code & 0x8000U) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * kInf : std::numeric_limits<double>::quiet_NaN();
  }
  return exponent == 0 ? sign * fraction * std::pow(2.0, 1 - bias)
                       : sign * (1 + fraction) * std::pow(2.0, exponent - bias);
}

class Conversion : public testing::TestWithParam<DType> {
 protected:
  int fraction_bits() const { return GetParam() == DType::bf16 ? 7 : 10; }
};

TEST_P(Conversion, EveryCodeHasItsDefinedValueAndComesBack) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const double expected = defined_value(code, fraction_bits());
    const double value = widen(bits, GetParam());
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(std::isnan(widen(narrow(value, GetParam()), GetParam()))) << code;
    } else {
      ASSERT_EQ(value, expected) << code;
      ASSERT_EQ(std::signbit(value), (code & 0x8000U) != 0) << code;
      ASSERT_EQ(narrow(value, GetParam()), bits) << code;
    }
  }
}

TEST_P(Conversion, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  const auto largest = static_cast<std::uint32_t>(((1 << 15) - (1 << fraction_bits())) - 1);
  for (std::uint32_t code = 0; code < largest; ++code) {
    const auto low = static_cast<std::uint16_t>(code);
    const auto high = static_cast<std::uint16_t>(code + 1);
    const double a = widen(low, GetParam());
    const double b = widen(high, GetParam());
    const double middle = (a + b) / 2;
    ASSERT_EQ(narrow(middle, GetParam()), code % 2 == 0 ? low : high);
    ASSERT_EQ(narrow(std::nextafter(middle, a), GetParam()), low);
    ASSERT_EQ(narrow(std::nextafter(middle, b), GetParam()), high);
    ASSERT_EQ(narrow(-middle, GetParam()), 0x8000 | (code % 2 == 0 ? low : high));
  }
}

TEST_P(Conversion, OverflowsHalfAStepBeyondTheLargestNumber) {
  const std::uint16_t infinity = GetParam() == DType::bf16 ? 0x7f80 : 0x7c00;
  const auto largest = static_cast<std::uint16_t>(infinity - 1);
  const double limit = GetParam() == DType::bf16 ? std::ldexp(511.0, 128 - 9) : 65520.0;
  EXPECT_EQ(narrow(std::nextafter(limit, 0), GetParam()), largest);
  EXPECT_EQ(narrow(limit, GetParam()), infinity);
  EXPECT_EQ(narrow(1e300, GetParam()), infinity);
  EXPECT_EQ(narrow(-kInf, GetParam()), 0x8000 | infinity);
}

INSTANTIATE_TEST_SUITE_P(Types, Conversion, testing::Values(DType::f16, DType::bf16),
                         [](const auto& param_info) {
                           return std::string(to_string(param_info.param));
                         });

TEST(TensorInputs, ReadsAnyRunOfElements) {
  const Tensor16 q{DType::f16, {1, 1, 1, 4}, {1, 2, 3, 4}};
  const Tensor16 k{DType::f16, {1, 1, 2, 4}, {5, 6, 7, 8, 9, 10, 11, 12}};
  const TensorInputs inputs(q, k, k);
  std::uint16_t out[3] = {};
  inputs.read(TensorRole::k, 3, out, 3);
  EXPECT_EQ(out[0], 8);
  EXPECT_EQ(out[2], 10);
}

TEST(TensorInputs, RefusesMixedTypes) {
  const Tensor16 half{DType::f16, {1}, {0}};
  const Tensor16 brain{DType::bf16, {1}, {0}};
  EXPECT_THROW(TensorInputs(half, half, brain), std::invalid_argument);
}

TEST(Shapes, AreWrittenAsNumpyDoes) {
  EXPECT_EQ(describe({3}), "(3,)");
  EXPECT_EQ(describe({1, 8, 64, 128}), "(1, 8, 64, 128)");
}

}  // namespace
}  // namespace cubevp::platform
