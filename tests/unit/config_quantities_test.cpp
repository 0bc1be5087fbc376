// SPDX-License-Identifier: Apache-2.0
#include "platform/config/quantities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

namespace cubevp::platform {
namespace {

struct RealCase {
  const char* text;
  Dimension dimension;
  double value;
};
void PrintTo(const RealCase& c, std::ostream* out) {
  *out << c.text;
}

class RealQuantity : public testing::TestWithParam<RealCase> {};

TEST_P(RealQuantity, IsReadExactly) {
  const RealCase c = GetParam();
  const Parsed<double> p = parse_real_quantity(c.text, c.dimension);
  ASSERT_TRUE(p.value.has_value()) << p.expected;
  EXPECT_EQ(*p.value, c.value);
}

INSTANTIATE_TEST_SUITE_P(Texts, RealQuantity,
                         testing::Values(RealCase{"1.2 GHz", Dimension::frequency, 1.2e9},
                                         RealCase{"800MHz", Dimension::frequency, 800e6},
                                         RealCase{"512 GB/s", Dimension::bandwidth, 512e9},
                                         RealCase{"1 GiB/s", Dimension::bandwidth, 1073741824.0},
                                         RealCase{"460.8 GB/s", Dimension::bandwidth, 460.8e9},
                                         RealCase{"1e3 kB/s", Dimension::bandwidth, 1e6},
                                         RealCase{"3600 s", Dimension::time, 3600.0},
                                         RealCase{"250 ms", Dimension::time, 0.25},
                                         RealCase{"0.16 pJ", Dimension::energy, 0.16},
                                         RealCase{"2 nJ", Dimension::energy, 2000.0},
                                         RealCase{"500 fJ", Dimension::energy, 0.5}));

TEST(RealQuantityErrors, NameTheUnitsThereAre) {
  for (const char* text : {"1.2", "GHz", "", "1.2 Ghz", "1.2 GB", "1,2 GHz", "1.2 GHz x", "0x10 Hz",
                           "01 Hz", "nan Hz", "inf Hz", ".5 Hz", "5. Hz", "+5 Hz", "5 G Hz"}) {
    const Parsed<double> p = parse_real_quantity(text, Dimension::frequency);
    EXPECT_FALSE(p.value.has_value()) << text;
    EXPECT_EQ(p.expected, "a frequency with a unit (Hz, kHz, MHz, GHz, THz)") << text;
  }
  EXPECT_EQ(parse_real_quantity("-1 GHz", Dimension::frequency).expected,
            "a frequency that is not negative");
  EXPECT_EQ(parse_real_quantity("1e999 GHz", Dimension::frequency).expected,
            "a frequency that is not this large");
}

TEST(Time, IsWholePicoseconds) {
  EXPECT_EQ(parse_time("20 ns").value, Ps{20000});
  EXPECT_EQ(parse_time("0.5 ns").value, Ps{500});
  EXPECT_EQ(parse_time("1.001 us").value, Ps{1001000});
  EXPECT_EQ(parse_time("1 s").value, Ps{1000000000000});
  EXPECT_EQ(parse_time("0 ps").value, Ps{0});
  EXPECT_EQ(parse_time("2.5e1 ns").value, Ps{25000});
  EXPECT_EQ(parse_time("0.0001 ns").expected, "a time of whole picoseconds");
  EXPECT_EQ(parse_time("1.5 ps").expected, "a time of whole picoseconds");
  EXPECT_EQ(parse_time("10000000 s").expected, "a time that is not this large");
  EXPECT_EQ(parse_time("-1 ns").expected, "a time that is not negative");
  EXPECT_EQ(parse_time("20").expected, "a time with a unit (ps, ns, us, ms, s)");
}

TEST(Bytes, DecimalAndBinaryPrefixesDiffer) {
  EXPECT_EQ(parse_bytes("4 MiB").value, std::uint64_t{4} << 20);
  EXPECT_EQ(parse_bytes("4 MB").value, std::uint64_t{4000000});
  EXPECT_EQ(parse_bytes("1.5 KiB").value, std::uint64_t{1536});
  EXPECT_EQ(parse_bytes("48 GiB").value, std::uint64_t{48} << 30);
  EXPECT_EQ(parse_bytes("0.1 KiB").expected, "a size of whole bytes");
  EXPECT_EQ(parse_bytes("1e30 B").expected, "a size that is not this large");
  EXPECT_EQ(parse_bytes("-4 MiB").expected, "a size that is not negative");
  EXPECT_FALSE(parse_bytes("4 mb").value.has_value());
}

TEST(Integer, HasNoSurprises) {
  EXPECT_EQ(parse_integer("0", 0, 10).value, std::uint64_t{0});
  EXPECT_EQ(
      parse_integer("18446744073709551615", 0, std::numeric_limits<std::uint64_t>::max()).value,
      std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_integer("-4", 1, 100).expected, "a positive integer");
  EXPECT_EQ(parse_integer("0", 1, 100).expected, "a positive integer");
  EXPECT_EQ(parse_integer("-1", 0, 100).expected, "an integer of at least 0");
  EXPECT_EQ(parse_integer("101", 1, 100).expected, "an integer from 1 to 100");
  EXPECT_EQ(parse_integer("18446744073709551616", 0, 100).expected, "an integer from 0 to 100");
  for (const char* text : {"010", "0x10", "0o17", "0b1"}) {
    EXPECT_EQ(parse_integer(text, 1, 100).expected,
              "a positive integer in plain decimal, without leading zeros or prefix")
        << text;
  }
  for (const char* text : {"", "4.0", "1e3", "4 ", " 4", "+4", "1_000", "1,000", "four", "-"}) {
    EXPECT_EQ(parse_integer(text, 1, 10000).expected, "a positive integer") << text;
  }
}

TEST(Real, IsPlainAndFinite) {
  EXPECT_EQ(parse_real("-0.125").value, -0.125);
  EXPECT_EQ(parse_real("1e-3").value, 1e-3);
  EXPECT_EQ(parse_real("0.1").value, 0.1);
  for (const char* text : {"", "nan", ".inf", "1e", "0x1p3", "1.0.0", "1 "}) {
    EXPECT_EQ(parse_real(text).expected, "a number") << text;
  }
  EXPECT_EQ(parse_real("1e400").expected, "a number that is not this large");
}

TEST(Formatting, IsShort) {
  EXPECT_EQ(format_time(0), "0 ns");
  EXPECT_EQ(format_time(1), "1 ps");
  EXPECT_EQ(format_time(1500), "1.5 ns");
  EXPECT_EQ(format_time(30000), "30 ns");
  EXPECT_EQ(format_time(1000000000000), "1 s");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 20), "3 MiB");
  EXPECT_EQ(format_real_quantity(1.2e9, Dimension::frequency), "1.2 GHz");
  EXPECT_EQ(format_real_quantity(460.8e9, Dimension::bandwidth), "460.8 GB/s");
  EXPECT_EQ(format_real_quantity(3600, Dimension::time), "3600 s");
  EXPECT_EQ(format_real_quantity(0.16, Dimension::energy), "0.16 pJ");
}

// A resolved configuration must read back as what it was written from.
TEST(Formatting, ReadsBackAsTheSame) {
  std::uint64_t random = 88172645463325252U;
  for (int i = 0; i < 20000; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const std::uint64_t whole = random >> (i % 63);
    const Ps ps = static_cast<Ps>(whole >> 2);
    EXPECT_EQ(parse_time(format_time(ps)).value, ps);
    EXPECT_EQ(parse_bytes(format_bytes(whole)).value, whole);
    const double value = static_cast<double>(whole) * std::ldexp(1.0, i % 90 - 60);
    for (const Dimension d :
         {Dimension::frequency, Dimension::bandwidth, Dimension::time, Dimension::energy}) {
      EXPECT_EQ(parse_real_quantity(format_real_quantity(value, d), d).value, value);
    }
    EXPECT_EQ(parse_real(format_real(value)).value, value);
  }
}

}  // namespace
}  // namespace cubevp::platform
