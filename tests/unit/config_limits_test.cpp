// SPDX-License-Identifier: Apache-2.0
// The last value that is allowed and the first that is not, each alone wrong. `tiny`: 4 x 2 cubes
// of 2 x 2 PEs, 1 GiB of HBM in 8 channels, 512 KiB scratchpads.
#include <ostream>

#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

struct Limit {
  const char* name;
  std::vector<std::string> around;  ///< what both runs have
  std::string allowed;
  std::string refused;
  std::string error;  ///< that --set: is said to be
};
void PrintTo(const Limit& l, std::ostream* out) {
  *out << l.name;
}

class ConfigLimits : public ConfigTest, public testing::WithParamInterface<Limit> {
 protected:
  Lines errors_with(std::vector<std::string> overrides, const std::string& last) {
    overrides.push_back(last);
    return errors(run(), overrides);
  }
};

TEST_P(ConfigLimits, TheLastIsAllowedAndTheNextIsNot) {
  const Limit& limit = GetParam();
  EXPECT_EQ(errors_with(limit.around, limit.allowed), Lines{});
  EXPECT_EQ(errors_with(limit.around, limit.refused), Lines{"--set: " + limit.error});
}

const std::vector<std::string> kSlowLinks = {"hardware.link.latency=1 s",
                                             "hardware.package_link.latency=1 s"};
std::vector<std::string> with_slow_links(std::vector<std::string> more) {
  more.insert(more.end(), kSlowLinks.begin(), kSlowLinks.end());
  return more;
}

const Limit kHardware[] = {
    {"pe_clock_low",
     {},
     "hardware.pe.clock=1 kHz",
     "hardware.pe.clock=999.9 Hz",
     "hardware.pe.clock: expected a frequency from 1 kHz to 100 GHz, got \"999.9 Hz\""},
    {"noc_clock_low", kSlowLinks, "hardware.noc.clock=1 kHz", "hardware.noc.clock=999 Hz",
     "hardware.noc.clock: expected a frequency from 1 kHz to 100 GHz, got \"999 Hz\""},
    {"noc_clock_high",
     {},
     "hardware.noc.clock=100 GHz",
     "hardware.noc.clock=100.1 GHz",
     "hardware.noc.clock: expected a frequency from 1 kHz to 100 GHz, got \"100.1 GHz\""},
    {"pes_of_a_cube", with_slow_links({"hardware.noc.columns=4", "hardware.hbm.channels=288"}),
     "hardware.noc.rows=8", "hardware.noc.rows=9",
     "hardware.noc.columns: expected at most 32 stops in a cube's mesh, got 4 x 9"},
    {"cubes_of_the_system",
     {"hardware.noc.columns=1", "hardware.noc.rows=1", "hardware.package.rows=16"},
     "hardware.package.columns=16",
     "hardware.package.columns=17",
     "hardware.package.columns: expected at most 256 cubes in the system, got 17 x 16"},
    // Columns of 1 stop and rows of 2, and a link behind each: 2 x 55 + 3 x 4 - 2 = 120.
    {"longest_way",
     {"hardware.noc.columns=1", "hardware.package.rows=4"},
     "hardware.package.columns=55",
     "hardware.package.columns=56",
     "hardware.noc.columns: expected at most 120 stops on the longest way through the system, got "
     "122"},
    {"stack_of_firmware",
     {},
     "hardware.pe.cpu.stack_size=64 MiB",
     "hardware.pe.cpu.stack_size=67108865 B",
     "hardware.pe.cpu.stack_size: expected 64 KiB to 64 MiB, got \"67108865 B\""},
    {"capacity",
     {},
     "hardware.hbm.capacity=68719476736 B",
     "hardware.hbm.capacity=68719480832 B",  // four pages more
     "hardware.hbm.capacity: expected at most 64 GiB, got \"67108868 KiB\""},
    {"whole_pages",
     {},
     "hardware.hbm.capacity=1028 MiB",
     "hardware.hbm.capacity=1049602 KiB",  // half a page for each PE
     "hardware.hbm.capacity: expected whole pages of 1 KiB for each of 4 PEs, got "
     "\"1049602 KiB\""},
    {"access_power_of_two",
     {},
     "hardware.hbm.access_size=64 B",
     "hardware.hbm.access_size=48 B",
     "hardware.hbm.access_size: expected a power of two of bytes, got \"48 B\""},
    {"page_of_an_access",
     {},
     "hardware.hbm.page_size=32 B",
     "hardware.hbm.page_size=16 B",
     "hardware.hbm.page_size: expected at least hbm.access_size (32 B), got \"16 B\""},
    {"interleave_of_an_access",
     {},
     "hardware.hbm.interleave=32 B",
     "hardware.hbm.interleave=16 B",
     "hardware.hbm.interleave: expected at least hbm.access_size (32 B), got \"16 B\""},
    {"refresh_of_all_banks",
     {"hardware.hbm.refresh=all_bank"},
     "hardware.hbm.timing.trefi=450.001 ns",
     "hardware.hbm.timing.trefi=450 ns",
     "hardware.hbm.timing.trefi: expected more than trfc_ab (450 ns), got \"450 ns\""},
    {"refresh_of_a_bank",
     {"hardware.hbm.refresh=per_bank"},
     "hardware.hbm.timing.trefi=280.001 ns",
     "hardware.hbm.timing.trefi=280 ns",
     "hardware.hbm.timing.trefi: expected more than trfc_pb (280 ns), got \"280 ns\""},
    // 4096 slots of 4 KiB are the 16 MiB below the credits of a direction's window.
    {"slots_of_a_direction",
     {"hardware.pe.scratchpad.size=256 MiB"},
     "hardware.pe.message_queue.slots=4096",
     "hardware.pe.message_queue.slots=4097",
     "hardware.pe.message_queue.slots: expected slots of one direction within 16 MiB, got 4097 of "
     "4 KiB"},
    // 5 cycles in, 5 out and a hop of 9 between 2 stops, at 2 GHz: 9.5 ns.
    {"link_latency",
     {},
     "hardware.link.latency=9.5 ns",
     "hardware.link.latency=9.499 ns",
     "hardware.link.latency: expected at least 9.5 ns, which network interfaces and 1 hops take, "
     "got \"9.499 ns\""},
    {"package_link_latency",
     {"hardware.noc.clock=1 GHz"},
     "hardware.package_link.latency=19 ns",
     "hardware.package_link.latency=18.999 ns",
     "hardware.package_link.latency: expected at least 19 ns, which network interfaces and 1 hops "
     "take, got \"18.999 ns\""},
};

// 256 MiB beside a PE. A key or row of 128 f16 is 256 B; K and V of it, or Q and O, 512 B: 524288
// of those in all.
const Limit kWorkload[] = {
    {"context",
     {},
     "workload.context=524287",
     "workload.context=524288",
     "workload.context: expected tensors that fit the memory beside a PE, 256 MiB of a stack of 1 "
     "GiB; the busiest PE needs at least 256 MiB"},
    // 2 users x 8 KV heads on 8 cubes: 2 items of 8 rows a PE; 262144 - 8 keys of each.
    {"items_of_a_cube",
     {"workload.q_heads=64", "workload.kv_heads=8", "workload.batch=2", "workload.ranks=4"},
     "workload.context=1048544",
     "workload.context=1048545",
     "workload.context: expected tensors that fit the memory beside a PE, 256 MiB of a stack of 1 "
     "GiB; the busiest PE needs at least 256 MiB"},
    // 5 users on 4 PEs: one has 2 of them, and an eighth of their keys.
    {"users_of_a_pe",
     {"workload.rank_axis=cube", "workload.ranks=8", "workload.batch=5"},
     "workload.context=2097144",
     "workload.context=2097145",
     "workload.context: expected tensors that fit the memory beside a PE, 256 MiB of a stack of 1 "
     "GiB; the busiest PE needs at least 256 MiB"},
    // One rank's block stays where it is, and 4 PEs share it: 4 x (524288 - 1) keys, a row a PE.
    {"one_block_of_a_ring_of_one",
     {"workload.kernel=gqa_prefill_ring", "workload.rank_axis=cube", "workload.new_tokens=4"},
     "workload.context=2097148",
     "workload.context=2097149",
     "workload.context: expected tensors that fit the memory beside a PE, 256 MiB of a stack of 1 "
     "GiB; the busiest PE needs at least 256 MiB"},
    // Two blocks on each of 2 cubes, which 4 PEs share: 8 x (262144 - 1) keys, 2 rows a PE.
    {"two_blocks_of_a_ring",
     {"workload.kernel=gqa_prefill_ring", "workload.rank_axis=cube", "workload.ranks=2",
      "workload.new_tokens=16"},
     "workload.context=2097144",
     "workload.context=2097145",
     "workload.context: expected tensors that fit the memory beside a PE, 256 MiB of a stack of 1 "
     "GiB; the busiest PE needs at least 256 MiB"},
    // The row's 1032 B, two tiles each of 64 keys of K and V: 65536 B, scores and P 12000 B, slots
    // 131072 B.
    {"streamed_tile",
     {"workload.context=4000", "workload.params.tile_keys=1000", "workload.params.gemm=composite"},
     "hardware.pe.scratchpad.size=209640 B",
     "hardware.pe.scratchpad.size=209639 B",
     "hardware.pe.scratchpad.size: expected room for one tile: at least 78568 B are needed, 78567 "
     "B are free beside 131072 B of message slots, got \"209639 B\""},
    // P in f32 is 2000 x 2 B more: 82568 B.
    {"wider_p",
     {"workload.context=4000", "workload.params.tile_keys=1000", "workload.params.gemm=composite",
      "numerics.p=f32"},
     "hardware.pe.scratchpad.size=213640 B",
     "hardware.pe.scratchpad.size=213639 B",
     "hardware.pe.scratchpad.size: expected room for one tile: at least 82568 B are needed, 82567 "
     "B are free beside 131072 B of message slots, got \"213639 B\""},
    {"head_dim",
     {},
     "workload.head_dim=512",
     "workload.head_dim=513",
     "workload.head_dim: expected an integer from 1 to 512, got \"513\""},
    {"efficiency",
     {},
     "hardware.link.efficiency=1",
     "hardware.link.efficiency=0",
     "hardware.link.efficiency: expected a number above 0, at most 1, got \"0\""},
    {"flit_error_rate",
     {},
     "hardware.link.flit_error_rate=0.999",
     "hardware.link.flit_error_rate=1",
     "hardware.link.flit_error_rate: expected a number of at least 0, below 1, got \"1\""},
};

std::string name_of(const testing::TestParamInfo<Limit>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Hardware, ConfigLimits, testing::ValuesIn(kHardware), name_of);
INSTANTIATE_TEST_SUITE_P(Workload, ConfigLimits, testing::ValuesIn(kWorkload), name_of);

// Any mesh from 1 x 1 up.
TEST_F(ConfigTest, EveryMeshOfUpTo32Stops) {
  for (std::uint64_t columns = 1; columns <= 32; ++columns) {
    for (std::uint64_t rows = 1; columns * rows <= 32; ++rows) {
      const std::string stops = std::to_string(columns * rows);
      const Lines found = errors(
          run(), with_slow_links({"hardware.noc.columns=" + std::to_string(columns),
                                  "hardware.noc.rows=" + std::to_string(rows),
                                  "hardware.package.columns=2", "hardware.hbm.channels=" + stops,
                                  "hardware.hbm.capacity=" + stops + " MiB"}));
      EXPECT_EQ(found, Lines{}) << columns << " x " << rows;
    }
  }
}

TEST_F(ConfigTest, AllThatAnAccessDoesNotFit) {
  const std::string smaller = ": expected at least hbm.access_size (2 KiB), got \"1 KiB\"";
  EXPECT_EQ(
      errors(run(), {"hardware.hbm.access_size=2 KiB", "hardware.hbm.page_size=1 KiB",
                     "hardware.hbm.interleave=1 KiB", "hardware.pe.dma.burst_size=1 KiB"}),
      (Lines{"--set: hardware.hbm.page_size" + smaller, "--set: hardware.hbm.interleave" + smaller,
             "--set: hardware.pe.dma.burst_size" + smaller}));
}

}  // namespace
}  // namespace cubevp::platform
