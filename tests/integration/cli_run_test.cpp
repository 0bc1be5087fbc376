// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/npy_file.h"
#include "tests/support/process.h"

// The executable as a user runs it: what it prints, what it leaves behind, how it ends.

namespace cubevp::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class CliRun : public ::testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> args, int interrupt_after_ms = 0) const {
    return run_platform(args, folder_.path(), interrupt_after_ms);
  }
  Json result(const std::string& out_dir) const {
    return Json::parse(read_file(folder_.file(out_dir + "/result.json")));
  }

  TemporaryFolder folder_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST_F(CliRun, LeavesWhatItPromises) {
  const ProcessResult r =
      run({"--config", "small_decode.yaml", "--report", "--perfetto", "--no-progress"});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.err, "");
  for (const char* name : {"result.json", "config.yaml", "o.npy", "trace.vcd", "trace.gtkw",
                           "trace.perfetto.json", "report.html"}) {
    EXPECT_NE(read_file(folder_.file(std::string("out/small_decode/") + name)), "") << name;
  }
  for (const std::string& f : folder_.files()) {
    EXPECT_EQ(f.find(".tmp"), std::string::npos) << f;
  }
  const Json trace = Json::parse(read_file(folder_.file("out/small_decode/trace.perfetto.json")));
  EXPECT_GT(trace["traceEvents"].size(), 100U);
}

TEST_F(CliRun, SummaryFitsATerminal) {
  for (const char* config : {"small_decode.yaml", "small_decode_ring.yaml", "small_prefill.yaml"}) {
    const ProcessResult r = run({"--config", config});
    ASSERT_EQ(r.status, 0) << r.err;
    const std::vector<std::string> lines = lines_of(r.out);
    EXPECT_LE(lines.size(), 24U) << r.out;
    for (const std::string& line : lines) {
      EXPECT_LE(line.size(), 80U) << line;
    }
    for (const char* word : {"kernel time", "lower bound", "efficiency", "gemm_unit", "check",
                             "pass (wire16)", "result.json"}) {
      EXPECT_THAT(r.out, HasSubstr(word));
    }
  }
}

TEST_F(CliRun, ResultHasTheFieldsOfItsSchema) {
  ASSERT_EQ(run({"--config", "small_prefill.yaml", "--quiet"}).status, 0);
  const Json j = result("out/small_prefill");
  for (const char* key : {"schema", "name", "version", "config_sha256", "seed", "time", "check",
                          "bound", "counters", "breakdown", "units", "energy", "host"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  for (const char* key :
       {"status", "gate", "max_abs_err", "max_ulp16", "nmse", "nmse_ideal", "rms_ref",
        "rows_checked", "rows_total", "worst_index", "nonfinite_on_links", "replicas_agree"}) {
    EXPECT_TRUE(j["check"].contains(key)) << key;
  }
  for (const char* key : {"flops", "hbm_read_bytes", "hbm_write_bytes", "link_bytes", "noc_bytes",
                          "messages", "ring_steps", "tiles", "tiles_skipped", "commands"}) {
    EXPECT_TRUE(j["counters"].contains(key)) << key;
  }
  for (const char* key : {"wall_s", "cpu_s", "peak_rss_mib", "events_per_s", "data_mode"}) {
    EXPECT_TRUE(j["host"].contains(key)) << key;
  }
  for (const auto& [name, fractions] : j["breakdown"].items()) {
    double sum = 0;
    for (const char* key :
         {"gemm", "vector", "dma", "recv_wait", "send_wait", "barrier", "issue", "idle"}) {
      sum += fractions.at(key).get<double>();
    }
    EXPECT_NEAR(sum, 1.0, 1e-9) << name;
  }
  std::set<std::string> kinds;
  for (const Json& unit : j["units"]) {
    for (const char* key : {"name", "kind", "busy_ns", "utilization", "bytes", "ops"}) {
      EXPECT_TRUE(unit.contains(key)) << unit;
    }
    EXPECT_LE(unit["busy_ns"].get<double>(), j["time"]["kernel_ns"].get<double>() * 1.001) << unit;
    kinds.insert(unit["kind"].get<std::string>());
  }
  for (const char* kind : {"gemm", "vector", "dma", "scratchpad", "message_queue",
                           "command_processor", "cpu", "router", "link", "hbm_channel"}) {
    EXPECT_EQ(kinds.count(kind), 1U) << kind;
  }
  EXPECT_GE(j["time"]["total_ns"].get<double>(), j["time"]["kernel_ns"].get<double>());
  EXPECT_LE(j["bound"]["roofline_ns"].get<double>(), j["time"]["kernel_ns"].get<double>());
  EXPECT_EQ(j["check"]["rows_checked"], 1024);
}

/// What does not depend on the host.
Json without_host(Json j) {
  j.erase("host");
  return j;
}

TEST_F(CliRun, IsTheSameForEveryRunAndAnyThreads) {
  for (const char* config : {"small_decode", "small_prefill"}) {
    const std::string file = std::string(config) + ".yaml";
    ASSERT_EQ(run({"--config", file, "--out", "a", "--threads", "1", "-q"}).status, 0);
    ASSERT_EQ(run({"--config", file, "--out", "b", "--threads", "2", "-q"}).status, 0);
    ASSERT_EQ(run({"--config", file, "--out", "c", "--threads", "2", "-q"}).status, 0);
    EXPECT_EQ(without_host(result("a")).dump(), without_host(result("b")).dump());
    EXPECT_EQ(without_host(result("b")).dump(), without_host(result("c")).dump());
    EXPECT_EQ(read_file(folder_.file("a/trace.vcd")), read_file(folder_.file("b/trace.vcd")));
  }
  ASSERT_EQ(run({"--config", "small_decode.yaml", "--out", "a", "--threads", "1", "-q"}).status, 0);
  ASSERT_EQ(run({"--config", "small_decode.yaml", "--out", "b", "--threads", "2", "-q"}).status, 0);
  EXPECT_EQ(read_file(folder_.file("a/o.npy")), read_file(folder_.file("b/o.npy")));
}

TEST_F(CliRun, TakesTheSameTimeWithoutData) {
  for (const char* config : {"small_decode.yaml", "small_decode_ring.yaml", "small_prefill.yaml"}) {
    ASSERT_EQ(run({"--config", config, "--out", "data", "-q"}).status, 0);
    ASSERT_EQ(run({"--config", config, "--out", "none", "-q", "--no-data"}).status, 0);
    Json data = result("data");
    Json none = result("none");
    EXPECT_EQ(none["check"]["status"], "skipped");
    EXPECT_EQ(none["host"]["data_mode"], "no-data");
    for (const char* key : {"time", "bound", "counters", "breakdown", "units", "energy"}) {
      EXPECT_EQ(data[key].dump(), none[key].dump()) << config << " " << key;
    }
  }
}

TEST_F(CliRun, ResolvedConfigGivesTheSameResult) {
  ASSERT_EQ(run({"--config", "small_prefill.yaml", "--out", "a", "-q", "--set",
                 "hardware.link.bandwidth=64 GB/s"})
                .status,
            0);
  ASSERT_EQ(run({"--config", "a/config.yaml", "--out", "b", "-q"}).status, 0);
  EXPECT_EQ(without_host(result("a")).dump(), without_host(result("b")).dump());
  EXPECT_EQ(read_file(folder_.file("a/config.yaml")), read_file(folder_.file("b/config.yaml")));
}

TEST_F(CliRun, JsonOnStandardOutputIsTheResult) {
  const ProcessResult r = run({"--config", "small_decode.yaml", "--json"});
  ASSERT_EQ(r.status, 0);
  EXPECT_EQ(r.out, read_file(folder_.file("out/small_decode/result.json")));
}

TEST_F(CliRun, AWrongOutputFailsTheCheck) {
  // The right answer for a context of zeros in V is zero; this golden output says one.
  write_npy_f16(folder_.file("gold.npy"), {1, 8, 1, 64},
                std::vector<std::uint16_t>(8 * 64, 0x3c00));
  const ProcessResult r = run({"--config", "small_decode.yaml", "--set", "input.generate=zeros",
                               "--set", "check.golden=" + folder_.file("gold.npy")});
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, StartsWith("check failed: "));
  EXPECT_THAT(r.err, HasSubstr("is 0, expected 1"));
  EXPECT_THAT(r.out, HasSubstr("FAIL (wire16)"));
  EXPECT_EQ(result("out/small_decode")["check"]["status"], "fail");
}

TEST_F(CliRun, CompareShowsRatios) {
  ASSERT_EQ(run({"--config", "small_decode.yaml", "--out", "a", "-q"}).status, 0);
  ASSERT_EQ(
      run({"--config", "small_decode.yaml", "--out", "b", "-q", "--set", "workload.context=2000"})
          .status,
      0);
  const ProcessResult r = run({"compare", "a/result.json", "b/result.json"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("kernel"));
}

TEST_F(CliRun, ListsAndHelps) {
  EXPECT_THAT(run({"list", "kernels"}).out, HasSubstr("gqa_prefill_ring"));
  EXPECT_THAT(run({"list", "configs"}).out, HasSubstr("llama70b_decode"));
  EXPECT_THAT(run({"list", "hardware"}).out, HasSubstr("cube64_hbm3e"));
  EXPECT_THAT(run({"list", "signals", "--config", "small_decode.yaml"}).out,
              HasSubstr("cube_0_0.pe_0.cpu.state"));
  EXPECT_THAT(run({"--version"}).out, StartsWith("CubeVP "));
  for (const char* command : {"run", "validate", "show", "list", "compare"}) {
    const ProcessResult r = run({command, "--help"});
    EXPECT_EQ(r.status, 0);
    EXPECT_THAT(r.out, HasSubstr("example:"));
  }
  const ProcessResult shown = run({"show", "--config", "small_decode.yaml"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out, HasSubstr("softmax_scale"));
  EXPECT_EQ(run({"validate", "--config", "llama70b_prefill.yaml"}).status, 0);
}

}  // namespace
}  // namespace cubevp::test
