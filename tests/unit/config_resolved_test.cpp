// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>

#include "platform/config/sha256.h"
#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

// FIPS 180-4's examples, and the ends of a block.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class ConfigResolved : public ConfigTest {};

TEST_F(ConfigResolved, ReadsBackAsTheSame) {
  const std::vector<std::vector<std::string>> variants = {
      {},
      {"trace=none", "check=none"},
      {"workload.softmax_scale=0.1", "workload.softcap=30.5", "workload.rank_axis=cube"},
      {"trace.stop=12.345 ns", "trace.scope=[\"a*\", \"b: c\", \"#d\"]", "numerics.p=f32"},
      {"hardware.pe.clock=1.23456789 GHz", "hardware.link.bandwidth=333.3 GB/s"},
      {"limits.wall_time=0.1 s", "input.seed=18446744073709551615", "output.o=o.npy"},
      {"workload.params.exchange=f16", "workload.params.shard=zigzag"}};
  for (const auto& overrides : variants) {
    const RunConfig first = load(run(), overrides);
    const std::string text = to_yaml(first);
    const RunConfig second = load(text);
    EXPECT_EQ(to_yaml(second), text);
    EXPECT_EQ(config_sha256(second), config_sha256(first));
  }
}

// Texts that YAML would take for something else, or that end a quoted one.
TEST_F(ConfigResolved, AwkwardTextsReadBack) {
  const std::string scope = R"(trace.scope=['a\b"c', "no", "*", "# x", "x: y"])";
  const RunConfig first = load(run(), {"trace.vcd=\"null\"", scope, "output.o=ö \\.npy"});
  ASSERT_EQ(first.trace.vcd, "null");
  ASSERT_EQ(first.trace.scope, (Lines{R"(a\b"c)", "no", "*", "# x", "x: y"}));
  ASSERT_EQ(first.output_o, "ö \\.npy");
  const RunConfig second = load(to_yaml(first));
  EXPECT_EQ(second.trace.vcd, first.trace.vcd);
  EXPECT_EQ(second.trace.scope, first.trace.scope);
  EXPECT_EQ(second.output_o, first.output_o);
}

TEST_F(ConfigResolved, ParametersOfTheUsersKernelReadBack) {
  const RunConfig first = load(run(), {"workload.kernel=mine", "workload.params.null=0.1",
                                       "workload.params.7=-1e-30", "workload.params.gain=1e300"});
  const RunConfig second = load(to_yaml(first));
  EXPECT_EQ(second.workload.extra_params,
            (std::map<std::string, double>{{"null", 0.1}, {"7", -1e-30}, {"gain", 1e300}}));
  EXPECT_EQ(config_sha256(second), config_sha256(first));
}

TEST_F(ConfigResolved, TheHashIsOfEverything) {
  const std::string base = config_sha256(load(run()));
  for (const char* change :
       {"workload.context=65", "input.seed=2", "hardware.hbm.timing.tcl=99 ns", "name=other",
        "hardware.link.bandwidth=1 GB/s", "numerics.p=f32", "trace.start=1 ps"}) {
    EXPECT_NE(config_sha256(load(run(), {change})), base) << change;
  }
  EXPECT_EQ(config_sha256(load(run(), {"workload.q_heads=1"})), base);
}

TEST_F(ConfigResolved, ThePresetNoLongerMatters) {
  const std::string text = to_yaml(load(run()));
  const RunConfig c = load_run_config(folder_.write("moved.yaml", text), {}, known(), {});
  EXPECT_EQ(c.hardware.cubes(), 8U);
  EXPECT_EQ(to_yaml(c), text);
}

TEST_F(ConfigResolved, EveryShippedConfigurationLoads) {
  const std::vector<std::string> paths = {source_dir() + "/configs"};
  const std::vector<ListedConfig> configs = list_configs(paths);
  EXPECT_GE(configs.size(), 6U);
  for (const ListedConfig& c : configs) {
    EXPECT_EQ(load_run_config(c.name, {}, Known{}, paths).name, c.name);
  }
  const std::vector<ListedConfig> presets = list_presets(paths);
  EXPECT_GE(presets.size(), 4U);
  for (const ListedConfig& p : presets) {
    EXPECT_GE(load_hardware(p.name, {}, paths).cubes(), 1U);
  }
}

// The machine that the project is for.
TEST_F(ConfigResolved, TheMainRunIsLlama70b) {
  const RunConfig c =
      load_run_config("llama70b_decode.yaml", {}, Known{}, {source_dir() + "/configs"});
  EXPECT_EQ(c.hardware.cubes(), 64U);
  EXPECT_EQ(c.hardware.pes_per_cube(), 8U);
  EXPECT_EQ(c.workload.q_heads, 64);
  EXPECT_EQ(c.workload.kv_heads, 8);
  EXPECT_EQ(c.workload.head_dim, 128);
  EXPECT_EQ(c.workload.context, 8192);
  EXPECT_EQ(c.workload.new_tokens, 1);
}

// CUBEVP_REGENERATE=1 writes the file instead.
TEST_F(ConfigResolved, TheReferenceIsUpToDate) {
  const std::string path = source_dir() + "/docs/config.md";
  if (std::getenv("CUBEVP_REGENERATE") != nullptr) {
    std::ofstream(path) << config_reference_markdown();
  }
  EXPECT_EQ(test::read_file(path), config_reference_markdown())
      << "run with CUBEVP_REGENERATE=1 to write " << path;
}

TEST_F(ConfigResolved, TheReferenceHasEveryKeyOfAResolvedFile) {
  const std::string reference = config_reference_markdown();
  std::istringstream lines(to_yaml(load(run())));
  int keys = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    if (start == std::string::npos || line[start] == '#' || colon == std::string::npos) {
      continue;
    }
    const std::string key = line.substr(start, colon - start);
    const bool section = colon + 1 == line.size() || key == "output";
    const bool found = section ? reference.find(key + "\n") != std::string::npos
                               : reference.find("| `" + key + "` |") != std::string::npos;
    EXPECT_TRUE(found) << key;
    ++keys;
  }
  EXPECT_GT(keys, 100);
}

}  // namespace
}  // namespace cubevp::platform
