// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/npy_file.h"
#include "tests/support/process.h"

// Bad input, as a user meets it: one clear line, the documented status, nothing left behind.

namespace cubevp::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A run file that is right, in which a test puts one thing wrong.
constexpr const char* kRun = R"(hardware: tiny
workload:
  kernel: attention_mesh_mlo
  q_heads: 4
  kv_heads: 2
  head_dim: 16
  context: 40
  ranks: 4
  rank_axis: pe
)";

class CliErrors : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> args) const {
    return run_platform(args, folder_.path());
  }
  /// Runs kRun with more lines or options.
  ProcessResult run_with(const std::string& lines, std::vector<std::string> options = {}) const {
    folder_.write("run.yaml", kRun + lines);
    options.insert(options.begin(), {"--config", "run.yaml", "--no-progress"});
    return run(options);
  }
  /// Expects a status, these words in a single line of errors, and no file but the run's.
  void expect(const ProcessResult& result, int status, const std::string& words) const {
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
    for (const std::string& f : folder_.files()) {
      EXPECT_TRUE(f.find("out/") == std::string::npos) << f << " was left behind";
    }
  }

  TemporaryFolder folder_;
};

TEST_F(CliErrors, TheRightRunPasses) {
  const ProcessResult r = run_with("", {"--quiet"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out, "");
}

// --- usage ----------------------------------------------------------------------------------

TEST_F(CliErrors, NoConfig) {
  expect(run({}), 2, "--config FILE is missing");
}

TEST_F(CliErrors, UnknownOption) {
  expect(run({"--confg", "run.yaml"}), 2, "unrecognised option '--confg'");
}

TEST_F(CliErrors, UnknownCommand) {
  expect(run({"frobnicate"}), 2, "unknown command \"frobnicate\"");
}

TEST_F(CliErrors, StrayArgument) {
  expect(run_with("", {"stray"}), 2, "too many positional options");
}

TEST_F(CliErrors, ThreadsOutOfRange) {
  expect(run_with("", {"--threads", "-1"}), 2, "--threads: expected 1 to 256, got -1");
  expect(run_with("", {"--threads", "0"}), 2, "--threads: expected 1 to 256, got 0");
  expect(run_with("", {"--threads", "99999999999999999999"}), 2, "--threads");
  expect(run_with("", {"--threads", "two"}), 2, "--threads");
}

TEST_F(CliErrors, NegativeSeed) {
  expect(run_with("", {"--seed", "-1"}), 2, "input.seed: expected");
}

TEST_F(CliErrors, CompareNeedsTwo) {
  expect(run({"compare", "one.json"}), 2, "at least two");
}

TEST_F(CliErrors, CompareOfWhatIsNoResult) {
  folder_.write("a.json", "{\"name\": ");
  folder_.write("b.json", "{}");
  expect(run({"compare", "a.json", "b.json"}), 4, "a.json");
}

TEST_F(CliErrors, ListOfWhatThereIsNot) {
  expect(run({"list", "frogs"}), 2, "expected kernels, configs, hardware, inputs or signals");
}

// --- configuration --------------------------------------------------------------------------

TEST_F(CliErrors, UnknownKeyNamesTheNearest) {
  folder_.write("run.yaml",
                "hardware: tiny\nworkload:\n  kernel: attention_mesh_mlo\n"
                "  q_heds: 4\n");
  const ProcessResult r = run({"--config", "run.yaml"});
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, HasSubstr("run.yaml:4:3: workload.q_heds: unknown key, did you mean "
                               "\"q_heads\"?"));
}

TEST_F(CliErrors, WrongType) {
  expect(run_with("  batch: many\n"), 2, "run.yaml:10:10: workload.batch: expected");
}

TEST_F(CliErrors, MissingUnit) {
  expect(run_with("limits: {sim_time: 5}\n"), 2, "run.yaml:10:20: limits.sim_time: expected");
}

TEST_F(CliErrors, HeadsThatDoNotDivide) {
  expect(run_with("", {"--set", "workload.q_heads=5"}), 2,
         "workload.q_heads: expected a multiple of kv_heads (2), got \"5\"");
}

TEST_F(CliErrors, RanksBeyondTheHardware) {
  expect(run_with("", {"--set", "workload.ranks=5"}), 2,
         "workload.ranks: expected at most the 4 PEs of a cube");
}

TEST_F(CliErrors, ContextBeyondTheMemory) {
  expect(run_with("", {"--set", "workload.context=100000000"}), 2,
         "workload.context: expected tensors that fit the memory beside a PE");
}

TEST_F(CliErrors, ScratchpadTooSmallForATile) {
  expect(run_with(
             "", {"--set", "hardware.pe.scratchpad.size=8 KiB", "--set",
                  "hardware.pe.message_queue.slots=1", "--set",
                  "hardware.pe.message_queue.slot_size=512 B", "--set",
                  "hardware.pe.message_queue.packet_size=512 B", "--set", "workload.head_dim=512"}),
         2,
         "--set: hardware.pe.scratchpad.size: expected room for one tile: at least 10260 B are "
         "needed, 4096 B are free beside 4096 B of message slots, got \"8 KiB\"");
}

TEST_F(CliErrors, AllErrorsOfAFileAtOnce) {
  const ProcessResult r = run_with("  batch: -1\ninput: {seed: x}\nfrogs: 3\n");
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, HasSubstr("run.yaml:10:10: workload.batch"));
  EXPECT_THAT(r.err, HasSubstr("run.yaml:11:15: input.seed"));
  EXPECT_THAT(r.err, HasSubstr("run.yaml:12:1: frogs: unknown key"));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 3);
}

TEST_F(CliErrors, UnknownKernel) {
  expect(run_with("", {"--set", "workload.kernel=attention_mesh_ml"}), 2, "attention_mesh_mlo");
}

TEST_F(CliErrors, TraceScopeThatMatchesNothing) {
  expect(run_with("trace: {scope: [cube99.*]}\n"), 2, "trace.scope");
}

// --- files ----------------------------------------------------------------------------------

TEST_F(CliErrors, MissingConfig) {
  expect(run({"--config", "smal_decode.yaml"}), 4, "did you mean small_decode.yaml?");
}

TEST_F(CliErrors, ConfigIsAFolder) {
  expect(run({"--config", "/"}), 4, "is a directory");
}

TEST_F(CliErrors, MissingTensor) {
  expect(run_with("input: {q: q.npy, k: k.npy, v: v.npy}\n"), 4, "q.npy: cannot read");
}

TEST_F(CliErrors, MissingGolden) {
  expect(run_with("check: {golden: gold.npy}\n"), 4, "gold.npy: cannot read");
}

/// Q, K and V files that fit kRun.
void write_tensors(const TemporaryFolder& folder) {
  write_npy_f16(folder.file("q.npy"), {1, 4, 1, 16});
  write_npy_f16(folder.file("k.npy"), {1, 2, 40, 16});
  write_npy_f16(folder.file("v.npy"), {1, 2, 40, 16});
}
constexpr const char* kTensors = "input: {q: q.npy, k: k.npy, v: v.npy}\n";

TEST_F(CliErrors, TensorsThatFitPass) {
  write_tensors(folder_);
  EXPECT_EQ(run_with(kTensors).status, 0);
}

TEST_F(CliErrors, TensorOfTheWrongShape) {
  write_tensors(folder_);
  write_npy_f16(folder_.file("k.npy"), {1, 2, 41, 16});
  expect(run_with(kTensors), 4,
         "k.npy: expected shape (batch, kv_heads, context, head_dim) = (1, 2, 40, 16), got (1, 2, "
         "41, 16)");
}

TEST_F(CliErrors, TensorOfTheWrongType) {
  write_tensors(folder_);
  write_npy(folder_.file("v.npy"), "<i4", "(1, 2, 40, 16)", std::string(2 * 40 * 16 * 4, '\0'));
  expect(run_with(kTensors), 4, "v.npy: ");
}

TEST_F(CliErrors, TensorCutShort) {
  write_tensors(folder_);
  write_npy(folder_.file("q.npy"), "<f2", "(1, 4, 1, 16)", std::string(64, '\0'));
  expect(run_with(kTensors), 4, "q.npy: ");
}

TEST_F(CliErrors, TensorWithACorruptHeader) {
  write_tensors(folder_);
  folder_.write("q.npy", "\x93NUMPY\x01\x00\x10\x00{'descr': '<f2");
  expect(run_with(kTensors), 4, "q.npy: ");
  folder_.write("q.npy", "not an array");
  expect(run_with(kTensors), 4, "q.npy: ");
  folder_.write("q.npy", "");
  expect(run_with(kTensors), 4, "q.npy: ");
}

TEST_F(CliErrors, FolderThatCannotBeMade) {
  folder_.write("file", "");
  expect(run_with("", {"--out", "file/below"}), 4, "file/below: cannot be made");
}

TEST_F(CliErrors, TraceThatCannotBeWritten) {
  expect(run_with("", {"--trace", "nowhere/trace.vcd"}), 4, "nowhere/trace.vcd: cannot be written");
}

TEST_F(CliErrors, KernelLibraryThatIsNone) {
  expect(run_with("", {"--kernel-lib", "missing.so"}), 4, "missing.so");
  folder_.write("text.so", "hello");
  expect(run_with("", {"--kernel-lib", "text.so"}), 4, "text.so");
}

TEST_F(CliErrors, AFullDisk) {
  const ProcessResult r = run_process(
      "/bin/sh", {"-c", "\"$CUBEVP_PLATFORM\" show --config small_decode.yaml > /dev/full"},
      folder_.path());
  EXPECT_EQ(r.status, 4);
  EXPECT_THAT(r.err, HasSubstr("standard output cannot be written"));
}

}  // namespace
}  // namespace cubevp::test
