// SPDX-License-Identifier: Apache-2.0
// What keys must satisfy together. `tiny`: 4 x 2 cubes of 2 x 2 PEs, 1 GiB of HBM in 8 channels,
// 512 KiB scratchpads with 8 x 4 slots of 4 KiB.
#include <ostream>

#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

struct Rule {
  const char* name;
  std::vector<std::string> breaks;  ///< overrides of the least run
  const char* key;
  const char* says;
  std::vector<std::string> keeps;  ///< the nearest that is allowed
};
void PrintTo(const Rule& r, std::ostream* out) {
  *out << r.name;
}

class ConfigRules : public ConfigTest, public testing::WithParamInterface<Rule> {};

TEST_P(ConfigRules, AreNamedByKey) {
  const Rule& rule = GetParam();
  const Lines found = errors(run(), rule.breaks);
  ASSERT_EQ(found.size(), 1U) << testing::PrintToString(found);
  EXPECT_NE(found[0].find(std::string(": ") + rule.key + ": expected "), std::string::npos)
      << found[0];
  EXPECT_NE(found[0].find(rule.says), std::string::npos) << found[0];
  EXPECT_EQ(errors(run(), rule.keeps), Lines{});
}

const Rule kRules[] = {
    {"heads",
     {"workload.q_heads=6", "workload.kv_heads=4"},
     "workload.q_heads",
     "a multiple of kv_heads (4), got \"6\"",
     {"workload.q_heads=8", "workload.kv_heads=4"}},
    {"more_kv_heads",
     {"workload.q_heads=1", "workload.kv_heads=2"},
     "workload.q_heads",
     "a multiple of kv_heads (2), got \"1\"",
     {"workload.q_heads=2", "workload.kv_heads=2"}},
    {"ranks_of_pes",
     {"workload.ranks=5"},
     "workload.ranks",
     "at most the 4 PEs of a cube",
     {"workload.ranks=4"}},
    {"ranks_of_cubes",
     {"workload.ranks=9", "workload.rank_axis=cube"},
     "workload.ranks",
     "at most the 8 cubes of the system",
     {"workload.ranks=8", "workload.rank_axis=cube"}},
    {"prefill_axis",
     {"workload.kernel=gqa_prefill_ring"},
     "workload.rank_axis",
     "expected cube, since gqa_prefill_ring",
     {"workload.kernel=gqa_prefill_ring", "workload.rank_axis=cube"}},
    {"trace_window",
     {"trace.start=5 ns", "trace.stop=5 ns"},
     "trace.stop",
     "a time after trace.start (5 ns), got \"5 ns\"",
     {"trace.start=5 ns", "trace.stop=5.001 ns"}},
    {"files_and_generate",
     {"input.generate=zeros", "input.q=q.npy", "input.k=k.npy", "input.v=v.npy"},
     "input.generate",
     "either generate or the files q, k and v, got both (zeros)",
     {"input.q=q.npy", "input.k=k.npy", "input.v=v.npy"}},
    {"one_file_missing",
     {"input.q=q.npy", "input.k=k.npy"},
     "input.v",
     "got nothing",
     {"input.q=q.npy", "input.k=k.npy", "input.v=v.npy"}},
    {"pe_clock",
     {"hardware.pe.clock=101 GHz"},
     "hardware.pe.clock",
     "from 1 kHz to 100 GHz",
     {"hardware.pe.clock=100 GHz"}},
    {"noc_clock",
     {"hardware.noc.clock=999 Hz"},
     "hardware.noc.clock",
     "from 1 kHz to 100 GHz",
     {"hardware.noc.clock=2 GHz"}},
    {"pes_of_a_cube",
     {"hardware.noc.columns=33", "hardware.noc.rows=1"},
     "hardware.noc.columns",
     "at most 32 stops in a cube's mesh, got 33 x 1",
     {"hardware.noc.columns=16", "hardware.noc.rows=1", "hardware.hbm.channels=16",
      "hardware.link.latency=1 us", "hardware.package_link.latency=1 us"}},
    {"cubes_of_a_system",
     {"hardware.system.packages_x=257", "hardware.package.columns=1"},
     "hardware.package.columns",
     "at most 256 cubes in the system, got 257 x 2",
     {"hardware.system.packages_x=16", "hardware.package.columns=1"}},
    // 40 columns x (2 + 1) + 2 rows x (2 + 1) - 2 = 124 stops; 38 columns have 118.
    {"longest_way",
     {"hardware.package.columns=40"},
     "hardware.noc.columns",
     "at most 120 stops on the longest way through the system, got 124",
     {"hardware.package.columns=38"}},
    {"channels",
     {"hardware.hbm.channels=6"},
     "hardware.hbm.channels",
     "a multiple of the 4 stops of the NoC, got \"6\"",
     {"hardware.hbm.channels=12"}},
    {"stack",
     {"hardware.hbm.capacity=65 GiB"},
     "hardware.hbm.capacity",
     "at most 64 GiB",
     {"hardware.hbm.capacity=64 GiB"}},
    {"whole_pages",
     {"hardware.hbm.capacity=1073741825 B"},
     "hardware.hbm.capacity",
     "whole pages of 1 KiB for each of 4 PEs",
     {"hardware.hbm.capacity=512 MiB"}},
    {"burst_power",
     {"hardware.pe.dma.burst_size=768 B"},
     "hardware.pe.dma.burst_size",
     "a power of two of bytes, got \"768 B\"",
     {"hardware.pe.dma.burst_size=512 B"}},
    {"burst_access",
     {"hardware.pe.dma.burst_size=16 B"},
     "hardware.pe.dma.burst_size",
     "at least hbm.access_size (32 B)",
     {"hardware.pe.dma.burst_size=32 B"}},
    {"interleave",
     {"hardware.hbm.interleave=100 B"},
     "hardware.hbm.interleave",
     "a power of two of bytes",
     {"hardware.hbm.interleave=128 B"}},
    {"column_to_column",
     {"hardware.hbm.timing.tccd_l=0.5 ns"},
     "hardware.hbm.timing.tccd_l",
     "at least tccd_s (1 ns), got \"500 ps\"",
     {"hardware.hbm.timing.tccd_l=1 ns"}},
    {"refresh_interval",
     {"hardware.hbm.timing.trefi=100 ns", "hardware.hbm.refresh=all_bank"},
     "hardware.hbm.timing.trefi",
     "more than trfc_ab",
     {"hardware.hbm.timing.trefi=100 ns", "hardware.hbm.refresh=off"}},
    {"scratchpad_window",
     {"hardware.pe.scratchpad.size=257 MiB"},
     "hardware.pe.scratchpad.size",
     "at most 256 MiB",
     {"hardware.pe.scratchpad.size=256 MiB"}},
    {"packet_of_a_slot",
     {"hardware.pe.message_queue.packet_size=8 KiB"},
     "hardware.pe.message_queue.packet_size",
     "at most slot_size (4 KiB), got \"8 KiB\"",
     {"hardware.pe.message_queue.packet_size=4 KiB"}},
    // 8 x 16 x 4 KiB is the whole scratchpad.
    {"slots_of_a_scratchpad",
     {"hardware.pe.message_queue.slots=16"},
     "hardware.pe.message_queue.slots",
     "need 524288 B, it has 524288 B",
     {"hardware.pe.message_queue.slots=15"}},
    {"stack_of_firmware",
     {"hardware.pe.cpu.stack_size=32 KiB"},
     "hardware.pe.cpu.stack_size",
     "expected 64 KiB to 64 MiB",
     {"hardware.pe.cpu.stack_size=64 KiB"}},
    {"link_latency",
     {"hardware.link.latency=1 ns"},
     "hardware.link.latency",
     "which network interfaces and 1 hops take",
     {"hardware.link.latency=30 ns"}},
    {"scale",
     {"workload.softmax_scale=none"},
     "workload.softmax_scale",
     "auto or a number",
     {"workload.softmax_scale=0.125"}},
    {"softcap",
     {"workload.softcap=-1"},
     "workload.softcap",
     "a number of at least 0",
     {"workload.softcap=30"}},
    {"gate", {"check.gate=loose"}, "check.gate", "wire16", {"check.gate=seq"}},
    {"name", {"name=a/b"}, "name", "letters, digits", {"name=a-b_c.1"}},
};

INSTANTIATE_TEST_SUITE_P(Rules, ConfigRules, testing::ValuesIn(kRules),
                         [](const auto& i) { return i.param.name; });

class ConfigMemory : public ConfigTest {};

// 4 PEs share 1 GiB: 256 MiB each. One head of dimension 128 in f16: 256 B a row, K and V of one
// rank 512 B a key, Q and O 512 B.
TEST_F(ConfigMemory, TheLargestContextThatFits) {
  const std::int64_t keys = (256 << 20) / 512 - 1;
  EXPECT_EQ(errors(run(), {"workload.context=" + std::to_string(keys)}), Lines{});
  const Lines found = errors(run(), {"workload.context=" + std::to_string(keys + 1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            "--set: workload.context: expected tensors that fit the memory beside a PE, 256 MiB of "
            "a stack of 1 GiB; the busiest PE needs at least 256 MiB");
  // Twice as many ranks hold twice as many keys.
  EXPECT_EQ(errors(run(), {"workload.ranks=2", "workload.context=" + std::to_string(2 * keys)}),
            Lines{});
}

// A rotating kernel receives a block beside the one in use. Its four PEs share a block.
TEST_F(ConfigMemory, RotatingBlocksAreHeldTwice) {
  const std::vector<std::string> prefill = {"workload.kernel=gqa_prefill_ring",
                                            "workload.rank_axis=cube", "workload.ranks=2"};
  const auto with = [&](std::int64_t context) {
    std::vector<std::string> overrides = prefill;
    overrides.push_back("workload.context=" + std::to_string(context));
    return errors(run(), overrides);
  };
  // On 8 cubes, a group of 2 has 8 PEs: context / 8 keys each, 1024 B for each of them.
  EXPECT_EQ(with(8 * ((256 << 20) / 1024 - 1)), Lines{});
  EXPECT_EQ(with(8 * ((256 << 20) / 1024 + 1)).size(), 1U);
}

// One row: Q and result 2 x 256 B, O, m, l 4 x 130 B; with tile_keys 1000, three tiles each of K
// and V of 256 B rows, two rows of f32 scores, two of f16 P:
// 512 + 520 + 6 x 1000 x 256 + 2 x 1000 x 6 = 1549032 B.
TEST_F(ConfigMemory, ATileNeedsRoom) {
  const std::vector<std::string> tile = {"workload.context=4000", "workload.params.tile_keys=1000"};
  const Lines found = errors(run(), tile);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("hardware.pe.scratchpad.size: expected room for one tile: at least "
                          "1549032 B are needed, 393216 B are free beside 131072 B of message "
                          "slots, got \"512 KiB\""),
            std::string::npos)
      << found[0];
  std::vector<std::string> larger = tile;
  larger.emplace_back("hardware.pe.scratchpad.size=1680104 B");
  EXPECT_EQ(errors(run(), larger), Lines{});
  larger.back() = "hardware.pe.scratchpad.size=1680103 B";
  EXPECT_EQ(errors(run(), larger).size(), 1U);
}

// A wrong value is told once, not again as what its default would lead to.
TEST_F(ConfigMemory, WhatFollowsFromAnErrorIsNotTold) {
  EXPECT_EQ(errors(run(), {"workload.ranks=x", "workload.context=2000000"}).size(), 1U);
  EXPECT_EQ(errors(run(), {"hardware.noc.columns=x", "workload.ranks=7"}).size(), 1U);
}

TEST_F(ConfigMemory, RequiredKeys) {
  EXPECT_EQ(errors("hardware: tiny\n"),
            (Lines{"run.yaml:1:1: workload.kernel: expected the name of a kernel, got nothing",
                   "run.yaml:1:1: workload.context: expected a positive integer, got nothing"}));
}

}  // namespace
}  // namespace cubevp::platform
