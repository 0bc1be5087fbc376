// SPDX-License-Identifier: Apache-2.0
// What ends a kernel before its end, and what is told about it.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/cpu_harness.h"

namespace cubevp::hw {
namespace {

using test::CpuBench;
using test::load_command;

constexpr Ps kNs = kPsPerNs;
constexpr Ps kEntry = CpuBench::kEntry;

TEST(CpuFault, AnExceptionOfTheKernelIsTheFault) {
  bool faulty = true;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.spend_cycles(5);
    if (faulty) {
      throw std::runtime_error("dot: 8x128 x 64x8 does not fit");
    }
  });
  bench.run();
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  EXPECT_EQ(bench.finished_at[0], kEntry + 5 * kNs);
  EXPECT_FALSE(bench.cpu.status().running);
  EXPECT_EQ(bench.cpu.status().fault, "dot: 8x128 x 64x8 does not fit");
  // The next start begins anew.
  faulty = false;
  bench.run(1000 * kNs);
  EXPECT_EQ(bench.finishes, (std::vector<bool>{true, false}));
  EXPECT_EQ(bench.cpu.status().fault, "");
}

TEST(CpuFault, ARefusedCommandNamesItAndTheReason) {
  bool reached = false;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.issue(load_command());
    reached = true;
  });
  bench.around.refuse = true;
  bench.run();
  EXPECT_FALSE(reached);
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  const std::string& fault = bench.cpu.status().fault;
  EXPECT_EQ(fault.find("command load refused: TLM_GENERIC_ERROR_RESPONSE"), 0U) << fault;
  EXPECT_NE(fault.find("the queue is broken"), std::string::npos) << fault;
  EXPECT_EQ(bench.cpu.status().blocked_op, "");
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(CpuFault, AWrongAddressNamesTheCpuAndTheAddress) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) {
    std::uint64_t word = 0;
    port.read_memory(make_address(static_cast<CubeId>(1), Region::hbm, 0x40), &word, sizeof word);
  });
  bench.around.memory_end = 0x40;
  bench.run();
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  EXPECT_EQ(bench.cpu.status().fault,
            "cpu: TLM_ADDRESS_ERROR_RESPONSE at address 0x10000000040 (cube 1, region hbm, offset "
            "0x40)");
}

TEST(CpuFault, ACommandsFaultWakesAndStopsAWaitingKernel) {
  bool reached = false;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    const CommandId id = port.issue(load_command());
    port.wait_for(id, {"load", id});
    reached = true;
  });
  bench.start_at(0);
  bench.run_until(500 * kNs);
  bench.cpu.raise_fault("dma: no memory there");
  bench.cpu.raise_fault("a consequence of it");
  sc_core::sc_start();
  EXPECT_FALSE(reached);
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  EXPECT_EQ(bench.finished_at[0], 500 * kNs);
  EXPECT_EQ(bench.cpu.status().fault, "dma: no memory there");
  EXPECT_EQ(bench.cpu.status().blocked_op, "");
}

TEST(CpuFault, ACommandsFaultStopsAComputingKernelAtItsNextStep) {
  int steps = 0;
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    for (;;) {
      port.spend_cycles(100);
      ++steps;
    }
  });
  bench.start_at(0);
  bench.run_until(kEntry + 250 * kNs);
  bench.cpu.raise_fault("gemm: refused");
  sc_core::sc_start();
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(bench.finished_at.at(0), kEntry + 300 * kNs);
  EXPECT_EQ(bench.cpu.status().fault, "gemm: refused");
  EXPECT_EQ(bench.spent(sim::PeActivity::issue), 300 * kNs);
}

TEST(CpuFault, AFaultedCommandFaultsAKernelThatIsJustEnding) {
  CpuBench bench([&](CommandPort& port, std::uint32_t, Address) {
    port.issue(load_command());
    port.read_sfr(sfr::kId);
  });
  bench.start_at(0);
  bench.run_until(kEntry + 15 * kNs);
  bench.cpu.raise_fault("dma: too late to be waited for");
  sc_core::sc_start();
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  EXPECT_EQ(bench.cpu.status().fault, "dma: too late to be waited for");
}

TEST(CpuFault, WhatFaultedBeforeTheStartDoesNotStopTheNextKernel) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) { port.issue(load_command()); });
  bench.run_until(10 * kNs);
  bench.cpu.raise_fault("of a kernel before");
  bench.run(100 * kNs);
  EXPECT_EQ(bench.finishes, std::vector<bool>{false});
  EXPECT_EQ(bench.cpu.status().fault, "");
}

TEST(CpuFault, ARegisterThatDoesNotExistIsNamed) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) { port.read_sfr(0x06c); });
  bench.run();
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  const std::string& fault = bench.cpu.status().fault;
  EXPECT_EQ(fault.find("cpu: TLM_ADDRESS_ERROR_RESPONSE at address 0x6c"), 0U) << fault;
}

TEST(CpuFault, ARefusedBarrierEndsTheTimeAtTheBarrier) {
  CpuBench bench([](CommandPort& port, std::uint32_t, Address) { port.barrier({"barrier", {}}); });
  bench.around.refuse = true;
  bench.run();
  EXPECT_EQ(bench.finishes, std::vector<bool>{true});
  EXPECT_NE(bench.cpu.status().fault.find("TLM_COMMAND_ERROR_RESPONSE"), std::string::npos);
  EXPECT_EQ(bench.cpu.status().blocked_op, "");
  bench.run_until(1000 * kNs);
  EXPECT_EQ(bench.spent(sim::PeActivity::barrier), 10 * kNs);
  EXPECT_EQ(bench.spent(sim::PeActivity::idle), 990 * kNs);
}

}  // namespace
}  // namespace cubevp::hw
