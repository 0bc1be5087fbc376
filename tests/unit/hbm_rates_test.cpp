// SPDX-License-Identifier: Apache-2.0
// Latencies and rates of a pseudo-channel, measured at the socket of the stack.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "tests/unit/hbm_harness.h"

namespace cubevp {
namespace {

using hw::HbmConfig;
using hw::Refresh;
using test::hbm;
using test::small_stack;
using test::StackMachine;

// Of one pseudo-channel: bank groups alternate from page to page, 16 pages make a row of all banks.
constexpr std::uint64_t kPage = 1024;
constexpr std::uint64_t kRow = 16 * kPage;

std::uint64_t place(std::uint64_t group, std::uint64_t bank, std::uint64_t row,
                    std::uint64_t column = 0) {
  return row * kRow + bank * 2 * kPage + group * kPage + column;
}

/// `count` reads or writes of `bytes` at offset(i), as fast as they are taken: GB/s.
double rate(const HbmConfig& config, std::size_t count, std::size_t bytes,
            const std::function<std::uint64_t(std::size_t)>& offset, bool write = false) {
  StackMachine machine(config);
  for (std::size_t i = 0; i < count; ++i) {
    if (write) {
      machine.port().write(hbm(offset(i)), std::vector<unsigned char>(bytes));
    } else {
      machine.port().read(hbm(offset(i)), bytes);
    }
  }
  machine.run();
  const double gb_per_s =
      static_cast<double>(count * bytes) * 1000 / static_cast<double>(machine.port().last_done());
  testing::Test::RecordProperty("gb_per_s", std::to_string(gb_per_s));
  return gb_per_s;
}

TEST(HbmLatency, IdleAccesses) {
  StackMachine machine(small_stack(1, 1));
  auto& port = machine.port();
  const auto& closed = port.read(hbm(place(0, 0, 0)), 32, 1000000);
  const auto& hit = port.read(hbm(place(0, 0, 0, 512)), 32, 2000000);
  const auto& conflict = port.read(hbm(place(0, 0, 1)), 32, 3000000);
  const auto& write_hit = port.write(hbm(place(0, 0, 1)), {1, 2, 3}, 4000000);
  const auto& page = port.read(hbm(place(0, 0, 1)), 1024, 5000000);
  machine.run();
  EXPECT_EQ(closed.done - closed.begun, 30500);
  EXPECT_EQ(hit.done - hit.begun, 11000);
  EXPECT_EQ(conflict.done - conflict.begun, 47000);
  EXPECT_EQ(write_hit.done - write_hit.begun, 6000);
  EXPECT_EQ(page.done - page.begun, 31 * 2000 + 11000);
}

TEST(HbmLatency, TheControllersConstantIsAddedToEach) {
  HbmConfig config = small_stack(1, 1);
  config.controller_ps = 20000;
  StackMachine machine(config);
  const auto& closed = machine.port().read(hbm(0), 32, 1000000);
  const auto& hit = machine.port().read(hbm(0), 32, 2000000);
  machine.run();
  EXPECT_EQ(closed.done - closed.begun, 20000 + 30500);
  EXPECT_EQ(hit.done - hit.begun, 20000 + 11000);
}

TEST(HbmLatency, TurnaroundsBetweenRequests) {
  StackMachine machine(small_stack(1, 1));
  auto& port = machine.port();
  port.read(hbm(place(0, 0, 0)), 32, 0);
  port.read(hbm(place(1, 0, 0)), 32, 0);
  const auto& write = port.write(hbm(place(0, 0, 0)), {1}, 1000000);
  const auto& read = port.read(hbm(place(0, 0, 0)), 32, 1000000);
  const auto& read_2 = port.read(hbm(place(0, 0, 0)), 32, 2000000);
  const auto& write_2 = port.write(hbm(place(1, 0, 0)), {1}, 2000000);
  machine.run();
  EXPECT_EQ(write.done, 1000000 + 6000);
  EXPECT_EQ(read.done, 1000000 + 6000 + 6500 + 11000);
  EXPECT_EQ(read_2.done, 2000000 + 11000);
  EXPECT_EQ(write_2.done, 2000000 + 12500 + 6000);
}

TEST(HbmRate, StreamWithBankGroupsInterleaved) {
  EXPECT_NEAR(rate(small_stack(1, 1), 1000, 1024, [](std::size_t i) { return i * kPage; }), 32.0,
              32.0 * 0.03);
}

TEST(HbmRate, StreamOfSingleAccessesWithBankGroupsInterleaved) {
  // Columns of two rows in turn, then the next two rows.
  EXPECT_NEAR(rate(small_stack(1, 1), 16000, 32,
                   [](std::size_t i) { return (i / 64 * 2 + i % 2) * kPage + i % 64 / 2 * 32; }),
              32.0, 32.0 * 0.03);
}

TEST(HbmRate, WritesStreamAsFastAsReads) {
  EXPECT_NEAR(rate(
                  small_stack(1, 1), 1000, 1024, [](std::size_t i) { return i * kPage; }, true),
              32.0, 32.0 * 0.03);
}

TEST(HbmRate, StreamInsideOneBankGroup) {
  EXPECT_NEAR(
      rate(small_stack(1, 1), 1000, 1024, [](std::size_t i) { return place(1, i % 8, i / 8); }),
      16.0, 16.0 * 0.03);
}

TEST(HbmRate, RandomRowsOfOneBank) {
  std::vector<std::uint64_t> rows(2000);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = i;
  }
  std::shuffle(rows.begin(), rows.end(), std::mt19937(1));
  EXPECT_NEAR(rate(small_stack(1, 1), rows.size(), 32,
                   [&rows](std::size_t i) { return place(0, 3, rows[i]); }),
              0.711, 0.711 * 0.03);
}

TEST(HbmRate, RandomRowsOfAllBanksInTurn) {
  std::mt19937_64 random(2);
  EXPECT_NEAR(rate(small_stack(1, 1), 4000, 32,
                   [&random](std::size_t i) { return place(i % 2, i / 2 % 8, random() % 65536); }),
              8.53, 8.53 * 0.03);
}

TEST(HbmRate, RandomRowsOfAllBanksTwoAccessesEach) {
  std::mt19937_64 random(2);
  EXPECT_NEAR(rate(small_stack(1, 1), 4000, 64,
                   [&random](std::size_t i) { return place(i % 2, i / 2 % 8, random() % 65536); }),
              17.1, 17.1 * 0.03);
}

TEST(HbmRate, RandomAddressesAsFastAsBanksInTurn) {
  // The scheduler finds banks that can serve among the requests that wait.
  std::mt19937_64 random(2);
  const auto anywhere = [&random](std::size_t) { return random() % (1u << 30) / 64 * 64; };
  EXPECT_NEAR(rate(small_stack(1, 1), 40000, 32, anywhere), 8.53, 8.53 * 0.03);
}

TEST(HbmRate, RandomAddressesTwoAccessesEach) {
  std::mt19937_64 random(2);
  const auto anywhere = [&random](std::size_t) { return random() % (1u << 30) / 64 * 64; };
  EXPECT_NEAR(rate(small_stack(1, 1), 40000, 64, anywhere), 17.1, 17.1 * 0.03);
}

TEST(HbmRate, RefreshOfAllBanksLimitsTheStream) {
  HbmConfig config = small_stack(1, 1);
  config.refresh = Refresh::all_bank;
  // 1 - 450 / 3900 of 32.
  EXPECT_NEAR(rate(config, 8000, 1024, [](std::size_t i) { return i * kPage; }), 28.31,
              28.31 * 0.03);
}

TEST(HbmRate, RefreshOfAllBanksTakesItsPartOfTheTimeOnceAnInterval) {
  HbmConfig config = small_stack(1, 1);
  config.refresh = Refresh::all_bank;
  StackMachine machine(config);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    machine.port().read(hbm(i * kPage), kPage);
  }
  machine.run();
  // 4000 pages are 128 us of data; with the refreshes' part it is about 145 us = 37 intervals.
  const auto refreshes = machine.stats().more.at("refreshes");
  EXPECT_GE(refreshes, 36u);
  EXPECT_LE(refreshes, 38u);
}

TEST(HbmRate, RefreshOfOneBankAtATimeIsPassedBy) {
  // In the order of the addresses the stream would follow the refreshes from bank to bank, a page
  // (1 KiB) every tREFI / 16: 4.2 GB/s.
  HbmConfig config = small_stack(1, 1);
  config.refresh = Refresh::per_bank;
  const double measured = rate(config, 8000, 1024, [](std::size_t i) { return i * kPage; });
  EXPECT_GT(measured, 32.0 * 0.8);
  EXPECT_LT(measured, 32.0);
}

}  // namespace
}  // namespace cubevp
