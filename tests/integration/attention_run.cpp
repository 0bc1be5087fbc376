// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/attention_run.h"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "platform/check/load_inputs.h"

namespace cubevp::test {

std::string hardware_for(const std::string& axis, std::int64_t ranks) {
  return axis == "pe" && ranks > 4 ? "{base: tiny, noc: {columns: 4, rows: 2}}" : "tiny";
}

std::string AttentionRun::yaml() const {
  std::ostringstream y;
  y.precision(17);
  y << "hardware: " << hardware << "\nworkload:\n"
    << "  kernel: " << kernel << "\n  ranks: " << ranks << "\n  rank_axis: " << axis
    << "\n  batch: " << shape.batch << "\n  q_heads: " << shape.q_heads
    << "\n  kv_heads: " << shape.kv_heads << "\n  head_dim: " << shape.d
    << "\n  context: " << shape.s_kv << "\n  new_tokens: " << shape.t_q
    << "\n  causal: " << (causal ? "true" : "false") << "\n  softcap: " << softcap
    << "\n  softmax_scale: ";
  if (scale) {
    y << *scale;
  } else {
    y << "auto";
  }
  y << "\n  params: {" << params << "}\n";
  if (q.empty()) {
    y << "input: {generate: " << generate << ", seed: 1}\n";
  } else {
    y << "input: {q: \"" << q << "\", k: \"" << k << "\", v: \"" << v << "\"}\n";
  }
  y << "check: {golden: \"" << golden << "\", gate: " << gate << "}\n"
    << "output: {o: o.npy}\ntrace: none\n";
  return y.str();
}

AttentionOutcome run_attention(const AttentionRun& run) {
  const TemporaryFolder folder;
  folder.write("run.yaml", run.yaml());
  std::vector<std::string> args = {"--config", "run.yaml", "--quiet", "--out", "out"};
  args.insert(args.end(), run.options.begin(), run.options.end());
  const ProcessResult process = run_platform(args, folder.path());
  AttentionOutcome outcome;
  outcome.status = process.status;
  outcome.err = process.err;
  if (std::filesystem::exists(folder.file("out/result.json"))) {
    outcome.result = nlohmann::ordered_json::parse(read_file(folder.file("out/result.json")));
  }
  const std::string o = folder.file("out/o.npy");
  if (std::filesystem::exists(o)) {
    outcome.o_file = read_file(o);
    outcome.o = platform::load_golden(o, run.shape);
  }
  return outcome;
}

AttentionOutcome expect_right(const AttentionRun& run, bool finite) {
  const AttentionOutcome outcome = run_attention(run);
  SCOPED_TRACE(run.yaml());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  if (outcome.result.is_null()) {
    ADD_FAILURE() << "no result.json";
    return outcome;
  }
  const nlohmann::ordered_json& check = outcome.result.at("check");
  EXPECT_EQ(check.at("status"), "pass");
  EXPECT_EQ(check.value("gate", ""), run.gate);
  const std::int64_t rows = run.shape.batch * run.shape.q_heads * run.shape.t_q;
  EXPECT_EQ(check.value("rows_checked", std::int64_t{0}), rows);
  EXPECT_TRUE(check.at("replicas_agree").get<bool>());
  if (finite) {
    EXPECT_EQ(check.at("nonfinite_on_links"), 0);
  }
  EXPECT_EQ(outcome.o.size(), static_cast<std::size_t>(rows * run.shape.d));
  return outcome;
}

AttentionOutcome expect_check_fails(const AttentionRun& run) {
  const AttentionOutcome outcome = run_attention(run);
  SCOPED_TRACE(run.yaml());
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_EQ(outcome.result.is_null() ? "" : outcome.result.at("check").at("status"), "fail");
  return outcome;
}

}  // namespace cubevp::test
