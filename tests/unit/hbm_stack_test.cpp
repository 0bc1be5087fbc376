// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_stack.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/hbm_harness.h"

namespace cubevp {
namespace {

using hw::HbmConfig;
using test::bytes_from;
using test::hbm;
using test::small_stack;
using test::StackMachine;
using test::TestInitiator;

constexpr std::uint64_t kSlab = std::uint64_t{1} << 30;

struct Plain {
  Plain(tlm::tlm_command command, Address address, std::vector<unsigned char>& data) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }
  tlm::tlm_generic_payload payload;
};

// ---- interleaving ----

TEST(HbmStackInterleave, ConsecutiveUnitsGoToConsecutivePseudoChannels) {
  HbmConfig config = small_stack(1, 2);
  config.channels = 2;
  StackMachine machine(config);
  std::vector<TestInitiator::Access*> units;
  for (std::uint64_t u = 0; u < 4; ++u) {
    units.push_back(&machine.port().read(hbm(u * 1024), 1024));
  }
  // The fifth unit is again the first pseudo-channel's, in the other bank group: activated after
  // tRRD_S, on the other phase of the bus.
  const auto& fifth = machine.port().read(hbm(4 * 1024), 1024);
  machine.run();
  for (const TestInitiator::Access* unit : units) {
    EXPECT_EQ(unit->done, 19500 + 62000 + 11000);
  }
  EXPECT_EQ(fifth.done, 22500 + 62000 + 11000);
  EXPECT_EQ(machine.stats(0).more.at("read_bytes"), 3 * 1024u);
  EXPECT_EQ(machine.stats(1).more.at("read_bytes"), 2 * 1024u);
}

TEST(HbmStackInterleave, ARequestOverSeveralUnitsIsDoneWithItsLastPart) {
  HbmConfig config = small_stack(1, 2);
  config.channels = 2;
  StackMachine machine(config);
  // 1 B of a row, then 1024 B and 30 B of the rows that follow, each in a channel of its own.
  const auto& access = machine.port().read(hbm(1023), 1 + 1024 + 30);
  machine.run();
  EXPECT_EQ(access.done, 92500);
  EXPECT_EQ(machine.stats(0).ops, 1u + 32u);
  EXPECT_EQ(machine.stats(1).ops, 1u);
  EXPECT_EQ(machine.stats(0).bytes, 1025u);
  EXPECT_EQ(machine.stats(1).bytes, 30u);
}

TEST(HbmStackInterleave, BytesAcrossAnAccessBoundaryTakeTwoAccesses) {
  StackMachine machine(small_stack(1, 1));
  const auto& access = machine.port().read(hbm(31), 2);
  machine.run();
  EXPECT_EQ(access.done, 30500 + 2000);
  EXPECT_EQ(machine.stats().ops, 2u);
  EXPECT_EQ(machine.stats().bytes, 2u);
}

TEST(HbmStackInterleave, EverySlabHasItsChannels) {
  StackMachine machine(small_stack(2, 1), 2);
  const auto& first = machine.port(0).read(hbm(0), 1024);
  const auto& second = machine.port(1).read(hbm(kSlab), 512);
  machine.run();
  EXPECT_EQ(first.done, 92500);
  EXPECT_EQ(second.done, 30500 + 15 * 2000);
  EXPECT_EQ(machine.stats(0).bytes, 1024u);
  EXPECT_EQ(machine.stats(1).bytes, 512u);
}

TEST(HbmStackInterleave, ATrainCountsItsFirstAccessByTheRowAndTheOthersAsHits) {
  StackMachine machine(small_stack(1, 1));
  machine.port().read(hbm(0), 1024, 0);                       // closed, 31 hits
  machine.port().write(hbm(64), bytes_from(1, 64), 1000000);  // 2 hits
  machine.port().read(hbm(16 * 1024), 96, 2000000);           // conflict, 2 hits
  machine.run();
  const sim::UnitStats stats = machine.stats();
  EXPECT_EQ(stats.more.at("row_closed"), 1u);
  EXPECT_EQ(stats.more.at("row_conflicts"), 1u);
  EXPECT_EQ(stats.more.at("row_hits"), 35u);
  EXPECT_EQ(stats.more.at("read_bytes"), 1120u);
  EXPECT_EQ(stats.more.at("write_bytes"), 64u);
}

// ---- bytes ----

TEST(HbmStackData, ReadsGiveWhatWasWrittenLast) {
  StackMachine machine(small_stack(2, 2), 2);
  std::mt19937 random(5);
  std::map<std::uint64_t, unsigned char> model;
  std::vector<std::pair<TestInitiator::Access*, std::vector<unsigned char>>> reads;
  // Around a row's end and the slabs' border, so that accesses overlap and cross both.
  for (std::size_t i = 0; i < 400; ++i) {
    const std::uint64_t offset = (i % 2 == 0 ? 0 : kSlab - 4096) + random() % 6000;
    const std::size_t bytes = 1 + random() % 1500;
    const Ps at = static_cast<Ps>(i) * 20000;
    if (random() % 2 == 0) {
      const auto data = bytes_from(static_cast<unsigned>(i), bytes);
      for (std::size_t b = 0; b < bytes; ++b) {
        model[offset + b] = data[b];
      }
      machine.port(0).write(hbm(offset), data, at);
    } else {
      std::vector<unsigned char> expected(bytes);
      for (std::size_t b = 0; b < bytes; ++b) {
        expected[b] = model.count(offset + b) != 0 ? model[offset + b] : 0;
      }
      reads.emplace_back(&machine.port(0).read(hbm(offset), bytes, at), expected);
    }
  }
  machine.run();
  ASSERT_GT(reads.size(), 100u);
  for (const auto& [access, expected] : reads) {
    EXPECT_EQ(access->status, tlm::TLM_OK_RESPONSE);
    ASSERT_EQ(access->data, expected);
  }
}

TEST(HbmStackData, AReadSeesTheWriteThatWasAcceptedBeforeIt) {
  StackMachine machine(small_stack(2, 1), 2);
  machine.port(0).write(hbm(100), {1, 2, 3, 4});
  const auto& read = machine.port(1).read(hbm(100), 4, 1);
  machine.run();
  EXPECT_EQ(read.data, (std::vector<unsigned char>{1, 2, 3, 4}));
}

TEST(HbmStackData, CubeAndRegionOfTheAddressDoNotMatter) {
  StackMachine machine(small_stack(1, 1));
  machine.port().write(make_address(CubeId{7}, Region::hbm, 5), {42});
  const auto& read = machine.port().read(hbm(5), 1, 1000000);
  machine.run();
  EXPECT_EQ(read.data[0], 42);
}

TEST(HbmStackData, ClearForgetsAndFills) {
  StackMachine machine(small_stack(1, 1));
  machine.port().write(hbm(4000), {1, 2});
  machine.run();
  machine.stack.memory().clear(0xa5);
  machine.port().write(hbm(9000), {9});
  const auto& forgotten = machine.port().read(hbm(3999), 4);
  const auto& beside = machine.port().read(hbm(8999), 3, 1000000);
  const auto& far = machine.port().read(hbm(kSlab - 1), 1);
  machine.run();
  EXPECT_EQ(forgotten.data, (std::vector<unsigned char>{0xa5, 0xa5, 0xa5, 0xa5}));
  EXPECT_EQ(beside.data, (std::vector<unsigned char>{0xa5, 9, 0xa5}));
  EXPECT_EQ(far.data[0], 0xa5);
  machine.stack.memory().clear();
  const auto& zero = machine.port().read(hbm(8999), 3);
  machine.run();
  EXPECT_EQ(zero.data, (std::vector<unsigned char>{0, 0, 0}));
}

TEST(HbmStackData, TimingOnlyRequestsTakeTheirTimeAndMoveNothing) {
  StackMachine machine(small_stack(1, 1));
  machine.port().write(hbm(0), bytes_from(3, 32));
  machine.run();
  std::vector<unsigned char> data(32, 0x11);
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(machine.pool.allocate());
  sim::set_access(*payload, tlm::TLM_WRITE_COMMAND, hbm(0), data.data(), data.size());
  sim::extension(*payload)->timing_only = true;
  sc_core::sc_time delay;
  machine.port().isock->b_transport(*payload, delay);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(sim::to_ps(delay), 6000);
  sim::set_access(*payload, tlm::TLM_READ_COMMAND, hbm(0), data.data(), data.size());
  machine.port().isock->b_transport(*payload, delay);
  EXPECT_EQ(data, std::vector<unsigned char>(32, 0x11));
  std::vector<unsigned char> kept(32);
  machine.stack.memory().read(0, kept.data(), kept.size());
  EXPECT_EQ(kept, bytes_from(3, 32));
}

// ---- bounds ----

TEST(HbmStackBounds, OutsideIsAnAddressError) {
  StackMachine machine(small_stack(1, 1));
  auto& port = machine.port();
  const auto& last = port.write(hbm(kSlab - 1), {7}, 1000);
  const auto& beyond = port.write(hbm(kSlab - 1), {8, 9}, 2000000);
  const auto& behind = port.read(hbm(kSlab), 1, 3000000);
  const auto& far = port.read(hbm((std::uint64_t{1} << 36) - 16), 16, 4000000);
  const auto& after = port.read(hbm(kSlab - 1), 1, 5000000);
  machine.run();
  EXPECT_EQ(last.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(beyond.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(beyond.done, 2000000);
  EXPECT_EQ(behind.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(far.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // Nothing of the refused write is there.
  EXPECT_EQ(after.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(after.data[0], 7);
  EXPECT_EQ(machine.stats().ops, 2u);
}

TEST(HbmStackBounds, ARequestOfNoBytesIsAnsweredAtOnce) {
  StackMachine machine(small_stack(1, 1));
  const auto& none = machine.port().read(hbm(64), 0, 5000);
  machine.run();
  EXPECT_EQ(none.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(none.done, 5000);
  EXPECT_EQ(machine.stats().ops, 0u);
}

// ---- other transports ----

TEST(HbmStackBlocking, APlainInitiatorIsServedWithTheIdleLatency) {
  StackMachine machine(small_stack(1, 2));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  auto& socket = machine.port().isock;
  std::vector<unsigned char> data = bytes_from(4, 64);
  Plain write(tlm::TLM_WRITE_COMMAND, hbm(992), data);
  sc_core::sc_time delay = sim::to_sc_time(5000);
  socket->b_transport(write.payload, delay);
  EXPECT_EQ(write.payload.get_response_status(), tlm::TLM_OK_RESPONSE);
  // One access in each of two pseudo-channels; a closed row's time, added to what was there.
  EXPECT_EQ(sim::to_ps(delay), 5000 + 15500);
  std::vector<unsigned char> back(64);
  Plain read(tlm::TLM_READ_COMMAND, hbm(992), back);
  delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(read.payload, delay);
  EXPECT_EQ(sim::to_ps(delay), 30500);
  EXPECT_EQ(back, data);
  machine.port().read(hbm(0), 32);
  machine.run();
  Plain hit(tlm::TLM_READ_COMMAND, hbm(512), back);
  delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(hit.payload, delay);
  EXPECT_EQ(sim::to_ps(delay), 11000 + 2000);
}

TEST(HbmStackBlocking, OutsideIsAnAddressErrorThatTakesNoTime) {
  StackMachine machine(small_stack(1, 1));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data(2, 0x77);
  Plain read(tlm::TLM_READ_COMMAND, hbm(kSlab - 1), data);
  sc_core::sc_time delay = sim::to_sc_time(5000);
  machine.port().isock->b_transport(read.payload, delay);
  EXPECT_EQ(read.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(sim::to_ps(delay), 5000);
  EXPECT_EQ(data, std::vector<unsigned char>(2, 0x77));
}

TEST(HbmStackBlocking, ByteEnablesAndStreaming) {
  StackMachine machine(small_stack(1, 1));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  auto& socket = machine.port().isock;
  std::vector<unsigned char> data = {1, 2, 3, 4, 5, 6};
  std::array<unsigned char, 2> enables = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
  Plain masked(tlm::TLM_WRITE_COMMAND, hbm(10), data);
  masked.payload.set_byte_enable_ptr(enables.data());
  masked.payload.set_byte_enable_length(2);
  sc_core::sc_time delay;
  socket->b_transport(masked.payload, delay);
  std::vector<unsigned char> back(6, 0xff);
  Plain read(tlm::TLM_READ_COMMAND, hbm(10), back);
  socket->b_transport(read.payload, delay);
  EXPECT_EQ(back, (std::vector<unsigned char>{1, 0, 3, 0, 5, 0}));
  // The second half of the data is written over the first.
  Plain streamed(tlm::TLM_WRITE_COMMAND, hbm(20), data);
  streamed.payload.set_streaming_width(3);
  socket->b_transport(streamed.payload, delay);
  read.payload.set_address(hbm(20));
  read.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket->b_transport(read.payload, delay);
  EXPECT_EQ(back, (std::vector<unsigned char>{4, 5, 6, 0, 0, 0}));
}

TEST(HbmStackDebug, MovesBytesWithoutTimeOrStatistics) {
  StackMachine machine(small_stack(1, 1));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data = bytes_from(6, 5000);
  Plain write(tlm::TLM_WRITE_COMMAND, hbm(777), data);
  EXPECT_EQ(machine.port().isock->transport_dbg(write.payload), 5000u);
  std::vector<unsigned char> back(5000);
  Plain read(tlm::TLM_READ_COMMAND, hbm(777), back);
  EXPECT_EQ(machine.stack.debug_access(read.payload), 5000u);
  EXPECT_EQ(back, data);
  EXPECT_EQ(machine.stats().ops, 0u);
  Plain outside(tlm::TLM_READ_COMMAND, hbm(kSlab - 4999), back);
  EXPECT_EQ(machine.port().isock->transport_dbg(outside.payload), 0u);
  EXPECT_EQ(outside.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // The rows are still closed.
  const auto& access = machine.port().read(hbm(777), 1);
  machine.run();
  EXPECT_EQ(access.done - access.begun, 30500);
}

TEST(HbmStackDebug, GivesNoDirectAccess) {
  StackMachine machine(small_stack(1, 1));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data(4);
  Plain read(tlm::TLM_READ_COMMAND, hbm(0), data);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(machine.port().isock->get_direct_mem_ptr(read.payload, dmi));
}

}  // namespace
}  // namespace cubevp
