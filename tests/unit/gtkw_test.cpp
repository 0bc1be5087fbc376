// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/gtkw.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "platform/trace/vcd_writer.h"
#include "tests/support/process.h"
#include "tests/unit/vcd_reader.h"

namespace cubevp::platform {
namespace {

struct Shown {
  std::string alias;
  std::string group;
  unsigned flags = 0;
  int colour = 0;
  std::string filter;  ///< content of the translate file
};

/// Reads a save file as GTKWave does: options in brackets, @flags, -comments, ^filters, signals.
struct SaveFile {
  explicit SaveFile(const test::TemporaryFolder& folder) {
    std::istringstream in(test::read_file(folder.file("t.gtkw")));
    std::string line;
    unsigned flags = 0;
    int colour = 0;
    std::string filter;
    while (std::getline(in, line)) {
      if (line.compare(0, 8, "[color] ") == 0) {
        colour = std::stoi(line.substr(8));
      } else if (line[0] == '[') {
        const std::size_t end = line.find(']');
        options[line.substr(1, end - 1)] = line.size() > end + 2 ? line.substr(end + 2) : "";
      } else if (line[0] == '@') {
        flags = static_cast<unsigned>(std::stoul(line.substr(1), nullptr, 16));
      } else if (line[0] == '^') {
        EXPECT_EQ(line.compare(0, 3, "^1 "), 0);
        filter = test::read_file(folder.file(line.substr(3)));
      } else if (line[0] == '-') {
        comment(line.substr(1), flags);
      } else {
        EXPECT_EQ(line[0], '+') << line;
        const std::size_t end = line.find('}');
        const std::string name = line.substr(end + 2);
        const Shown s{line.substr(2, end - 2), group, flags, colour, filter};
        EXPECT_TRUE(signals.emplace(name, s).second) << "twice: " << name;
        colour = 0;
        filter.clear();
      }
    }
    EXPECT_EQ(group, "");
  }
  void comment(const std::string& name, unsigned flags) {
    if ((flags & 0x800000U) != 0) {  // group begins
      EXPECT_EQ(group, "");
      group = name;
      groups.push_back(name);
    } else {
      EXPECT_NE(flags & 0x1000000U, 0U) << name;  // group ends
      EXPECT_EQ(name, group);
      group.clear();
    }
  }
  std::map<std::string, std::string> options;
  std::map<std::string, Shown> signals;
  std::vector<std::string> groups;
  std::string group;
};

class Gtkw : public testing::Test {
 protected:
  Gtkw() {
    const std::vector<std::string> cpu = {"idle", "run", "wait"};
    add("cube_0_0.sfr", "PE_DONE", 32);
    add("cube_0_0.link_e", "busy", 1);
    add("cube_0_0.hbm.channel_1", "bytes", 16);
    add("cube_0_0.pe_0.cpu", "state", 3, cpu);
    add("cube_0_0.pe_0.cpu", "phase", 8);
    add("cube_0_0.pe_0.gemm_unit", "state", 2, {"idle", "busy"});
    add("cube_0_0.pe_1.cpu", "state", 3, cpu);
    VcdWriter vcd(folder.file("t.vcd"), traced);
    vcd.begin(0, std::vector<std::uint64_t>(traced.size(), 0));
    vcd.end(0, {"-"});
    write_gtkw(folder.file("t.vcd"), traced, {false, false, false, false, true, false, false},
               {"-", "scores", "merge"});
  }
  void add(const std::string& module, const std::string& name, unsigned width,
           const std::vector<std::string>& states = {}) {
    signals.emplace_back(name, width, states);
    traced.push_back({module, &signals.back()});
  }
  test::TemporaryFolder folder;
  std::deque<sim::TraceSignal> signals;
  std::vector<TracedSignal> traced;
};

TEST_F(Gtkw, ShowsEverySignalOfTheTraceOnce) {
  const SaveFile save(folder);
  EXPECT_EQ(save.options.at("dumpfile"), "\"t.vcd\"");
  EXPECT_EQ(save.options.at("savefile"), "\"t.gtkw\"");
  const test::VcdReader vcd(test::read_file(folder.file("t.vcd")));
  EXPECT_EQ(save.signals.size(), vcd.names().size());
  for (const std::string& name : vcd.names()) {
    const unsigned width = vcd.width(name);
    const std::string range = width > 1 ? "[" + std::to_string(width - 1) + ":0]" : "";
    EXPECT_EQ(save.signals.count(name + range), 1U) << name;
  }
}

TEST_F(Gtkw, GroupsByPhasePeAndCube) {
  const SaveFile save(folder);
  EXPECT_EQ(save.groups,
            (std::vector<std::string>{"kernel phase", "cube_0_0.pe_0", "cube_0_0.pe_1",
                                      "cube_0_0.sfr", "cube_0_0.link_e", "cube_0_0.hbm"}));
  EXPECT_EQ(save.signals.at("cube_0_0.pe_0.cpu.phase[7:0]").group, "kernel phase");
  EXPECT_EQ(save.signals.at("cube_0_0.pe_0.gemm_unit.state[1:0]").group, "cube_0_0.pe_0");
  EXPECT_EQ(save.signals.at("cube_0_0.hbm.channel_1.bytes[15:0]").group, "cube_0_0.hbm");
  EXPECT_EQ(save.signals.at("cube_0_0.pe_0.gemm_unit.state[1:0]").alias, "pe_0 gemm_unit state");
}

TEST_F(Gtkw, StatesAndLabelsReadAsWords) {
  const SaveFile save(folder);
  constexpr unsigned kTranslated = 0x2000;
  const Shown& cpu = save.signals.at("cube_0_0.pe_0.cpu.state[2:0]");
  EXPECT_NE(cpu.flags & kTranslated, 0U);
  EXPECT_EQ(cpu.filter, "0 idle\n1 run\n2 wait\n");
  EXPECT_EQ(save.signals.at("cube_0_0.pe_1.cpu.state[2:0]").filter, cpu.filter);
  EXPECT_EQ(save.signals.at("cube_0_0.pe_0.cpu.phase[7:0]").filter, "0 -\n1 scores\n2 merge\n");
  const Shown& number = save.signals.at("cube_0_0.sfr.PE_DONE[31:0]");
  EXPECT_EQ(number.flags & kTranslated, 0U);
  EXPECT_EQ(number.filter, "");
  // One file a table: of cpu states, gemm states and labels.
  std::set<std::string> filters;
  for (const std::string& file : folder.files()) {
    if (file.find("t.filters/") == 0) {
      filters.insert(file);
    }
  }
  EXPECT_EQ(filters.size(), 3U);
}

TEST_F(Gtkw, KindsHaveColoursOfTheirOwn) {
  const SaveFile save(folder);
  const int cpu = save.signals.at("cube_0_0.pe_0.cpu.state[2:0]").colour;
  const int gemm = save.signals.at("cube_0_0.pe_0.gemm_unit.state[1:0]").colour;
  const int link = save.signals.at("cube_0_0.link_e.busy").colour;
  const int hbm = save.signals.at("cube_0_0.hbm.channel_1.bytes[15:0]").colour;
  EXPECT_EQ((std::set<int>{cpu, gemm, link, hbm, 0}).size(), 5U);
  EXPECT_EQ(save.signals.at("cube_0_0.pe_1.cpu.state[2:0]").colour, cpu);
}

}  // namespace
}  // namespace cubevp::platform
