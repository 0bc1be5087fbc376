// SPDX-License-Identifier: Apache-2.0
// Where a machine's values come from: defaults, preset, its base, the run file.
#include "tests/unit/config_fixture.h"

namespace cubevp::platform {
namespace {

class ConfigPresets : public ConfigTest {
 protected:
  static std::string with(const std::string& hardware) {
    return "hardware: " + hardware + "\nworkload: {kernel: attention_mesh_mlo, context: 64}\n";
  }
};

TEST_F(ConfigPresets, InlineValuesChangeTheBase) {
  const RunConfig base = load(with("cube64_hbm4"));
  const RunConfig c = load(with("{base: cube64_hbm4, pe: {gemm: {rows: 64}}}"));
  EXPECT_EQ(c.hardware.pe.gemm.rows, 64U);
  EXPECT_NE(base.hardware.pe.gemm.rows, 64U);
  EXPECT_EQ(c.hardware.pe.gemm.cols, base.hardware.pe.gemm.cols);
  EXPECT_EQ(c.hardware.cubes(), 64U);
}

TEST_F(ConfigPresets, BesideTheRunFileComesFirst) {
  folder_.write("hardware/tiny.yaml",
                "base: cube64_hbm4\npackage: {columns: 2, rows: 1}\n"
                "system: {packages_x: 1, packages_y: 1}\n");
  EXPECT_EQ(load(with("tiny")).hardware.cubes(), 2U);
  EXPECT_EQ(load(with("./hardware/tiny.yaml")).hardware.cubes(), 2U);
}

TEST_F(ConfigPresets, BasesOfBases) {
  folder_.write("hardware/a.yaml", "base: b\nnoc: {hop_cycles: 5}\n");
  folder_.write("hardware/b.yaml", "base: tiny\nnoc: {hop_cycles: 4, buffer_packets: 7}\n");
  const RunConfig c = load(with("a"));
  EXPECT_EQ(c.hardware.noc.hop_cycles, 5U);
  EXPECT_EQ(c.hardware.noc.buffer_packets, 7U);
  EXPECT_EQ(c.hardware.cubes(), 8U);
}

TEST_F(ConfigPresets, APresetThatStartsFromItself) {
  folder_.write("hardware/a.yaml", "base: b\n");
  folder_.write("hardware/b.yaml", "base: a\n");
  const Lines found = errors(with("a"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("expected a preset that does not start from itself"), std::string::npos)
      << found[0];
  EXPECT_EQ(found[0].find("hardware/b.yaml:1:7: "), 0U) << found[0];
}

TEST_F(ConfigPresets, UnknownPresetNamesTheNearest) {
  const Lines found = errors(with("cube64_hbm5"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find("run.yaml:1:11: hardware: expected the name of a preset"), 0U)
      << found[0];
  EXPECT_NE(found[0].find("cube64_hbm4"), std::string::npos) << found[0];
  EXPECT_EQ(errors(with("{base: [tiny]}")),
            (Lines{"run.yaml:1:18: hardware.base: expected the name of a preset, got a list"}));
}

TEST_F(ConfigPresets, ErrorsInAPresetNameItsFile) {
  folder_.write("hardware/a.yaml", "base: tiny\nnoc:\n  colums: 4\n");
  const Lines found = errors(with("a"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find("hardware/a.yaml:3:3: "), 0U) << found[0];
  EXPECT_NE(found[0].find("did you mean \"columns\"?"), std::string::npos) << found[0];
}

// One clock for all units of a PE.
TEST_F(ConfigPresets, ThePesClockIsThatOfItsUnits) {
  const hw::PeConfig pe = load(with("tiny"), {"hardware.pe.clock=2 GHz"}).hardware.pe;
  for (const Clock& clock : {pe.cpu.clock, pe.command_processor.clock, pe.dma.clock, pe.gemm.clock,
                             pe.vector.clock, pe.scratchpad.clock, pe.message_queue.clock}) {
    EXPECT_EQ(clock.hz, 2e9);
  }
}

TEST_F(ConfigPresets, PIsRoundedAsIoUnlessSaid) {
  EXPECT_EQ(load(run(), {"numerics.io=bf16"}).numerics.p, DType::bf16);
  EXPECT_EQ(load(run(), {"numerics.io=bf16", "numerics.p=f32"}).numerics.p, DType::f32);
}

TEST_F(ConfigPresets, FilesLieBesideTheRunFile) {
  const std::string q = folder_.write("q.npy", "");
  const RunConfig c = load(run("input: {q: q.npy, k: k.npy, v: v.npy}\n"));
  EXPECT_EQ(c.input.q, q);
  EXPECT_EQ(c.input.k, folder_.file("k.npy"));
  EXPECT_EQ(c.input.generate, "");
}

TEST_F(ConfigPresets, AMachineAlone) {
  const hw::SystemConfig s =
      load_hardware("tiny", {"hardware.noc.hop_cycles=9"}, {source_dir() + "/configs"});
  EXPECT_EQ(s.noc.hop_cycles, 9U);
  EXPECT_EQ(s.cubes(), 8U);
  EXPECT_THROW(load_hardware("none", {}, {source_dir() + "/configs"}), ConfigError);
}

}  // namespace
}  // namespace cubevp::platform
