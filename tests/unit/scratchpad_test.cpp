// SPDX-License-Identifier: Apache-2.0
#include "hw/scratchpad/scratchpad.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "hw/base/address_map.h"
#include "hw/sim/scratchpad_port.h"
#include "tests/support/protocol_checker.h"
#include "tests/support/test_initiator.h"

namespace cubevp {
namespace {

using hw::BankTimeline;
using hw::Scratchpad;
using hw::ScratchpadConfig;
using test::TestInitiator;

constexpr std::uint64_t kBytes = std::uint64_t{4} << 20;

// ---- the banks alone: 16 banks of 32 B a cycle of 1000 ps ----

TEST(BankTimeline, IdleAlignedAccesses) {
  struct Case {
    std::uint64_t bytes;
    Ps cycles;
  };
  const Case cases[] = {{0, 0},   {1, 1},    {32, 1},   {511, 1},  {512, 1},
                        {513, 2}, {1024, 2}, {1025, 3}, {4096, 8}, {4 << 20, 8192}};
  for (const Case& c : cases) {
    BankTimeline banks{ScratchpadConfig{}};
    EXPECT_EQ(banks.occupy(0, c.bytes, 7000), 7000 + c.cycles * 1000) << c.bytes;
  }
}

TEST(BankTimeline, ClockBanksAndWordsAreTheConfigurations) {
  ScratchpadConfig config;
  config.clock = Clock{2e9};
  config.banks = 3;
  config.bank_bytes_per_cycle = 8;
  BankTimeline banks(config);
  EXPECT_EQ(banks.occupy(0, 24, 0), 500);
  BankTimeline more(config);
  EXPECT_EQ(more.occupy(0, 25, 0), 1000);
  BankTimeline odd(config);
  EXPECT_EQ(odd.occupy(16, 16, 0), 500);  // words 2 and 3: banks 2 and 0
}

TEST(BankTimeline, AnUnalignedAccessTouchesAWordMore) {
  BankTimeline banks{ScratchpadConfig{}};
  // 17 words: the first bank serves two.
  EXPECT_EQ(banks.occupy(16, 512, 0), 2000);
  // Banks 1..15 were free after one cycle, bank 0 after two.
  EXPECT_EQ(banks.occupy(32, 480, 1000), 2000);
  EXPECT_EQ(banks.occupy(0, 32, 1000), 3000);
}

TEST(BankTimeline, AccessesToOtherBanksDoNotWait) {
  BankTimeline banks{ScratchpadConfig{}};
  EXPECT_EQ(banks.occupy(0, 256, 0), 1000);
  EXPECT_EQ(banks.occupy(256, 256, 0), 1000);
  EXPECT_EQ(banks.occupy(512, 512, 0), 2000);
}

TEST(BankTimeline, AccessesToTheSameBankWait) {
  BankTimeline banks{ScratchpadConfig{}};
  for (Ps i = 1; i <= 5; ++i) {
    EXPECT_EQ(banks.occupy(static_cast<std::uint64_t>(i) * 512, 32, 0), i * 1000);
  }
  // One busy bank of the sixteen delays a wide access, and only its own word of it.
  EXPECT_EQ(banks.occupy(0, 512, 0), 6000);
  EXPECT_EQ(banks.occupy(32, 32, 0), 2000);
}

// ---- the module ----

// A scratchpad with an initiator behind a checker on every socket; 0..3 the engines', 4 the
// network's.
class PadMachine {
 public:
  explicit PadMachine(bool keep_data = true, bool checked = true)
      : pad("pad", ScratchpadConfig{}, keep_data) {
    for (std::size_t i = 0; i < 5; ++i) {
      initiators.push_back(
          std::make_unique<TestInitiator>(("initiator_" + std::to_string(i)).c_str(), pool));
      if (!checked && i == 0) {
        initiators[i]->isock.bind(pad.mem_tsocks[i]);
      } else if (i < 4) {
        checkers.bind(initiators[i]->isock, pad.mem_tsocks[i]);
      } else {
        checkers.bind(initiators[i]->isock, pad.net_tsock);
      }
    }
  }
  TestInitiator& engine(std::size_t i) { return *initiators[i]; }
  TestInitiator& network() { return *initiators[4]; }
  void run() {
    sc_core::sc_start();
    for (const auto& initiator : initiators) {
      EXPECT_TRUE(initiator->all_done());
    }
    EXPECT_EQ(checkers.open(), 0u);
    EXPECT_EQ(pool.in_use(), 0u);
  }
  std::vector<unsigned char> peek(std::uint64_t offset, std::size_t bytes) const {
    std::vector<unsigned char> data(bytes, 0xee);
    pad.peek(offset, data.data(), bytes);
    return data;
  }

  sim::PayloadPool pool;
  Scratchpad pad;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
  test::ProtocolCheckers checkers;
};

// A payload as somebody else's initiator makes it, without a memory manager or our extension.
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

TEST(Scratchpad, IdleAccessesTakeTheirWords) {
  PadMachine machine;
  const auto& one = machine.engine(0).read(0, 512, 10000);
  const auto& two = machine.engine(0).read(0, 513, 20000);
  const auto& many = machine.engine(1).write(4096, std::vector<unsigned char>(4096), 30000);
  const auto& net = machine.network().read(scratchpad_address(CubeId{3}, PeId{5}, 64), 64, 50000);
  machine.run();
  EXPECT_EQ(one.done - one.begun, 1000);
  EXPECT_EQ(two.done - two.begun, 2000);
  EXPECT_EQ(many.done - many.begun, 8000);
  EXPECT_EQ(net.done - net.begun, 1000);
}

TEST(Scratchpad, TwoPortsContendForTheBanks) {
  PadMachine machine;
  const auto& first = machine.engine(0).read(0, 2048, 0);
  const auto& second =
      machine.network().read(scratchpad_address(CubeId{0}, PeId{0}, 8192), 2048, 0);
  const auto& third = machine.engine(2).read(0, 256, 100000);
  const auto& fourth = machine.engine(3).read(256, 256, 100000);
  machine.run();
  // The same banks: twice four cycles, whoever comes first. Different halves: one cycle each.
  EXPECT_EQ(std::min(first.done, second.done), 4000);
  EXPECT_EQ(std::max(first.done, second.done), 8000);
  EXPECT_EQ(third.done, 101000);
  EXPECT_EQ(fourth.done, 101000);
}

TEST(Scratchpad, TheNetworkSeesTheEnginesBytes) {
  PadMachine machine;
  machine.engine(0).write(1000, {1, 2, 3}, 0);
  machine.network().write(scratchpad_address(CubeId{2}, PeId{7}, 1003), {4}, 0);
  const auto& net = machine.network().read(scratchpad_address(CubeId{2}, PeId{7}, 1000), 5, 100000);
  const auto& engine = machine.engine(3).read(999, 6, 200000);
  machine.run();
  EXPECT_EQ(net.data, (std::vector<unsigned char>{1, 2, 3, 4, 0}));
  EXPECT_EQ(engine.data, (std::vector<unsigned char>{0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(machine.peek(1000, 4), (std::vector<unsigned char>{1, 2, 3, 4}));
}

TEST(Scratchpad, OutsideIsAnAddressErrorThatTakesNoTime) {
  PadMachine machine;
  const auto& last = machine.engine(0).write(kBytes - 2, {5, 6}, 0);
  const auto& beyond = machine.engine(0).write(kBytes - 1, {7, 8}, 10000);
  const auto& behind = machine.engine(0).read(kBytes, 1, 20000);
  const auto& net =
      machine.network().read(scratchpad_address(CubeId{0}, PeId{1}, kBytes), 16, 30000);
  const auto& all = machine.engine(1).read(0, kBytes + 1, 40000);
  machine.run();
  EXPECT_EQ(last.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(beyond.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(beyond.done, 10000);
  EXPECT_EQ(behind.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(net.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(all.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(machine.peek(kBytes - 2, 2), (std::vector<unsigned char>{5, 6}));
  EXPECT_EQ(machine.pad.stats().ops, 1u);
}

TEST(Scratchpad, CountsTheUnionOfItsAccessesAsBusy) {
  PadMachine machine;
  machine.engine(0).read(0, 1024, 0);       // 0 .. 2000
  machine.engine(1).read(512, 512, 1000);   // waits for its banks: .. 3000
  machine.engine(2).read(0, 512, 10000);    // 10000 .. 11000
  machine.engine(3).read(4096, 32, 10000);  // one of the same banks: .. 12000
  machine.run();
  const sim::UnitStats stats = machine.pad.stats();
  EXPECT_EQ(stats.busy_ps, 3000 + 2000);
  EXPECT_EQ(stats.bytes, 1024u + 512u + 512u + 32u);
  EXPECT_EQ(stats.ops, 4u);
  EXPECT_STREQ(machine.pad.stats_kind(), "scratchpad");
  machine.pad.reset_stats();
  EXPECT_EQ(machine.pad.stats().busy_ps, 0);
  EXPECT_EQ(machine.pad.stats().bytes, 0u);
  EXPECT_EQ(machine.pad.stats().ops, 0u);
}

TEST(Scratchpad, APlainInitiatorIsServed) {
  PadMachine machine;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data(600, 9);
  Plain write(tlm::TLM_WRITE_COMMAND, 0, data);
  sc_core::sc_time delay = sim::to_sc_time(5000);
  machine.engine(0).isock->b_transport(write.payload, delay);
  EXPECT_EQ(write.payload.get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(sim::to_ps(delay), 5000 + 2000);
  // The banks are taken until then, for whoever asks.
  std::vector<unsigned char> back(600);
  Plain read(tlm::TLM_READ_COMMAND, scratchpad_address(CubeId{0}, PeId{9}, 0), back);
  delay = sc_core::SC_ZERO_TIME;
  machine.network().isock->b_transport(read.payload, delay);
  EXPECT_EQ(sim::to_ps(delay), 9000);
  EXPECT_EQ(back, data);
}

TEST(Scratchpad, EnginesOccupyTheBanksAheadOfTime) {
  // Engines ask for the banks in advance, with starts in any order, which the checker of the base
  // protocol's exclusion rule would not have.
  PadMachine machine(true, false);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  auto& socket = machine.engine(0).isock;
  const auto occupy = [&](std::uint64_t offset, std::size_t bytes, Ps start) {
    return sim::occupy_scratchpad(socket, machine.pool, tlm::TLM_WRITE_COMMAND, offset, bytes,
                                  start);
  };
  EXPECT_EQ(occupy(0, 1024, 20000), 22000);
  EXPECT_EQ(occupy(0, 1024, 20000), 24000);
  EXPECT_EQ(occupy(0, 32, 50000), 51000);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

TEST(Scratchpad, TimingOnlyAccessesMoveNothing) {
  PadMachine machine;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.pad.fill(0x5a);
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(machine.pool.allocate());
  std::vector<unsigned char> data(4, 1);
  sim::set_access(*payload, tlm::TLM_WRITE_COMMAND, 0, data.data(), data.size());
  sim::extension(*payload)->timing_only = true;
  sc_core::sc_time delay;
  machine.engine(0).isock->b_transport(*payload, delay);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(sim::to_ps(delay), 1000);
  EXPECT_EQ(machine.peek(0, 4), std::vector<unsigned char>(4, 0x5a));
}

TEST(Scratchpad, ByteEnablesAndStreaming) {
  PadMachine machine;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.pad.fill(0x5a);
  std::vector<unsigned char> data = {1, 2, 3, 4, 5, 6};
  std::array<unsigned char, 3> enables = {TLM_BYTE_DISABLED, TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
  Plain write(tlm::TLM_WRITE_COMMAND, 10, data);
  write.payload.set_byte_enable_ptr(enables.data());
  write.payload.set_byte_enable_length(3);
  sc_core::sc_time delay;
  machine.engine(0).isock->b_transport(write.payload, delay);
  EXPECT_EQ(machine.peek(10, 6), (std::vector<unsigned char>{0x5a, 2, 0x5a, 0x5a, 5, 0x5a}));
  std::vector<unsigned char> back(6, 0xff);
  Plain read(tlm::TLM_READ_COMMAND, 10, back);
  read.payload.set_byte_enable_ptr(enables.data());
  read.payload.set_byte_enable_length(3);
  machine.engine(0).isock->b_transport(read.payload, delay);
  EXPECT_EQ(back, (std::vector<unsigned char>{0xff, 2, 0xff, 0xff, 5, 0xff}));
  Plain streamed(tlm::TLM_WRITE_COMMAND, 100, data);
  streamed.payload.set_streaming_width(2);
  machine.engine(0).isock->b_transport(streamed.payload, delay);
  EXPECT_EQ(machine.peek(100, 3), (std::vector<unsigned char>{5, 6, 0x5a}));
}

TEST(Scratchpad, DebugAccessesTakeNoTime) {
  PadMachine machine;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data(2000, 3);
  Plain write(tlm::TLM_WRITE_COMMAND, 100, data);
  EXPECT_EQ(machine.engine(1).isock->transport_dbg(write.payload), 2000u);
  std::vector<unsigned char> back(2000);
  Plain read(tlm::TLM_READ_COMMAND, scratchpad_address(CubeId{1}, PeId{2}, 100), back);
  EXPECT_EQ(machine.pad.debug_access(read.payload), 2000u);
  EXPECT_EQ(back, data);
  Plain outside(tlm::TLM_READ_COMMAND, kBytes - 1999, back);
  EXPECT_EQ(machine.network().isock->transport_dbg(outside.payload), 0u);
  EXPECT_EQ(outside.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(machine.pad.stats().ops, 0u);
  const auto& access = machine.engine(0).read(0, 32);
  machine.run();
  EXPECT_EQ(access.done - access.begun, 1000);
}

TEST(Scratchpad, GivesEnginesDirectAccessToAllOfIt) {
  PadMachine machine;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> none;
  Plain ask(tlm::TLM_READ_COMMAND, 1234, none);
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(machine.engine(0).isock->get_direct_mem_ptr(ask.payload, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0u);
  EXPECT_EQ(dmi.get_end_address(), kBytes - 1);
  EXPECT_TRUE(dmi.is_read_write_allowed());
  dmi.get_dmi_ptr()[1234] = 77;
  EXPECT_EQ(machine.peek(1234, 1)[0], 77);
  ask.payload.set_address(kBytes);
  EXPECT_FALSE(machine.engine(0).isock->get_direct_mem_ptr(ask.payload, dmi));
  EXPECT_FALSE(machine.network().isock->get_direct_mem_ptr(ask.payload, dmi));
}

TEST(Scratchpad, WithoutBytesTimesAreTheSameAndReadsGiveZeros) {
  PadMachine machine(false);
  machine.engine(0).write(0, std::vector<unsigned char>(1024, 1), 0);
  auto& read = machine.engine(0).read(0, 1024, 10000);
  read.data.assign(1024, 0xcc);
  machine.run();
  EXPECT_EQ(read.done - read.begun, 2000);
  EXPECT_EQ(read.data, std::vector<unsigned char>(1024, 0));
  EXPECT_EQ(machine.peek(0, 4), std::vector<unsigned char>(4, 0));
  std::vector<unsigned char> none;
  Plain ask(tlm::TLM_READ_COMMAND, 0, none);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(machine.engine(0).isock->get_direct_mem_ptr(ask.payload, dmi));
}

}  // namespace
}  // namespace cubevp
