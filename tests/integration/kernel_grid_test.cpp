// SPDX-License-Identifier: Apache-2.0
// Every kernel on the simulated machine over the shapes, placements and parameters that users
// combine. Not every combination runs, but every pair of values of any two factors does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/attention_run.h"

namespace cubevp::test {
namespace {

struct GridCase {
  std::string name;
  AttentionRun run;
};
void PrintTo(const GridCase& c, std::ostream* out) {
  *out << c.name;
}

using Choice = std::vector<std::size_t>;  // one value's number for each factor

/// Choices such that each pair of values of two factors is in one of them: starts with a pair that
/// is in none yet and gives the other factors the values that add the most new pairs.
std::vector<Choice> all_pairs(const std::vector<std::size_t>& sizes) {
  const std::size_t factors = sizes.size();
  std::map<std::array<std::size_t, 4>, bool> seen;
  for (std::size_t i = 0; i < factors; ++i) {
    for (std::size_t j = i + 1; j < factors; ++j) {
      for (std::size_t a = 0; a < sizes[i]; ++a) {
        for (std::size_t b = 0; b < sizes[j]; ++b) {
          seen[{i, j, a, b}] = false;
        }
      }
    }
  }
  const std::size_t open = static_cast<std::size_t>(-1);
  std::vector<Choice> choices;
  for (const auto& [pair, done] : seen) {
    if (done) {
      continue;
    }
    Choice choice(factors, open);
    choice[pair[0]] = pair[2];
    choice[pair[1]] = pair[3];
    const auto new_pairs = [&](std::size_t factor, std::size_t value) {
      int count = 0;
      for (std::size_t other = 0; other < factors; ++other) {
        if (other == factor || choice[other] == open) {
          continue;
        }
        count += other < factor ? !seen[{other, factor, choice[other], value}]
                                : !seen[{factor, other, value, choice[other]}];
      }
      return count;
    };
    for (std::size_t factor = 0; factor < factors; ++factor) {
      if (choice[factor] != open) {
        continue;
      }
      std::size_t best = 0;
      for (std::size_t i = 0; i < sizes[factor]; ++i) {
        // Ties go to another value each time.
        const std::size_t value = (i + choices.size()) % sizes[factor];
        if (i == 0 || new_pairs(factor, value) > new_pairs(factor, best)) {
          best = value;
        }
      }
      choice[factor] = best;
    }
    for (std::size_t i = 0; i < factors; ++i) {
      for (std::size_t j = i + 1; j < factors; ++j) {
        seen[{i, j, choice[i], choice[j]}] = true;
      }
    }
    choices.push_back(choice);
  }
  return choices;
}

using Heads = std::pair<std::int64_t, std::int64_t>;
const std::vector<std::int64_t> kRanks = {1, 2, 3, 4, 7, 8};
const std::vector<std::int64_t> kNewTokens = {1, 5, 64, 130};
const std::vector<std::int64_t> kContexts = {1, 7, 64, 1000};
const std::vector<std::int64_t> kDims = {16, 64, 80, 128};
const std::vector<Heads> kHeads = {{1, 1}, {8, 1}, {8, 2}, {6, 3}, {64, 8}};
const std::vector<std::int64_t> kBatches = {1, 3, 5};  // more than a cube of 4 PEs
const std::vector<std::int64_t> kTiles = {0, 24};

std::string name_of(const AttentionRun& r) {
  const platform::AttentionShape& s = r.shape;
  std::string name = r.kernel + "_" + r.axis + std::to_string(r.ranks) + "_t" +
                     std::to_string(s.t_q) + "_s" + std::to_string(s.s_kv) + "_d" +
                     std::to_string(s.d) + "_h" + std::to_string(s.q_heads) + "x" +
                     std::to_string(s.kv_heads) + "_b" + std::to_string(s.batch) +
                     (r.causal ? "_causal" : "_full");
  for (const char c : r.params) {
    if (c == ':' || c == ',') {
      name += '_';
    } else if (c != ' ' && c != '_') {
      name += c;
    }
  }
  return name;
}

void set_shape(AttentionRun& run, const Choice& c) {
  run.ranks = kRanks[c[0]];
  const Heads heads = kHeads[c[4]];
  run.shape = {kBatches[c[5]],   heads.first,     heads.second,
               kNewTokens[c[1]], kContexts[c[2]], kDims[c[3]]};
  run.causal = c[6] != 0;
  run.params = std::string("overlap: ") + (c[7] != 0 ? "async" : "none") +
               ", gemm: " + (c[8] != 0 ? "composite" : "dot") +
               ", tile_keys: " + std::to_string(kTiles[c[9]]);
}
std::vector<std::size_t> shape_sizes() {
  return {kRanks.size(),
          kNewTokens.size(),
          kContexts.size(),
          kDims.size(),
          kHeads.size(),
          kBatches.size(),
          2,
          2,
          2,
          kTiles.size()};
}

std::vector<GridCase> decode_grid() {
  const std::vector<std::string> kernels = {"attention_mesh_mlo", "attention_ring_mlo",
                                            "attention_tree_mlo"};
  std::vector<std::size_t> sizes = shape_sizes();
  const std::size_t first = sizes.size();
  sizes.insert(sizes.end(), {kernels.size(), 2, 2, 2});
  std::vector<GridCase> grid;
  for (const Choice& c : all_pairs(sizes)) {
    GridCase g;
    set_shape(g.run, c);
    g.run.kernel = kernels[c[first]];
    if (g.run.kernel == "attention_tree_mlo" && (g.run.ranks & (g.run.ranks - 1)) != 0) {
      g.run.kernel = kernels[c[1] % 2];  // takes powers of two only
    }
    g.run.axis = c[first + 1] != 0 ? "cube" : "pe";
    g.run.hardware = hardware_for(g.run.axis, g.run.ranks);
    // A ring rounds a chunk at every step: with f16 the gate, which is for one, holds for few.
    const bool many_roundings = g.run.kernel == "attention_ring_mlo" && g.run.ranks > 4;
    const bool f16 = c[first + 2] != 0 && !many_roundings;
    g.run.params += std::string(", exchange: ") + (f16 ? "f16" : "f32") +
                    ", pack: " + (c[first + 3] != 0 ? "true" : "false");
    g.name = name_of(g.run);
    grid.push_back(g);
  }
  return grid;
}

std::vector<GridCase> prefill_grid() {
  const std::vector<std::string> shards = {"contiguous", "striped", "zigzag"};
  std::vector<std::size_t> sizes = shape_sizes();
  const std::size_t first = sizes.size();
  sizes.insert(sizes.end(), {shards.size(), 2});
  std::vector<GridCase> grid;
  for (const Choice& c : all_pairs(sizes)) {
    GridCase g;
    set_shape(g.run, c);
    g.run.kernel = "gqa_prefill_ring";
    g.run.axis = "cube";
    g.run.params +=
        ", shard: " + shards[c[first]] + ", pe_tiling: " + (c[first + 1] != 0 ? "true" : "false");
    g.name = name_of(g.run);
    grid.push_back(g);
  }
  return grid;
}

class KernelGrid : public ::testing::TestWithParam<GridCase> {};

TEST_P(KernelGrid, GivesTheRightAnswer) {
  expect_right(GetParam().run);
}

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Decode, KernelGrid, ::testing::ValuesIn(decode_grid()), kName);
INSTANTIATE_TEST_SUITE_P(Prefill, KernelGrid, ::testing::ValuesIn(prefill_grid()), kName);

}  // namespace
}  // namespace cubevp::test
