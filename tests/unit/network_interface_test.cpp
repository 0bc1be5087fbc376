// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/network_interface.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/noc_harness.h"

namespace cubevp {
namespace {

using test::hbm_address;
using test::NocMachine;
using test::pad_address;
using test::pattern;
using test::TestTarget;

hw::NocConfig one_stop() {
  hw::NocConfig config;
  config.columns = 1;
  config.rows = 1;
  return config;
}
Address window(std::uint64_t offset = 0) {
  return message_window_address(CubeId{0}, PeId{0}, RankAxis::pe, Direction::west, offset);
}

TEST(NetworkInterface, AcceptsTheNextRequestWhenTheLastIsSerialised) {
  NocMachine machine(one_stop());
  auto& dma = *machine.stop(0, 0).dma;
  const auto& big = dma.write(hbm_address(0, 0), pattern(1024), 1000);
  const auto& small = dma.write(hbm_address(0, 0, 1024), pattern(1), 1000);
  const auto& read = dma.read(hbm_address(0, 0), 1024, 1000);
  sc_core::sc_start();
  EXPECT_EQ(big.accepted, 1000 + 4000);
  EXPECT_EQ(small.begun, 5000);
  EXPECT_EQ(small.accepted, 5500);
  EXPECT_EQ(read.accepted, 6000);
}

TEST(NetworkInterface, ATargetIsGivenARequestWhenTheLastByteIsThere) {
  NocMachine machine(one_stop());
  machine.stop(0, 0).dma->write(hbm_address(0, 0), pattern(1024), 1000);
  sc_core::sc_start();
  EXPECT_EQ(machine.stop(0, 0).hbm->arrivals()[0].at, 1000 + (5 + 5 + 8) * 500);
}

TEST(NetworkInterface, ItsThreeInitiatorsTakeTurns) {
  hw::NocConfig config = one_stop();
  config.columns = 2;
  NocMachine machine(config);
  auto& from = machine.stop(0, 0);
  auto& to = machine.stop(0, 1);
  for (unsigned i = 0; i < 30; ++i) {
    from.dma->write(pad_address(0, 1, 1024 * i), pattern(1024));
    from.message->message(
        message_window_address(CubeId{0}, PeId{1}, RankAxis::pe, Direction::west, 1024 * i),
        pattern(1024));
    from.cpu->write(hbm_address(0, 1, 1024 * i), pattern(1024));
  }
  sc_core::sc_start();
  for (const auto* target : {to.scratchpad.get(), to.messages.get(), to.hbm.get()}) {
    const auto& arrivals = target->arrivals();
    ASSERT_EQ(arrivals.size(), 30u);
    for (std::size_t i = 1; i < arrivals.size(); ++i) {
      EXPECT_EQ(arrivals[i].at - arrivals[i - 1].at, 3 * 4000);
    }
  }
}

TEST(NetworkInterface, ABlockedMessageQueueDoesNotBlockItsScratchpad) {
  NocMachine machine(one_stop());
  auto& stop = machine.stop(0, 0);
  TestTarget::Timing blocked;
  blocked.blocked = true;
  stop.messages->set_timing(blocked);
  for (unsigned i = 0; i < 50; ++i) {
    stop.message->message(window(1024 * i), pattern(1024));
  }
  const auto& access = stop.dma->read(pad_address(0, 0), 64, 1000 * kPsPerNs);
  sc_core::sc_start();
  EXPECT_FALSE(stop.message->all_done());
  EXPECT_EQ(access.done - access.begun, 2 * 11 * 500);
}

TEST(NetworkInterface, TargetsThatCompleteEarlyAnswerInTime) {
  NocMachine machine(one_stop());
  auto& stop = machine.stop(0, 0);
  TestTarget::Timing timing;
  timing.latency_ps = 3000;
  timing.complete_early = true;
  stop.scratchpad->set_timing(timing);
  const auto& write = stop.dma->write(pad_address(0, 0), pattern(256), 1000);
  const auto& read = stop.dma->read(pad_address(0, 0), 256, 100000);
  sc_core::sc_start();
  EXPECT_EQ(write.done - write.begun, (5 + 5 + 2) * 500 + 3000 + (5 + 5 + 1) * 500);
  EXPECT_EQ(read.done - read.begun, (5 + 5 + 1) * 500 + 3000 + (5 + 5 + 2) * 500);
  EXPECT_EQ(read.data, pattern(256));
}

// A target that answers BEGIN_REQ with BEGIN_RESP, which implies END_REQ.
class DirectTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DirectTarget> tsock{"tsock"};
  std::vector<Ps> ends;
  explicit DirectTarget(const sc_core::sc_module_name& name) : sc_module(name) {
    tsock.register_nb_transport_fw(this, &DirectTarget::fw);
  }

 private:
  tlm::tlm_sync_enum fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                        sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      phase = tlm::BEGIN_RESP;
      delay += sim::to_sc_time(700);
      return tlm::TLM_UPDATED;
    }
    ends.push_back(sim::now_ps() + sim::to_ps(delay));
    return tlm::TLM_COMPLETED;
  }
};

TEST(NetworkInterface, TargetsMayAnswerOnTheReturnPath) {
  const hw::NocConfig config = one_stop();
  hw::Noc noc("noc", config, {1, 1, 1, 1, 1024}, {0, 0});
  sim::PayloadPool pool;
  test::TestInitiator dma("dma", pool);
  DirectTarget hbm("hbm");
  test::ProtocolCheckers checkers;
  checkers.bind(dma.isock, noc.ni_pe(0).dma_tsock);
  checkers.bind(noc.ni_hbm(0).hbm_isock, hbm.tsock);
  const auto& first = dma.write(hbm_address(0, 0), pattern(8), 0);
  dma.write(hbm_address(0, 0), pattern(8), 100000);
  sc_core::sc_start();
  EXPECT_TRUE(dma.all_done());
  EXPECT_EQ(first.done, 11 * 500 + 700 + 11 * 500);
  EXPECT_EQ(hbm.ends, (std::vector<Ps>{5500 + 700 + 500, 100000 + 5500 + 700 + 500}));
  EXPECT_EQ(checkers.open(), 0u);
  EXPECT_EQ(pool.in_use(), 0u);
}

}  // namespace
}  // namespace cubevp
