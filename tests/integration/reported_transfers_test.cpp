// SPDX-License-Identifier: Apache-2.0
// Situations in which other rings of processors hung, read data before it had come, or could not be
// built, and run files that were taken for something else, with the right outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/golden/golden_cases.h"
#include "tests/integration/attention_run.h"

namespace cubevp::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AttentionRun golden_prefill(const std::string& name, std::int64_t ranks) {
  AttentionRun run;
  for (const GoldenCase& c : golden_cases()) {
    if (c.name == name) {
      run.shape = c.shape;
      run.causal = c.options.causal;
      run.q = c.q;
      run.k = c.k;
      run.v = c.v;
      run.golden = c.o;
    }
  }
  if (run.q.empty()) {
    throw std::invalid_argument("no golden case " + name);
  }
  run.kernel = "gqa_prefill_ring";
  run.axis = "cube";
  run.ranks = ranks;
  return run;
}

AttentionRun decode(const std::string& kernel, const std::string& axis, std::int64_t ranks) {
  AttentionRun run;
  run.kernel = kernel;
  run.axis = axis;
  run.ranks = ranks;
  run.hardware = hardware_for(axis, ranks);
  run.shape = {1, 8, 2, 4, 61, 64};
  return run;
}

void set(AttentionRun& run, const std::string& assignment) {
  run.options.emplace_back("--set");
  run.options.push_back(assignment);
}

// --- Transfers

const std::vector<std::vector<std::string>> kMachines = {
    {},
    {"hardware.link.bandwidth=1 GB/s"},
    {"hardware.link.latency=2 us"},
    {"hardware.link.bandwidth=10 TB/s", "hardware.link.flit_error_rate=0.3"},
    {"hardware.link.credits=1"},
    {"hardware.noc.plane_bytes_per_cycle=1", "hardware.noc.planes=1"},
    {"hardware.noc.hop_cycles=0", "hardware.noc.interface_inject_cycles=0",
     "hardware.noc.interface_eject_cycles=0"},
    {"hardware.noc.buffer_packets=1"},
    {"hardware.pe.message_queue.slots=1", "hardware.pe.message_queue.slot_size=1 KiB"},
    {"hardware.pe.message_queue.packet_size=64 B"},
    {"hardware.pe.message_queue.software_cost=0 ns", "hardware.pe.command.issue=0 ns"},
    {"hardware.pe.command.queue_depth=1"},
    {"hardware.pe.dma.outstanding_bursts=1", "hardware.pe.dma.burst_size=64 B"},
    {"hardware.hbm.controller=1 us"},
    {"hardware.pe.gemm.dataflow=os", "hardware.pe.vector.lanes=1"},
};

std::vector<AttentionRun> transferring_runs() {
  std::vector<AttentionRun> runs = {golden_prefill("ring_order_ramp", 4),
                                    golden_prefill("ring_order_ramp", 3),
                                    golden_prefill("causal_step_skip", 8)};
  runs[1].params = "overlap: none, shard: zigzag, ";
  for (const char* kernel : {"attention_mesh_mlo", "attention_ring_mlo", "attention_tree_mlo"}) {
    runs.push_back(decode(kernel, "cube", 4));
    runs.push_back(decode(kernel, "pe", 4));
  }
  for (AttentionRun& run : runs) {
    run.params += "tile_keys: 8";  // automatic ones may differ on another machine
  }
  return runs;
}

class ReportedTimes : public ::testing::TestWithParam<AttentionRun> {};

TEST_P(ReportedTimes, DoNotChangeTheResult) {
  std::string bits;
  for (const std::vector<std::string>& changes : kMachines) {
    AttentionRun run = GetParam();
    for (const std::string& change : changes) {
      set(run, change);
    }
    const AttentionOutcome outcome = expect_right(run);
    if (bits.empty()) {
      bits = outcome.o_file;
    }
    ASSERT_FALSE(bits.empty());
    EXPECT_TRUE(outcome.o_file == bits) << ::testing::PrintToString(changes);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, ReportedTimes, ::testing::ValuesIn(transferring_runs()),
                         [](const auto& param_info) {
                           return param_info.param.kernel + "_" + param_info.param.axis +
                                  std::to_string(param_info.param.ranks);
                         });

TEST(ReportedTransfers, CubesThatSkipAStepPassTheBlockOn) {
  // 64 queries and keys on 8 cubes, two KV groups one after the other. Each PE has 8 rows in a row;
  // of the 8 blocks of 8 keys, the rows from query 8 j on see the first j + 1.
  AttentionRun run = golden_prefill("causal_step_skip", 8);
  const AttentionOutcome masked = expect_right(run);
  AttentionRun all = run;
  all.causal = false;
  all.golden = "reference";
  const AttentionOutcome full = expect_right(all);
  const auto counter = [](const AttentionOutcome& o, const char* name) {
    return o.result.at("counters").value(name, std::int64_t{0});
  };
  const std::int64_t pairs = 8 * 8 * 64 * 2 * 2;  // FLOP of 8 rows with 8 keys, both products
  EXPECT_EQ(counter(full, "flops"), 8 * (8 * 8) * pairs);
  EXPECT_EQ(counter(masked, "flops"), 8 * (8 * 9 / 2) * pairs);
  EXPECT_EQ(counter(masked, "steps_skipped"), 8 * (7 * 8 / 2));
  EXPECT_EQ(counter(full, "steps_skipped"), 0);
  for (const char* name : {"ring_steps", "messages", "link_bytes"}) {
    EXPECT_EQ(counter(masked, name), counter(full, name)) << name;
  }
  EXPECT_EQ(counter(masked, "ring_steps"), 2 * 8 * 7);
  // 8 (8 - 1) blocks a group, of 8 keys with K and V; some bytes more for credits.
  const std::int64_t blocks = 2 * 8 * 7 * (8 * 64 * 2 * 2);
  EXPECT_GE(counter(masked, "link_bytes"), blocks);
  EXPECT_LT(counter(masked, "link_bytes"), blocks * 11 / 10);
  // What is skipped keeps no matrix unit busy.
  const auto gemm_busy = [](const AttentionOutcome& o) {
    double ns = 0;
    for (const auto& unit : o.result.at("units")) {
      ns += unit.at("kind") == "gemm" ? unit.at("busy_ns").get<double>() : 0.0;
    }
    return ns;
  };
  EXPECT_NEAR(gemm_busy(masked) / gemm_busy(full), 36.0 / 64.0, 0.01);
}

TEST(ReportedTransfers, EveryoneMaySendFirst) {
  // Blocks and triplets of many slots, with room for one packet.
  for (const std::int64_t ranks : {2, 3, 4, 8}) {
    for (const char* overlap : {"none", "async"}) {
      std::vector<AttentionRun> runs;
      for (const char* axis : {"pe", "cube"}) {
        runs.push_back(decode("attention_mesh_mlo", axis, ranks));
        runs.push_back(decode("attention_ring_mlo", axis, ranks));
        if (ranks != 3) {
          runs.push_back(decode("attention_tree_mlo", axis, ranks));
        }
      }
      runs.push_back(decode("gqa_prefill_ring", "cube", ranks));
      runs.back().shape.s_kv = 300;
      for (AttentionRun& run : runs) {
        run.params = std::string("overlap: ") + overlap;
        for (const char* change :
             {"hardware.pe.message_queue.slots=1", "hardware.pe.message_queue.slot_size=256 B",
              "hardware.pe.message_queue.packet_size=256 B", "hardware.link.credits=1",
              "hardware.noc.buffer_packets=1"}) {
          set(run, change);
        }
        expect_right(run);
      }
    }
  }
}

// --- Numbers in a run file

class ReportedFiles : public ::testing::Test {
 protected:
  ProcessResult platform(const std::string& command, const std::string& yaml) const {
    folder_.write("run.yaml", yaml);
    return run_platform({command, "--config", "run.yaml"}, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(ReportedFiles, NumbersAreNotOctal) {
  const std::string workload = "workload:\n  kernel: attention_mesh_mlo\n  context: ";
  for (const char* number : {"0512", "0o17", "08", "010", "0x10"}) {
    const ProcessResult r = platform("validate", workload + number + "\n");
    EXPECT_EQ(r.status, 2) << number;
    EXPECT_THAT(r.err, HasSubstr("run.yaml:3:12: workload.context: "));
    EXPECT_THAT(r.err, HasSubstr(std::string("got \"") + number + "\""));
  }
  const ProcessResult seed = platform("validate", workload + "64\ninput: {seed: 0017}\n");
  EXPECT_EQ(seed.status, 2);
  EXPECT_THAT(seed.err, HasSubstr("run.yaml:4:15: input.seed: "));
  for (const char* size : {"0512 KiB", "0x10 KiB", "0o17 KiB"}) {
    const ProcessResult r =
        platform("validate", "hardware: {base: tiny, pe: {scratchpad: {size: " + std::string(size) +
                                 "}}}\n" + workload + "64\n");
    EXPECT_EQ(r.status, 2) << size;
    EXPECT_THAT(r.err, HasSubstr("hardware.pe.scratchpad.size: "));
  }
  const ProcessResult decimal = platform("show", workload + "512\n");
  EXPECT_EQ(decimal.status, 0) << decimal.err;
  EXPECT_THAT(decimal.out, HasSubstr("context: 512\n"));
}

// --- Machines of any shape

TEST_F(ReportedFiles, MeshesOfAnyShapeRun) {
  struct Mesh {
    int columns, rows;
  };
  for (const auto [columns, rows] : {Mesh{3, 3}, Mesh{1, 5}, Mesh{5, 1}, Mesh{5, 2}, Mesh{1, 1}}) {
    const std::string mesh =
        "columns: " + std::to_string(columns) + ", rows: " + std::to_string(rows);
    const int nodes = columns * rows;
    AttentionRun cubes = decode("attention_mesh_mlo", "cube", nodes);
    cubes.hardware = "{base: tiny, package: {" + mesh + "}}";
    expect_right(cubes);
    cubes.kernel = "gqa_prefill_ring";
    expect_right(cubes);
    AttentionRun pes = decode("attention_ring_mlo", "pe", nodes);
    pes.hardware = "{base: tiny, noc: {" + mesh + "}, hbm: {channels: " + std::to_string(nodes) +
                   ", capacity: " + std::to_string(128 * nodes) + " MiB}}";
    expect_right(pes);
  }
}

TEST_F(ReportedFiles, WhatASmallerMeshLacksIsAnErrorBeforeItIsBuilt) {
  const std::string hardware = "hardware: {base: tiny, package: {columns: 3, rows: 1}}\n";
  const std::string workload = "workload: {kernel: attention_mesh_mlo, context: 64, ";
  const ProcessResult scope = platform(
      "run", hardware + workload + "ranks: 3, rank_axis: cube}\ntrace: {scope: [cube_7_1.*]}\n");
  EXPECT_EQ(scope.status, 2);
  EXPECT_THAT(scope.err, HasSubstr("trace.scope: "));
  const ProcessResult ranks = platform("run", hardware + workload + "ranks: 4, rank_axis: cube}\n");
  EXPECT_EQ(ranks.status, 2);
  EXPECT_THAT(ranks.err, HasSubstr("workload.ranks: "));
  const ProcessResult channels =
      platform("run", "hardware: {base: tiny, noc: {columns: 3, rows: 3}}\n" + workload + "}\n");
  EXPECT_EQ(channels.status, 2);
  EXPECT_THAT(channels.err, HasSubstr("hardware.hbm.channels: "));
  for (const ProcessResult* r : {&scope, &ranks, &channels}) {
    EXPECT_THAT(r->err, Not(HasSubstr("E109")));
    EXPECT_THAT(r->err, Not(HasSubstr("SystemC")));
  }
}

}  // namespace
}  // namespace cubevp::test
