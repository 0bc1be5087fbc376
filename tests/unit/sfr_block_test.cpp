// SPDX-License-Identifier: Apache-2.0
// What registers do: start and done, interrupts, the barrier, links, the trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/sfr_harness.h"

namespace cubevp::hw {
namespace {

using test::SfrAnswer;
using test::SfrBench;
using test::SfrUser;

constexpr std::uint32_t kStart = 0x050;
constexpr std::uint32_t kDone = 0x054;
constexpr std::uint32_t kFault = 0x058;
constexpr std::uint32_t kBarrier = 0x05c;
constexpr std::uint32_t kIrqStatus = 0x060;
constexpr std::uint32_t kIrqEnable = 0x064;
constexpr std::uint32_t kIrqClear = 0x068;

constexpr PeId pe(std::uint32_t p) {
  return static_cast<PeId>(p);
}

/// Notes the times of an event.
class EventLog : public sc_core::sc_module {
 public:
  EventLog(const sc_core::sc_module_name& name, const sc_core::sc_event& event) : sc_module(name) {
    SC_HAS_PROCESS(EventLog);
    SC_METHOD(note);
    sensitive << event;
    dont_initialize();
  }
  std::vector<Ps> at;

 private:
  void note() { at.push_back(sim::now_ps()); }
};

// --- start, done, fault ---------------------------------------------------------------------

TEST(SfrStart, PesStartWhenTheDelayIsOver) {
  SfrBench bench;
  EventLog first("first", bench.sfr.start_event(pe(0)));
  EventLog second("second", bench.sfr.start_event(pe(2)));
  EventLog other("other", bench.sfr.start_event(pe(1)));
  bench.begin();
  bench.run_until(1000);
  EXPECT_EQ(bench.host.write(kStart, 0b101, 500).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(kStart).value, 0b101U);
  bench.run_until(100000);
  EXPECT_EQ(first.at, std::vector<Ps>{1000 + 500 + 10000});
  EXPECT_EQ(second.at, std::vector<Ps>{11500});
  EXPECT_TRUE(other.at.empty());
}

TEST(SfrStart, MorePesMayStartWhileOthersRun) {
  SfrBench bench;
  bench.begin();
  bench.host.write(kStart, 0b01);
  EXPECT_EQ(bench.host.write(kStart, 0b10).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(kStart).value, 0b11U);
  EXPECT_EQ(bench.host.write(kStart, 0).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(kStart).value, 0b11U);
}

TEST(SfrStart, PesThatRunOrDoNotExistAreRefused) {
  SfrBench bench;
  EventLog started("started", bench.sfr.start_event(pe(1)));
  bench.begin();
  const SfrAnswer none = bench.host.write(kStart, 1U << 8 | 0b10);
  EXPECT_EQ(none.status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(none.fault, "PE_START names a PE that does not exist; this cube has 8");
  bench.host.write(kStart, 0b01);
  const SfrAnswer twice = bench.host.write(kStart, 0b11);
  EXPECT_EQ(twice.status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(twice.fault, "PE_START names a PE that is running");
  EXPECT_EQ(bench.host.read(kStart).value, 0b01U);
  bench.run_until(100000);
  EXPECT_TRUE(started.at.empty());
}

TEST(SfrStart, ThirtyTwoPesFillTheRegister) {
  SfrBlock::Config config = SfrBench::default_config();
  config.pes = 32;
  SfrBench bench(config);
  EventLog last("last", bench.sfr.start_event(pe(31)));
  bench.begin();
  EXPECT_EQ(bench.host.write(kStart, 0xffffffff).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(kStart).value, 0xffffffffU);
  bench.run_until(20000);
  EXPECT_EQ(last.at.size(), 1U);
  for (std::uint32_t p = 0; p < 32; ++p) {
    bench.sfr.finish(pe(p), false);
  }
  EXPECT_EQ(bench.host.read(kDone).value, 0xffffffffU);
  EXPECT_EQ(bench.host.read(kStart).value, 0U);
}

TEST(SfrStart, WhileAPeRunsWhatItDependsOnIsLocked) {
  SfrBench bench;
  bench.begin();
  bench.host.write(kStart, 0b100);
  std::vector<std::uint32_t> locked = {0x010, 0x014, 0x018, 0x01c, 0x020, 0x024, 0x028, 0x02c};
  for (std::uint32_t p = 0; p < 32; ++p) {
    locked.insert(locked.end(), {0x100 + 4 * p, 0x180 + 4 * p, 0x200 + 4 * p});
  }
  for (const std::uint32_t offset : locked) {
    const std::uint32_t before = bench.sfr.peek(offset);
    const SfrAnswer a = bench.host.write(offset, 1);
    EXPECT_EQ(a.status, tlm::TLM_COMMAND_ERROR_RESPONSE) << offset;
    EXPECT_EQ(a.fault,
              sfr::name_at(offset) + " may not be written while PEs run (PE_START reads 4)");
    EXPECT_EQ(bench.sfr.peek(offset), before) << offset;
  }
  // The rest is not.
  for (const std::uint32_t offset : {kDone, kFault, kIrqEnable, kIrqClear, 0x040U}) {
    EXPECT_EQ(bench.host.write(offset, 1).status, tlm::TLM_OK_RESPONSE) << offset;
  }
  bench.sfr.finish(pe(2), false);
  for (const std::uint32_t offset : locked) {
    EXPECT_EQ(bench.host.write(offset, 1).status, tlm::TLM_OK_RESPONSE) << offset;
    EXPECT_EQ(bench.sfr.peek(offset), 1U) << offset;
  }
}

TEST(SfrDone, FinishedAndFaultedPesShowUntilClearedOrStartedAgain) {
  SfrBench bench;
  bench.begin();
  bench.host.write(kStart, 0b111);
  bench.sfr.finish(pe(1), true);
  EXPECT_EQ(bench.host.read(kStart).value, 0b101U);
  EXPECT_EQ(bench.host.read(kDone).value, 0b010U);
  EXPECT_EQ(bench.host.read(kFault).value, 0b010U);
  bench.sfr.finish(pe(0), false);
  bench.sfr.finish(pe(2), true);
  EXPECT_EQ(bench.host.read(kDone).value, 0b111U);
  EXPECT_EQ(bench.host.read(kFault).value, 0b110U);
  // Ones clear, zeros keep.
  bench.host.write(kDone, 0b001);
  bench.host.write(kFault, 0b100);
  EXPECT_EQ(bench.host.read(kDone).value, 0b110U);
  EXPECT_EQ(bench.host.read(kFault).value, 0b010U);
  bench.host.write(kStart, 0b010);
  EXPECT_EQ(bench.host.read(kDone).value, 0b100U);
  EXPECT_EQ(bench.host.read(kFault).value, 0U);
}

// --- interrupts -----------------------------------------------------------------------------

TEST(SfrInterrupt, DoneComesWithTheLastPe) {
  SfrBench bench;
  EventLog irq("irq", bench.sfr.irq_event());
  bench.begin();
  bench.host.write(kIrqEnable, sfr::kIrqDone);
  bench.host.write(kStart, 0b11);
  bench.run_until(50000);
  bench.sfr.finish(pe(1), false);
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0U);
  EXPECT_FALSE(bench.sfr.irq_pending());
  bench.run_until(60000);
  bench.sfr.finish(pe(0), false);
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0b01U);
  EXPECT_TRUE(bench.sfr.irq_pending());
  bench.run_until(70000);
  EXPECT_EQ(irq.at, std::vector<Ps>{60000});
  bench.host.write(kIrqClear, sfr::kIrqFault);  // the other bit
  EXPECT_TRUE(bench.sfr.irq_pending());
  bench.host.write(kIrqClear, sfr::kIrqDone);
  EXPECT_FALSE(bench.sfr.irq_pending());
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0U);
  EXPECT_EQ(bench.host.read(kDone).value, 0b11U);  // not what the status bit came from
}

TEST(SfrInterrupt, AFaultComesAtOnce) {
  SfrBench bench;
  EventLog irq("irq", bench.sfr.irq_event());
  bench.begin();
  bench.host.write(kIrqEnable, sfr::kIrqFault);
  bench.host.write(kStart, 0b11);
  bench.run_until(30000);
  bench.sfr.finish(pe(0), true);
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0b10U);
  bench.run_until(40000);
  EXPECT_EQ(irq.at, std::vector<Ps>{30000});
  bench.sfr.finish(pe(1), false);
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0b11U);
}

TEST(SfrInterrupt, OnlyEnabledBitsReachTheHost) {
  SfrBench bench;
  EventLog irq("irq", bench.sfr.irq_event());
  bench.begin();
  bench.host.write(kStart, 0b1);
  bench.run_until(20000);
  bench.sfr.finish(pe(0), false);
  bench.run_until(30000);
  EXPECT_EQ(bench.host.read(kIrqStatus).value, 0b01U);
  EXPECT_FALSE(bench.sfr.irq_pending());
  EXPECT_TRUE(irq.at.empty());
  bench.host.write(kIrqEnable, sfr::kIrqFault);
  bench.run_until(40000);
  EXPECT_TRUE(irq.at.empty());
  // A status that waits is told when it is enabled.
  bench.host.write(kIrqEnable, sfr::kIrqDone);
  EXPECT_TRUE(bench.sfr.irq_pending());
  bench.run_until(50000);
  EXPECT_EQ(irq.at, std::vector<Ps>{40000});
}

// --- barrier --------------------------------------------------------------------------------

/// PEs 0..n-1 that start at 0 and come to the barrier at given times, each as often as it says.
struct BarrierBench : SfrBench {
  void at_barrier(std::uint32_t p, const std::vector<Ps>& arrivals) {
    pes[p]->script = [this, p, arrivals](SfrUser& user) {
      for (const Ps at : arrivals) {
        if (at > sim::now_ps()) {
          user.wait_until(at);
        }
        const SfrAnswer a = user.write(kBarrier, p);
        EXPECT_EQ(a.status, tlm::TLM_OK_RESPONSE) << a.fault;
        left[p].push_back(sim::now_ps() + a.delay);
      }
    };
    mask |= 1U << p;
  }
  void run() {
    begin();
    EXPECT_EQ(host.write(kStart, mask).status, tlm::TLM_OK_RESPONSE);
    sc_core::sc_start();
  }
  std::uint32_t mask = 0;
  std::map<std::uint32_t, std::vector<Ps>> left;
};

TEST(SfrBarrier, AllLeaveTwentyNanosecondsAfterTheLastHasCome) {
  BarrierBench bench;
  bench.at_barrier(0, {100000});
  bench.at_barrier(3, {400000});
  bench.at_barrier(7, {250000});
  bench.run();
  // The last access takes 10 ns to the register.
  const std::vector<Ps> then = {400000 + 10000 + 20000};
  EXPECT_EQ(bench.left[0], then);
  EXPECT_EQ(bench.left[3], then);
  EXPECT_EQ(bench.left[7], then);
}

TEST(SfrBarrier, OnePeAloneDoesNotWaitForOthers) {
  BarrierBench bench;
  bench.at_barrier(5, {100000});
  bench.run();
  EXPECT_EQ(bench.left[5], std::vector<Ps>{130000});
}

TEST(SfrBarrier, ItCanBeUsedAgainAndAgain) {
  BarrierBench bench;
  bench.at_barrier(0, {100000, 200000, 200000});
  bench.at_barrier(1, {150000, 160000, 500000});
  bench.run();
  // 150 + 30; PE 1 comes again at once, at 180, and waits for PE 0's at 200; then for its own.
  const std::vector<Ps> then = {180000, 230000, 530000};
  EXPECT_EQ(bench.left[0], then);
  EXPECT_EQ(bench.left[1], then);
}

TEST(SfrBarrier, APeThatEndsInsteadOfComingReleasesTheOthers) {
  BarrierBench bench;
  bench.at_barrier(0, {100000});
  bench.at_barrier(1, {120000});
  bench.mask |= 0b100;
  bench.host.script = [&bench](SfrUser& user) {
    user.wait_until(700000);
    bench.sfr.finish(pe(2), true);
  };
  bench.run();
  EXPECT_EQ(bench.left[0], std::vector<Ps>{720000});
  EXPECT_EQ(bench.left[1], std::vector<Ps>{720000});
}

TEST(SfrBarrier, AMissingPeHoldsTheOthersForEver) {
  BarrierBench bench;
  bench.at_barrier(0, {100000});
  bench.mask |= 0b10;
  bench.run();
  EXPECT_TRUE(bench.left[0].empty());
  EXPECT_EQ(bench.sfr.peek(kStart), 0b11U);
}

TEST(SfrBarrier, WhoIsNotRunningIsRefused) {
  SfrBench bench;
  std::vector<SfrAnswer> answers;
  bench.host.script = [&](SfrUser& user) {
    user.write(kStart, 0b1);
    for (const std::uint32_t p : {1U, 8U, 32U, 0xffffffffU}) {
      answers.push_back(user.write(kBarrier, p));
    }
  };
  bench.begin();
  sc_core::sc_start();
  ASSERT_EQ(answers.size(), 4U);
  for (const SfrAnswer& a : answers) {
    EXPECT_EQ(a.status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  EXPECT_EQ(answers[0].fault, "BARRIER: PE 1 is not running");
  EXPECT_EQ(answers[1].fault, "BARRIER: PE 8 is not running");
}

// --- links and trace ------------------------------------------------------------------------

TEST(SfrLinks, StatusAndErrorsAreTheLinksOwn) {
  std::array<std::uint32_t, kDirections> errors = {5, 0, 0xf0, 1};
  SfrBlock::Config config = SfrBench::default_config();
  config.link_up = [](Direction d) { return d == Direction::west || d == Direction::south; };
  config.link_errors = [&](Direction d) { return errors[static_cast<std::size_t>(index(d))]; };
  config.clear_link_errors = [&](Direction d, std::uint32_t ones) {
    errors[static_cast<std::size_t>(index(d))] &= ~ones;
  };
  SfrBench bench(config);
  bench.begin();
  EXPECT_EQ(bench.host.read(0x030).value, 0U);
  EXPECT_EQ(bench.host.read(0x034).value, 1U);
  EXPECT_EQ(bench.host.read(0x038).value, 0U);
  EXPECT_EQ(bench.host.read(0x03c).value, 1U);
  EXPECT_EQ(bench.host.read(0x040).value, 5U);
  EXPECT_EQ(bench.host.read(0x048).value, 0xf0U);
  EXPECT_EQ(bench.host.write(0x048, 0x30).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(0x048).value, 0xc0U);
  EXPECT_EQ(bench.host.read(0x040).value, 5U);
  EXPECT_EQ(bench.host.read(0x04c).value, 1U);
}

class SignalLog : public sim::TraceSink {
 public:
  struct Change {
    std::string name;
    std::uint64_t value;
    Ps at;
    bool operator==(const Change& o) const {
      return name == o.name && value == o.value && at == o.at;
    }
  };
  void change(const sim::TraceSignal& signal, std::uint64_t value, Ps at_ps) override {
    changes.push_back({signal.name(), value, at_ps});
  }
  std::uint64_t text(const sim::TraceSignal&, const char*) override { return 0; }
  std::vector<Change> changes;
};

TEST(SfrTrace, ShowsTopologyStartAndDone) {
  SfrBench bench;
  SignalLog log;
  std::vector<std::string> names;
  for (sim::TraceSignal* signal : bench.sfr.trace_signals()) {
    names.push_back(signal->name());
    // Before the first change a trace shows the reset value.
    EXPECT_EQ(signal->initial(), signal->name().find("NBR_") == 0 ? 0xffffffffU : 0U);
    signal->attach(&log);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"TOPO_CTRL", "RING_SIZE", "RING_RANK", "PE_START", "PE_DONE",
                                      "PE_FAULT", "NBR_E", "NBR_W", "NBR_N", "NBR_S"}));
  bench.begin();
  bench.run_until(1000);
  bench.host.write(0x010, 0xff);  // reserved bits do not show
  bench.host.write(0x024, 6);
  bench.host.write(0x014, 8);
  bench.host.write(0x100, 1);  // not traced
  bench.run_until(2000);
  bench.host.write(kStart, 0b11);
  bench.run_until(3000);
  bench.sfr.finish(pe(1), true);
  const auto has = [&](const SignalLog::Change& c) {
    return std::find(log.changes.begin(), log.changes.end(), c) != log.changes.end();
  };
  EXPECT_TRUE(has({"TOPO_CTRL", 3, 1000}));
  EXPECT_TRUE(has({"NBR_W", 6, 1000}));
  EXPECT_TRUE(has({"RING_SIZE", 8, 1000}));
  EXPECT_TRUE(has({"PE_START", 0b11, 2000}));
  EXPECT_TRUE(has({"PE_START", 0b01, 3000}));
  EXPECT_TRUE(has({"PE_DONE", 0b10, 3000}));
  EXPECT_TRUE(has({"PE_FAULT", 0b10, 3000}));
  // A start clears the bits of the PEs it starts.
  bench.run_until(4000);
  bench.host.write(kStart, 0b10);
  EXPECT_TRUE(has({"PE_START", 0b11, 4000}));
  EXPECT_TRUE(has({"PE_DONE", 0, 4000}));
  EXPECT_TRUE(has({"PE_FAULT", 0, 4000}));
}

}  // namespace
}  // namespace cubevp::hw
