// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "hw/hbm/hbm_address_map.h"

namespace cubevp {
namespace {

using hw::HbmConfig;
using hw::HbmSchedule;
using hw::HbmTrain;
using hw::PseudoChannelTiming;
using hw::Refresh;
using hw::RowOutcome;

// All expected times are worked out by hand from the default parameters, in ps: tRCD 19500 (reads)
// and 9500 (writes), tRP 16500, tRAS 28500, tCL 10000, tCWL 5000, burst 1000, tCCD 1000 and 2000,
// tRRD 2500 and 3500, tFAW 15000, tWR 21000, tRTP 6000, tWTR 4500 and 6500, tRTW 12500,
// tREFI 3900000, tRFC 450000 (all banks) and 280000 (one bank).

HbmConfig without_refresh() {
  HbmConfig config;
  config.refresh = Refresh::off;
  return config;
}

HbmTrain read(std::uint32_t group, std::uint32_t bank, std::uint64_t row,
              std::uint32_t accesses = 1) {
  return {group, bank, row, accesses, false};
}
HbmTrain write(std::uint32_t group, std::uint32_t bank, std::uint64_t row,
               std::uint32_t accesses = 1) {
  return {group, bank, row, accesses, true};
}

// A pseudo-channel in which row 1 of bank 0 of both bank groups is open and long at rest.
PseudoChannelTiming two_open_rows() {
  PseudoChannelTiming timing(without_refresh());
  timing.schedule(read(0, 0, 1), 0);
  timing.schedule(read(1, 0, 1), 0);
  return timing;
}

constexpr Ps kStart = 1000000;

// ---- one access ----

TEST(HbmTiming, IdleReads) {
  PseudoChannelTiming timing(without_refresh());
  const HbmSchedule closed = timing.schedule(read(0, 0, 1), kStart);
  EXPECT_EQ(closed.outcome, RowOutcome::closed);
  EXPECT_EQ(closed.first_column_ps, kStart + 19500);
  EXPECT_EQ(closed.data_end_ps, kStart + 30500);
  const HbmSchedule hit = timing.schedule(read(0, 0, 1), 2 * kStart);
  EXPECT_EQ(hit.outcome, RowOutcome::hit);
  EXPECT_EQ(hit.data_end_ps, 2 * kStart + 11000);
  const HbmSchedule conflict = timing.schedule(read(0, 0, 2), 3 * kStart);
  EXPECT_EQ(conflict.outcome, RowOutcome::conflict);
  EXPECT_EQ(conflict.data_end_ps, 3 * kStart + 47000);
}

TEST(HbmTiming, IdleWrites) {
  PseudoChannelTiming timing(without_refresh());
  EXPECT_EQ(timing.schedule(write(0, 0, 1), kStart).data_end_ps, kStart + 15500);
  EXPECT_EQ(timing.schedule(write(0, 0, 1), 2 * kStart).data_end_ps, 2 * kStart + 6000);
  EXPECT_EQ(timing.schedule(write(0, 0, 2), 3 * kStart).data_end_ps, 3 * kStart + 32000);
}

TEST(HbmTiming, ARowOfTheSameNumberInAnotherBankIsNotOpen) {
  PseudoChannelTiming timing(without_refresh());
  timing.schedule(read(0, 3, 7), 0);
  EXPECT_TRUE(timing.row_open(read(0, 3, 7)));
  EXPECT_FALSE(timing.row_open(read(0, 3, 6)));
  EXPECT_FALSE(timing.row_open(read(1, 3, 7)));
  EXPECT_FALSE(timing.row_open(read(0, 2, 7)));
  EXPECT_EQ(timing.schedule(read(1, 3, 7), kStart).outcome, RowOutcome::closed);
}

TEST(HbmTiming, ClosedPagesPayTheActivationEachTimeAndNeverThePrecharge) {
  HbmConfig config = without_refresh();
  config.page_policy = hw::PagePolicy::closed;
  PseudoChannelTiming timing(config);
  for (int i = 1; i <= 3; ++i) {
    const HbmSchedule s = timing.schedule(read(0, 0, 1), i * kStart);
    EXPECT_EQ(s.outcome, RowOutcome::closed);
    EXPECT_EQ(s.data_end_ps, i * kStart + 30500);
  }
  // tRAS and tRP after the last activation.
  EXPECT_EQ(timing.schedule(read(0, 0, 1), 3 * kStart).data_end_ps, 3 * kStart + 45000 + 30500);
}

// ---- two accesses ----

TEST(HbmTiming, ReadAfterWriteWaitsForTheWriteToReadTurnaround) {
  PseudoChannelTiming same = two_open_rows();
  EXPECT_EQ(same.schedule(write(0, 0, 1), kStart).data_end_ps, kStart + 6000);
  EXPECT_EQ(same.schedule(read(0, 0, 1), kStart).data_end_ps, kStart + 6000 + 6500 + 11000);
  PseudoChannelTiming other = two_open_rows();
  other.schedule(write(0, 0, 1), kStart);
  EXPECT_EQ(other.schedule(read(1, 0, 1), kStart).data_end_ps, kStart + 6000 + 4500 + 11000);
}

TEST(HbmTiming, TheLongTurnaroundOfAGroupOutlastsAWriteInTheOtherGroup) {
  // Group 0's write ends at 6000, group 1's at 7000: a read in group 0 may start at 12500.
  PseudoChannelTiming timing = two_open_rows();
  EXPECT_EQ(timing.schedule(write(0, 0, 1), kStart).data_end_ps, kStart + 6000);
  EXPECT_EQ(timing.schedule(write(1, 0, 1), kStart).data_end_ps, kStart + 7000);
  EXPECT_EQ(timing.schedule(read(0, 0, 1), kStart).first_column_ps, kStart + 12500);
}

TEST(HbmTiming, WriteAfterReadWaitsForTheReadToWriteTurnaround) {
  for (std::uint32_t group = 0; group < 2; ++group) {
    PseudoChannelTiming timing = two_open_rows();
    EXPECT_EQ(timing.schedule(read(0, 0, 1), kStart).data_end_ps, kStart + 11000);
    EXPECT_EQ(timing.schedule(write(group, 0, 1), kStart).data_end_ps, kStart + 12500 + 6000);
    EXPECT_TRUE(timing.last_was_write());
  }
}

TEST(HbmTiming, TheTurnaroundCountsFromTheLastAccessOfATrain) {
  PseudoChannelTiming timing = two_open_rows();
  timing.schedule(read(0, 0, 1, 8), kStart);  // columns at 0, 2000 .. 14000
  EXPECT_EQ(timing.schedule(write(1, 0, 1), kStart).first_column_ps, kStart + 14000 + 12500);
}

TEST(HbmTiming, PrechargeAfterAReadWaitsForReadToPrecharge) {
  PseudoChannelTiming timing = two_open_rows();
  timing.schedule(read(0, 0, 1), kStart);
  EXPECT_EQ(timing.schedule(read(0, 0, 2), kStart).data_end_ps, kStart + 6000 + 16500 + 30500);
}

TEST(HbmTiming, PrechargeAfterAWriteWaitsForWriteRecovery) {
  PseudoChannelTiming timing = two_open_rows();
  timing.schedule(write(0, 0, 1), kStart);
  EXPECT_EQ(timing.schedule(read(0, 0, 2), kStart).data_end_ps,
            kStart + 6000 + 21000 + 16500 + 30500);
}

TEST(HbmTiming, PrechargeAfterAnActivationWaitsForRas) {
  // Column at 19500 + tRTP would allow 25500; tRAS demands 28500.
  PseudoChannelTiming reads(without_refresh());
  reads.schedule(read(0, 0, 1), kStart);
  EXPECT_EQ(reads.schedule(read(0, 0, 2), kStart).data_end_ps, kStart + 28500 + 16500 + 30500);
  PseudoChannelTiming writes(without_refresh());
  writes.schedule(read(0, 0, 1), kStart);
  EXPECT_EQ(writes.schedule(write(0, 0, 2), kStart).data_end_ps, kStart + 28500 + 16500 + 15500);
}

TEST(HbmTiming, ActivationsKeepTheirDistances) {
  // In one bank group: tRRD_L apart, the fifth tFAW after the first.
  PseudoChannelTiming one(without_refresh());
  const Ps in_one_group[] = {0, 3500, 7000, 10500, 15000, 18500, 22000, 25500};
  for (std::uint32_t bank = 0; bank < 8; ++bank) {
    EXPECT_EQ(one.schedule(read(0, bank, 1), kStart).first_column_ps,
              kStart + in_one_group[bank] + 19500);
  }
  // In turn: tRRD_S apart, again four in tFAW.
  PseudoChannelTiming two(without_refresh());
  const Ps in_turn[] = {0, 2500, 5000, 7500, 15000, 17500, 20000, 22500, 30000};
  for (std::uint32_t i = 0; i < 9; ++i) {
    EXPECT_EQ(two.schedule(read(i % 2, i / 2, 1), kStart).first_column_ps,
              kStart + in_turn[i] + 19500);
  }
}

// ---- rates ----

double gb_per_s(double bytes, Ps time) {
  return bytes * 1000 / static_cast<double>(time);
}

TEST(HbmTiming, InterleavedBankGroupsFillTheBusAndOneGroupHalfOfIt) {
  PseudoChannelTiming two = two_open_rows();
  PseudoChannelTiming one = two_open_rows();
  Ps end_of_two = 0;
  Ps end_of_one = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    end_of_two = two.schedule(read(i % 2, 0, 1), kStart).data_end_ps;
    end_of_one = one.schedule(read(0, 0, 1), kStart).data_end_ps;
  }
  EXPECT_EQ(end_of_two, kStart + 999 * 1000 + 11000);
  EXPECT_EQ(end_of_one, kStart + 999 * 2000 + 11000);
}

TEST(HbmTiming, StreamOfWholeRows) {
  PseudoChannelTiming two(without_refresh());
  PseudoChannelTiming one(without_refresh());
  Ps end_of_two = 0;
  Ps end_of_one = 0;
  for (std::uint32_t page = 0; page < 400; ++page) {
    end_of_two = std::max(end_of_two,
                          two.schedule(read(page % 2, page / 2 % 8, page / 16, 32), 0).data_end_ps);
    end_of_one = std::max(end_of_one, one.schedule(read(1, page % 8, page / 8, 32), 0).data_end_ps);
  }
  EXPECT_NEAR(gb_per_s(400 * 1024, end_of_two), 32.0, 32.0 * 0.03);
  EXPECT_NEAR(gb_per_s(400 * 1024, end_of_one), 16.0, 16.0 * 0.03);
}

TEST(HbmTiming, RandomRowsOfOneBankTakeARowCycleEach) {
  PseudoChannelTiming timing(without_refresh());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(timing.schedule(read(0, 0, i), 0).data_end_ps, static_cast<Ps>(i) * 45000 + 30500);
  }
}

TEST(HbmTiming, RandomRowsOfAllBanksTakeAQuarterOfTheActivationWindow) {
  PseudoChannelTiming timing(without_refresh());
  HbmSchedule last;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    last = timing.schedule(read(i % 2, i / 2 % 8, i), 0);
  }
  // The 1000th activation is the fourth in the 250th window.
  EXPECT_EQ(last.data_end_ps, 249 * 15000 + 7500 + 30500);
}

TEST(HbmTiming, TwoAccessesARowDoubleTheRandomRate) {
  PseudoChannelTiming timing(without_refresh());
  Ps end = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    end = std::max(end, timing.schedule(read(i % 2, i / 2 % 8, i, 2), 0).data_end_ps);
  }
  EXPECT_NEAR(gb_per_s(64000, end), 17.07, 17.07 * 0.03);
}

// ---- trains ----

TEST(HbmTiming, ATrainTakesTheTimesOfItsAccesses) {
  std::mt19937 random(3);
  const auto below = [&random](std::uint32_t n) {
    return static_cast<std::uint32_t>(random() % n);
  };
  for (int trial = 0; trial < 200; ++trial) {
    PseudoChannelTiming whole(without_refresh());
    PseudoChannelTiming single(without_refresh());
    Ps at = 0;
    for (int i = 0; i < 20; ++i) {
      const HbmTrain train{below(2), below(2), below(2), 1 + below(32), below(3) == 0};
      const HbmSchedule expected = whole.schedule(train, at);
      HbmTrain access = train;
      access.accesses = 1;
      Ps end = 0;
      for (std::uint32_t n = 0; n < train.accesses; ++n) {
        const HbmSchedule s = single.schedule(access, at);
        if (n == 0) {
          ASSERT_EQ(s.first_column_ps, expected.first_column_ps) << trial << " " << i;
          ASSERT_EQ(s.outcome, expected.outcome);
        }
        end = s.data_end_ps;
      }
      ASSERT_EQ(end, expected.data_end_ps) << trial << " " << i;
      at = below(2) == 0 ? expected.data_end_ps : at + 5000;
    }
    EXPECT_EQ(single.data_busy_ps(), whole.data_busy_ps());
  }
}

TEST(HbmTiming, InterleavedTrainsTakeTheTimesOfTheirAccessesInTurn) {
  PseudoChannelTiming whole = two_open_rows();
  PseudoChannelTiming single = two_open_rows();
  const Ps end_0 = whole.schedule(read(0, 0, 1, 16), kStart).data_end_ps;
  const Ps end_1 = whole.schedule(read(1, 0, 1, 16), kStart).data_end_ps;
  EXPECT_EQ(end_0, kStart + 15 * 2000 + 11000);
  EXPECT_EQ(end_1, kStart + 1000 + 15 * 2000 + 11000);
  HbmSchedule last_0;
  HbmSchedule last_1;
  for (int i = 0; i < 16; ++i) {
    last_0 = single.schedule(read(0, 0, 1), kStart);
    last_1 = single.schedule(read(1, 0, 1), kStart);
  }
  EXPECT_EQ(last_0.data_end_ps, end_0);
  EXPECT_EQ(last_1.data_end_ps, end_1);
}

TEST(HbmTiming, ABankGroupLeavesTheOtherPhaseFreeHoweverManyTrainsItHasAhead) {
  PseudoChannelTiming timing = two_open_rows();
  timing.schedule(read(0, 0, 1, 16), kStart);  // columns at 0 .. 30000
  timing.schedule(read(0, 0, 1, 16), kStart);  // columns at 32000 .. 62000
  EXPECT_EQ(timing.schedule(read(1, 0, 1, 16), kStart).first_column_ps, kStart + 1000);
}

// ---- refresh ----

TEST(HbmTiming, AnIdlePseudoChannelIsRefreshedOnTime) {
  PseudoChannelTiming timing{HbmConfig{}};
  const HbmSchedule during = timing.schedule(read(0, 0, 1), 3950000);
  EXPECT_EQ(during.data_end_ps, 3900000 + 450000 + 30500);
  EXPECT_EQ(timing.refreshes(), 1u);
  // Rows that are open are precharged first.
  const HbmSchedule next = timing.schedule(read(0, 0, 1), 7800000);
  EXPECT_EQ(next.outcome, RowOutcome::closed);
  EXPECT_EQ(next.data_end_ps, 7800000 + 16500 + 450000 + 30500);
  EXPECT_EQ(timing.refreshes(), 2u);
  // Long idle: all of them are made up, and none of them is in the way.
  EXPECT_EQ(timing.schedule(read(0, 0, 1), 38500000).data_end_ps, 38500000 + 30500);
  EXPECT_EQ(timing.refreshes(), 9u);
}

TEST(HbmTiming, ARefreshThatFallsDueBeforeTheColumnGoesFirst) {
  PseudoChannelTiming timing{HbmConfig{}};
  const HbmSchedule s = timing.schedule(read(0, 0, 1), 3890000);
  EXPECT_GE(s.data_end_ps, 3900000 + 450000 + 30500);
  // At worst after a row cycle that was begun in vain.
  EXPECT_LE(s.data_end_ps, 3890000 + 45000 + 450000 + 30500);
  EXPECT_EQ(timing.refreshes(), 1u);
}

TEST(HbmTiming, ARefreshWaitsForTheTrainUnderWay) {
  PseudoChannelTiming timing{HbmConfig{}};
  timing.schedule(read(0, 0, 1), 1000000);
  const HbmSchedule train = timing.schedule(read(0, 0, 1, 32), 3899000);
  EXPECT_EQ(train.first_column_ps, 3899000);
  // Last column 3961000, tRTP, tRP, tRFC, tRCD, tCL, burst.
  EXPECT_EQ(timing.schedule(read(0, 0, 1), 3901000).data_end_ps,
            3961000 + 6000 + 16500 + 450000 + 30500);
}

TEST(HbmTiming, RefreshOfOneBankLeavesTheOthersAlone) {
  HbmConfig config;
  config.refresh = Refresh::per_bank;
  PseudoChannelTiming timing(config);
  // 16 banks: one every 243750.
  EXPECT_EQ(timing.schedule(read(1, 0, 1), 250000).data_end_ps, 250000 + 30500);
  EXPECT_EQ(timing.refreshes(), 1u);
  EXPECT_EQ(timing.schedule(read(0, 0, 1), 300000).data_end_ps, 243750 + 280000 + 30500);
  // The second is due at 487500, in the other bank group, whose row 1 is open.
  EXPECT_EQ(timing.schedule(read(1, 0, 1), 490000).data_end_ps, 487500 + 16500 + 280000 + 30500);
  EXPECT_EQ(timing.schedule(read(0, 0, 1), 900000).data_end_ps, 900000 + 11000);
}

TEST(HbmTiming, StatsStartAgainAndTheStateStays) {
  PseudoChannelTiming timing{HbmConfig{}};
  timing.schedule(read(0, 0, 1, 5), 4000000);
  EXPECT_EQ(timing.data_busy_ps(), 5000);
  timing.reset_stats();
  EXPECT_EQ(timing.data_busy_ps(), 0);
  EXPECT_EQ(timing.refreshes(), 0u);
  EXPECT_TRUE(timing.row_open(read(0, 0, 1)));
}

// ---- addresses ----

void expect_location(const hw::HbmLocation& at, std::uint32_t pseudo_channel, std::uint32_t group,
                     std::uint32_t bank, std::uint64_t row, std::uint32_t column) {
  EXPECT_EQ(at.pseudo_channel, pseudo_channel);
  EXPECT_EQ(at.bank_group, group);
  EXPECT_EQ(at.bank, bank);
  EXPECT_EQ(at.row, row);
  EXPECT_EQ(at.column_bytes, column);
}

TEST(HbmAddressMap, DigitsOfTheDefault) {
  const hw::HbmAddressMap map(HbmConfig{}, 8);
  expect_location(map.locate(0), 0, 0, 0, 0, 0);
  expect_location(map.locate(1023), 0, 0, 0, 0, 1023);
  expect_location(map.locate(1024), 1, 0, 0, 0, 0);
  expect_location(map.locate(7 * 1024 + 5), 7, 0, 0, 0, 5);
  expect_location(map.locate(8 * 1024), 0, 1, 0, 0, 0);
  expect_location(map.locate(16 * 1024), 0, 0, 1, 0, 0);
  expect_location(map.locate(112 * 1024), 0, 0, 7, 0, 0);
  expect_location(map.locate(127 * 1024 + 32), 7, 1, 7, 0, 32);
  expect_location(map.locate(128 * 1024), 0, 0, 0, 1, 0);
  EXPECT_EQ(map.contiguous_bytes(0), 1024u);
  EXPECT_EQ(map.contiguous_bytes(1023), 1u);
}

TEST(HbmAddressMap, UnitsSmallerAndLargerThanARow) {
  HbmConfig config;
  config.interleave_bytes = 256;
  const hw::HbmAddressMap small(config, 2);
  expect_location(small.locate(256), 1, 0, 0, 0, 0);
  expect_location(small.locate(512), 0, 0, 0, 0, 256);
  expect_location(small.locate(2048 + 3), 0, 1, 0, 0, 3);
  EXPECT_EQ(small.contiguous_bytes(300), 212u);
  config.interleave_bytes = 4096;
  const hw::HbmAddressMap large(config, 2);
  expect_location(large.locate(1024), 0, 1, 0, 0, 0);
  expect_location(large.locate(4096), 1, 0, 0, 0, 0);
  expect_location(large.locate(8192), 0, 0, 2, 0, 0);
  EXPECT_EQ(large.contiguous_bytes(1500), 548u);
}

}  // namespace
}  // namespace cubevp
