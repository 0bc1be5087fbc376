// SPDX-License-Identifier: Apache-2.0
#include "hw/command_processor/command_processor.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "hw/dma/dma.h"
#include "hw/gemm/gemm_unit.h"
#include "hw/message_queue/message_queue.h"
#include "hw/numerics/convert.h"
#include "hw/vector/vector_unit.h"
#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::gemm;
using test::in_hbm;
using test::kCycle;
using test::load;
using test::PeBench;
using test::recv;
using test::send;
using test::store;
using test::transposed;

/// Firmware in a thread: writes commands with b_transport and waits.
class Writer : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Writer> isock{"isock"};
  std::function<void(Writer&)> program;

  Writer(const sc_core::sc_module_name& name, sim::PayloadPool& pool)
      : sc_module(name), pool_(pool) {
    SC_HAS_PROCESS(Writer);
    SC_THREAD(run);
  }
  CommandId issue(Command command) {
    command.id = static_cast<CommandId>(++last_);
    sim::PayloadPtr payload = sim::PayloadPtr::adopt(pool_.allocate());
    sim::extension(*payload)->command = &command;
    sc_core::sc_time delay;
    isock->b_transport(*payload, delay);
    EXPECT_TRUE(payload->is_response_ok()) << sim::describe_error(*payload);
    return command.id;
  }
  bool finished = false;

 private:
  void run() {
    if (program) {
      program(*this);
    }
    finished = true;
  }
  sim::PayloadPool& pool_;
  std::uint64_t last_ = 0;
};

/// A PE without its cpu; its messages to the east come back from the west.
struct PeWithEngines : PeBench {
  explicit PeWithEngines(bool keep_data = true, const std::string& suffix = "",
                         const CommandProcessorConfig& config = {}, std::uint32_t pe = 0,
                         const test::TestTarget::Timing& timing = default_timing())
      : PeBench(keep_data, pe),
        memory(("memory" + suffix).c_str(), timing),
        cp(("command_processor" + suffix).c_str(), config, shared,
           [this](CommandId id, const std::string& text) { faults.emplace_back(id, text); }),
        dma(("dma" + suffix).c_str(), {}, shared),
        gemm_unit(("gemm_unit" + suffix).c_str(), {}, shared),
        vector_unit(("vector_unit" + suffix).c_str(), {}, shared),
        queue(("message_queue" + suffix).c_str(), {}, shared,
              [pe](RankAxis, Direction) {
                Neighbour n;
                n.pe = static_cast<PeId>(pe);
                return n;
              }),
        writer(("writer" + suffix).c_str(), pool) {
    if (suffix.empty()) {
      checkers.bind(cp.engine_isock(Engine::gemm), gemm_unit.cmd_tsock);
      checkers.bind(cp.engine_isock(Engine::dma), dma.cmd_tsock);
    } else {
      // Checkers have one name each in a simulation; twins go without.
      cp.engine_isock(Engine::gemm).bind(gemm_unit.cmd_tsock);
      cp.engine_isock(Engine::dma).bind(dma.cmd_tsock);
    }
    cp.engine_isock(Engine::vector).bind(vector_unit.cmd_tsock);
    cp.engine_isock(Engine::message_queue).bind(queue.cmd_tsock);
    gemm_unit.mem_isock.bind(scratchpad.mem_tsocks[0]);
    vector_unit.mem_isock.bind(scratchpad.mem_tsocks[1]);
    dma.mem_isock.bind(scratchpad.mem_tsocks[2]);
    queue.mem_isock.bind(scratchpad.mem_tsocks[3]);
    dma.net_isock.bind(memory.tsock);
    // A packet to oneself arrives at once.
    queue.net_isock.bind(queue.net_tsock);
    writer.isock.bind(cp.cpu_tsock);
    leave_memory_open(4);
  }
  static test::TestTarget::Timing default_timing() {
    test::TestTarget::Timing t;
    t.latency_ps = 100 * kCycle;
    t.interval_ps = 4 * kCycle;
    return t;
  }
  void put_memory(Address address, const std::vector<std::uint16_t>& values) {
    tlm::tlm_generic_payload payload;
    auto copy = values;
    sim::set_access(payload, tlm::TLM_WRITE_COMMAND, address,
                    reinterpret_cast<unsigned char*>(copy.data()), 2 * copy.size());
    memory.tsock.get_base_export()->transport_dbg(payload);
  }
  void run(std::function<void(Writer&)> program) {
    writer.program = std::move(program);
    sc_core::sc_start();
    EXPECT_TRUE(writer.finished);
  }
  void wait_for(CommandId id) {
    while (!cp.complete(id)) {
      sc_core::wait(cp.completed_event());
    }
  }

  test::TestTarget memory;
  std::vector<std::pair<CommandId, std::string>> faults;
  CommandProcessor cp;
  Dma dma;
  GemmUnit gemm_unit;
  VectorUnit vector_unit;
  MessageQueue queue;
  Writer writer;
  test::ProtocolCheckers checkers;
};

std::vector<std::uint16_t> random_f16(std::size_t n, unsigned seed) {
  std::vector<std::uint16_t> halves;
  for (const float v : test::random_f32(n, seed)) {
    halves.push_back(numerics::f32_to_f16(v));
  }
  return halves;
}

Command fill(const Operand& dst, float value) {
  Command c = test::vector(VectorOp::fill, 1, 0, {dst});
  c.scalar = value;
  return c;
}

// --- order ----------------------------------------------------------------------------------

TEST(CommandProcessor, ReadersWaitForTheWriterOfTheirBytes) {
  PeWithEngines pe;
  Ps loaded = 0;
  Ps multiplied = 0;
  pe.put_memory(0, std::vector<std::uint16_t>(16 * 32, numerics::f32_to_f16(2)));
  pe.run([&](Writer& w) {
    w.issue(fill(block(0, 8, 16), 1.0F));
    const CommandId b =
        w.issue(load(block(4096, 16, 32, DType::f16), in_hbm(block(0, 16, 32, DType::f16))));
    const CommandId c =
        w.issue(gemm(block(8192, 8, 32), block(0, 8, 16), block(4096, 16, 32, DType::f16)));
    EXPECT_FALSE(pe.cp.complete(c));
    EXPECT_EQ(pe.cp.incomplete(), 3U);
    pe.wait_for(b);
    loaded = sim::now_ps();
    pe.wait_for(c);
    multiplied = sim::now_ps();
  });
  EXPECT_EQ(multiplied, loaded + 33 * kCycle);  // fill and one step
  EXPECT_EQ(pe.get<float>(8192, 256), std::vector<float>(256, 32.0F));
  EXPECT_EQ(pe.cp.incomplete(), 0U);
  EXPECT_EQ(pe.pool.in_use(), 0U);
  EXPECT_EQ(pe.checkers.open(), 0U);
}

TEST(CommandProcessor, IndependentCommandsOverlapAndOvertake) {
  PeWithEngines pe;
  Ps vector_done = 0;
  pe.run([&](Writer& w) {
    w.issue(load(block(0, 1, 16384), in_hbm(block(0, 1, 16384))));
    const CommandId v = w.issue(fill(block(100000, 1, 64), 1.0F));
    pe.wait_for(v);
    vector_done = sim::now_ps();
  });
  EXPECT_EQ(vector_done, kCycle);
  EXPECT_GT(sim::now_ps(), 200 * kCycle);
}

TEST(CommandProcessor, AWriterWaitsForEarlierReaders) {
  PeWithEngines pe;
  pe.put<float>(0, {5});
  pe.run([&](Writer& w) {
    w.issue(store(in_hbm(block(0, 1, 8192)), block(0, 1, 8192)));
    const CommandId overwrite = w.issue(fill(block(0, 1, 8192), 1.0F));
    pe.wait_for(overwrite);
    // 32 bursts, 4 cycles apart, 100 cycles long, then 128 passes.
    EXPECT_GT(sim::now_ps(), (100 + 31 * 4 + 128) * kCycle);
  });
  float value = 0;
  tlm::tlm_generic_payload payload;
  sim::set_access(payload, tlm::TLM_READ_COMMAND, 0, reinterpret_cast<unsigned char*>(&value), 4);
  pe.memory.tsock.get_base_export()->transport_dbg(payload);
  EXPECT_EQ(value, 5.0F);
}

TEST(CommandProcessor, AnUntrackedReceiveLeavesEarlyReadersStaleBytes) {
  PeWithEngines pe;
  pe.put<float>(0, {1, 2, 3, 4});
  pe.put<float>(4096, {9, 9, 9, 9});
  pe.run([&](Writer& w) {
    Command r = recv(block(4096, 1, 4), Direction::west);
    r.untracked = true;
    const CommandId received = w.issue(r);
    const CommandId early =
        w.issue(test::vector(VectorOp::copy, 1, 2, {block(8192, 1, 4), block(4096, 1, 4)}));
    w.issue(send(block(0, 1, 4), Direction::east));
    pe.wait_for(early);
    EXPECT_FALSE(pe.cp.complete(received));
    pe.wait_for(received);
    w.issue(test::vector(VectorOp::copy, 1, 2, {block(12288, 1, 4), block(4096, 1, 4)}));
  });
  EXPECT_EQ(pe.get<float>(8192, 4), (std::vector<float>{9, 9, 9, 9}));
  EXPECT_EQ(pe.get<float>(12288, 4), (std::vector<float>{1, 2, 3, 4}));
}

TEST(CommandProcessor, ATrackedReceiveHoldsReadersBack) {
  PeWithEngines pe;
  pe.put<float>(0, {1, 2, 3, 4});
  pe.run([&](Writer& w) {
    w.issue(recv(block(4096, 1, 4), Direction::west));
    w.issue(test::vector(VectorOp::copy, 1, 2, {block(8192, 1, 4), block(4096, 1, 4)}));
    w.issue(send(block(0, 1, 4), Direction::east));
  });
  EXPECT_EQ(pe.get<float>(8192, 4), (std::vector<float>{1, 2, 3, 4}));
}

// --- the queue ------------------------------------------------------------------------------

TEST(CommandProcessor, AFullQueueHoldsTheWriter) {
  CommandProcessorConfig config;
  config.queue_depth = 4;
  PeWithEngines pe(true, "", config);
  pe.run([&](Writer& w) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      w.issue(fill(block(4096 * i, 1, 640), 1.0F));  // 10 cycles each, one after the other
      EXPECT_LE(pe.cp.incomplete(), 4U);
      EXPECT_EQ(sim::now_ps(), (i < 4 ? 0 : (i - 3) * 10) * kCycle);
    }
  });
  EXPECT_EQ(pe.cp.stats().ops, 10U);
  EXPECT_EQ(pe.cp.stats().more.at("queue_full_ps"), static_cast<std::uint64_t>(60 * kCycle));
}

TEST(CommandProcessor, CommandsOfNoElementsAreCompleteAtOnce) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    for (const Command& c :
         {fill(block(0, 0, 8), 1.0F), load(block(0, 0, 8), in_hbm(block(0, 0, 8))),
          gemm(block(0, 0, 8), block(0, 0, 4), block(64, 4, 8)),
          send(block(0, 1, 0), Direction::east), recv(block(0, 1, 0), Direction::east)}) {
      EXPECT_TRUE(pe.cp.complete(w.issue(c)));
    }
  });
  EXPECT_EQ(sim::now_ps(), 0);
  EXPECT_EQ(pe.queue.stats().ops, 0U);
}

TEST(CommandProcessor, NumbersMustAscend) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    w.issue(fill(block(0, 1, 1), 1.0F));
    Command again = fill(block(0, 1, 1), 1.0F);
    again.id = static_cast<CommandId>(1);
    sim::PayloadPtr payload = sim::PayloadPtr::adopt(pe.pool.allocate());
    sim::extension(*payload)->command = &again;
    sc_core::sc_time delay;
    w.isock->b_transport(*payload, delay);
    EXPECT_TRUE(payload->is_response_error());
    EXPECT_EQ(sim::extension(*payload)->fault, "command 1 was issued after command 1");
  });
}

TEST(CommandProcessor, FaultsOfEnginesReachTheCpuAndCompleteTheCommand) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    const CommandId bad = w.issue(gemm(block(0, 2, 2), block(64, 2, 3), block(128, 4, 2)));
    pe.wait_for(bad);
  });
  ASSERT_EQ(pe.faults.size(), 1U);
  EXPECT_EQ(index(pe.faults[0].first), 1U);
  EXPECT_NE(pe.faults[0].second.find("the shapes do not fit"), std::string::npos);
}

TEST(CommandProcessor, PendingSaysWhatEachCommandWaitsFor) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    w.issue(recv(block(0, 1, 4), Direction::west));
    w.issue(test::vector(VectorOp::copy, 1, 2, {block(64, 1, 4), block(0, 1, 4)}));
    w.issue(fill(block(128, 1, 4), 1.0F));
    sc_core::wait(sim::to_sc_time(kCycle));
  });
  const auto pending = pe.cp.pending();
  using State = CommandProcessor::PendingCommand::State;
  ASSERT_EQ(pending.size(), 3U);
  EXPECT_EQ(pending[0].state, State::dispatched);
  EXPECT_EQ(pending[0].opcode, Opcode::recv);
  EXPECT_EQ(pending[0].message.direction, Direction::west);
  EXPECT_EQ(pending[1].state, State::blocked);
  EXPECT_EQ(index(pending[1].blocked_by), 1U);
  EXPECT_EQ(pending[2].state, State::waiting);
}

TEST(CommandProcessor, AWriterMayUseNbTransport) {
  PeBench pe;
  CommandProcessorConfig config;
  config.queue_depth = 2;
  std::vector<std::string> faults;
  CommandProcessor cp("command_processor", config, pe.shared,
                      [&](CommandId, const std::string& text) { faults.push_back(text); });
  VectorUnit unit("vector_unit", {}, pe.shared);
  test::CommandSource source("source", pe.pool);
  source.isock.bind(cp.cpu_tsock);
  cp.engine_isock(Engine::vector).bind(unit.cmd_tsock);
  unit.mem_isock.bind(pe.scratchpad.mem_tsocks[0]);
  std::vector<std::unique_ptr<test::TargetStub>> stubs;
  for (const Engine engine : {Engine::gemm, Engine::dma, Engine::message_queue}) {
    stubs.push_back(std::make_unique<test::TargetStub>(
        ("engine_stub_" + std::to_string(stubs.size())).c_str()));
    cp.engine_isock(engine).bind(stubs.back()->tsock);
  }
  pe.leave_memory_open(1);
  std::vector<test::CommandSource::Issued*> issued;
  for (std::uint32_t i = 0; i < 5; ++i) {
    issued.push_back(&source.add(fill(block(0, 1, 640), static_cast<float>(i))));
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(issued[i]->done, static_cast<Ps>(i < 2 ? 0 : (i - 1) * 10) * kCycle) << i;
  }
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(cp.stats().ops, 5U);
  EXPECT_EQ(pe.get<float>(0, 1)[0], 4.0F);
  EXPECT_EQ(pe.pool.in_use(), 0U);
}

TEST(CommandProcessor, AnEngineServesABlockingCallerToo) {
  PeBench pe;
  VectorUnit unit("vector_unit", {}, pe.shared);
  Writer writer("writer", pe.pool);
  writer.isock.bind(unit.cmd_tsock);
  unit.mem_isock.bind(pe.scratchpad.mem_tsocks[0]);
  pe.leave_memory_open(1);
  Ps done = 0;
  writer.program = [&](Writer& w) {
    w.issue(fill(block(0, 1, 640), 3.0F));
    done = sim::now_ps();
  };
  sc_core::sc_start();
  EXPECT_EQ(done, 10 * kCycle);
  EXPECT_EQ(pe.get<float>(0, 1)[0], 3.0F);
}

// --- composites -----------------------------------------------------------------------------

Command composite(const Operand& c, const Operand& a, const Operand& b, std::uint32_t tile_rows,
                  std::uint64_t staging) {
  Command k = gemm(c, a, b);
  k.opcode = Opcode::composite;
  k.composite = {tile_rows, staging};
  return k;
}

class CompositeBits : public testing::TestWithParam<std::tuple<bool, int, bool>> {};

TEST_P(CompositeBits, AreThoseOfADot) {
  const auto [b_transposed, tile_rows, accumulate] = GetParam();
  constexpr std::uint32_t m = 9;
  constexpr std::uint32_t stored_rows = 75;
  constexpr std::uint32_t stored_cols = 40;
  const std::uint32_t n = b_transposed ? stored_rows : stored_cols;
  const std::uint32_t k = b_transposed ? stored_cols : stored_rows;
  PeWithEngines pe;
  const auto b = random_f16(stored_rows * stored_cols, 2);
  const auto old = test::random_f32(m * n, 3);
  pe.put_memory(5 * 1024 + 40, b);
  pe.put<std::uint16_t>(0, random_f16(m * k, 1));
  pe.put<std::uint16_t>(16384, b);
  pe.put<float>(65536, old);
  pe.put<float>(131072, old);
  Operand in_scratchpad = block(16384, stored_rows, stored_cols, DType::f16);
  Operand in_memory = in_hbm(block(5 * 1024 + 40, stored_rows, stored_cols, DType::f16));
  in_scratchpad.transposed = in_memory.transposed = b_transposed;
  Command dot = gemm(block(65536, m, n), block(0, m, k, DType::f16), in_scratchpad, accumulate);
  dot.epilogue.scale = 0.125F;
  dot.epilogue.softcap = 3.0F;
  dot.epilogue.mask = {true, 0, static_cast<std::int64_t>(m), 1, 3, 5};
  Command tiled = dot;
  tiled.opcode = Opcode::composite;
  tiled.operands[0] = block(131072, m, n);
  tiled.operands[2] = in_memory;
  tiled.composite = {static_cast<std::uint32_t>(tile_rows), 262144};
  pe.run([&](Writer& w) {
    w.issue(dot);
    w.issue(tiled);
  });
  EXPECT_TRUE(pe.faults.empty());
  EXPECT_EQ(pe.get<std::uint32_t>(131072, m * n), pe.get<std::uint32_t>(65536, m * n));
  EXPECT_EQ(pe.cp.incomplete(), 0U);
  EXPECT_EQ(pe.pool.in_use(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Tilings, CompositeBits,
                         testing::Combine(testing::Bool(), testing::Values(1, 16, 75, 200),
                                          testing::Bool()));

// Time of a composite of `tiles` tiles of 64 rows x 128 f16 (16 KiB: 16 bursts).
Ps composite_time(PeWithEngines& pe, std::uint32_t m, std::uint32_t tiles) {
  pe.run([&](Writer& w) {
    const CommandId id =
        w.issue(composite(block(0, m, 64 * tiles), block(1 << 20, m, 128, DType::f16),
                          transposed(in_hbm(block(0, 64 * tiles, 128, DType::f16))), 64, 2 << 20));
    pe.wait_for(id);
  });
  return sim::now_ps();
}

TEST(CommandProcessor, ACompositeThatComputesLittleTakesTheTimeOfItsLoads) {
  test::TestTarget::Timing timing = PeWithEngines::default_timing();
  timing.latency_ps = 10 * kCycle;
  PeWithEngines pe(true, "", {}, 0, timing);
  const Ps time = composite_time(pe, 8, 32);
  // 32 tiles of 16 bursts, 4 cycles apart, without a gap: a gemm of 16 + 32 cycles gives its
  // buffer back while the other one is being filled. Then the last gemm.
  const Ps loads = 32 * 16 * 4 * kCycle;
  EXPECT_GE(time, loads + 48 * kCycle);
  EXPECT_LE(time, loads + (10 + 4 + 48) * kCycle);
}

TEST(CommandProcessor, ACompositeThatComputesMuchTakesTheTimeOfItsGemms) {
  PeWithEngines pe;
  const Ps time = composite_time(pe, 128, 16);
  // A tile is 16 * 2 * 8 = 256 cycles; every load but the first (16 bursts, 4 cycles apart, 100
  // cycles long) hides behind a gemm.
  const Ps gemms = 16 * 256 * kCycle;
  EXPECT_GE(time, gemms + (100 + 32) * kCycle);
  EXPECT_LE(time, gemms + (100 + 15 * 4 + 2 + 32) * kCycle);
  EXPECT_EQ(pe.gemm_unit.stats().more.at("fills"), 1U);
}

TEST(CommandProcessor, ALaterLoadKeepsItsPlaceBehindTheComposites) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    const CommandId k =
        w.issue(composite(block(0, 8, 256), block(1 << 20, 8, 128, DType::f16),
                          transposed(in_hbm(block(0, 256, 128, DType::f16))), 64, 2 << 20));
    const CommandId next = w.issue(load(block(65536, 1, 256), in_hbm(block(1 << 20, 1, 256))));
    pe.wait_for(k);
    pe.wait_for(next);
  });
  EXPECT_EQ(pe.memory.arrivals().back().address, Address{1} << 20);
  EXPECT_EQ(pe.memory.arrivals().size(), 65U);
}

TEST(CommandProcessor, ABadCompositeIsAFault) {
  PeWithEngines pe;
  pe.run([&](Writer& w) {
    EXPECT_TRUE(pe.cp.complete(
        w.issue(composite(block(0, 8, 64), block(1 << 20, 8, 128, DType::f16),
                          transposed(in_hbm(block(0, 64, 128, DType::f16))), 0, 2 << 20))));
  });
  ASSERT_EQ(pe.faults.size(), 1U);
  EXPECT_EQ(pe.faults[0].second, "composite: tile_rows is 0");
}

// --- data and time --------------------------------------------------------------------------

/// Times at which commands of a mixed program complete, then busy times and counts of the units.
std::vector<std::uint64_t> figures_of_a_mixed_program(bool keep_data) {
  PeWithEngines pe(keep_data);
  std::vector<std::uint64_t> figures;
  pe.run([&](Writer& w) {
    std::vector<CommandId> ids;
    ids.push_back(
        w.issue(load(block(0, 8, 128, DType::f16), in_hbm(block(64, 8, 128, DType::f16)))));
    for (std::uint32_t step = 0; step < 3; ++step) {
      ids.push_back(w.issue(composite(
          block(65536, 8, 200), block(0, 8, 128, DType::f16),
          transposed(in_hbm(block(4096 + step * 65536, 200, 128, DType::f16))), 48, 1 << 20)));
      ids.push_back(w.issue(
          test::vector(VectorOp::exp, 1, 2, {block(131072, 8, 200), block(65536, 8, 200)})));
      ids.push_back(w.issue(recv(block(262144, 8, 200), Direction::west)));
      ids.push_back(w.issue(send(block(131072, 8, 200), Direction::east)));
      ids.push_back(w.issue(store(in_hbm(block(1 << 20, 8, 200)), block(262144, 8, 200))));
    }
    for (const CommandId id : ids) {
      pe.wait_for(id);
      figures.push_back(static_cast<std::uint64_t>(sim::now_ps()));
    }
  });
  EXPECT_TRUE(pe.faults.empty());
  EXPECT_EQ(pe.pool.in_use(), 0U);
  for (const sim::UnitStats& s : {pe.dma.stats(), pe.gemm_unit.stats(), pe.vector_unit.stats(),
                                  pe.queue.stats(), pe.cp.stats()}) {
    figures.insert(figures.end(), {static_cast<std::uint64_t>(s.busy_ps), s.ops, s.bytes});
    for (const auto& [name, n] : s.more) {
      // Only values that are kept can be looked at.
      if (name != "nonfinite") {
        figures.push_back(n);
      }
    }
  }
  return figures;
}

TEST(CommandProcessor, TimingOnlyAgreesToThePicosecondAndInEveryCount) {
  // SystemC elaborates once a process, so the run without data has one of its own.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto figures = figures_of_a_mixed_program(false);
    const std::size_t bytes = figures.size() * sizeof figures[0];
    const bool written = write(ends[1], figures.data(), bytes) == static_cast<ssize_t>(bytes);
    _exit(written && !HasFailure() ? 0 : 1);
  }
  const auto with_data = figures_of_a_mixed_program(true);
  std::vector<std::uint64_t> without_data(with_data.size() + 1);
  const ssize_t bytes =
      read(ends[0], without_data.data(), without_data.size() * sizeof without_data[0]);
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  without_data.resize(static_cast<std::size_t>(bytes) / sizeof without_data[0]);
  EXPECT_EQ(with_data, without_data);
  EXPECT_GT(with_data.size(), 16U + 15U);
}

}  // namespace
}  // namespace cubevp::hw
