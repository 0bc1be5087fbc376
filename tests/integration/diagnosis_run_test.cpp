// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/process.h"

// Kernels that deadlock, fault or never end (faulty_kernels.cpp): the machine says why.

namespace cubevp::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Diagnosis : public ::testing::Test {
 protected:
  ProcessResult run(const std::string& kernel, std::vector<std::string> more = {},
                    int interrupt_after_ms = 0) const {
    std::vector<std::string> args = {
        "--config", "small_decode.yaml",         "--kernel-lib", CUBEVP_FAULTY_KERNELS,
        "--set",    "workload.kernel=" + kernel, "--out",        "out"};
    args.insert(args.end(), more.begin(), more.end());
    return run_platform(args, folder_.path(), interrupt_after_ms);
  }
  nlohmann::json result() const {
    return nlohmann::json::parse(read_file(folder_.file("out/result.json")));
  }
  void expect_fault(const std::string& kernel, const std::string& words) const {
    const ProcessResult r = run(kernel, {"-q"});
    EXPECT_EQ(r.status, 3);
    EXPECT_THAT(r.err, StartsWith("cube_0_0.pe_0: kernel " + kernel + ", cube 0, PE 0: "));
    EXPECT_THAT(r.err, HasSubstr(words));
    EXPECT_EQ(result()["end"]["reason"], "fault");
    EXPECT_EQ(result()["check"]["status"], "skipped");
  }

  TemporaryFolder folder_;
};

TEST_F(Diagnosis, AReceiveThatNobodySends) {
  const ProcessResult r = run("receives_what_nobody_sends");
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.err, StartsWith("deadlock: "));
  EXPECT_THAT(r.err, HasSubstr("cube_0_0.pe_1: receives_what_nobody_sends waits in fence since "));
  EXPECT_THAT(r.err, HasSubstr("recv W (pe axis) from cube_0_0.pe_0: nothing has come, since "));
  // One line a blocked PE: PE 1 of each of the 8 cubes; nobody waits in a cycle.
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1 + 8) << r.err;
  EXPECT_THAT(r.err, ::testing::Not(HasSubstr("cycle")));
  EXPECT_THAT(r.out, HasSubstr("ended early   deadlock"));
  EXPECT_EQ(result()["end"]["reason"], "deadlock");
}

TEST_F(Diagnosis, ACycleOfReceives) {
  const ProcessResult r = run("waits_in_a_cycle", {"-q"});
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.err, HasSubstr("cube_0_0.pe_0: waits_in_a_cycle waits in fence"));
  EXPECT_THAT(r.err, HasSubstr("recv E (pe axis) from cube_0_0.pe_1: nothing has come"));
  EXPECT_THAT(r.err,
              HasSubstr("cycle of waits: cube_0_0.pe_0 -> cube_0_0.pe_1 -> cube_0_0.pe_0\n"));
}

TEST_F(Diagnosis, CreditsExhaustedInACycle) {
  const ProcessResult r = run("runs_out_of_credits", {"-q"});
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.err, HasSubstr("send E (pe axis) to cube_0_0.pe_1: no free slot at the receiver"));
  EXPECT_THAT(r.err,
              HasSubstr("cycle of waits: cube_0_0.pe_0 -> cube_0_0.pe_1 -> cube_0_0.pe_0\n"));
}

TEST_F(Diagnosis, DeadlocksAreTheSameEveryTime) {
  const std::string first = run("runs_out_of_credits", {"-q"}).err;
  nlohmann::json a = result();
  EXPECT_EQ(run("runs_out_of_credits", {"-q"}).err, first);
  nlohmann::json b = result();
  a.erase("host");
  b.erase("host");
  EXPECT_EQ(a.dump(), b.dump());
}

TEST_F(Diagnosis, ASendWithoutNeighbour) {
  expect_fault("sends_off_the_edge", "send W: no neighbour (TOPO_CTRL of cube 0 is disabled)");
}

TEST_F(Diagnosis, ARingThatIsNotConfigured) {
  expect_fault("wants_a_ring", "TOPO_CTRL of cube 0 is disabled");
}

TEST_F(Diagnosis, AFullScratchpad) {
  // 512 KiB less the message slots: 8 sets of 4 slots of 4 KiB.
  expect_fault("fills_the_scratchpad",
               "empty (1024, 1024) f32: the scratchpad is full: needs 4194304 bytes, 393216 of "
               "393216 free");
}

TEST_F(Diagnosis, AHandleUsedAfterItsScope) {
  expect_fault("uses_a_dead_handle", "scope");
}

TEST_F(Diagnosis, AnAddressThatIsNowhere) {
  expect_fault("reads_nowhere", "address 0xc80000000000 is not hbm of one of 8 cubes");
}

TEST_F(Diagnosis, AnExceptionOfTheKernel) {
  expect_fault("throws_its_own", "the kernel's own words");
}

TEST_F(Diagnosis, ManyFaultsAreNotAllPrinted) {
  const ProcessResult r = run("throws_its_own", {"-q"});
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 5) << r.err;
  EXPECT_THAT(r.err, HasSubstr("and 28 more PEs, see end.messages in out/result.json"));
  EXPECT_EQ(result()["end"]["messages"].size(), 32U);
}

TEST_F(Diagnosis, TheLimitOfSimulatedTime) {
  const ProcessResult r = run("never_ends", {"-q", "--set", "limits.sim_time=5 us"});
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.err, StartsWith("limits.sim_time: 5000 ns of simulated time are used up\n"));
  EXPECT_THAT(r.err, HasSubstr("cube_3_1.pe_3: never_ends "));
  EXPECT_EQ(result()["end"]["reason"], "sim_time_limit");
  EXPECT_EQ(result()["time"]["total_ns"], 5000.0);
}

TEST_F(Diagnosis, TheLimitOfHostTime) {
  const ProcessResult r = run("never_ends", {"-q", "--set", "limits.wall_time=0.5 s"});
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.err, StartsWith("limits.wall_time: 0.5 s of host time are used up\n"));
  EXPECT_EQ(result()["end"]["reason"], "wall_time_limit");
}

TEST_F(Diagnosis, AnInterruptKeepsTraceAndResult) {
  const ProcessResult r = run("never_ends", {"-q"}, 700);
  EXPECT_EQ(r.status, 130);
  EXPECT_THAT(r.err, StartsWith("interrupted\n"));
  EXPECT_EQ(result()["end"]["reason"], "interrupted");
  const std::string vcd = read_file(folder_.file("out/trace.vcd"));
  EXPECT_THAT(vcd, HasSubstr("$enddefinitions $end"));
  EXPECT_GT(vcd.size(), 10000U);
  for (const std::string& f : folder_.files()) {
    EXPECT_EQ(f.find(".tmp"), std::string::npos) << f;
  }
}

}  // namespace
}  // namespace cubevp::test
