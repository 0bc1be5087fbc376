// SPDX-License-Identifier: Apache-2.0
#include "hw/cpu/cpu.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/cpu_harness.h"

namespace cubevp::hw {
namespace {

using test::CpuBench;
using test::load_command;

constexpr Ps kNs = kPsPerNs;
constexpr Ps kEntry = CpuBench::kEntry;

TEST(Cpu, RunsTheKernelThatItsRegistersNameOnceStarted) {
  std::uint32_t kernel = 0;
  Address args = 0;
  Ps entered = -1;
  CpuBench bench([&](CommandPort& port, std::uint32_t k, Address a) {
    kernel = k;
    args = a;
    entered = sim::now_ps();
    EXPECT_EQ(index(port.identity().cube), 2U);
    EXPECT_EQ(index(port.identity().pe), 3U);
  });
  bench.around.registers = {
      {sfr::kPeKernel + 12, 7}, {sfr::kPeArgsLo + 12, 0x89abcdef}, {sfr::kPeArgsHi + 12, 0x0234}};
  bench.run_until(500 * kNs);
  EXPECT_EQ(entered, -1);
  EXPECT_FALSE(bench.cpu.status().running);
  bench.run(500 * kNs);
  EXPECT_EQ(kernel, 7U);
  EXPECT_EQ(args, 0x0234'89ab'cdefU);
  EXPECT_EQ(entered, 500 * kNs + kEntry);
  EXPECT_EQ(bench.finishes, std::vector<bool>{false});
  EXPECT_EQ(bench.finished_at[0], entered);  // the kernel's own C++ takes no time
  EXPECT_EQ(bench.cpu.started_ps(), 500 * kNs);
  EXPECT_EQ(bench.cpu.finished_ps(), entered);
  EXPECT_EQ(bench.cpu.status().fault, "");
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Cpu, MayBeStartedAgain) {
  int runs = 0;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    ++runs;
    port.spend_cycles(100);
  });
  bench.run(10 * kNs);
  bench.run(1000 * kNs);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(bench.finishes, (std::vector<bool>{false, false}));
  EXPECT_EQ(bench.cpu.started_ps(), 1000 * kNs);
  EXPECT_EQ(bench.cpu.finished_ps(), 1000 * kNs + kEntry + 100 * kNs);
  EXPECT_EQ(bench.cpu.stats().busy_ps, 2 * (kEntry + 100 * kNs));
}

TEST(Cpu, ACommandTakesTheIssueTimeAndIsNumberedFromOne) {
  std::vector<std::uint64_t> ids;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    for (int i = 0; i < 3; ++i) {
      ids.push_back(index(port.issue(load_command())));
    }
  });
  bench.run();
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(bench.around.commands.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.around.commands[i].at, kEntry + static_cast<Ps>(i + 1) * 10 * kNs);
    EXPECT_EQ(index(bench.around.commands[i].command.id), i + 1);
    EXPECT_EQ(bench.around.commands[i].command.opcode, Opcode::dma_load);
  }
  EXPECT_EQ(bench.cpu.stats().ops, 3U);
  EXPECT_EQ(bench.spent(sim::PeActivity::issue), 30 * kNs);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Cpu, IssueTimeIsTheConfigurations) {
  CpuConfig config;
  config.issue_ps = 1234;
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) { port.issue(load_command()); },
                 config);
  bench.around.annotate_ps = 5000;
  bench.run();
  EXPECT_EQ(bench.around.commands.at(0).at, kEntry + 1234);
  EXPECT_EQ(bench.finished_at.at(0), kEntry + 1234 + 5000);
}

TEST(Cpu, AFullQueueHoldsTheThreadAndIsNotIssueTime) {
  Ps issued = 0;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.issue(load_command());
    issued = sim::now_ps();
  });
  bench.around.hold_ps = 700 * kNs;
  bench.start_at(0);
  bench.run_until(kEntry + 300 * kNs);
  EXPECT_TRUE(bench.cpu.status().running);
  EXPECT_EQ(bench.cpu.status().blocked_op, "command queue full");
  EXPECT_EQ(bench.cpu.status().since_ps, kEntry + 10 * kNs);
  sc_core::sc_start();
  EXPECT_EQ(issued, kEntry + 710 * kNs);
  EXPECT_EQ(bench.cpu.status().blocked_op, "");
  EXPECT_EQ(bench.spent(sim::PeActivity::issue), 10 * kNs);
}

TEST(Cpu, WaitsForACommandAndSaysWhatFor) {
  Ps woken = 0;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.issue(load_command());
    const CommandId second = port.issue(load_command());
    EXPECT_FALSE(port.complete(second));
    port.wait_for(second, {"recv E", second});
    EXPECT_TRUE(port.complete(second));
    woken = sim::now_ps();
    port.wait_for(second, {"recv E", second});  // complete already
    EXPECT_EQ(sim::now_ps(), woken);
  });
  bench.start_at(0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(bench.cpu.status().blocked_op, "recv E");
  EXPECT_EQ(index(bench.cpu.status().blocked_on), 2U);
  EXPECT_EQ(bench.cpu.status().since_ps, kEntry + 20 * kNs);
  bench.complete(1);  // another one
  bench.run_until(200 * kNs);
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(bench.cpu.status().since_ps, kEntry + 20 * kNs);
  bench.complete(2);
  sc_core::sc_start();
  EXPECT_EQ(woken, 200 * kNs);
  EXPECT_EQ(bench.finishes, std::vector<bool>{false});
}

TEST(Cpu, WaitAllIsForEveryIssuedCommand) {
  Ps woken = 0;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.wait_all({"fence", {}});  // nothing yet
    port.issue(load_command());
    port.issue(load_command());
    port.wait_all({"fence", {}});
    woken = sim::now_ps();
  });
  bench.start_at(0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(bench.cpu.status().blocked_op, "fence");
  bench.complete(2);
  bench.run_until(300 * kNs);
  EXPECT_EQ(woken, 0);
  bench.complete(1);
  sc_core::sc_start();
  EXPECT_EQ(woken, 300 * kNs);
}

TEST(Cpu, InBlockingModeEachCommandIsWaitedFor) {
  CpuConfig config;
  config.blocking = true;
  CpuBench bench(
      [](CommandPort& port, std::uint32_t, Address) {
        port.issue(load_command());
        port.issue(load_command());
      },
      config);
  bench.start_at(0);
  bench.run_until(1000 * kNs);
  EXPECT_EQ(bench.around.commands.size(), 1U);
  EXPECT_EQ(bench.cpu.status().blocked_op, "load");
  bench.complete(1);
  bench.run_until(2000 * kNs);
  ASSERT_EQ(bench.around.commands.size(), 2U);
  EXPECT_EQ(bench.around.commands[1].at, 1010 * kNs);
  bench.complete(2);
  sc_core::sc_start();
  EXPECT_EQ(bench.finished_at.at(0), 2000 * kNs);
}

TEST(Cpu, ABarrierWritesItsNumberAndLastsAsLongAsTheRegisterBlockSays) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) { port.barrier({"barrier", {}}); });
  bench.around.barrier_ps = 400 * kNs;
  bench.start_at(0);
  bench.run_until(kEntry + 100 * kNs);
  EXPECT_EQ(bench.around.written, std::vector<std::uint32_t>{3});
  EXPECT_EQ(bench.cpu.status().blocked_op, "barrier");
  EXPECT_EQ(bench.cpu.status().since_ps, kEntry);
  sc_core::sc_start();
  EXPECT_EQ(bench.finished_at.at(0), kEntry + 410 * kNs);
  EXPECT_EQ(bench.spent(sim::PeActivity::barrier), 410 * kNs);
}

TEST(Cpu, RegistersAndMemoryTakeTheirTime) {
  std::uint32_t rank = 0;
  std::array<unsigned char, 3> bytes{};
  std::vector<Ps> at;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    rank = port.read_sfr(sfr::kRingRank);
    at.push_back(sim::now_ps());
    port.read_memory(0x1000, bytes.data(), bytes.size());
    at.push_back(sim::now_ps());
    port.peek_scratchpad(96, bytes.data(), 1);
    at.push_back(sim::now_ps());
  });
  bench.around.registers[sfr::kRingRank] = 5;
  bench.around.memory = {{0x1000, 1}, {0x1001, 2}, {0x1002, 3}};
  bench.around.sfr_ps = 7 * kNs;
  bench.around.memory_ps = 90 * kNs;
  bench.run();
  EXPECT_EQ(rank, 5U);
  EXPECT_EQ(bytes, (std::array<unsigned char, 3>{0x5a, 2, 3}));
  EXPECT_EQ(bench.peeked, 96U);
  // Four accesses of 7 ns, three of them before the kernel begins; a peek is free.
  EXPECT_EQ(at, (std::vector<Ps>{28 * kNs, 118 * kNs, 118 * kNs}));
}

TEST(Cpu, CyclesAreOfItsClock) {
  std::vector<std::uint64_t> cycles;
  CpuConfig config;
  config.clock.hz = 500e6;
  CpuBench bench(
      [&](CommandPort& port, std::uint32_t, Address) {
        cycles.push_back(port.now_cycles());
        port.spend_cycles(21);
        cycles.push_back(port.now_cycles());
      },
      config);
  bench.run();
  EXPECT_EQ(cycles, (std::vector<std::uint64_t>{15, 36}));  // 30 ns of 2 ns each
  EXPECT_EQ(bench.spent(sim::PeActivity::issue), 42 * kNs);
}

TEST(Cpu, CountersAddUpAndResetWithTheOtherStatistics) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) {
    port.count("tiles", 3);
    port.count("tiles", 4);
    port.count("ring_steps", 1);
    port.issue(load_command());
  });
  bench.run();
  EXPECT_EQ(bench.cpu.counters().at("tiles"), 7U);
  EXPECT_EQ(bench.cpu.stats().more.at("ring_steps"), 1U);
  EXPECT_STREQ(bench.cpu.stats_kind(), "cpu");
  bench.cpu.reset_stats();
  EXPECT_TRUE(bench.cpu.stats().more.empty());
  EXPECT_EQ(bench.cpu.stats().ops, 0U);
  EXPECT_EQ(bench.cpu.stats().busy_ps, 0);
}

class StateLog : public sim::TraceSink {
 public:
  void change(const sim::TraceSignal& signal, std::uint64_t value, Ps at_ps) override {
    if (signal.name() == "state") {
      const std::string& word = signal.states().at(value);
      if (states.empty() || states.back().first != word) {
        states.emplace_back(word, at_ps);
      }
    } else {
      phases.push_back(value);
    }
  }
  std::uint64_t text(const sim::TraceSignal&, const char* text) override {
    words.emplace_back(text);
    return words.size();
  }
  std::vector<std::pair<std::string, Ps>> states;
  std::vector<std::uint64_t> phases;
  std::vector<std::string> words;
};

TEST(Cpu, TheTraceShowsStatesAndThePhase) {
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.set_phase("scores");
    const CommandId id = port.issue(load_command());
    port.wait_for(id, {"load", id});
    port.set_phase("merge");
    port.barrier({"barrier", {}});
  });
  bench.around.barrier_ps = 50 * kNs;
  StateLog log;
  for (sim::TraceSignal* signal : bench.cpu.trace_signals()) {
    signal->attach(&log);
  }
  bench.start_at(0);
  bench.run_until(100 * kNs);
  bench.complete(1);
  sc_core::sc_start();
  using State = std::pair<std::string, Ps>;
  EXPECT_EQ(log.states, (std::vector<State>{{"run", 0},
                                            {"issue", 30 * kNs},
                                            {"run", 40 * kNs},
                                            {"wait", 40 * kNs},
                                            {"run", 100 * kNs},
                                            {"barrier", 100 * kNs},
                                            {"run", 160 * kNs},
                                            {"idle", 160 * kNs}}));
  EXPECT_EQ(log.words, (std::vector<std::string>{"scores", "merge"}));
  EXPECT_EQ(log.phases, (std::vector<std::uint64_t>{1, 2}));
}

}  // namespace
}  // namespace cubevp::hw
