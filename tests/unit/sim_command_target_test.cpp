// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/command_target.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>

#include "hw/sim/time.h"

namespace cubevp::sim {
namespace {

DECLARE_EXTENDED_PHASE(somebody_elses_phase);

/// An engine that works `work_ps` on each command, one after the other.
class Engine : public sc_core::sc_module {
 public:
  CommandTargetSocket cmd_tsock;
  Ps work_ps = 0;
  std::string fault;
  std::vector<std::pair<std::uint64_t, Ps>> started;

  Engine(const sc_core::sc_module_name& name, std::size_t capacity)
      : sc_module(name), cmd_tsock("cmd_tsock", capacity) {
    SC_HAS_PROCESS(Engine);
    SC_THREAD(run);
  }

 private:
  void run() {
    while (true) {
      while (!cmd_tsock.waiting()) {
        wait(cmd_tsock.arrival_event());
      }
      tlm::tlm_generic_payload& payload = cmd_tsock.take();
      started.emplace_back(index(command_of(payload)->id), now_ps());
      if (work_ps != 0) {
        wait(to_sc_time(work_ps));
      }
      cmd_tsock.complete(payload, fault);
    }
  }
};

/// Sends commands by hand and notes the answers.
class Giver : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Giver> isock{"isock"};
  bool keep_end_resp = false;
  std::vector<std::pair<std::uint64_t, Ps>> accepted;
  std::vector<std::pair<std::uint64_t, Ps>> done;
  std::vector<tlm::tlm_response_status> status;
  std::vector<std::string> faults;
  std::function<void()> script;

  Giver(const sc_core::sc_module_name& name, PayloadPool& pool) : sc_module(name), pool_(pool) {
    isock.register_nb_transport_bw(this, &Giver::nb_transport_bw);
    SC_HAS_PROCESS(Giver);
    SC_THREAD(run);
  }
  tlm::tlm_sync_enum give(Command& command, Ps delay = 0) {
    tlm::tlm_generic_payload& payload = pool_.allocate();
    extension(payload)->command = &command;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time t = to_sc_time(delay);
    last = &payload;
    const tlm::tlm_sync_enum result = isock->nb_transport_fw(payload, phase, t);
    if (result == tlm::TLM_UPDATED) {
      EXPECT_EQ(phase, tlm::END_REQ);
    }
    return result;
  }
  void end_response(tlm::tlm_generic_payload& payload, Ps delay) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time t = to_sc_time(delay);
    isock->nb_transport_fw(payload, phase, t);
    payload.release();
  }
  tlm::tlm_generic_payload* last = nullptr;
  std::vector<tlm::tlm_generic_payload*> answered;

 private:
  void run() {
    if (script) {
      script();
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const std::uint64_t id = index(command_of(payload)->id);
    if (phase == tlm::END_REQ) {
      accepted.emplace_back(id, now_ps() + to_ps(delay));
      return tlm::TLM_ACCEPTED;
    }
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    done.emplace_back(id, now_ps() + to_ps(delay));
    status.push_back(payload.get_response_status());
    faults.push_back(extension(payload)->fault);
    answered.push_back(&payload);
    if (keep_end_resp) {
      return tlm::TLM_ACCEPTED;
    }
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  PayloadPool& pool_;
};

struct Bench {
  explicit Bench(std::size_t capacity = CommandTargetSocket::kUnbounded)
      : engine("engine", capacity) {
    giver.isock.bind(engine.cmd_tsock);
    for (std::uint64_t i = 0; i < commands.size(); ++i) {
      commands[i].id = static_cast<CommandId>(i + 1);
    }
  }
  PayloadPool pool;
  Engine engine;
  Giver giver{"giver", pool};
  std::array<Command, 8> commands;
};

using Times = std::vector<std::pair<std::uint64_t, Ps>>;

TEST(CommandTarget, CommandsAreTakenInOrderAndAnsweredWhenComplete) {
  Bench bench;
  bench.engine.work_ps = 100;
  bench.giver.script = [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(bench.giver.give(bench.commands[static_cast<std::size_t>(i)]), tlm::TLM_UPDATED);
    }
  };
  sc_core::sc_start();
  EXPECT_EQ(bench.engine.started, (Times{{1, 0}, {2, 100}, {3, 200}}));
  EXPECT_EQ(bench.giver.done, (Times{{1, 100}, {2, 200}, {3, 300}}));
  EXPECT_EQ(bench.giver.status[0], tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.giver.faults[0], "");
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(CommandTarget, AFaultMakesTheAnswerAnErrorAndTellsWhy) {
  Bench bench;
  bench.engine.fault = "shapes do not match";
  bench.giver.script = [&] { bench.giver.give(bench.commands[0]); };
  sc_core::sc_start();
  ASSERT_EQ(bench.giver.status.size(), 1U);
  EXPECT_EQ(bench.giver.status[0], tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(bench.giver.faults[0], "shapes do not match");
}

TEST(CommandTarget, AFullQueueHoldsTheEndOfTheRequestBack) {
  Bench bench(2);
  bench.engine.work_ps = 100;
  bench.giver.script = [&] {
    bench.giver.give(bench.commands[0]);
    wait(to_sc_time(10));  // the engine has taken it
    EXPECT_EQ(bench.giver.give(bench.commands[1]), tlm::TLM_UPDATED);
    EXPECT_EQ(bench.giver.give(bench.commands[2]), tlm::TLM_UPDATED);
    EXPECT_EQ(bench.giver.give(bench.commands[3]), tlm::TLM_ACCEPTED);
  };
  sc_core::sc_start();
  EXPECT_EQ(bench.giver.accepted, (Times{{4, 100}}));  // when command 2 is taken
  EXPECT_EQ(bench.giver.done, (Times{{1, 100}, {2, 200}, {3, 300}, {4, 400}}));
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(CommandTarget, AnnotatedCommandsStartWhenTheyArrive) {
  Bench bench;
  bench.engine.work_ps = 10;
  bench.giver.script = [&] {
    bench.giver.give(bench.commands[0], 1000);
    bench.giver.give(bench.commands[1], 1500);
    bench.giver.give(bench.commands[2], 1505);
  };
  sc_core::sc_start();
  EXPECT_EQ(bench.engine.started, (Times{{1, 1000}, {2, 1500}, {3, 1510}}));
  EXPECT_EQ(bench.giver.done, (Times{{1, 1010}, {2, 1510}, {3, 1520}}));
}

TEST(CommandTarget, OneResponseAtATime) {
  Bench bench;
  bench.giver.keep_end_resp = true;
  bench.giver.script = [&] {
    bench.giver.give(bench.commands[0]);
    bench.giver.give(bench.commands[1]);
    wait(to_sc_time(500));
    EXPECT_EQ(bench.giver.done, (Times{{1, 0}}));
    bench.giver.end_response(*bench.giver.answered[0], 25);
    EXPECT_EQ(bench.giver.done, (Times{{1, 0}, {2, 525}}));
    bench.giver.end_response(*bench.giver.answered[1], 0);
  };
  sc_core::sc_start();
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(CommandTarget, APayloadWithoutACommandIsRefused) {
  Bench bench;
  bench.giver.script = [&] {
    tlm::tlm_generic_payload foreign;
    sc_core::sc_time t;
    bench.giver.isock->b_transport(foreign, t);
    EXPECT_EQ(foreign.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    const PayloadPtr ours = PayloadPtr::adopt(bench.pool.allocate());
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    EXPECT_EQ(bench.giver.isock->nb_transport_fw(*ours, phase, t), tlm::TLM_COMPLETED);
    EXPECT_EQ(ours->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(bench.giver.isock->transport_dbg(foreign), 0U);
  };
  sc_core::sc_start();
  EXPECT_TRUE(bench.engine.started.empty());
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(CommandTarget, BlockingTransportReturnsWithTheCompletion) {
  Bench bench;
  bench.engine.work_ps = 300;
  bench.engine.fault = "no";
  Ps returned = 0;
  bench.giver.script = [&] {
    const PayloadPtr payload = PayloadPtr::adopt(bench.pool.allocate());
    extension(*payload)->command = &bench.commands[0];
    sc_core::sc_time t = to_sc_time(50);
    bench.giver.isock->b_transport(*payload, t);
    returned = now_ps() + to_ps(t);
    EXPECT_EQ(payload->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(extension(*payload)->fault, "no");
  };
  sc_core::sc_start();
  EXPECT_EQ(returned, 350);
  EXPECT_TRUE(bench.giver.done.empty());
}

TEST(CommandTarget, AnIgnorablePhaseIsIgnored) {
  Bench bench;
  bench.engine.work_ps = 100;
  bench.giver.script = [&] {
    bench.giver.give(bench.commands[0]);
    tlm::tlm_phase phase = somebody_elses_phase;
    sc_core::sc_time t;
    EXPECT_EQ(bench.giver.isock->nb_transport_fw(*bench.giver.last, phase, t), tlm::TLM_ACCEPTED);
    EXPECT_EQ(phase, somebody_elses_phase);
  };
  sc_core::sc_start();
  EXPECT_EQ(bench.engine.started, (Times{{1, 0}}));
  EXPECT_EQ(bench.giver.done, (Times{{1, 100}}));
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

}  // namespace
}  // namespace cubevp::sim
