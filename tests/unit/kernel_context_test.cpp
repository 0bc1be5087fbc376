// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/kernel_context.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "firmware/tl/kernel.h"
#include "hw/base/sfr_table.h"
#include "tests/support/fake_machine.h"

namespace cubevp::runtime {
namespace {

using test::FakeConfig;
using test::FakeMachine;
using tl::Tensor;
using Body = std::function<void(tl::Context&)>;

constexpr CubeId kCube{3};
constexpr PeId kPe{7};

class KernelContextTest : public testing::Test {
 protected:
  static FakeConfig config() {
    FakeConfig c;
    c.cubes = 4;
    c.scratchpad_bytes = 64 * 1024;
    return c;
  }
  void run(const Body& body, Options options = {}) {
    machine_.start(kCube, kPe, [&](CommandPort& port) {
      KernelContext ctx(port, options);
      body(ctx);
    });
    machine_.run();
  }
  std::string fault(const Body& body) {
    try {
      run(body);
    } catch (const tl::KernelFault& e) {
      return e.what();
    }
    return "no fault";
  }
  const std::vector<Command>& commands() { return machine_.counted(kCube, kPe).commands; }
  FakeMachine machine_{config()};
  Address early_ = 0;
  Address late_ = 0;
};

// --- misuse -----------------------------------------------------------------------------------

TEST_F(KernelContextTest, FullScratchpadTellsNeedAndFree) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.empty({60, 128}, DType::f32);
              c.empty({100, 128}, DType::f32);
            }),
            "empty (100, 128) f32: the scratchpad is full: needs 51200 bytes, 34816 of 65536 free");
}

TEST_F(KernelContextTest, ResultThatDoesNotFitNamesItsOperation) {
  EXPECT_EQ(fault([](tl::Context& c) {
              const Tensor a = c.empty({100, 100}, DType::f32);
              c.exp(a);
            }),
            "exp (100, 100) f32: the scratchpad is full: needs 40000 bytes, 25536 of 65536 free");
}

TEST_F(KernelContextTest, HandleUsedAfterItsScopeFaults) {
  EXPECT_EQ(fault([](tl::Context& c) {
              Tensor t;
              {
                const tl::ScratchScope scope(c);
                t = c.zeros({8, 16}, DType::f32);
              }
              c.exp(t);
            }),
            "exp: (8, 16) f32 is used after its scratch_scope has ended");
}

TEST_F(KernelContextTest, HandleOfAnEarlierScopeOfTheSameDepthFaults) {
  EXPECT_EQ(fault([](tl::Context& c) {
              Tensor t;
              {
                const tl::ScratchScope scope(c);
                t = c.zeros({8, 16}, DType::f32);
              }
              const tl::ScratchScope scope(c);
              c.zeros({8, 16}, DType::f32);
              c.fill(c.rows(t, 0, 4), 1.0F);
            }),
            "fill: (4, 16) f32 is used after its scratch_scope has ended");
}

TEST_F(KernelContextTest, OuterHandleIsGoodInAnInnerScope) {
  run([](tl::Context& c) {
    const Tensor t = c.zeros({8, 16}, DType::f32);
    const tl::ScratchScope scope(c);
    c.exp(t);
  });
  EXPECT_EQ(commands().size(), 2U);
}

TEST_F(KernelContextTest, HandleNeverAllocatedFaults) {
  EXPECT_NE(fault([](tl::Context& c) {
              Tensor t;
              t.shape = {2, 2};
              c.fill(t, 0);
            }).find("used after its scratch_scope"),
            std::string::npos);
}

TEST_F(KernelContextTest, ClosingMoreScopesThanOpenFaults) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.close_scope();
              c.zeros({1, 1}, DType::f32);
            }),
            "scratch_scope: more scopes were closed than opened");
}

TEST_F(KernelContextTest, ScopeFreesItsMemory) {
  run([](tl::Context& c) {
    const std::int64_t free = c.scratchpad_free_bytes();
    for (int i = 0; i < 100; ++i) {
      const tl::ScratchScope scope(c);
      c.empty({60, 128}, DType::f32);
    }
    EXPECT_EQ(c.scratchpad_free_bytes(), free);
  });
}

TEST_F(KernelContextTest, ShapesMustFit) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.add(c.zeros({8, 16}, DType::f32), c.zeros({8, 2}, DType::f32));
            }),
            "add: shape (8, 2) does not broadcast to (8, 16)");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.dot(c.zeros({8, 16}, DType::f16), c.zeros({8, 16}, DType::f16));
            }),
            "dot: (8, 16) x (8, 16): the inner dimensions 16 and 8 differ");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.dot_to(c.zeros({8, 9}, DType::f32), c.zeros({8, 16}, DType::f16),
                       c.zeros({16, 8}, DType::f16));
            }),
            "dot: (8, 16) x (16, 8) does not give the destination (8, 9)");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.scale_rows(c.zeros({8, 16}, DType::f32), c.zeros({4, 1}, DType::f32));
            }),
            "scale_rows: shape (4, 1) where one value for each of 8 rows belongs");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.where(c.zeros({8, 2}, DType::f32), c.zeros({8, 2}, DType::f32),
                      c.zeros({2, 8}, DType::f32));
            }),
            "where: shapes (8, 2) and (2, 8) differ");
}

TEST_F(KernelContextTest, ViewConservesBytes) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.view(c.zeros({8, 16}, DType::f16), {8, 15});
            }),
            "view: (8, 16) f16 as (8, 15): 128 elements are not 120");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.view(c.trans(c.zeros({8, 16}, DType::f16)), {8, 16});
            }),
            "view: (16, 8) f16 is not contiguous");
}

TEST_F(KernelContextTest, OnlyADotReadsATransposedTensor) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.exp(c.trans(c.zeros({8, 16}, DType::f32)));
            }),
            "exp: (16, 8) f32 is transposed, which only a dot can read");
}

TEST_F(KernelContextTest, LoadsNeitherConvertNorReadTheScratchpad) {
  const Address a = machine_.allocate(kCube, 256);
  EXPECT_EQ(fault([a](tl::Context& c) {
              c.load_to(c.empty({8, 16}, DType::f32), c.hbm(a, {8, 16}, DType::f16, 0));
            }),
            "load: (8, 16) f16 into (8, 16) f32: a load neither converts nor transposes");
  EXPECT_EQ(fault([](tl::Context& c) {
              const Tensor t = c.empty({8, 16}, DType::f16);
              c.load_to(t, t);
            }),
            "load: (8, 16) f16 is in the scratchpad, not in hbm");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.load(scratchpad_address(kCube, kPe, 0), {8, 16}, DType::f16);
            }),
            "load: (8, 16) f16: address 0x31070000000 is not hbm of one of 4 cubes");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.load(make_address(CubeId{4}, Region::hbm, 0), {8, 16}, DType::f16);
            }),
            "load: (8, 16) f16: address 0x40000000000 is not hbm of one of 4 cubes");
}

TEST_F(KernelContextTest, MessagesNeedANeighbour) {
  const auto send_east = [](tl::Context& c) {
    c.send(RankAxis::cube, Direction::east, c.zeros({8, 16}, DType::f32));
  };
  EXPECT_EQ(fault(send_east), "send E: no neighbour (TOPO_CTRL of cube 3 is disabled)");
  machine_.chain({CubeId{2}, kCube}, false);
  EXPECT_EQ(fault(send_east), "send E: no neighbour (NBR_E of cube 3 is none)");
  EXPECT_EQ(fault([](tl::Context& c) {
              c.recv(RankAxis::pe, Direction::east, {8, 16}, DType::f32);
            }),
            "recv E: no neighbour (PE 7 is the last of 8 and PE_RING_SIZE of cube 3 is 0)");
}

TEST_F(KernelContextTest, RingFaultNamesTheRegister) {
  EXPECT_EQ(fault([](tl::Context& c) { c.require_ring(RankAxis::cube, 8); }),
            "ring of 8 required, RING_SIZE of cube 3 is 0");
  machine_.chain({CubeId{2}, kCube}, false);
  EXPECT_EQ(fault([](tl::Context& c) { c.require_ring(RankAxis::cube, 2); }),
            "ring of 2 required, TOPO_CTRL of cube 3 is mesh");
}

TEST_F(KernelContextTest, OnlyContiguousTensorsTravel) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.send(RankAxis::pe, Direction::west, c.trans(c.zeros({8, 16}, DType::f32)));
            }),
            "send: (16, 8) f32 is not contiguous");
}

TEST_F(KernelContextTest, OperandsMustNotOverlapWhatIsWritten) {
  EXPECT_EQ(fault([](tl::Context& c) {
              const Tensor a = c.zeros({16, 16}, DType::f32);
              c.dot_to(a, a, c.zeros({16, 16}, DType::f32));
            }),
            "dot: what it writes, (16, 16) f32, overlaps its operand (16, 16) f32");
  EXPECT_EQ(fault([](tl::Context& c) {
              const Tensor a = c.zeros({16, 16}, DType::f32);
              c.copy_to(c.rows(a, 1, 8), c.rows(a, 0, 8));
            }),
            "copy: what it writes, (8, 16) f32, overlaps its operand (8, 16) f32");
  run([](tl::Context& c) {
    const Tensor a = c.zeros({16, 16}, DType::f32);
    c.copy_to(a, a);
    c.copy_to(c.rows(a, 8, 8), c.rows(a, 0, 8));
  });
}

TEST_F(KernelContextTest, WaitNeedsAPendingReceive) {
  EXPECT_EQ(fault([](tl::Context& c) {
              c.wait(c.zeros({8, 16}, DType::f32));
            }),
            "wait: (8, 16) f32 does not come from recv_async");
}

// --- commands -----------------------------------------------------------------------------------

TEST_F(KernelContextTest, TransposedOperandKeepsItsStoredShape) {
  run([](tl::Context& c) {
    c.dot(c.zeros({8, 16}, DType::f16), c.trans(c.zeros({4, 16}, DType::f16)));
  });
  const Command& dot = commands().back();
  EXPECT_EQ(dot.opcode, Opcode::gemm);
  EXPECT_TRUE(dot.operands[2].transposed);
  EXPECT_EQ(dot.operands[2].rows, 4U);
  EXPECT_EQ(dot.operands[2].cols, 16U);
  EXPECT_EQ(dot.operands[0].cols, 4U);
  EXPECT_EQ(dot.reads, 0b110);
  EXPECT_EQ(dot.writes, 0b001);
}

TEST_F(KernelContextTest, AccumulatingDotReadsItsDestination) {
  run([](tl::Context& c) {
    c.dot_to(c.zeros({8, 4}, DType::f32), c.zeros({8, 16}, DType::f16),
             c.zeros({16, 4}, DType::f16), true, {});
  });
  EXPECT_TRUE(commands().back().accumulate);
  EXPECT_EQ(commands().back().reads, 0b111);
}

TEST_F(KernelContextTest, SoftmaxUpdateStatesWhatItReadsAndWrites) {
  run([](tl::Context& c) {
    const Tensor m = c.zeros({8, 1}, DType::f32);
    const Tensor l = c.zeros({8, 1}, DType::f32);
    c.softmax_update(c.empty({8, 4}, DType::f16), c.zeros({8, 4}, DType::f32), m, l,
                     c.empty({8, 1}, DType::f32));
  });
  EXPECT_EQ(commands().back().reads, 0b01110);
  EXPECT_EQ(commands().back().writes, 0b11101);
}

TEST_F(KernelContextTest, NothingIsIssuedForNoElements) {
  run([](tl::Context& c) {
    const Tensor t = c.zeros({0, 16}, DType::f32);
    c.exp(t);
    c.copy_to(t, t);
    c.store(make_address(kCube, Region::hbm, 0), t);
    c.send(RankAxis::pe, Direction::west, t);
    c.wait(c.recv_async(RankAxis::pe, Direction::west, t));
  });
  EXPECT_TRUE(commands().empty());
}

TEST_F(KernelContextTest, CompositesTakeTurnsAtTwoStagingPlaces) {
  const Address b = machine_.allocate(kCube, 64 * 32);
  const std::vector<float> zeros(64 * 8);
  machine_.write(b, zeros.data(), 64 * 32);
  run([b](tl::Context& c) {
    const Tensor q = c.zeros({8, 16}, DType::f16);
    const Tensor k = c.hbm(b, {64, 16}, DType::f16, 0);
    const Tensor s = c.empty({8, 64}, DType::f32);
    const std::int64_t free = c.scratchpad_free_bytes();
    c.composite_to(s, q, c.trans(k), false, {}, 16);
    c.composite_to(s, q, c.trans(k), false, {}, 16);
    c.composite_to(s, q, c.trans(k), false, {}, 0);
    EXPECT_EQ(c.scratchpad_free_bytes(), free);
  });
  const Command& first = commands()[1];
  const Command& second = commands()[2];
  EXPECT_EQ(first.opcode, Opcode::composite);
  EXPECT_EQ(first.composite.tile_rows, 16U);
  EXPECT_EQ(second.composite.staging_address - first.composite.staging_address, 2U * 16 * 32);
  EXPECT_EQ(commands()[3].composite.tile_rows, 64U);  // the whole operand, it fits
}

TEST_F(KernelContextTest, BlockingWaitsForEveryCommand) {
  run(
      [](tl::Context& c) {
        c.exp(c.zeros({8, 16}, DType::f32));
        c.send(RankAxis::pe, Direction::west, c.zeros({1, 1}, DType::f32));
      },
      {true});
  EXPECT_EQ(machine_.counted(kCube, kPe).waits,
            (std::vector<std::string>{"fill", "exp", "fill", "send W (pe axis)"}));
}

TEST_F(KernelContextTest, AsynchronousCommandsAreNotWaitedFor) {
  run([](tl::Context& c) { c.exp(c.zeros({8, 16}, DType::f32)); });
  EXPECT_TRUE(machine_.counted(kCube, kPe).waits.empty());
}

TEST_F(KernelContextTest, BarrierFencesFirst) {
  run([](tl::Context& c) { c.barrier(); });
  EXPECT_EQ(machine_.counted(kCube, kPe).waits, (std::vector<std::string>{"fence", "barrier"}));
}

TEST_F(KernelContextTest, ProgramIdsComeFromPlaceAndRegisters) {
  machine_.chain({CubeId{0}, kCube, CubeId{1}}, false);
  run([](tl::Context& c) {
    EXPECT_EQ(c.program_id(0), 7);
    EXPECT_EQ(c.num_programs(0), 8);
    EXPECT_EQ(c.program_id(1), 1);
    EXPECT_EQ(c.num_programs(1), 3);
    EXPECT_TRUE(c.has_neighbour(RankAxis::cube, Direction::west));
    EXPECT_FALSE(c.has_neighbour(RankAxis::pe, Direction::east));
  });
}

// --- results --------------------------------------------------------------------------------

TEST_F(KernelContextTest, RecvAsyncIsStaleUntilWaitedFor) {
  machine_.start(kCube, PeId{6}, [](CommandPort& port) {
    KernelContext context(port);
    tl::Context& c = context;
    c.send(RankAxis::pe, Direction::east, c.full({1, 2}, 5.0F, DType::f32));
  });
  run([this](tl::Context& c) {
    const Tensor dst = c.full({1, 2}, 1.0F, DType::f32);
    const Tensor handle = c.recv_async(RankAxis::pe, Direction::west, dst);
    const Tensor early = c.add(dst, dst);
    c.wait(handle);
    const Tensor late = c.add(dst, dst);
    c.store(early_ = machine_.allocate(kCube, 8), early);
    c.store(late_ = machine_.allocate(kCube, 8), late);
  });
  float early[2];
  float late[2];
  machine_.read(early_, early, sizeof early);
  machine_.read(late_, late, sizeof late);
  EXPECT_EQ(early[0], 2.0F);
  EXPECT_EQ(late[0], 10.0F);
  EXPECT_EQ(machine_.counted(kCube, kPe).waits, std::vector<std::string>{"recv W (pe axis)"});
}

TEST_F(KernelContextTest, ViewsSeeTheSameBytes) {
  const Address to = machine_.allocate(kCube, 8 * sizeof(float));
  run([to](tl::Context& c) {
    const Tensor all = c.zeros({8}, DType::f32);
    c.fill(c.slice(all, 2, {1, 3}), 1.0F);
    c.fill(c.rows(c.view(all, {4, 2}), 3, 1), 2.0F);
    c.store(to, all);
  });
  std::vector<float> v(8);
  machine_.read(to, v.data(), 8 * sizeof(float));
  EXPECT_EQ(v, (std::vector<float>{0, 0, 1, 1, 1, 0, 2, 2}));
}

TEST_F(KernelContextTest, StridedMemoryIsLoadedByRows) {
  std::vector<float> source(12);
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<float>(i);
  }
  const Address from = machine_.allocate(kCube, 12 * sizeof(float));
  const Address to = machine_.allocate(kCube, 6 * sizeof(float));
  machine_.write(from, source.data(), 12 * sizeof(float));
  run([&](tl::Context& c) {
    c.store(to, c.load(c.hbm(from, {3, 2}, DType::f32, 4 * sizeof(float))));
  });
  std::vector<float> v(6);
  machine_.read(to, v.data(), 6 * sizeof(float));
  EXPECT_EQ(v, (std::vector<float>{0, 1, 4, 5, 8, 9}));
}

}  // namespace
}  // namespace cubevp::runtime
