// SPDX-License-Identifier: Apache-2.0
#include "hw/base/units.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cubevp {
namespace {

TEST(Units, NanosecondsRoundToTheNearestPicosecond) {
  EXPECT_EQ(ps_from_ns(0), 0);
  EXPECT_EQ(ps_from_ns(1), 1000);
  EXPECT_EQ(ps_from_ns(19.5), 19500);
  EXPECT_EQ(ps_from_ns(0.0004), 0);
  EXPECT_EQ(ps_from_ns(0.0006), 1);
  EXPECT_EQ(ps_from_ns(-2.5), -2500);
  EXPECT_EQ(ps_from_ns(-0.0006), -1);
  EXPECT_EQ(ps_from_ns(1e9), 1'000'000'000'000);
}

TEST(Units, EveryPicosecondSurvivesTheRoundTrip) {
  const Ps times[] = {0, 1, 999, 1001, 123456789, 1'000'000'000'001, 3'600'000'000'000'007};
  for (const Ps ps : times) {
    EXPECT_EQ(ps_from_ns(ns_from_ps(ps)), ps);
    EXPECT_EQ(ps_from_ns(ns_from_ps(-ps)), -ps);
  }
  EXPECT_DOUBLE_EQ(ns_from_ps(1), 0.001);
}

TEST(Units, AClocksPeriodIsAWholeNumberOfPicoseconds) {
  EXPECT_EQ(Clock{}.period_ps(), 1000);
  EXPECT_EQ(Clock{2e9}.period_ps(), 500);
  EXPECT_EQ(Clock{1.2e9}.period_ps(), 833);   // 833.33
  EXPECT_EQ(Clock{1.75e9}.period_ps(), 571);  // 571.43
  EXPECT_EQ(Clock{1.5e9}.period_ps(), 667);   // 666.67
  EXPECT_EQ(Clock{1e12}.period_ps(), 1);
  // Many cycles are that many periods: no error adds up.
  EXPECT_EQ(Clock{1.2e9}.cycles(1'000'000'000), 833'000'000'000);
  EXPECT_EQ(Clock{2e9}.cycles(0), 0);
}

TEST(Units, BytesOccupyAWireForTheNextWholePicosecond) {
  const Bandwidth noc{256e9};
  EXPECT_EQ(noc.serialisation_ps(0), 0);
  EXPECT_EQ(noc.serialisation_ps(256), 1000);
  EXPECT_EQ(noc.serialisation_ps(1024), 4000);
  EXPECT_EQ(noc.serialisation_ps(1), 4);  // 3.90625
  EXPECT_EQ(noc.serialisation_ps(4160), 16250);
  const Bandwidth link{460.8e9};
  EXPECT_EQ(link.serialisation_ps(4608), 10000);  // exact, not one more by rounding of doubles
  EXPECT_EQ(link.serialisation_ps(1024), 2223);   // 2222.2
  EXPECT_EQ((Bandwidth{100e9}).serialisation_ps(std::uint64_t{1} << 30), 10737418240);
  EXPECT_EQ((Bandwidth{1}).serialisation_ps(3), 3'000'000'000'000);
}

TEST(Units, DivisionsRoundUp) {
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
  EXPECT_EQ(ceil_div(std::int64_t{1} << 40, 3), 366503875926);  // 366503875925.33
}

}  // namespace
}  // namespace cubevp
