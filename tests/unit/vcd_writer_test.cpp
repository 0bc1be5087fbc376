// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/vcd_writer.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "platform/config/errors.h"
#include "tests/support/process.h"
#include "tests/unit/vcd_reader.h"

namespace cubevp::platform {
namespace {

using test::VcdReader;

/// Signals of a small machine.
struct Signals {
  Signals() {
    add("cube_0_0.sfr", "PE_DONE", 32);
    add("cube_0_0.pe_0.cpu", "state", 3, {"idle", "run"});
    add("cube_0_0.pe_0.cpu", "phase", 8);
    add("cube_0_0.pe_0.gemm_unit", "busy", 1);
    add("cube_0_0.pe_1.cpu", "state", 3, {"idle", "run"});
    add("cube_1_0.sfr", "PE_DONE", 64);
  }
  void add(const std::string& module, const std::string& name, unsigned width,
           const std::vector<std::string>& states = {}) {
    signals.emplace_back(name, width, states);
    traced.push_back({module, &signals.back()});
  }
  std::deque<sim::TraceSignal> signals;
  std::vector<TracedSignal> traced;
};

TEST(VcdWriter, TheHeaderNamesTimescaleScopesAndVariables) {
  const test::TemporaryFolder folder;
  const Signals s;
  VcdWriter writer(folder.file("t.vcd"), s.traced);
  writer.begin(0, {1, 2, 3, 1, 0, std::numeric_limits<std::uint64_t>::max()});
  writer.end(0, {"-"});
  const VcdReader vcd(test::read_file(folder.file("t.vcd")));
  EXPECT_EQ(vcd.timescale(), "1 ps");
  EXPECT_EQ(vcd.names(),
            (std::vector<std::string>{"cube_0_0.sfr.PE_DONE", "cube_0_0.pe_0.cpu.state",
                                      "cube_0_0.pe_0.cpu.phase", "cube_0_0.pe_0.gemm_unit.busy",
                                      "cube_0_0.pe_1.cpu.state", "cube_1_0.sfr.PE_DONE"}));
  EXPECT_EQ(vcd.width("cube_0_0.pe_0.cpu.state"), 3U);
  EXPECT_EQ(vcd.width("cube_0_0.pe_0.gemm_unit.busy"), 1U);
  EXPECT_EQ(vcd.initial().at("cube_0_0.pe_0.cpu.phase"), 3U);
  EXPECT_EQ(vcd.initial().at("cube_1_0.sfr.PE_DONE"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(vcd.times(), std::vector<std::int64_t>{0});
  EXPECT_TRUE(vcd.changes().empty());
}

TEST(VcdWriter, ValuesStandAtTheirTimesAndEachTimeOnce) {
  const test::TemporaryFolder folder;
  const Signals s;
  VcdWriter writer(folder.file("t.vcd"), s.traced);
  writer.begin(1000, {0, 0, 0, 0, 0, 0});
  writer.change(3, 1, 1000);  // in the instant of the begin
  writer.change(1, 4, 1500);
  writer.change(0, 0xffffffff, 1500);
  writer.change(3, 0, 1501);
  writer.change(1, 0, 9'000'000'000'000);
  writer.end(9'000'000'000'000, {"-"});
  const std::string text = test::read_file(folder.file("t.vcd"));
  // $dumpvars and a change of the same instant stand under one time.
  EXPECT_EQ(text.find("#1000\n"), text.rfind("#1000\n"));
  EXPECT_NE(text.find("#1000\n$dumpvars\n"), std::string::npos);
}

TEST(VcdWriter, ChangesAreReadBackAsTheyWereWritten) {
  const test::TemporaryFolder folder;
  const Signals s;
  VcdWriter writer(folder.file("t.vcd"), s.traced);
  writer.begin(0, {0, 0, 0, 0, 0, 0});
  writer.change(1, 4, 1500);
  writer.change(0, 0x80000001, 1500);
  writer.change(3, 1, 1501);
  writer.change(5, 0x8000000000000002, 9'000'000'000'000);
  writer.end(9'000'000'000'500, {"-"});
  const VcdReader vcd(test::read_file(folder.file("t.vcd")));
  EXPECT_EQ(vcd.changes(), (std::vector<VcdReader::Change>{
                               {1500, "cube_0_0.pe_0.cpu.state", 4},
                               {1500, "cube_0_0.sfr.PE_DONE", 0x80000001},
                               {1501, "cube_0_0.pe_0.gemm_unit.busy", 1},
                               {9'000'000'000'000, "cube_1_0.sfr.PE_DONE", 0x8000000000000002}}));
  EXPECT_EQ(vcd.times(),
            (std::vector<std::int64_t>{0, 1500, 1501, 9'000'000'000'000, 9'000'000'000'500}));
}

TEST(VcdWriter, WordsOfStatesAndLabelsAreComments) {
  const test::TemporaryFolder folder;
  const Signals s;
  VcdWriter writer(folder.file("t.vcd"), s.traced);
  writer.begin(0, {0, 0, 0, 0, 0, 0});
  writer.end(10, {"-", "scores", "merge E"});
  const VcdReader vcd(test::read_file(folder.file("t.vcd")));
  // A table of states that several signals have is told once.
  EXPECT_EQ(vcd.comments(),
            (std::vector<std::string>{"states 0=idle 1=run: cube_0_0.pe_0.cpu.state and alike",
                                      "label 1 scores", "label 2 merge E"}));
}

TEST(VcdWriter, ThousandsOfSignalsHaveCodesOfTheirOwn) {
  const test::TemporaryFolder folder;
  Signals s;
  while (s.traced.size() < 20000) {  // more than codes of two characters give
    s.add("cube_7_7.pe_" + std::to_string(s.traced.size()), "busy", 1);
  }
  VcdWriter writer(folder.file("t.vcd"), s.traced);
  std::vector<std::uint64_t> values(s.traced.size(), 0);
  values[19999] = 1;
  writer.begin(0, values);
  writer.end(1, {"-"});
  const VcdReader vcd(test::read_file(folder.file("t.vcd")));
  EXPECT_EQ(vcd.names().size(), 20000U);
  EXPECT_EQ(vcd.initial().at("cube_7_7.pe_19999.busy"), 1U);
  EXPECT_EQ(vcd.initial().at("cube_7_7.pe_9000.busy"), 0U);
}

TEST(VcdWriter, TheFileAppearsWithItsEnd) {
  const test::TemporaryFolder folder;
  const Signals s;
  {
    VcdWriter writer(folder.file("t.vcd"), s.traced);
    writer.begin(0, {0, 0, 0, 0, 0, 0});
    for (const std::string& name : folder.files()) {
      EXPECT_NE(name, "t.vcd");
    }
  }
  EXPECT_TRUE(folder.files().empty());
  EXPECT_THROW(VcdWriter(folder.file("none/t.vcd"), s.traced), IoError);
}

TEST(VcdWriter, TheSameChangesGiveTheSameBytes) {
  const test::TemporaryFolder folder;
  const Signals s;
  for (const char* name : {"a.vcd", "b.vcd"}) {
    VcdWriter writer(folder.file(name), s.traced);
    writer.begin(0, {0, 0, 0, 0, 0, 0});
    writer.change(1, 1, 5);
    writer.end(10, {"-", "x"});
  }
  EXPECT_EQ(test::read_file(folder.file("a.vcd")), test::read_file(folder.file("b.vcd")));
}

}  // namespace
}  // namespace cubevp::platform
