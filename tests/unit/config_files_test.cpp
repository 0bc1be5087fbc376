// SPDX-License-Identifier: Apache-2.0
// Files that other files name, and files that cannot be read.
#include <filesystem>

#include "firmware/kernels/kernels.h"
#include "platform/known_names.h"
#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

/// A working directory for as long as the object lives.
class WorkIn {
 public:
  explicit WorkIn(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~WorkIn() { std::filesystem::current_path(before_); }
  WorkIn(const WorkIn&) = delete;
  WorkIn& operator=(const WorkIn&) = delete;

 private:
  std::filesystem::path before_;
};

class ConfigFiles : public ConfigTest {
 protected:
  static constexpr const char* kWorkload = "workload: {kernel: attention_mesh_mlo, context: 64}\n";
  static constexpr const char* kTwoCubes =
      "base: tiny\npackage: {columns: 2, rows: 1}\nsystem: {packages_x: 1, packages_y: 1}\n";

  RunConfig load_file(const std::string& path, const std::vector<std::string>& overrides = {}) {
    return load_run_config(path, overrides, known(), {source_dir() + "/configs"});
  }
  Lines machine_errors(const std::string& preset, const std::vector<std::string>& overrides = {}) {
    try {
      load_hardware(preset, overrides, {source_dir() + "/configs"});
    } catch (const ConfigError& e) {
      return e.lines();
    }
    return {};
  }
};

TEST_F(ConfigFiles, AnEmptyNameIsNoPreset) {
  const Lines at_name = errors(std::string("hardware: \"\"\n") + kWorkload);
  ASSERT_EQ(at_name.size(), 1U);
  EXPECT_EQ(at_name[0].find("run.yaml:1:11: hardware: expected the name of a preset"), 0U)
      << at_name[0];
  const Lines at_base = errors(std::string("hardware: {base: \"\"}\n") + kWorkload);
  ASSERT_EQ(at_base.size(), 1U);
  EXPECT_EQ(at_base[0].find("run.yaml:1:18: hardware.base: expected the name of a preset"), 0U)
      << at_base[0];
  const Lines alone = machine_errors("");
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].find("--hardware: expected the name of a preset"), 0U) << alone[0];
}

TEST_F(ConfigFiles, NoPresetAtAllIsTheDefaultMachine) {
  const RunConfig c = load(kWorkload);
  EXPECT_EQ(c.hardware_name, "cube64_hbm4");
  EXPECT_EQ(c.hardware.cubes(), 64U);
}

TEST_F(ConfigFiles, ARunFileMayHaveThePresetsName) {
  const std::string tiny = folder_.write("tiny.yaml", run());
  EXPECT_EQ(load_file(tiny).hardware.cubes(), 8U);
  const std::string main = folder_.write("cube64_hbm4.yaml", kWorkload);
  EXPECT_EQ(load_file(main).hardware.cubes(), 64U);
}

TEST_F(ConfigFiles, APresetStartsFromItsNeighbour) {
  folder_.write("machines/mine.yaml", "base: tiny\n");
  folder_.write("machines/tiny.yaml", "base: cube64_hbm4\nsystem: {packages_x: 1}\n");
  const RunConfig c = load(std::string("hardware: machines/mine\n") + kWorkload);
  EXPECT_EQ(c.hardware.cubes(), 32U);
  EXPECT_EQ(c.hardware_name, "mine");
}

TEST_F(ConfigFiles, APathOfItselfInOtherWordsIsACircle) {
  folder_.write("l.yaml", "base: ./l.yaml\n");
  EXPECT_EQ(errors(std::string("hardware: ./l.yaml\n") + kWorkload),
            (Lines{"l.yaml:1:7: hardware.base: expected a preset that does not start from itself, "
                   "got \"./l.yaml\""}));
  std::filesystem::create_directory_symlink(".", folder_.file("again"));
  folder_.write("m.yaml", "base: again/m.yaml\n");
  const Lines found = errors(std::string("hardware: m.yaml\n") + kWorkload);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find("m.yaml:1:7: "), 0U) << found[0];
}

TEST_F(ConfigFiles, SetReplacesTheMachine) {
  const std::string text = "hardware: {base: cube64_hbm4, noc: {hop_cycles: 3}}\n";
  const RunConfig c = load(text + kWorkload, {"hardware=tiny"});
  EXPECT_EQ(c.hardware_name, "tiny");
  EXPECT_EQ(c.hardware.cubes(), 8U);
  EXPECT_EQ(c.hardware.noc.hop_cycles, 9U);  // the preset's, not what the file changed
  const RunConfig based = load(text + kWorkload, {"hardware.base=tiny"});
  EXPECT_EQ(based.hardware.cubes(), 8U);
  EXPECT_EQ(based.hardware.noc.hop_cycles, 3U);
  const RunConfig mapped = load(text + kWorkload, {"hardware={base: tiny, noc: {planes: 1}}"});
  EXPECT_EQ(mapped.hardware.cubes(), 8U);
  EXPECT_EQ(mapped.hardware.noc.planes, 1U);
  // Order on the command line is of no concern: values are applied to the machine.
  const RunConfig before = load(text + kWorkload, {"hardware.noc.planes=1", "hardware=tiny"});
  EXPECT_EQ(before.hardware.noc.planes, 1U);
  EXPECT_EQ(before.hardware.cubes(), 8U);
}

TEST_F(ConfigFiles, SetNamesNoPreset) {
  for (const char* text : {"hardware=tiyn", "hardware.base=tiyn", "hardware=./tiyn.yaml"}) {
    const Lines found = errors(run(), {text});
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found[0].find("--set: hardware"), 0U) << found[0];
    EXPECT_NE(found[0].find("expected the name of a preset such as tiny, got "), std::string::npos)
        << found[0];
  }
}

TEST_F(ConfigFiles, PathsOfSetStartInTheWorkingDirectory) {
  const std::string file = folder_.write("runs/run.yaml", kWorkload);
  folder_.write("here/two.yaml", kTwoCubes);
  folder_.write("runs/beside.yaml", kTwoCubes);
  folder_.write("here/q.npy", "");
  const WorkIn here(folder_.file("here"));
  EXPECT_EQ(load_file(file, {"hardware=./two.yaml"}).hardware.cubes(), 2U);
  EXPECT_EQ(load_file(file, {"hardware.base=two.yaml"}).hardware.cubes(), 2U);
  EXPECT_EQ(load_file(file, {"hardware=beside.yaml"}).hardware.cubes(), 2U);
  const RunConfig c = load_file(file, {"input={q: q.npy, k: k.npy, v: v.npy}"});
  EXPECT_EQ(c.input.q, (std::filesystem::current_path() / "q.npy").string());
}

TEST_F(ConfigFiles, WhatAnUnreadPresetWouldHaveSaidIsNotTold) {
  // Neither 16 ranks nor these keys fit the default machine.
  const std::string workload =
      "workload: {kernel: attention_mesh_mlo, context: 1000000000, ranks: 16}\n";
  folder_.write("hardware/empty.yaml", "");
  folder_.write("hardware/broken.yaml", "noc: {columns: 4\n");
  for (const char* preset : {"empty", "broken", "absent", "{base: absent}"}) {
    const Lines found = errors(std::string("hardware: ") + preset + "\n" + workload);
    EXPECT_EQ(found.size(), 1U) << preset << ": " << testing::PrintToString(found);
  }
  EXPECT_EQ(errors("hardware: tiny\nworkload: 5\n"),
            (Lines{"run.yaml:2:11: workload: expected a mapping, got \"5\""}));
}

TEST_F(ConfigFiles, AMachineAloneNamesWhoSaidSo) {
  const std::string preset = folder_.write("three.yaml", "noc: {columns: 3, rows: 1}\n");
  EXPECT_EQ(machine_errors(preset),
            (Lines{"--hardware: hardware.hbm.channels: expected a multiple of the 3 stops of the "
                   "NoC, got \"32\""}));
  EXPECT_EQ(machine_errors(preset, {"hardware.hbm.channels=31"}),
            (Lines{"--set: hardware.hbm.channels: expected a multiple of the 3 stops of the NoC, "
                   "got \"31\""}));
  EXPECT_EQ(machine_errors(preset, {"hardware.hbm.channels=33"}), Lines{});
}

TEST_F(ConfigFiles, TextIsUtf8) {
  EXPECT_EQ(load(run("# Gr\xc3\xb6\xc3\x9f"
                     "e \xe2\x82\xac \xf0\x9f\x98\x80\n"))
                .name,
            "run");
  // Latin-1, a lone continuation, a surrogate, too long a zero, beyond U+10FFFF, cut short.
  for (const char* bytes :
       {"\xf6", "\x80", "\xed\xa0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const Lines found = errors(run(std::string("# ") + bytes));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].find("run.yaml:5:3: expected UTF-8, got the byte 0x"), 0U) << found[0];
  }
  EXPECT_EQ(errors(run(), {"output.o=\xf6.npy"}),
            (Lines{"--set: expected UTF-8, got the byte 0xf6"}));
}

TEST_F(ConfigFiles, MountainsOfBracketsAreAnError) {
  EXPECT_EQ(errors("a: " + std::string(100000, '[')).size(), 1U);
  std::string steps;
  for (int i = 0; i < 1500; ++i) {
    steps += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  }
  EXPECT_EQ(errors(steps).size(), 1U);
  EXPECT_EQ(errors(run("# " + std::string(5 << 20, 'x'))),
            (Lines{"run.yaml:1:1: expected a YAML file, got something else"}));
  // A mapping that holds itself.
  EXPECT_EQ(errors(run("frogs: &f {frogs: *f}\n")),
            (Lines{"run.yaml:5:1: frogs: unknown key, did you mean \"trace\"?"}));
}

TEST_F(ConfigFiles, AKeyThatIsNoText) {
  EXPECT_EQ(errors(run("? [a]\n: 1\n")), (Lines{"run.yaml:5:3: expected a key, got a list"}));
  EXPECT_EQ(errors(run("<<: {name: x}\n")),
            (Lines{"run.yaml:5:1: <<: unknown key, did you mean \"name\"?"}));
}

TEST_F(ConfigFiles, ARunIsNamedAfterItsFile) {
  EXPECT_EQ(load_file(folder_.write("a run, mine.yaml", run())).name, "a_run__mine");
  EXPECT_EQ(load_file(folder_.write(".hidden.yaml", run())).name, "run");
}

TEST_F(ConfigFiles, AFileIsFoundWithoutItsEnding) {
  const std::string path = folder_.write("mine.yaml", run());
  const std::vector<std::string> paths = {folder_.path()};
  EXPECT_EQ(find_config("mine", paths), path);
  EXPECT_EQ(find_config("mine.yaml", paths), path);
  EXPECT_EQ(find_config(folder_.file("mine"), {}), path);
  EXPECT_THROW(find_config("mine", {}), IoError);
  EXPECT_THROW(find_config("", paths), IoError);
}

TEST_F(ConfigFiles, TheWorkingDirectoryComesBeforeTheShippedFiles) {
  folder_.write("llama70b_decode.yaml", run());
  const WorkIn here(folder_.path());
  EXPECT_EQ(load_file("llama70b_decode.yaml").hardware.cubes(), 8U);
}

// With the names there are: of kernels, of their parameters and of distributions.
TEST_F(ConfigFiles, ShippedRunsUseNamesThereAre) {
  tl::KernelRegistry kernels;
  kernels::register_kernels(kernels);
  const std::vector<std::string> paths = {source_dir() + "/configs"};
  for (const ListedConfig& c : list_configs(paths)) {
    const RunConfig config = load_run_config(c.path, {}, known_names(kernels), paths);
    EXPECT_TRUE(config.workload.extra_params.empty()) << c.name;
  }
  // The same names refuse what is not one of them.
  const std::string file = folder_.write("run.yaml", run("", "  params: {frogs: 1}\n"));
  EXPECT_THROW(load_run_config(file, {}, known_names(kernels), paths), ConfigError);
}

}  // namespace
}  // namespace cubevp::platform
