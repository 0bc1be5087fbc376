// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace cubevp::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Format {
  DType type;
  int fraction_bits;
  int exponent_bits;

  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1U << exponent_bits) - 1) << fraction_bits);
  }
  /// The definition of an IEEE binary format, in double.
  double value(std::uint16_t bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                           : std::ldexp(fraction + (1 << fraction_bits),
                                                        exponent - bias - fraction_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  /// Nearest value by search over all of them, ties to the even fraction.
  std::uint16_t nearest(double x) const {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double magnitude = std::fabs(x);
    std::uint16_t low = 0;
    std::uint16_t high = infinity();  // stands for the next power of two
    while (high - low > 1) {
      const auto middle = static_cast<std::uint16_t>((low + high) / 2);
      (value(middle) <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - value(low);
    const double above = value(high) - magnitude;
    const bool up = above < below || (above == below && (low & 1) != 0) || magnitude >= value(high);
    return static_cast<std::uint16_t>(sign | (up ? high : low));
  }
  float widen(std::uint16_t bits) const {
    return type == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
  }
  std::uint16_t narrow(float x) const {
    return type == DType::f16 ? f32_to_f16(x) : f32_to_bf16(x);
  }
};

class ConvertTest : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Formats, ConvertTest,
                         testing::Values(Format{DType::f16, 10, 5}, Format{DType::bf16, 7, 8}),
                         [](const auto& test) { return std::string(to_string(test.param.type)); });

TEST_P(ConvertTest, EveryValueWidensExactlyAndComesBack) {
  const Format& format = GetParam();
  for (unsigned i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float wide = format.widen(bits);
    const std::uint16_t magnitude = bits & 0x7fff;
    ASSERT_EQ(std::signbit(wide), bits >= 0x8000) << i;
    if (magnitude > format.infinity()) {
      ASSERT_TRUE(std::isnan(wide)) << i;
      const std::uint16_t quiet = 1U << (format.fraction_bits - 1);
      ASSERT_EQ(format.narrow(wide), bits | quiet) << i;
      continue;
    }
    if (magnitude == format.infinity()) {
      ASSERT_TRUE(std::isinf(wide)) << i;
    } else {
      ASSERT_EQ(wide, format.value(bits)) << i;
    }
    ASSERT_EQ(format.narrow(wide), bits) << i;
  }
}

TEST_P(ConvertTest, NarrowsToNearestEvenAroundEveryValueAndEveryTie) {
  const Format& format = GetParam();
  for (std::uint16_t bits = 0; bits < format.infinity(); ++bits) {
    const double here = format.value(bits);
    const double next = format.value(static_cast<std::uint16_t>(bits + 1));
    const auto tie = static_cast<float>((here + next) / 2);
    for (const float x : {static_cast<float>(here), tie}) {
      for (const float y : {x, std::nextafter(x, 0.0F), std::nextafter(x, kInf)}) {
        ASSERT_EQ(format.narrow(y), format.nearest(y)) << y;
        ASSERT_EQ(format.narrow(-y), format.nearest(-y)) << -y;
      }
    }
  }
}

TEST_P(ConvertTest, NarrowsSpecialValues) {
  const Format& format = GetParam();
  EXPECT_EQ(format.narrow(kInf), format.infinity());
  EXPECT_EQ(format.narrow(-kInf), format.infinity() | 0x8000);
  EXPECT_EQ(format.narrow(std::numeric_limits<float>::max()), format.infinity());
  EXPECT_EQ(format.narrow(-0.0F), 0x8000);
  EXPECT_EQ(format.narrow(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_TRUE(std::isnan(format.widen(format.narrow(kNan))));
  // A NaN whose payload lies in the dropped bits only must not turn into infinity.
  EXPECT_TRUE(std::isnan(format.widen(format.narrow(f32_from_bits(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(format.widen(format.narrow(f32_from_bits(0xffffffffU)))));
}

TEST(ConvertF16, OverflowBorder) {
  EXPECT_EQ(f32_to_f16(65504.0F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65519.996F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(65536.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(-65520.0F), 0xfc00);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0);  // tie with the smallest subnormal goes to even
  EXPECT_EQ(f32_to_f16(std::nextafter(0x1p-25F, 1.0F)), 1);
}

TEST_P(ConvertTest, ArraysGiveTheBitsOfTheScalarForms) {
  const Format& format = GetParam();
  std::vector<std::uint16_t> halves(65536);
  for (unsigned i = 0; i < 65536; ++i) {
    halves[i] = static_cast<std::uint16_t>(i);
  }
  std::vector<float> wide(65536);
  to_f32(halves.data(), format.type, halves.size(), wide.data());
  for (unsigned i = 0; i < 65536; ++i) {
    ASSERT_EQ(f32_bits(wide[i]), f32_bits(format.widen(halves[i]))) << i;
  }
  std::mt19937 random(7);
  std::vector<float> values;
  for (unsigned i = 0; i < 200000; ++i) {
    values.push_back(f32_from_bits(static_cast<std::uint32_t>(random())));
    // Near the range of f16: exponents 2^-27 to 2^17.
    values.push_back(std::ldexp(1.0F + static_cast<float>(random() & 0xffffU) / 65536.0F,
                                static_cast<int>(random() % 45) - 27));
  }
  std::vector<std::uint16_t> narrow(values.size());
  from_f32(values.data(), values.size(), format.type, narrow.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(narrow[i], format.narrow(values[i])) << f32_bits(values[i]);
  }
}

TEST_P(ConvertTest, ArraysOfAnyLengthAndAlignmentTouchNothingElse) {
  const Format& format = GetParam();
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<std::uint8_t> bytes(2 * n + 3, 0xEE);
    std::vector<float> values(n + 1, -7.0F);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = 0.25F * static_cast<float>(i) - 3.0F;
    }
    from_f32(values.data(), n, format.type, bytes.data() + 1);
    EXPECT_EQ(bytes.front(), 0xEE);
    EXPECT_EQ(bytes[2 * n + 1], 0xEE);
    std::vector<float> back(n + 1, -9.0F);
    to_f32(bytes.data() + 1, format.type, n, back.data());
    EXPECT_EQ(back[n], -9.0F);
    back[n] = -7.0F;
    EXPECT_EQ(back, values) << n;
  }
}

TEST(ConvertF32, IsACopy) {
  const std::vector<float> values = {1.5F, kInf, f32_from_bits(0x7f800001U), -0.0F};
  std::vector<float> out(values.size());
  from_f32(values.data(), values.size(), DType::f32, out.data());
  EXPECT_EQ(std::memcmp(out.data(), values.data(), sizeof(float) * values.size()), 0);
}

}  // namespace
}  // namespace cubevp::numerics
