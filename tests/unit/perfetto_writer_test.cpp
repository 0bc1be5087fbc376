// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/perfetto_writer.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace cubevp::platform {
namespace {

using nlohmann::json;

struct Signals {
  Signals() {
    add("cube_0_0.pe_0.cpu", "state", 3, {"idle", "run", "wait"});
    add("cube_0_0.pe_0.cpu", "phase", 8);
    add("cube_1_0.link_e", "level", 16);
  }
  void add(const std::string& module, const std::string& name, unsigned width,
           const std::vector<std::string>& states = {}) {
    signals.emplace_back(name, width, states);
    traced.push_back({module, &signals.back()});
  }
  std::deque<sim::TraceSignal> signals;
  std::vector<TracedSignal> traced;
};

/// Name, start and duration in microseconds, track's name.
using Span = std::tuple<std::string, double, double, std::string>;

struct Trace {
  explicit Trace(const std::string& text) : file(json::parse(text)) {
    EXPECT_EQ(file.at("displayTimeUnit"), "ns");
    for (const json& e : file.at("traceEvents")) {
      const std::string ph = e.at("ph");
      if (ph == "M" && e.at("name") == "process_name") {
        EXPECT_TRUE(processes.emplace(e.at("pid"), e.at("args").at("name")).second);
      } else if (ph == "M") {
        EXPECT_EQ(e.at("name"), "thread_name");
        EXPECT_EQ(processes.count(e.at("pid")), 1U);
        EXPECT_TRUE(threads.emplace(e.at("tid"), e.at("args").at("name")).second);
      } else if (ph == "X") {
        spans.emplace_back(e.at("name"), e.at("ts"), e.at("dur"), threads.at(e.at("tid")));
      } else {
        EXPECT_EQ(ph, "C");
        counts.emplace_back(e.at("ts").get<double>(), e.at("args").at("value").get<double>());
        counters.push_back(e.at("name"));
      }
    }
  }
  json file;
  std::map<int, std::string> processes;
  std::map<int, std::string> threads;
  std::vector<Span> spans;
  std::vector<std::pair<double, double>> counts;
  std::vector<std::string> counters;
};

TEST(PerfettoWriter, ACubeIsAProcessAndASignalAThread) {
  const test::TemporaryFolder folder;
  const Signals s;
  PerfettoWriter writer(folder.file("t.json"), s.traced);
  writer.begin(0, {0, 0, 0});
  writer.end(1000, {"-"});
  const Trace trace(test::read_file(folder.file("t.json")));
  EXPECT_EQ(trace.processes, (std::map<int, std::string>{{1, "cube_0_0"}, {2, "cube_1_0"}}));
  EXPECT_EQ(trace.threads, (std::map<int, std::string>{{1, "cube_0_0.pe_0.cpu.state"},
                                                       {2, "cube_0_0.pe_0.cpu.phase"},
                                                       {3, "cube_1_0.link_e.level"}}));
  EXPECT_TRUE(trace.spans.empty());
}

TEST(PerfettoWriter, StatesAndLabelsAreSpansInsideTheTrace) {
  const test::TemporaryFolder folder;
  const Signals s;
  PerfettoWriter writer(folder.file("t.json"), s.traced);
  writer.begin(1'000'000, {1, 0, 0});
  writer.change(1, 2, 1'500'000);
  writer.change(0, 2, 2'000'001);
  writer.change(0, 0, 3'000'000);
  writer.change(1, 1, 4'000'000);
  writer.end(5'000'000, {"-", "scores", "merge"});
  const Trace trace(test::read_file(folder.file("t.json")));
  const std::string state = "cube_0_0.pe_0.cpu.state";
  const std::string phase = "cube_0_0.pe_0.cpu.phase";
  EXPECT_EQ(trace.spans, (std::vector<Span>{{"run", 1.0, 1.000001, state},
                                            {"wait", 2.000001, 0.999999, state},
                                            {"merge", 1.5, 2.5, phase},
                                            {"scores", 4.0, 1.0, phase}}));
  for (const auto& [name, start, duration, track] : trace.spans) {
    EXPECT_GE(start, 1.0);
    EXPECT_GT(duration, 0.0);
    EXPECT_LE(start + duration, 5.0);
  }
}

TEST(PerfettoWriter, NumbersAreCountersFromTheBeginning) {
  const test::TemporaryFolder folder;
  const Signals s;
  PerfettoWriter writer(folder.file("t.json"), s.traced);
  writer.begin(0, {0, 0, 7});
  writer.change(2, 9, 250'000);
  writer.change(2, 0, 750'000);
  writer.end(1'000'000, {"-"});
  const Trace trace(test::read_file(folder.file("t.json")));
  EXPECT_EQ(trace.counts, (std::vector<std::pair<double, double>>{{0, 7}, {0.25, 9}, {0.75, 0}}));
  EXPECT_EQ(trace.counters, std::vector<std::string>(3, "cube_1_0.link_e.level"));
}

TEST(PerfettoWriter, AnyLabelIsAJsonString) {
  const test::TemporaryFolder folder;
  const Signals s;
  const std::string label = "a \"quoted\"\tback\\slash\n";
  PerfettoWriter writer(folder.file("t.json"), s.traced);
  writer.begin(0, {0, 1, 0});
  writer.end(1000, {"-", label});
  const Trace trace(test::read_file(folder.file("t.json")));
  ASSERT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(std::get<0>(trace.spans[0]), label);
}

TEST(PerfettoWriter, ATraceOfNothingIsJson) {
  const test::TemporaryFolder folder;
  PerfettoWriter writer(folder.file("t.json"), {});
  writer.begin(0, {});
  writer.end(0, {"-"});
  EXPECT_TRUE(Trace(test::read_file(folder.file("t.json"))).file.at("traceEvents").empty());
}

}  // namespace
}  // namespace cubevp::platform
