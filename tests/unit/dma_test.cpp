// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma.h"

#include <gtest/gtest.h>

#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::CommandSource;
using test::in_hbm;
using test::kCycle;
using test::load;
using test::PeBench;
using test::store;
using test::strided;

// --- splitting, without the kernel ----------------------------------------------------------

std::vector<Burst> split(const Operand& memory, const Operand& scratchpad,
                         std::uint32_t burst_bytes) {
  std::vector<Burst> bursts;
  for (BurstSplitter s(memory, scratchpad, burst_bytes); !s.done(); s.advance()) {
    bursts.push_back(s.peek());
  }
  return bursts;
}

TEST(BurstSplitter, CoversEveryByteOnceAndNeverCrossesAMultiple) {
  for (const std::uint32_t burst_bytes : {64U, 1024U}) {
    for (const std::uint64_t address : {0U, 4U, 1020U, 3000U}) {
      for (const auto& [rows, cols] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
               {1, 1}, {1, 700}, {5, 33}, {40, 256}}) {
        for (const std::uint32_t gap : {0U, 4U, 512U}) {
          const Operand memory = strided(in_hbm(block(address, rows, cols)), 4 * cols + gap);
          const Operand scratchpad = strided(block(100, rows, cols), 4 * cols + 2 * gap);
          std::vector<int> seen(memory.bytes());
          for (const Burst& burst : split(memory, scratchpad, burst_bytes)) {
            ASSERT_GT(burst.bytes, 0U);
            ASSERT_EQ(burst.memory_address / burst_bytes,
                      (burst.memory_address + burst.bytes - 1) / burst_bytes);
            const std::uint64_t row = burst.staging_offset / (4 * cols);
            const std::uint64_t in_row = burst.staging_offset % (4 * cols);
            ASSERT_EQ(burst.memory_address, address + row * (4 * cols + gap) + in_row);
            ASSERT_EQ(burst.scratchpad_address, 100 + row * (4 * cols + 2 * gap) + in_row);
            for (std::uint32_t i = 0; i < burst.bytes; ++i) {
              ++seen[burst.staging_offset + i];
            }
          }
          ASSERT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(seen.size()));
        }
      }
    }
  }
}

TEST(BurstSplitter, RowsWithoutGapsInMemoryAreOneRun) {
  // 64 rows of 256 B: 16 bursts of 1 KiB, whether or not the scratchpad pads its rows.
  const Operand memory = in_hbm(block(0, 64, 64));
  EXPECT_EQ(split(memory, block(0, 64, 64), 1024).size(), 16U);
  EXPECT_EQ(split(memory, strided(block(0, 64, 64), 320), 1024).size(), 16U);
  EXPECT_EQ(split(strided(memory, 512), block(0, 64, 64), 1024).size(), 64U);
}

TEST(BurstSplitter, NothingToMoveIsDone) {
  EXPECT_TRUE(split(in_hbm(block(0, 0, 64)), block(0, 0, 64), 1024).empty());
  EXPECT_TRUE(split(in_hbm(block(0, 64, 0)), block(0, 64, 0), 1024).empty());
}

// --- the engine -----------------------------------------------------------------------------

struct DmaBench : PeBench {
  explicit DmaBench(const test::TestTarget::Timing& timing, bool keep_data = true,
                    const DmaConfig& config = {})
      : PeBench(keep_data), memory("memory", timing), dma("dma", config, shared) {
    checkers.bind(source.isock, dma.cmd_tsock);
    checkers.bind(dma.net_isock, memory.tsock);
    dma.mem_isock.bind(scratchpad.mem_tsocks[0]);
    leave_memory_open(1);
  }
  void put_memory(Address address, const std::vector<float>& values) {
    tlm::tlm_generic_payload payload;
    std::vector<float> copy = values;
    sim::set_access(payload, tlm::TLM_WRITE_COMMAND, address,
                    reinterpret_cast<unsigned char*>(copy.data()), 4 * copy.size());
    memory.tsock.get_base_export()->transport_dbg(payload);
  }
  std::vector<float> get_memory(Address address, std::size_t n) {
    tlm::tlm_generic_payload payload;
    std::vector<float> values(n);
    sim::set_access(payload, tlm::TLM_READ_COMMAND, address,
                    reinterpret_cast<unsigned char*>(values.data()), 4 * n);
    memory.tsock.get_base_export()->transport_dbg(payload);
    return values;
  }
  CommandSource source{"source", pool};
  test::TestTarget memory;
  Dma dma;
  test::ProtocolCheckers checkers;
};

test::TestTarget::Timing timing(Ps latency_ps, Ps interval_ps) {
  test::TestTarget::Timing t;
  t.latency_ps = latency_ps;
  t.interval_ps = interval_ps;
  return t;
}

TEST(Dma, LoadsAndStoresStridedBlocks) {
  DmaBench bench(timing(50 * kCycle, kCycle));
  const auto values = test::random_f32(6 * 100, 1);
  for (std::uint32_t row = 0; row < 6; ++row) {
    bench.put_memory(5000 + row * 1600,
                     {values.begin() + row * 100, values.begin() + (row + 1) * 100});
  }
  const Operand middle = strided(block(64, 6, 100), 448);
  const auto& in = bench.source.add(load(middle, strided(in_hbm(block(5000, 6, 100)), 1600)));
  sc_core::sc_start();
  EXPECT_EQ(in.fault, "");
  for (std::uint32_t row = 0; row < 6; ++row) {
    const auto got = bench.get<float>(64 + row * 448, 100);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), values.begin() + row * 100)) << row;
  }
  bench.source.add(store(in_hbm(block(100000, 6, 100)), middle), sim::now_ps());
  sc_core::sc_start();
  EXPECT_EQ(bench.get_memory(100000, 600), values);
  EXPECT_EQ(bench.dma.stats().more.at("read_bytes"), 2400U);
  EXPECT_EQ(bench.dma.stats().more.at("write_bytes"), 2400U);
  EXPECT_EQ(bench.checkers.open(), 0U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Dma, ThroughputOfALongLatencyFollowsLittlesLaw) {
  for (const bool read : {true, false}) {
    static DmaBench* bench = new DmaBench(timing(400 * kCycle, 0));
    const Operand scratchpad = block(0, 1, 65536);
    const Operand memory = in_hbm(block(0, 1, 65536));
    const Ps start = sim::now_ps();
    const auto& done =
        bench->source.add(read ? load(scratchpad, memory) : store(memory, scratchpad), start);
    sc_core::sc_start();
    const double ps = static_cast<double>(done.done - start);
    const double expected = 32.0 * 1024 / (400.0 * kCycle);
    EXPECT_NEAR(262144 / ps / expected, 1.0, 0.03) << (read ? "read" : "write");
  }
}

TEST(Dma, StreamsAtThePortsRate) {
  // 1 KiB every 4 cycles: 256 GB/s, which 32 bursts in flight sustain over 100 cycles.
  for (const bool read : {true, false}) {
    test::TestTarget::Timing slow = timing(100 * kCycle, 4 * kCycle);
    static DmaBench* bench = new DmaBench(slow);
    const Ps start = sim::now_ps();
    const Operand scratchpad = block(0, 1, 65536);
    const Operand memory = in_hbm(block(0, 1, 65536));
    const auto& done =
        bench->source.add(read ? load(scratchpad, memory) : store(memory, scratchpad), start);
    sc_core::sc_start();
    EXPECT_NEAR(static_cast<double>(done.done - start), 256.0 * 4 * kCycle, 110.0 * kCycle);
  }
}

TEST(Dma, TheOldestLoadGoesFirstAndTheNextFollowsWithoutAGap) {
  DmaBench bench(timing(10 * kCycle, 4 * kCycle));
  std::vector<CommandSource::Issued*> issued;
  for (std::uint32_t i = 0; i < 3; ++i) {
    issued.push_back(
        &bench.source.add(load(block(i * 65536, 1, 8192), in_hbm(block(i * 65536, 1, 8192)))));
  }
  sc_core::sc_start();
  const auto& arrivals = bench.memory.arrivals();
  ASSERT_EQ(arrivals.size(), 96U);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    EXPECT_EQ(arrivals[i].address / 65536, i / 32) << i;
  }
  // Two loads are in progress; the third starts when the first is complete.
  EXPECT_GE(arrivals[64].at, issued[0]->done);
  EXPECT_EQ(issued[2]->accepted, 0);
  // 96 bursts, 4 cycles apart; the last is in the scratchpad 10 + 2 cycles after its start.
  EXPECT_EQ(issued[2]->done, (95 * 4 + 10 + 2) * kCycle);
}

TEST(Dma, LoadsAndStoresTakeTurns) {
  test::TestTarget::Timing slow = timing(10 * kCycle, 4 * kCycle);
  slow.depth = 1;
  DmaBench bench(slow);
  bench.source.add(load(block(0, 1, 8192), in_hbm(block(0, 1, 8192))));
  bench.source.add(store(in_hbm(block(65536, 1, 8192)), block(65536, 1, 8192)));
  sc_core::sc_start();
  const auto& arrivals = bench.memory.arrivals();
  ASSERT_EQ(arrivals.size(), 64U);
  for (std::size_t i = 2; i + 2 < arrivals.size(); ++i) {
    EXPECT_NE(arrivals[i].write, arrivals[i - 1].write) << i;
  }
}

TEST(Dma, SettingsThatCannotWorkAreRefused) {
  PeBench pe;
  DmaConfig config;
  config.burst_bytes = 0;
  EXPECT_THROW(Dma("dma", config, pe.shared), std::invalid_argument);
}

TEST(Dma, LoadsAndStoresAreInProgressTogether) {
  DmaBench bench(timing(500 * kCycle, kCycle));
  const auto& in = bench.source.add(load(block(0, 1, 8192), in_hbm(block(0, 1, 8192))));
  const auto& out = bench.source.add(store(in_hbm(block(65536, 1, 8192)), block(65536, 1, 8192)));
  sc_core::sc_start();
  // 32 bursts each: both have a window of their own.
  EXPECT_LT(in.done, 600 * kCycle);
  EXPECT_LT(out.done, 600 * kCycle);
}

TEST(Dma, ObeysBackPressure) {
  test::TestTarget::Timing blocked = timing(10 * kCycle, kCycle);
  blocked.depth = 2;
  blocked.blocked = true;
  DmaBench bench(blocked);
  bench.memory.unblock(300 * kCycle);
  const auto& done = bench.source.add(load(block(0, 1, 4096), in_hbm(block(0, 1, 4096))));
  sc_core::sc_start();
  EXPECT_EQ(done.fault, "");
  // Two at a time, ten cycles each pair.
  EXPECT_GE(done.done, 300 * kCycle + 8 * 10 * kCycle);
  EXPECT_EQ(bench.checkers.open(), 0U);
}

TEST(Dma, ServesAMemoryThatAnswersAtOnce) {
  test::TestTarget::Timing early = timing(20 * kCycle, 2 * kCycle);
  early.complete_early = true;
  DmaBench bench(early);
  const auto values = test::random_f32(1000, 3);
  bench.put_memory(0, values);
  const auto& done = bench.source.add(load(block(0, 10, 100), in_hbm(block(0, 10, 100))));
  sc_core::sc_start();
  EXPECT_EQ(done.fault, "");
  EXPECT_EQ(bench.get<float>(0, 1000), values);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(Dma, BytesAppearInTheScratchpadWhenTheLoadIsComplete) {
  DmaBench bench(timing(100 * kCycle, kCycle));
  bench.put_memory(0, std::vector<float>(1024, 7.0F));
  bench.source.add(load(block(0, 1, 1024), in_hbm(block(0, 1, 1024))));
  sc_core::sc_start(sim::to_sc_time(102 * kCycle));
  EXPECT_EQ(bench.get<float>(0, 1)[0], 0.0F);
  sc_core::sc_start();
  EXPECT_EQ(bench.get<float>(0, 1)[0], 7.0F);
}

TEST(Dma, TwinsWithAndWithoutDataAgreeToThePicosecond) {
  DmaBench with(timing(100 * kCycle, 3 * kCycle));
  PeBench without_pe(false, 1);
  test::TestTarget memory("memory_without", timing(100 * kCycle, 3 * kCycle));
  Dma dma("dma_without", {}, without_pe.shared);
  CommandSource source("source_without", without_pe.pool);
  source.isock.bind(dma.cmd_tsock);
  dma.net_isock.bind(memory.tsock);
  dma.mem_isock.bind(without_pe.scratchpad.mem_tsocks[0]);
  without_pe.leave_memory_open(1);
  std::vector<std::pair<CommandSource::Issued*, CommandSource::Issued*>> pairs;
  for (std::uint32_t i = 0; i < 6; ++i) {
    const Operand s = strided(block(i * 65536, 9, 300), 1216);
    const Operand m = in_hbm(block(i * 65536 + 100 * i, 9, 300));
    const Command c = i % 3 == 2 ? store(m, s) : load(s, m);
    pairs.emplace_back(&with.source.add(c, i * 7 * kCycle), &source.add(c, i * 7 * kCycle));
  }
  sc_core::sc_start();
  for (const auto& [a, b] : pairs) {
    EXPECT_EQ(a->done, b->done);
    EXPECT_GT(a->done, 0);
  }
  EXPECT_EQ(with.dma.stats().busy_ps, dma.stats().busy_ps);
  EXPECT_EQ(with.dma.stats().ops, dma.stats().ops);
}

// Refuses every access.
struct RefusingMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<RefusingMemory> tsock{"tsock"};
  explicit RefusingMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    tsock.register_nb_transport_fw(this, &RefusingMemory::nb_transport);
  }
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                  sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
};

TEST(Dma, ARefusedBurstFailsTheCommandWithAddressAndInitiator) {
  PeBench pe;
  RefusingMemory memory("memory");
  Dma dma("dma", {}, pe.shared);
  CommandSource source("source", pe.pool);
  source.isock.bind(dma.cmd_tsock);
  dma.net_isock.bind(memory.tsock);
  dma.mem_isock.bind(pe.scratchpad.mem_tsocks[0]);
  pe.leave_memory_open(1);
  const Address address = make_address(static_cast<CubeId>(3), Region::hbm, 0x1000);
  const auto& bad = source.add(load(block(0, 4, 1024), in_hbm(block(address, 4, 1024))));
  const auto& shape = source.add(load(block(0, 4, 1024), in_hbm(block(0, 4, 1023))));
  sc_core::sc_start();
  EXPECT_NE(bad.fault.find("dma: TLM_ADDRESS_ERROR_RESPONSE at address 0x30000001000 (cube 3, "
                           "region hbm"),
            std::string::npos)
      << bad.fault;
  EXPECT_NE(shape.fault.find("not the same block"), std::string::npos) << shape.fault;
  EXPECT_EQ(pe.pool.in_use(), 0U);
}

}  // namespace
}  // namespace cubevp::hw
