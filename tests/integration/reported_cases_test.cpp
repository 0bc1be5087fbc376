// SPDX-License-Identifier: Apache-2.0
// Situations in which users of other attention kernels got wrong results or none, rebuilt on the
// machine with the right outcome as the expectation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/check/load_inputs.h"
#include "platform/check/npy.h"
#include "platform/check/reference.h"
#include "tests/golden/golden_cases.h"
#include "tests/integration/attention_run.h"

namespace cubevp::test {
namespace {

using platform::AttentionShape;
using platform::NpyArray;

const std::vector<std::string> kDecode = {"attention_mesh_mlo", "attention_ring_mlo",
                                          "attention_tree_mlo"};

AttentionRun decode(const std::string& kernel, std::int64_t ranks, const std::string& axis,
                    const AttentionShape& shape) {
  AttentionRun run;
  run.kernel = kernel;
  run.ranks = ranks;
  run.axis = axis;
  run.shape = shape;
  run.hardware = hardware_for(axis, ranks);
  return run;
}
AttentionRun prefill(std::int64_t ranks, const AttentionShape& shape) {
  return decode("gqa_prefill_ring", ranks, "cube", shape);
}

GoldenCase golden(const std::string& name) {
  for (GoldenCase& c : golden_cases()) {
    if (c.name == name) {
      return c;
    }
  }
  throw std::invalid_argument("no golden case " + name);
}
AttentionRun with_files(AttentionRun run, const GoldenCase& c) {
  run.q = c.q;
  run.k = c.k;
  run.v = c.v;
  run.golden = c.o;
  run.shape = c.shape;
  run.causal = c.options.causal;
  run.scale = c.options.scale;
  return run;
}

/// All kernels that a case can run on with so many ranks, on both axes.
std::vector<AttentionRun> every_kernel(std::int64_t ranks, const AttentionShape& shape) {
  std::vector<AttentionRun> runs = {prefill(ranks, shape)};
  for (const std::string& kernel : kDecode) {
    if (kernel == "attention_tree_mlo" && (ranks & (ranks - 1)) != 0) {
      continue;  // takes powers of two only
    }
    runs.push_back(decode(kernel, ranks, "pe", shape));
    runs.push_back(decode(kernel, ranks, "cube", shape));
  }
  return runs;
}

void expect_all(const std::vector<double>& o, double value) {
  ASSERT_FALSE(o.empty());
  EXPECT_EQ(*std::min_element(o.begin(), o.end()), value);
  EXPECT_EQ(*std::max_element(o.begin(), o.end()), value);
}

std::string write_f16(const TemporaryFolder& folder, const std::string& name,
                      const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  NpyArray array;
  array.shape = shape;
  array.data.resize(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = platform::f16_from_double(values[i]);
    std::memcpy(&array.data[2 * i], &bits, 2);
  }
  platform::write_npy(folder.file(name), array);
  return folder.file(name);
}
std::vector<double> values_of(const NpyArray& array) {
  std::vector<double> values(array.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = array.at(i);
  }
  return values;
}

// --- Merging partial results

TEST(ReportedMerge, RanksWithoutAnyKeyMeetBeforeTheOthers) {
  for (const char* name : {"merge_two_empty_ranks", "merge_three_empty_ranks"}) {
    for (const AttentionRun& run : every_kernel(4, {})) {
      expect_right(with_files(run, golden(name)));
    }
  }
  for (const AttentionRun& run : every_kernel(8, {1, 4, 2, 1, 5, 64})) {
    expect_right(run);
    AttentionRun unpacked = run;
    unpacked.params = run.kernel == "gqa_prefill_ring" ? "shard: zigzag" : "pack: false";
    expect_right(unpacked);
  }
}

TEST(ReportedMerge, ALargerScoreMayComeFirstOrLast) {
  // Scores of the later half are 200 higher. With the keys reversed the answer stays the same, and
  // the large ones come from the other end.
  const TemporaryFolder folder;
  for (const char* name : {"merge_overflow_decode", "merge_overflow_prefill"}) {
    const GoldenCase c = golden(name);
    GoldenCase reversed = c;
    for (std::string* file : {&reversed.k, &reversed.v}) {
      const NpyArray array = platform::read_npy(*file);
      std::vector<double> values = values_of(array);
      const auto block = static_cast<std::size_t>(c.shape.s_kv * c.shape.d);
      const auto d = static_cast<std::size_t>(c.shape.d);
      for (std::size_t head = 0; head < values.size(); head += block) {
        for (std::size_t from = 0, to = block - d; from < to; from += d, to -= d) {
          std::swap_ranges(&values[head + from], &values[head + from] + d, &values[head + to]);
        }
      }
      *file = write_f16(folder, file == &reversed.k ? "k.npy" : "v.npy", array.shape, values);
    }
    ASSERT_NE(read_file(reversed.k), read_file(c.k));
    for (const std::int64_t ranks : {2, 4}) {
      for (AttentionRun run : every_kernel(ranks, c.shape)) {
        run.options = {"--set", "numerics.p=f32"};  // so that the tighter gate holds
        run.gate = "seq";
        expect_right(with_files(run, c));
        expect_right(with_files(run, reversed));
      }
    }
  }
}

TEST(ReportedMerge, LogarithmsHaveOneBase) {
  // Half of the keys score 2 higher and have V = 1: e^2 / (1 + e^2). Base 2 would give 0.8 or
  // 0.947.
  for (const auto& [name, ranks] : {std::pair{"log_base_64", 2}, std::pair{"log_base_3136", 8}}) {
    for (const AttentionRun& run : every_kernel(ranks, {})) {
      const AttentionOutcome outcome = expect_right(with_files(run, golden(name)));
      for (const double o : outcome.o) {
        ASSERT_NEAR(o, 0.8808, 0.001) << run.kernel;
      }
    }
  }
  for (const AttentionRun& run : every_kernel(8, {1, 4, 2, 1, 1000, 64})) {
    expect_right(run);
  }
}

// --- Scores

TEST(ReportedScores, BelowEveryFiniteSentinel) {
  for (const AttentionRun& run : every_kernel(4, {})) {
    expect_all(expect_right(with_files(run, golden("below_sentinel_d128"))).o, 1.0);
  }
  const TemporaryFolder folder;
  const AttentionShape shape{1, 8, 1, 2, 64, 128};
  AttentionRun files;
  files.q = write_f16(folder, "q.npy", {8, 2, 128}, std::vector<double>(8 * 2 * 128, 64.0));
  files.v = write_f16(folder, "v.npy", {1, 64, 128}, std::vector<double>(64 * 128, 1.0));
  for (const double score : {-1e4, -5e4, -5.5e4, -6e4, -1e5, -2e5, -2.45e5}) {
    files.k =
        write_f16(folder, "k.npy", {1, 64, 128}, std::vector<double>(64 * 128, score / (64 * 128)));
    for (const char* kernel : {"attention_mesh_mlo", "gqa_prefill_ring"}) {
      // Every query has at least one key that the mask leaves.
      for (const bool causal : {false, true}) {
        AttentionRun run = decode(kernel, 4, "cube", shape);
        run.q = files.q;
        run.k = files.k;
        run.v = files.v;
        run.causal = causal;
        expect_all(expect_right(run).o, 1.0);
      }
    }
  }
}

// --- Which KV head a query head reads

TEST(ReportedHeads, EachQueryHeadReadsItsGroupsHead) {
  using Heads = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [q_heads, kv_heads] :
       {Heads{12, 12}, Heads{32, 8}, Heads{28, 4}, Heads{7, 1}, Heads{8, 1}, Heads{4, 4}}) {
    const AttentionShape shape{1, q_heads, kv_heads, 1, 64, 64};
    for (AttentionRun run : every_kernel(4, shape)) {
      run.generate = "head_tag";  // V of KV head g is g + 1
      const AttentionOutcome outcome = expect_right(run);
      ASSERT_EQ(outcome.o.size(), static_cast<std::size_t>(q_heads * 64));
      for (std::int64_t h = 0; h < q_heads; ++h) {
        const double tag = static_cast<double>(h / (q_heads / kv_heads)) + 1;
        for (std::int64_t x = 0; x < 64; ++x) {
          ASSERT_EQ(outcome.o[static_cast<std::size_t>(h * 64 + x)], tag) << run.kernel << " " << h;
        }
      }
      if (run.axis == "cube" && run.kernel != "gqa_prefill_ring") {
        // Every KV head is read once: a rank reads its keys' rows; and the queries, every rank all.
        const std::int64_t kv_bytes = 2 * kv_heads * 64 * 64 * 2;
        const std::int64_t q_bytes = 4 * q_heads * 64 * 2;
        EXPECT_EQ(outcome.result["counters"]["hbm_read_bytes"], kv_bytes + q_bytes) << run.kernel;
      }
    }
  }
}

TEST(ReportedHeads, GroupsAreContiguousAndNotInterleaved) {
  const GoldenCase c = golden("onnx_4d_gqa_b0");
  const platform::LoadedInputs loaded = c.inputs();
  // What heads by modulo would give: query head h against KV head h % n. With the query heads
  // sorted by that, contiguous groups are the same thing.
  const std::int64_t n = c.shape.kv_heads;
  const std::int64_t group = c.shape.q_heads / n;
  const auto head = static_cast<std::size_t>(c.shape.t_q * c.shape.d);
  platform::Tensor16 q = loaded.inputs.tensor(platform::TensorRole::q);
  const platform::Tensor16 original = q;
  const auto interleaved = [n, group](std::int64_t i) { return i % group * n + i / group; };
  for (std::int64_t i = 0; i < c.shape.q_heads; ++i) {
    std::copy_n(&original.bits[static_cast<std::size_t>(interleaved(i)) * head], head,
                &q.bits[static_cast<std::size_t>(i) * head]);
  }
  const platform::TensorInputs sorted(q, loaded.inputs.tensor(platform::TensorRole::k),
                                      loaded.inputs.tensor(platform::TensorRole::v));
  const std::vector<double> o = platform::reference_attention(sorted, c.shape, c.options).o;
  std::vector<double> wrong(o.size());
  for (std::int64_t i = 0; i < c.shape.q_heads; ++i) {
    std::copy_n(&o[static_cast<std::size_t>(i) * head], head,
                &wrong[static_cast<std::size_t>(interleaved(i)) * head]);
  }
  const TemporaryFolder folder;
  const std::string wrong_file =
      write_f16(folder, "o.npy", platform::tensor_shape(platform::TensorRole::q, c.shape), wrong);
  for (const AttentionRun& run : every_kernel(2, c.shape)) {
    AttentionRun files = with_files(run, c);
    expect_right(files);
    files.golden = wrong_file;
    expect_check_fails(files);
  }
}

// --- Masks and lengths

TEST(ReportedMask, FewerQueriesThanKeysSeeTheLastKey) {
  for (const char* shard : {"contiguous", "striped", "zigzag"}) {
    for (const auto& [name, ranks] :
         {std::pair{"causal_2_of_5", 2}, std::pair{"causal_113_of_203", 4}}) {
      for (const char* tile_keys : {"0", "7"}) {
        AttentionRun run = with_files(prefill(ranks, {}), golden(name));
        run.params = std::string("shard: ") + shard + ", tile_keys: " + tile_keys;
        expect_right(run);
      }
    }
  }
  for (const AttentionRun& run : every_kernel(4, {})) {
    expect_right(with_files(run, golden("causal_113_of_203")));
  }
}

TEST(ReportedMask, EveryRingWithAndWithoutMaskAndAnyNumberOfQueries) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 8}) {
    for (const std::int64_t t_q : {1, 7, 16, 21}) {  // one, fewer than keys, as many, more
      for (const bool causal : {false, true}) {
        AttentionRun run = prefill(ranks, {1, 2, 1, t_q, 16, 64});
        run.causal = causal;
        expect_right(run);
      }
    }
  }
  expect_right(with_files(prefill(2, {}), golden("ring_not_causal")));
}

TEST(ReportedLengths, KeysThatDoNotDivideAreAllUsed) {
  for (const char* name : {"odd_keys_prefill", "odd_keys_decode", "odd_keys_ramp"}) {
    for (const AttentionRun& run : every_kernel(2, {})) {
      expect_right(with_files(run, golden(name)));
    }
  }
}

}  // namespace
}  // namespace cubevp::test
