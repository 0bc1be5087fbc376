// SPDX-License-Identifier: Apache-2.0
// Every case of the golden data that the run file can express, on the simulated machine: inputs and
// expected output come from files, none of them made by the platform.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "tests/golden/golden_cases.h"
#include "tests/integration/attention_run.h"

namespace cubevp::test {
namespace {

using platform::TensorRole;

struct GoldenRun {
  std::string name;
  GoldenCase golden;
  AttentionRun run;
};
void PrintTo(const GoldenRun& r, std::ostream* out) {
  *out << r.name;
}

/// What a case's mask is for a run file, whose causal mask lets the last query see all keys.
enum class Mask { none, bottom_right, other };

Mask mask_of(const GoldenCase& c) {
  if (!c.options.causal) {
    return Mask::none;
  }
  const std::int64_t last = c.shape.s_kv - c.shape.t_q;
  const std::int64_t offset = c.options.offset.value_or(last);
  if (offset == last) {
    return Mask::bottom_right;
  }
  return offset >= c.shape.s_kv - 1 ? Mask::none : Mask::other;
}

AttentionRun run_of(const GoldenCase& c) {
  AttentionRun run;
  run.shape = c.shape;
  run.causal = mask_of(c) != Mask::none;
  run.scale = c.options.scale;
  run.softcap = c.options.softcap;
  run.q = c.q;
  run.k = c.k;
  run.v = c.v;
  run.golden = c.o;
  return run;
}

/// Placements and parameters alternate over the cases, each at its own pace.
AttentionRun decode_run(const std::string& kernel, const GoldenCase& c, std::size_t i) {
  AttentionRun run = run_of(c);
  run.kernel = kernel;
  run.ranks = 2 + static_cast<std::int64_t>(i % 3);
  if (kernel == "attention_tree_mlo" && run.ranks == 3) {
    run.ranks = 4;  // takes powers of two only
  }
  run.axis = i / 3 % 2 == 0 ? "pe" : "cube";
  run.params = std::string("gemm: ") + (i / 4 % 2 == 0 ? "dot" : "composite") +
               ", overlap: " + (i / 5 % 2 == 0 ? "async" : "none") +
               ", pack: " + (i / 7 % 2 == 0 ? "true" : "false") +
               ", tile_keys: " + (i % 5 < 3 ? "0" : "8");
  return run;
}
AttentionRun mesh_run(const GoldenCase& c, std::size_t i) {
  return decode_run("attention_mesh_mlo", c, i);
}
AttentionRun ring_run(const GoldenCase& c, std::size_t i) {
  return decode_run("attention_ring_mlo", c, i + 1);
}
AttentionRun tree_run(const GoldenCase& c, std::size_t i) {
  return decode_run("attention_tree_mlo", c, i + 2);
}

AttentionRun prefill_run(const GoldenCase& c, std::size_t i) {
  constexpr std::array kShards = {"contiguous", "striped", "zigzag"};
  AttentionRun run = run_of(c);
  run.kernel = "gqa_prefill_ring";
  run.axis = "cube";
  run.ranks = 2 + static_cast<std::int64_t>(i / 2 % 3);
  run.params = std::string("shard: ") + kShards[i % kShards.size()] +
               ", gemm: " + (i / 3 % 2 == 0 ? "dot" : "composite") +
               ", overlap: " + (i / 5 % 2 == 0 ? "async" : "none") +
               ", pe_tiling: " + (i / 7 % 2 == 0 ? "true" : "false") +
               ", tile_keys: " + (i % 5 < 3 ? "0" : "8");
  return run;
}

template <class MakeRun>
std::vector<GoldenRun> runs(const MakeRun& make, bool expressible) {
  std::vector<GoldenRun> all;
  std::size_t i = 0;
  for (const GoldenCase& c : golden_cases()) {
    if ((mask_of(c) != Mask::other) != expressible) {
      continue;
    }
    const AttentionRun run = make(c, i++);
    all.push_back({c.name + "_" + run.axis + std::to_string(run.ranks), c, run});
  }
  return all;
}

bool inputs_are_finite(const GoldenCase& c) {
  const platform::LoadedInputs loaded = c.inputs();
  return std::all_of(std::begin(platform::kTensorRoles), std::end(platform::kTensorRoles),
                     [&](TensorRole role) {
                       const std::vector<std::uint16_t>& bits = loaded.inputs.tensor(role).bits;
                       return std::all_of(bits.begin(), bits.end(),
                                          [](std::uint16_t b) { return (b & 0x7c00U) != 0x7c00U; });
                     });
}

class GoldenFiles : public ::testing::TestWithParam<GoldenRun> {};

TEST_P(GoldenFiles, AreMet) {
  expect_right(GetParam().run, inputs_are_finite(GetParam().golden));
}

class OtherMasks : public ::testing::TestWithParam<GoldenRun> {};

/// Outputs under masks that are aligned otherwise, against a causal run: the check must tell.
TEST_P(OtherMasks, FailTheCheck) {
  expect_check_fails(GetParam().run);
}

TEST(GoldenFileList, IsWhatTheManifestsHold) {
  // A manifest that cannot be read, or masks that nobody recognises, must not leave nothing to do.
  EXPECT_GE(runs(mesh_run, true).size(), 90U);
  EXPECT_EQ(runs(mesh_run, false).size(), 6U);
}

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Mesh, GoldenFiles, ::testing::ValuesIn(runs(mesh_run, true)), kName);
INSTANTIATE_TEST_SUITE_P(Ring, GoldenFiles, ::testing::ValuesIn(runs(ring_run, true)), kName);
INSTANTIATE_TEST_SUITE_P(Tree, GoldenFiles, ::testing::ValuesIn(runs(tree_run, true)), kName);
INSTANTIATE_TEST_SUITE_P(Prefill, GoldenFiles, ::testing::ValuesIn(runs(prefill_run, true)), kName);
INSTANTIATE_TEST_SUITE_P(Decode, OtherMasks, ::testing::ValuesIn(runs(mesh_run, false)), kName);
INSTANTIATE_TEST_SUITE_P(Prefill, OtherMasks, ::testing::ValuesIn(runs(prefill_run, false)), kName);

}  // namespace
}  // namespace cubevp::test
