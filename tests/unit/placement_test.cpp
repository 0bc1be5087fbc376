// SPDX-License-Identifier: Apache-2.0
#include "platform/host/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "firmware/kernels/attention_args.h"
#include "platform/host/shards.h"

namespace cubevp::platform {
namespace {

using testing::HasSubstr;

RunConfig machine_of_eight_cubes() {
  RunConfig c;
  c.hardware.package_columns = 4;
  c.hardware.package_rows = 2;
  c.hardware.packages_x = 1;
  c.hardware.packages_y = 1;
  c.workload.q_heads = 8;
  c.workload.kv_heads = 2;
  c.workload.head_dim = 16;
  c.workload.context = 37;
  c.workload.new_tokens = 5;
  return c;
}

tl::KernelInfo kernel(tl::Placement placement, bool ring) {
  tl::KernelInfo k;
  k.name = "k";
  k.placement = placement;
  k.needs_ring = ring;
  return k;
}

// Every row of a tensor is placed, and no two regions of one PE overlap.
void expect_rows_covered_once_per_replica(const Placement& p, TensorKind kind, std::int64_t rows,
                                          std::int64_t replicas) {
  std::map<std::int64_t, std::int64_t> times;
  for (const auto& list : {p.inputs, p.outputs}) {
    for (const TensorRegion& r : list) {
      if (r.kind == kind) {
        for (std::int64_t i = 0; i < r.rows; ++i) {
          ++times[r.first_row + i * r.row_step];
        }
      }
    }
  }
  ASSERT_EQ(times.size(), static_cast<std::size_t>(rows));
  for (const auto& [row, n] : times) {
    EXPECT_EQ(n, replicas) << "row " << row;
  }
}

void expect_no_overlap(const Placement& p, std::int64_t row_bytes) {
  std::map<Address, Address> used;
  auto add = [&](Address begin, Address bytes) {
    const auto next = used.upper_bound(begin);
    if (next != used.end()) {
      EXPECT_LE(begin + bytes, next->first);
    }
    if (next != used.begin()) {
      EXPECT_LE(std::prev(next)->second, begin);
    }
    used[begin] = begin + bytes;
  };
  for (const auto& list : {p.inputs, p.outputs}) {
    for (const TensorRegion& r : list) {
      add(r.address, static_cast<Address>(r.rows * row_bytes));
    }
  }
  for (const PeLaunch& l : p.launches) {
    add(l.args_address, l.args.to_words().size() * 8);
  }
}

TEST(Placement, ShardsOverPesCoverEveryKeyForEachQueryHeadShare) {
  RunConfig c = machine_of_eight_cubes();
  c.workload.ranks = 7;
  const Placement p = place(c, kernel(tl::Placement::sharded_kv, false));
  // 8 heads on 8 cubes: one head each, so each KV head is placed on 4 cubes.
  EXPECT_EQ(p.chains, 8);
  EXPECT_EQ(p.launches.size(), 56U);
  expect_rows_covered_once_per_replica(p, TensorKind::k, 2 * 37, 4);
  expect_rows_covered_once_per_replica(p, TensorKind::v, 2 * 37, 4);
  expect_rows_covered_once_per_replica(p, TensorKind::q, 8 * 5, 7);
  expect_rows_covered_once_per_replica(p, TensorKind::o, 8 * 5, 7);
  expect_no_overlap(p, 32);
}

TEST(Placement, ShardsOverCubesPutUserPOnPeP) {
  RunConfig c = machine_of_eight_cubes();
  c.workload.rank_axis = RankAxis::cube;
  c.workload.ranks = 4;
  c.workload.batch = 3;
  const Placement p = place(c, kernel(tl::Placement::sharded_kv, true));
  EXPECT_EQ(p.chains, 6);  // 2 KV heads on 2 rings of 4 cubes, 3 users on 3 PEs
  std::set<std::uint32_t> pes;
  for (const PeLaunch& l : p.launches) {
    pes.insert(index(l.pe));
    EXPECT_EQ(l.args.integer("rows"), 4 * 5);
  }
  EXPECT_EQ(pes, (std::set<std::uint32_t>{0, 1, 2}));
  expect_rows_covered_once_per_replica(p, TensorKind::k, 3 * 2 * 37, 1);
  expect_rows_covered_once_per_replica(p, TensorKind::o, 3 * 8 * 5, 4);
}

TEST(Placement, MoreUsersThanPesLoop) {
  RunConfig c = machine_of_eight_cubes();
  c.workload.rank_axis = RankAxis::cube;
  c.workload.ranks = 8;
  c.workload.batch = 9;
  const Placement p = place(c, kernel(tl::Placement::sharded_kv, false));
  EXPECT_EQ(p.chains, 8);
  std::int64_t items = 0;
  for (const PeLaunch& l : p.launches) {
    if (index(l.cube) == 0) {
      items += l.args.integer("items");
    }
  }
  EXPECT_EQ(items, 18);  // 9 users x 2 KV heads on the one ring
}

class RingPlacement : public testing::TestWithParam<Shard> {};

TEST_P(RingPlacement, EveryKeyAndRowIsPlacedOnce) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 7, 8}) {
    RunConfig c = machine_of_eight_cubes();
    c.workload.rank_axis = RankAxis::cube;
    c.workload.ranks = ranks;
    c.workload.shard = GetParam();
    const Placement p = place(c, kernel(tl::Placement::ring_kv, true));
    expect_rows_covered_once_per_replica(p, TensorKind::k, 2 * 37, 1);
    expect_rows_covered_once_per_replica(p, TensorKind::v, 2 * 37, 1);
    expect_rows_covered_once_per_replica(p, TensorKind::q, 8 * 5, 1);
    expect_rows_covered_once_per_replica(p, TensorKind::o, 8 * 5, 1);
    expect_no_overlap(p, 32);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RingPlacement,
                         testing::Values(Shard::contiguous, Shard::striped, Shard::zigzag));

TEST(Shards, EveryKeyIsInOneBlockAndBlocksAreEven) {
  for (const Shard shard : {Shard::contiguous, Shard::striped, Shard::zigzag}) {
    for (const std::int64_t keys : {0, 1, 2, 7, 64, 1000}) {
      for (const std::int64_t ranks : {1, 2, 3, 4, 7, 8}) {
        std::map<std::int64_t, int> times;
        std::int64_t least = keys;
        std::int64_t most = 0;
        for (std::int64_t r = 0; r < ranks; ++r) {
          const Block b = shard_block(shard, keys, ranks, r);
          least = std::min(least, b.keys());
          most = std::max(most, b.keys());
          for (const BlockRun& run : b.runs) {
            for (std::int64_t i = 0; i < run.keys; ++i) {
              ++times[run.first + i * run.stride];
            }
          }
        }
        EXPECT_EQ(times.size(), static_cast<std::size_t>(keys));
        for (const auto& [key, n] : times) {
          EXPECT_EQ(n, 1);
          EXPECT_LT(key, keys);
        }
        EXPECT_LE(most - least, shard == Shard::zigzag ? 2 : 1);
      }
    }
  }
}

TEST(Placement, RanksBeyondTheHardwareAreRefused) {
  RunConfig c = machine_of_eight_cubes();
  c.workload.ranks = 9;
  try {
    place(c, kernel(tl::Placement::sharded_kv, false));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("9 ranks on the pe axis, a cube has 8 PEs"));
  }
  c.workload.rank_axis = RankAxis::cube;
  try {
    place(c, kernel(tl::Placement::ring_kv, true));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("a ring of 9 cubes, the system has 8"));
  }
}

TEST(Placement, TensorsBeyondTheMemoryAreRefused) {
  RunConfig c = machine_of_eight_cubes();
  c.hardware.hbm.bytes = 8 * 4096;
  c.workload.context = 4096;
  try {
    place(c, kernel(tl::Placement::sharded_kv, false));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), HasSubstr("hardware.hbm.capacity: the memory beside cube 0 PE 0 holds "
                                    "4096 B"));
  }
}

}  // namespace
}  // namespace cubevp::platform
