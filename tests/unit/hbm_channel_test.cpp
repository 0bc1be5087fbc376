// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_channel.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace cubevp {
namespace {

using hw::HbmChannel;
using hw::HbmConfig;
using hw::HbmTrain;

class Client : public hw::HbmChannelClient {
 public:
  void part_done(std::uint32_t request, Ps at_ps) override {
    EXPECT_EQ(done.count(request), 0u);
    done[request] = at_ps;
    order.push_back(request);
  }
  void room() override { ++rooms; }

  std::map<std::uint32_t, Ps> done;
  std::vector<std::uint32_t> order;  // of commitment
  int rooms = 0;
};

HbmConfig without_refresh() {
  HbmConfig config;
  config.refresh = hw::Refresh::off;
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

// A channel on whose pseudo-channel 0 a first train (request 0, row 1 of bank 0 of bank group 0)
// has columns from 19500 to 81500, so that the scheduler has to choose among what comes next.
class HbmChannelTest : public testing::Test {
 protected:
  void occupy() { enqueue(0, read(0, 0, 1, 32)); }
  void enqueue(std::uint32_t request, const HbmTrain& train) {
    channel.enqueue(0, request, train, train.accesses * 32, 0);
  }

  Client client;
  HbmChannel channel{"channel", without_refresh(), client};
};

TEST_F(HbmChannelTest, ServesTheOldestFirst) {
  occupy();
  for (std::uint32_t i = 1; i <= 8; ++i) {
    enqueue(i, read(0, 0, 1));
  }
  sc_core::sc_start();
  EXPECT_EQ(client.done[0], 92500);
  EXPECT_EQ(client.order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  for (std::uint32_t i = 1; i <= 8; ++i) {
    EXPECT_EQ(client.done[i], 92500 + 2000 * Ps{i});
  }
  EXPECT_GT(client.rooms, 0);
}

TEST_F(HbmChannelTest, PrefersRowHits) {
  occupy();
  enqueue(1, read(0, 0, 2));
  for (std::uint32_t i = 2; i <= 11; ++i) {
    enqueue(i, read(0, 0, 1));
  }
  sc_core::sc_start();
  EXPECT_EQ(client.order, (std::vector<std::uint32_t>{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1}));
  EXPECT_EQ(client.done[2], 83500 + 11000);
  EXPECT_EQ(client.done[11], 101500 + 11000);
  // Last hit's column 101500, tRTP, tRP, then a closed row's time.
  EXPECT_EQ(client.done[1], 101500 + 6000 + 16500 + 30500);
  EXPECT_EQ(channel.stats().more.at("row_hits"), 31u + 10u);
  EXPECT_EQ(channel.stats().more.at("row_closed"), 1u);
  EXPECT_EQ(channel.stats().more.at("row_conflicts"), 1u);
}

TEST_F(HbmChannelTest, NothingIsPassedOverMoreThanSixteenTimes) {
  occupy();
  enqueue(1, read(0, 0, 2));
  for (std::uint32_t i = 2; i <= 21; ++i) {
    enqueue(i, read(0, 0, 1));
  }
  sc_core::sc_start();
  ASSERT_EQ(client.order.size(), 22u);
  EXPECT_EQ(client.order[16], 17u);  // the sixteenth that overtakes
  EXPECT_EQ(client.order[17], 1u);
  EXPECT_EQ(client.order[18], 18u);
  EXPECT_EQ(client.done[17], 113500 + 11000);
  EXPECT_EQ(client.done[1], 113500 + 6000 + 16500 + 30500);
  // Activated at 136000: tRAS, tRP, a closed row's time; then hits again.
  EXPECT_EQ(client.done[18], 136000 + 28500 + 16500 + 30500);
  EXPECT_EQ(client.done[21], 136000 + 28500 + 16500 + 30500 + 3 * 2000);
}

TEST_F(HbmChannelTest, PrefersNotToTurnTheBusAmongEqualRows) {
  occupy();
  enqueue(1, write(0, 0, 1));
  enqueue(2, read(0, 0, 1));
  sc_core::sc_start();
  EXPECT_EQ(client.order, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(client.done[2], 83500 + 11000);
  EXPECT_EQ(client.done[1], 83500 + 12500 + 6000);
}

TEST_F(HbmChannelTest, PrefersAnOpenRowToAnotherBankThatIsReadyToo) {
  occupy();
  enqueue(1, read(0, 1, 1));
  enqueue(2, read(0, 0, 1));
  sc_core::sc_start();
  EXPECT_EQ(client.order, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(client.done[2], 83500 + 11000);
  EXPECT_EQ(client.done[1], 85500 + 11000);
}

TEST_F(HbmChannelTest, ARowHitIsWorthATurnOfTheBus) {
  occupy();
  enqueue(1, read(0, 1, 1));
  enqueue(2, write(0, 0, 1));
  sc_core::sc_start();
  EXPECT_EQ(client.order, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(client.done[2], 81500 + 12500 + 6000);
  EXPECT_EQ(client.done[1], 100000 + 6500 + 11000);
}

TEST_F(HbmChannelTest, ABankInItsRowCycleDoesNotHoldUpOneThatIsReady) {
  enqueue(0, read(0, 0, 1));
  enqueue(1, read(0, 0, 2));
  enqueue(2, read(0, 1, 1));
  sc_core::sc_start();
  EXPECT_EQ(client.done[0], 30500);
  EXPECT_EQ(client.done[1], 45000 + 30500);
  EXPECT_EQ(client.done[2], 3500 + 30500);
}

TEST_F(HbmChannelTest, ARequestIsNotServedBeforeItArrives) {
  channel.enqueue(0, 0, read(0, 0, 1), 32, 50000);
  channel.enqueue(0, 1, read(0, 0, 1, 32), 1024, 200000);
  channel.enqueue(0, 2, read(0, 0, 1), 32, 230000);
  sc_core::sc_start();
  EXPECT_EQ(client.done[0], 50000 + 30500);
  EXPECT_EQ(client.done[1], 200000 + 62000 + 11000);
  EXPECT_EQ(client.done[2], 264000 + 11000);
}

TEST_F(HbmChannelTest, PseudoChannelsShareNothing) {
  channel.enqueue(0, 0, read(0, 0, 1, 32), 1024, 0);
  channel.enqueue(1, 1, read(0, 0, 2, 32), 1024, 0);
  sc_core::sc_start();
  EXPECT_EQ(client.done[0], 19500 + 62000 + 11000);
  EXPECT_EQ(client.done[1], 19500 + 62000 + 11000);
}

TEST_F(HbmChannelTest, SaysWhenAQueueIsFull) {
  occupy();
  for (std::uint32_t i = 1; i <= 31; ++i) {
    enqueue(i, read(0, 0, 1));
  }
  EXPECT_TRUE(channel.has_room(0));
  enqueue(32, read(0, 0, 1));
  EXPECT_FALSE(channel.has_room(0));
  EXPECT_TRUE(channel.has_room(1));
  sc_core::sc_start();
  EXPECT_TRUE(channel.has_room(0));
  EXPECT_EQ(client.done[32], 92500 + 32 * 2000);
}

TEST_F(HbmChannelTest, IdleLatencyKnowsTheOpenRow) {
  EXPECT_EQ(channel.idle_latency_ps(0, read(0, 0, 1)), 30500);
  EXPECT_EQ(channel.idle_latency_ps(0, write(0, 0, 1)), 15500);
  occupy();
  sc_core::sc_start();
  EXPECT_EQ(channel.idle_latency_ps(0, read(0, 0, 1)), 11000);
  EXPECT_EQ(channel.idle_latency_ps(0, write(0, 0, 1, 4)), 6000 + 3 * 2000);
  EXPECT_EQ(channel.idle_latency_ps(1, read(0, 0, 1)), 30500);
}

TEST_F(HbmChannelTest, CountsWhatItDid) {
  channel.enqueue(0, 0, read(0, 0, 1, 32), 1024, 0);       // closed, 31 hits
  channel.enqueue(0, 1, write(0, 0, 1, 4), 128, 1000000);  // 4 hits
  channel.enqueue(0, 2, read(0, 0, 2, 2), 40, 2000000);    // conflict, 1 hit
  channel.enqueue(1, 3, write(1, 7, 9, 1), 32, 0);         // closed
  sc_core::sc_start();
  const sim::UnitStats stats = channel.stats();
  EXPECT_STREQ(channel.stats_kind(), "hbm_channel");
  EXPECT_EQ(stats.more.at("row_hits"), 36u);
  EXPECT_EQ(stats.more.at("row_closed"), 2u);
  EXPECT_EQ(stats.more.at("row_conflicts"), 1u);
  EXPECT_EQ(stats.more.at("refreshes"), 0u);
  EXPECT_EQ(stats.more.at("read_bytes"), 1064u);
  EXPECT_EQ(stats.more.at("write_bytes"), 160u);
  EXPECT_EQ(stats.bytes, 1224u);
  EXPECT_EQ(stats.ops, 39u);
  EXPECT_EQ(stats.busy_ps, (38 + 1) * 1000 / 2);
  channel.reset_stats();
  const sim::UnitStats none = channel.stats();
  EXPECT_EQ(none.ops, 0u);
  EXPECT_EQ(none.bytes, 0u);
  EXPECT_EQ(none.busy_ps, 0);
  for (const auto& [name, count] : none.more) {
    EXPECT_EQ(count, 0u) << name;
  }
  // The open rows are still known.
  EXPECT_EQ(channel.idle_latency_ps(0, read(0, 0, 2)), 11000);
}

TEST(HbmChannel, CountsTheRefreshesOfItsPseudoChannels) {
  Client client;
  HbmChannel channel("channel", HbmConfig{}, client);
  channel.enqueue(0, 0, read(0, 0, 1), 32, 20000000);
  sc_core::sc_start();
  // Five on the one that was used (3.9 .. 19.5 us), of the other nothing is known yet.
  EXPECT_EQ(channel.stats().more.at("refreshes"), 5u);
  EXPECT_EQ(client.done[0], 20030500);
}

TEST(HbmChannel, AddsTheControllersConstant) {
  HbmConfig config = without_refresh();
  config.controller_ps = 7300;
  Client client;
  HbmChannel channel("channel", config, client);
  channel.enqueue(0, 0, read(0, 0, 1), 32, 0);
  channel.enqueue(0, 1, write(0, 0, 1), 32, 1000000);
  sc_core::sc_start();
  EXPECT_EQ(client.done[0], 30500 + 7300);
  EXPECT_EQ(client.done[1], 1006000 + 7300);
  EXPECT_EQ(channel.idle_latency_ps(0, read(0, 0, 1)), 11000 + 7300);
}

}  // namespace
}  // namespace cubevp
