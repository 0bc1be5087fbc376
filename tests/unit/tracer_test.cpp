// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/tracer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/sim/time.h"
#include "platform/config/errors.h"
#include "tests/support/process.h"
#include "tests/unit/trace_machine.h"
#include "tests/unit/vcd_reader.h"

namespace cubevp::platform {
namespace {

using test::TracedMachine;
using test::TracedUnit;
using test::VcdReader;

const std::string kUnit = "cube_0_0.pe_0.gemm_unit";

void run_until(Ps at) {
  sc_core::sc_start(sim::to_sc_time(at - sim::now_ps()));
}

TraceConfig scope(const std::vector<std::string>& patterns) {
  TraceConfig config;
  config.scope = patterns;
  return config;
}

/// A trace of one unit in a folder of its own.
struct Bench {
  explicit Bench(const TraceConfig& config = scope({"cube_0_0.pe_0.*"}))
      : tracer(config, folder.file("t.vcd"), "") {}
  VcdReader read(Ps end) {
    tracer.close(end);
    return VcdReader(test::read_file(folder.file("t.vcd")));
  }
  test::TemporaryFolder folder;
  TracedMachine machine;
  TracedUnit& unit = machine.cube_0.pe.gemm;
  Tracer tracer;
};

TEST(Tracer, PutsAnnouncementsInTheOrderOfTime) {
  Bench bench;
  bench.unit.state.set_at(1, 700);  // ahead of time
  bench.unit.state.set_at(0, 900);
  run_until(500);
  bench.unit.level.set(5);
  run_until(800);
  bench.unit.level.set(6);
  const VcdReader vcd = bench.read(1000);
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{{500, kUnit + ".level", 5},
                                                           {700, kUnit + ".state", 1},
                                                           {800, kUnit + ".level", 6},
                                                           {900, kUnit + ".state", 0}}));
  EXPECT_EQ(vcd.times().back(), 1000);
}

TEST(Tracer, TheLastOfSeveralChangesInAnInstantCountsAndEqualOnesDoNot) {
  Bench bench;
  run_until(100);
  bench.unit.level.set(1);
  bench.unit.level.set(2);
  bench.unit.state.set(1);
  bench.unit.state.set(0);  // as before
  run_until(200);
  bench.unit.level.set(2);  // no change
  const VcdReader vcd = bench.read(300);
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{{100, kUnit + ".level", 2}}));
}

TEST(Tracer, WhatIsWrittenEarlyMakesNoDifference) {
  Bench bench;
  bench.unit.level.set_at(9, 150);
  run_until(100);
  bench.unit.level.set(1);
  bench.tracer.advance(100);  // the change at 100 may still be overtaken
  bench.unit.level.set(2);
  bench.tracer.advance(120);
  bench.tracer.advance(140);
  run_until(150);
  const VcdReader vcd = bench.read(200);
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{{100, kUnit + ".level", 2},
                                                           {150, kUnit + ".level", 9}}));
}

TEST(Tracer, AsksUnitsForWhatTheyHoldBack) {
  Bench bench;
  run_until(100);
  bench.unit.held = 3;
  bench.unit.held_at = 50;
  bench.unit.state.set(1);
  bench.tracer.advance(100);
  EXPECT_EQ(bench.unit.finished_at, 100);
  bench.unit.held = 4;
  bench.unit.held_at = 200;  // the last instant is part of the trace
  const VcdReader vcd = bench.read(200);
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{{50, kUnit + ".level", 3},
                                                           {100, kUnit + ".state", 1},
                                                           {200, kUnit + ".level", 4}}));
}

TEST(Tracer, SignalsBeginWithTheirInitialValue) {
  Bench bench;
  const VcdReader vcd = bench.read(10);
  EXPECT_EQ(vcd.initial().at(kUnit + ".NBR_E"), 0xffffffffU);
  EXPECT_EQ(vcd.initial().at(kUnit + ".state"), 0U);
}

TEST(Tracer, AWindowBeginsWithTheValuesOfItsStart) {
  TraceConfig config = scope({"cube_0_0.pe_0.*"});
  config.start_ps = 200;
  config.stop_ps = 300;
  Bench bench(config);
  for (int i = 1; i <= 4; ++i) {
    bench.unit.level.set_at(static_cast<std::uint64_t>(i), i * 100);
  }
  bench.unit.state.set_at(1, 150);
  bench.unit.state.set_at(2, 250);
  run_until(1000);
  const VcdReader vcd = bench.read(1000);
  EXPECT_EQ(vcd.times(), (std::vector<std::int64_t>{200, 250, 300}));
  EXPECT_EQ(vcd.initial().at(kUnit + ".level"), 2U);
  EXPECT_EQ(vcd.initial().at(kUnit + ".state"), 1U);
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{{250, kUnit + ".state", 2},
                                                           {300, kUnit + ".level", 3}}));
}

TEST(Tracer, AWindowAfterTheEndIsAnEmptyTrace) {
  TraceConfig config = scope({"cube_0_0.pe_0.*"});
  config.start_ps = 5000;
  Bench bench(config);
  bench.unit.level.set_at(7, 100);
  run_until(1000);
  const VcdReader vcd = bench.read(1000);
  EXPECT_EQ(vcd.times(), std::vector<std::int64_t>{5000});
  EXPECT_EQ(vcd.initial().at(kUnit + ".level"), 7U);
}

TEST(Tracer, WordsAreNumberedInTheOrderTheyCome) {
  Bench bench;
  bench.unit.op.set_text("scores");
  run_until(100);
  bench.unit.op.set_text("merge");
  run_until(200);
  bench.unit.op.set_text("scores");
  run_until(300);
  bench.unit.op.set_text("");
  const VcdReader vcd = bench.read(400);
  EXPECT_EQ(vcd.at(50, kUnit + ".op"), 1U);
  EXPECT_EQ(vcd.at(150, kUnit + ".op"), 2U);
  EXPECT_EQ(vcd.at(250, kUnit + ".op"), 1U);
  EXPECT_EQ(vcd.at(350, kUnit + ".op"), 0U);
  EXPECT_EQ(vcd.comments().back(), "label 2 merge");
}

TEST(Tracer, ListensToWhatTheScopesSelect) {
  const test::TemporaryFolder folder;
  const TracedMachine machine;
  const auto selected = [&](const std::vector<std::string>& patterns) {
    return Tracer(scope(patterns), folder.file("t.vcd"), "").signals();
  };
  EXPECT_EQ(selected({"*"}), 4U * 2 * 4);
  EXPECT_EQ(selected({"cube_1_0.*"}), 8U);
  EXPECT_EQ(selected({"cube2.*"}), 8U);  // cube_0_1
  EXPECT_EQ(selected({"*.hbm"}), 16U);
  EXPECT_EQ(selected({"*.hbm.level"}), 4U);
  EXPECT_EQ(selected({"cube_0_0.*", "*.hbm", "cube0.hbm"}), 8U + 3 * 4);  // each once
}

TEST(Tracer, ScopesThatMatchNothingAreAllTold) {
  const test::TemporaryFolder folder;
  const TracedMachine machine;
  try {
    const Tracer tracer(scope({"cube7.*", "*", "cube_0_0.pe_9.*"}), folder.file("t.vcd"), "");
    FAIL();
  } catch (const ConfigError& e) {
    ASSERT_EQ(e.lines().size(), 2U);
    EXPECT_NE(e.lines()[0].find("\"cube7.*\""), std::string::npos) << e.lines()[0];
    EXPECT_NE(e.lines()[1].find("\"cube_0_0.pe_9.*\""), std::string::npos) << e.lines()[1];
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(Tracer, LetsGoOfTheSignals) {
  const test::TemporaryFolder folder;
  TracedMachine machine;
  TracedUnit& unit = machine.cube_3.hbm;
  {
    const Tracer tracer(scope({"*"}), folder.file("t.vcd"), "");
    EXPECT_TRUE(unit.level.traced());
  }
  EXPECT_FALSE(unit.level.traced());
  EXPECT_TRUE(folder.files().empty());  // nothing was closed
}

}  // namespace
}  // namespace cubevp::platform
