// SPDX-License-Identifier: Apache-2.0
// What is said about files that are no configuration: where, what was expected, what was there.
#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

class ConfigYaml : public ConfigTest {};

TEST_F(ConfigYaml, TheLeastRunLoads) {
  EXPECT_EQ(errors(run()), Lines{});
  const RunConfig c = load(run());
  EXPECT_EQ(c.name, "run");
  EXPECT_EQ(c.hardware_name, "tiny");
  EXPECT_EQ(c.workload.context, 64);
  EXPECT_EQ(c.hardware.cubes(), 8U);
}

TEST_F(ConfigYaml, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(errors(run("limits: {simtime: 1 s}\n")),
            (Lines{"run.yaml:5:10: limits.simtime: unknown key, did you mean \"sim_time\"?"}));
}

TEST_F(ConfigYaml, KeyInTheWrongPlaceNamesTheRightOne) {
  const Lines found = errors(run("head_dim: 64\n"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("run.yaml:5:1: head_dim: unknown key"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("workload.head_dim"), std::string::npos) << found[0];
}

TEST_F(ConfigYaml, WrongTypes) {
  EXPECT_EQ(errors(run("", "  q_heads: -4\n")),
            (Lines{"run.yaml:5:12: workload.q_heads: expected a positive integer, got \"-4\""}));
  EXPECT_EQ(errors(run("", "  q_heads: [1, 2]\n")),
            (Lines{"run.yaml:5:12: workload.q_heads: expected a positive integer, got a list"}));
  EXPECT_EQ(errors(run("", "  q_heads:\n")),
            (Lines{"run.yaml:5:3: workload.q_heads: expected a positive integer, got nothing"}));
  EXPECT_EQ(errors(run("", "  causal: yes\n")),
            (Lines{"run.yaml:5:11: workload.causal: expected true or false, got \"yes\""}));
  const Lines section = errors(run("limits: 4\n"));
  ASSERT_EQ(section.size(), 1U);
  EXPECT_NE(section[0].find("run.yaml:5:9: limits: expected a mapping"), std::string::npos)
      << section[0];
}

TEST_F(ConfigYaml, MissingUnit) {
  EXPECT_EQ(errors(run("limits: {sim_time: 1}\n")),
            (Lines{"run.yaml:5:20: limits.sim_time: expected a time with a unit (ps, ns, us, ms, "
                   "s), got \"1\""}));
}

TEST_F(ConfigYaml, UnknownNameNamesTheNearest) {
  const Lines found = errors("hardware: tiny\nworkload: {kernel: atention_mesh_mlo, context: 8}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find("run.yaml:2:20: workload.kernel: "), 0U) << found[0];
  EXPECT_NE(found[0].find("attention_mesh_mlo"), std::string::npos) << found[0];
}

TEST_F(ConfigYaml, AllErrorsAtOnceInTheOrderOfTheLines) {
  const Lines found =
      errors(run("limits: {sim_time: 1}\ninput: {sed: 1}\n", "  q_heads: 3.5\n  head_dim: 0\n"));
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].find("run.yaml:5:12: workload.q_heads: "), 0U) << found[0];
  EXPECT_EQ(found[1].find("run.yaml:6:13: workload.head_dim: "), 0U) << found[1];
  EXPECT_EQ(found[2].find("run.yaml:7:20: limits.sim_time: "), 0U) << found[2];
  EXPECT_EQ(found[3].find("run.yaml:8:9: input.sed: unknown key, did you mean \"seed\"?"), 0U)
      << found[3];
}

TEST_F(ConfigYaml, RepeatedKey) {
  EXPECT_EQ(errors(run("", "  context: 128\n")),
            (Lines{"run.yaml:5:3: workload.context: expected each key once, got a second one (the "
                   "first is in line 4)"}));
}

TEST_F(ConfigYaml, NoMapping) {
  EXPECT_EQ(errors(""), (Lines{"run.yaml:1:1: expected a mapping of keys, got nothing"}));
  EXPECT_EQ(errors("- a\n"), (Lines{"run.yaml:1:1: expected a mapping of keys, got a list"}));
  EXPECT_EQ(errors("llama\n"), (Lines{"run.yaml:1:1: expected a mapping of keys, got \"llama\""}));
  EXPECT_EQ(errors("a: 1\n---\nb: 2\n"),
            (Lines{"run.yaml:3:1: expected one YAML document, got more"}));
  EXPECT_EQ(errors(std::string("a\0b", 3)),
            (Lines{"run.yaml:1:1: expected a YAML file, got something else"}));
}

TEST_F(ConfigYaml, BrokenYamlSaysWhere) {
  for (const char* text : {"a: [1, 2\n", "a: b: c\n", "a: *b\n"}) {
    const Lines found = errors(text);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_NE(found[0].find(": not valid YAML: "), std::string::npos) << found[0];
    EXPECT_EQ(found[0].find("run.yaml:"), 0U) << found[0];
  }
}

TEST_F(ConfigYaml, TabsAndBytesThatAreNoText) {
  EXPECT_EQ(errors("workload:\n\tcontext: 1\n"),
            (Lines{"run.yaml:2:1: expected spaces to indent with, got a tab"}));
  EXPECT_EQ(errors("name: caf\xe9\n"), (Lines{"run.yaml:1:10: expected UTF-8, got the byte 0xe9"}));
  EXPECT_EQ(errors("name: \xc0\x80\n"), (Lines{"run.yaml:1:7: expected UTF-8, got the byte 0xc0"}));
}

TEST_F(ConfigYaml, AnchorsAndLineEndingsOfOthers) {
  EXPECT_EQ(load("hardware: tiny\r\nworkload: {kernel: attention_mesh_mlo, context: 8}\r\n")
                .workload.context,
            8);
  EXPECT_EQ(load("hardware: tiny\nworkload: {kernel: attention_mesh_mlo, context: &n 32, "
                 "new_tokens: *n}\n")
                .workload.new_tokens,
            32);
  EXPECT_EQ(load("\xEF\xBB\xBF" + run()).workload.context, 64);
}

TEST_F(ConfigYaml, MissingFileNamesTheNearest) {
  EXPECT_THROW(load_run_config(folder_.file("none.yaml"), {}, known(), {}), IoError);
  try {
    load_run_config("llama70b_decod.yaml", {}, known(), {source_dir() + "/configs"});
    FAIL() << "found";
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find("llama70b_decode"), std::string::npos) << e.what();
  }
  EXPECT_THROW(load_run_config(folder_.path(), {}, known(), {}), IoError);
}

TEST_F(ConfigYaml, Overrides) {
  EXPECT_EQ(load(run(), {"workload.context=128"}).workload.context, 128);
  EXPECT_EQ(load(run(), {"workload.context=128", "workload.context=256"}).workload.context, 256);
  EXPECT_EQ(load(run(), {"hardware.pe.gemm.rows=32"}).hardware.pe.gemm.rows, 32U);
  EXPECT_EQ(load(run(), {"trace.scope=[\"cube0.*\", \"cube1.*\"]"}).trace.scope.size(), 2U);
  EXPECT_FALSE(load(run(), {"trace=none"}).trace.enabled);
  EXPECT_EQ(load(run(), {"hardware=cube64_hbm4"}).hardware.cubes(), 64U);
  EXPECT_EQ(errors(run(), {"workload.context=-1"}),
            (Lines{"--set: workload.context: expected a positive integer, got \"-1\""}));
  EXPECT_EQ(errors(run(), {"workload.contxt=1"}),
            (Lines{"--set: workload.contxt: unknown key, did you mean \"context\"?"}));
  for (const char* text : {"workload.context", "=1", "workload..context=1", ".=1"}) {
    EXPECT_EQ(errors(run(), {text}),
              (Lines{std::string("--set: expected dotted.key=value, got \"") + text + "\""}));
  }
}

TEST_F(ConfigYaml, ParametersOfAKernelOfTheUsers) {
  const std::string text =
      "hardware: tiny\nworkload: {kernel: mine, context: 8, params: {alpha: 0.5, pack: false}}\n";
  const RunConfig c = load(text);
  EXPECT_EQ(c.workload.extra_params, (std::map<std::string, double>{{"alpha", 0.5}}));
  EXPECT_FALSE(c.workload.pack);
  EXPECT_EQ(errors(run("", "  params: {alpha: 0.5}\n")).size(), 1U);
  EXPECT_EQ(errors("hardware: tiny\nworkload: {kernel: mine, context: 8, params: {a: x}}\n").size(),
            1U);
}

}  // namespace
}  // namespace cubevp::platform
