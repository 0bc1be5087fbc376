// SPDX-License-Identifier: Apache-2.0
// Flow control at the ports of the stack.

#include <gtest/gtest.h>

#include <vector>

#include "hw/sim/agenda.h"
#include "tests/unit/hbm_harness.h"

namespace cubevp {
namespace {

using hw::HbmConfig;
using test::bytes_from;
using test::hbm;
using test::small_stack;
using test::StackMachine;
using test::TestInitiator;

constexpr std::uint64_t kRow = 16 * 1024;  // same bank, next row, with one pseudo-channel

TEST(HbmProtocol, AFullQueueHoldsRequestsBack) {
  HbmConfig config = small_stack(1, 1);
  config.queue_entries = 2;
  StackMachine machine(config);
  std::vector<TestInitiator::Access*> reads;
  for (std::uint64_t i = 0; i < 10; ++i) {
    reads.push_back(&machine.port().read(hbm(i * kRow), 32));
  }
  machine.run();
  // Row cycles of 45000. A request leaves the queue when its bank may be precharged: the second at
  // 28500, which lets the fourth in.
  for (std::size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(reads[i]->accepted, i < 3 ? 0 : 28500 + static_cast<Ps>(i - 3) * 45000) << i;
    EXPECT_EQ(reads[i]->done, 30500 + static_cast<Ps>(i) * 45000) << i;
  }
}

TEST(HbmProtocol, ARequestThatNeedsAFullQueueWaitsWithItsBytes) {
  HbmConfig config = small_stack(1, 2);
  config.queue_entries = 1;
  StackMachine machine(config);
  for (std::uint64_t i = 0; i < 3; ++i) {
    machine.port().read(hbm(i * 2 * kRow), 32);
  }
  // Its first byte lies in the free pseudo-channel, the rest in the full one.
  const auto& write = machine.port().write(hbm(8 * kRow + 2047), bytes_from(1, 1024));
  const auto& read = machine.port().read(hbm(8 * kRow + 2047), 1024);
  machine.run();
  // The third read takes the place of the second at 28500 and leaves it at 73500.
  EXPECT_EQ(write.accepted, 73500);
  EXPECT_EQ(read.data, bytes_from(1, 1024));
}

TEST(HbmProtocol, OnePortsFullQueueDoesNotHoldTheOther) {
  HbmConfig config = small_stack(2, 1);
  config.queue_entries = 1;
  StackMachine machine(config, 2);
  for (std::uint64_t i = 0; i < 10; ++i) {
    machine.port(0).read(hbm(i * kRow), 32);
  }
  const auto& other = machine.port(1).read(hbm((std::uint64_t{1} << 30) + 64), 32, 100000);
  machine.run();
  EXPECT_EQ(other.accepted, 100000);
  EXPECT_EQ(other.done, 130500);
  EXPECT_EQ(machine.port(0).last_done(), 30500 + 9 * 45000);
}

TEST(HbmProtocol, ARequestOfMorePartsThanAQueueHasEntriesIsTaken) {
  HbmConfig config = small_stack(1, 1);
  config.queue_entries = 2;
  StackMachine machine(config);
  const auto& write = machine.port().write(hbm(0), bytes_from(2, 8192));
  const auto& read = machine.port().read(hbm(0), 8192);
  machine.run();
  EXPECT_EQ(write.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(read.data, bytes_from(2, 8192));
}

TEST(HbmProtocol, AnswersComeAsTheirDataDoes) {
  // The younger request's row is open, the older one's is not.
  StackMachine machine(small_stack(1, 2));
  machine.port().read(hbm(0), 32, 0);
  const auto& slow = machine.port().read(hbm(1024), 32, 1000000);
  const auto& fast = machine.port().read(hbm(0), 32, 1000000);
  machine.run();
  EXPECT_EQ(slow.done, 1030500);
  EXPECT_EQ(fast.done, 1011000);
}

TEST(HbmProtocol, AnAnswerWaitsForTheEndOfTheOneBefore) {
  StackMachine machine(small_stack(1, 2));
  machine.port().end_resp_after_ps = 20000;
  const auto& first = machine.port().read(hbm(0), 32);
  const auto& second = machine.port().read(hbm(1024), 32);
  const auto& third = machine.port().read(hbm(0), 32, 200000);
  machine.run();
  EXPECT_EQ(first.done, 30500);
  EXPECT_EQ(second.done, 50500);
  EXPECT_EQ(third.done, 211000);
}

// Annotates END_RESP, on the forward or on the return path: it takes effect after the call.
class EarlyEnder : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<EarlyEnder> isock{"isock"};
  std::vector<Ps> answers;

  EarlyEnder(const sc_core::sc_module_name& name, sim::PayloadPool& pool, Ps end_resp_delay_ps,
             bool in_return)
      : sc_module(name), pool_(pool), end_resp_delay_ps_(end_resp_delay_ps), in_return_(in_return) {
    isock.register_nb_transport_bw(this, &EarlyEnder::bw);
    SC_HAS_PROCESS(EarlyEnder);
    SC_METHOD(run);
    sensitive << agenda_.event();
    dont_initialize();
  }
  void read(Address address, Ps at) {
    tlm::tlm_generic_payload& payload = pool_.allocate();
    sim::set_access(payload, tlm::TLM_READ_COMMAND, address, data_, sizeof data_);
    agenda_.push(at, {&payload, true});
  }

 private:
  struct Todo {
    tlm::tlm_generic_payload* payload = nullptr;
    bool begin = false;
  };

  void run() {
    Todo todo;
    while (agenda_.take_due(todo)) {
      tlm::tlm_phase phase = todo.begin ? tlm::BEGIN_REQ : tlm::END_RESP;
      sc_core::sc_time delay = sim::to_sc_time(todo.begin ? 0 : end_resp_delay_ps_);
      isock->nb_transport_fw(*todo.payload, phase, delay);
      if (!todo.begin) {
        todo.payload->release();
      }
    }
    agenda_.rearm();
  }
  tlm::tlm_sync_enum bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                        sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_RESP) {
      answers.push_back(sim::now_ps() + sim::to_ps(delay));
      if (in_return_) {
        delay += sim::to_sc_time(end_resp_delay_ps_);
        phase = tlm::END_RESP;
        payload.release();
        return tlm::TLM_COMPLETED;
      }
      agenda_.push(sim::now_ps() + 1000, {&payload, false});
    }
    return tlm::TLM_ACCEPTED;
  }

  sim::PayloadPool& pool_;
  Ps end_resp_delay_ps_;
  bool in_return_;
  unsigned char data_[32] = {};
  sim::Agenda<Todo> agenda_{"agenda"};
};

std::vector<Ps> answers_with_late_ends(bool in_return) {
  hw::HbmStack stack("hbm", small_stack(1, 2), 1);
  sim::PayloadPool pool;
  EarlyEnder initiator("initiator", pool, 20000, in_return);
  test::ProtocolCheckers checkers;
  checkers.bind(initiator.isock, stack.port_tsocks[0]);
  initiator.read(hbm(0), 0);
  initiator.read(hbm(1024), 10000);  // done at 40500, between END_RESP's call and its effect
  sc_core::sc_start();
  EXPECT_EQ(checkers.open(), 0u);
  EXPECT_EQ(pool.in_use(), 0u);
  return initiator.answers;
}

TEST(HbmProtocol, AnAnnotatedEndOfAnAnswerCountsFromItsEffect) {
  EXPECT_EQ(answers_with_late_ends(false), (std::vector<Ps>{30500, 51500}));
}

TEST(HbmProtocol, AnAnnotatedEndInTheReturnCountsFromItsEffect) {
  EXPECT_EQ(answers_with_late_ends(true), (std::vector<Ps>{30500, 50500}));
}

TEST(HbmProtocol, SomebodyElsesPayloadsAreServed) {
  hw::HbmStack stack("hbm", small_stack(1, 1), 1);
  test::ForeignPool pool;
  TestInitiator initiator("initiator", pool, 4);
  test::ProtocolCheckers checkers;
  checkers.bind(initiator.isock, stack.port_tsocks[0]);
  for (unsigned i = 0; i < 50; ++i) {
    initiator.write(hbm(i * 3000), bytes_from(i, 1000));
  }
  for (unsigned i = 0; i < 50; ++i) {
    initiator.read(hbm(i * 3000), 1000, 100000000);
  }
  sc_core::sc_start();
  EXPECT_TRUE(initiator.all_done());
  for (unsigned i = 0; i < 50; ++i) {
    EXPECT_EQ(initiator.accesses()[50 + i]->status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(initiator.accesses()[50 + i]->data, bytes_from(i, 1000));
  }
  EXPECT_EQ(checkers.open(), 0u);
  EXPECT_EQ(pool.in_use(), 0);
}

TEST(HbmProtocol, NothingIsLostUnderLoadFromAllPorts) {
  HbmConfig config = small_stack(4, 2);
  config.queue_entries = 4;
  config.refresh = hw::Refresh::all_bank;
  StackMachine machine(config, 4);
  for (std::size_t p = 0; p < 4; ++p) {
    machine.port(p).end_resp_after_ps = p == 3 ? 5000 : -1;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::uint64_t slab = (p + i % 5 / 4) % 4;  // a fifth goes to a neighbour's slab
      const std::uint64_t offset = (slab << 30) + i * 7919 * 32 % (1 << 22);
      if (i % 3 == 0) {
        machine.port(p).write(hbm(offset), bytes_from(static_cast<unsigned>(i), 1 + i));
      } else {
        machine.port(p).read(hbm(offset), 1 + i * 7 % 2048);
      }
    }
  }
  machine.run();
  for (std::size_t p = 0; p < 4; ++p) {
    for (const auto& access : machine.port(p).accesses()) {
      EXPECT_EQ(access->status, tlm::TLM_OK_RESPONSE);
      EXPECT_GE(access->done, access->begun + 6000);
    }
  }
}

}  // namespace
}  // namespace cubevp
