// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "firmware/kernels/attention_args.h"
#include "platform/config/run_config.h"

namespace cubevp::platform {

/// Keys at first, first + stride, ... of the sequence.
struct BlockRun {
  std::int64_t keys = 0;
  std::int64_t first = 0;
  std::int64_t stride = 1;
};

/// Part of a run that lies contiguously in a block, from the block's key `index` on.
struct BlockPiece {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t stride = 1;
  std::int64_t keys = 0;
};

/// The keys that a rank of a ring starts with.
struct Block {
  std::array<BlockRun, 2> runs;

  std::int64_t keys() const { return runs[0].keys + runs[1].keys; }
  /// Keys begin .. end-1 of the block.
  std::vector<BlockPiece> pieces(std::int64_t begin, std::int64_t end) const {
    std::vector<BlockPiece> out;
    std::int64_t run_begin = 0;
    for (const BlockRun& run : runs) {
      const std::int64_t a = std::max(begin, run_begin);
      const std::int64_t b = std::min(end, run_begin + run.keys);
      if (a < b) {
        out.push_back({a, run.first + (a - run_begin) * run.stride, run.stride, b - a});
      }
      run_begin += run.keys;
    }
    return out;
  }
};

/// Block of rank `rank` when `keys` keys are sharded over `ranks` ranks; every key is in exactly
/// one block and blocks differ by at most one key a run.
///  - contiguous: one run;
///  - striped: every ranks-th key;
///  - zigzag: part `rank` and part `2*ranks-1-rank` of 2*ranks equal parts, so that early (much
///    seen) and late (little seen) keys share a rank.
inline Block shard_block(Shard shard, std::int64_t keys, std::int64_t ranks, std::int64_t rank) {
  using kernels::part_begin;
  switch (shard) {
    case Shard::striped:
      return {{{{(keys - rank + ranks - 1) / ranks, rank, ranks}, {0, 0, 1}}}};
    case Shard::zigzag: {
      const std::int64_t parts = 2 * ranks;
      const std::int64_t mirror = parts - 1 - rank;
      const std::int64_t a = part_begin(keys, parts, rank);
      const std::int64_t b = part_begin(keys, parts, mirror);
      return {{{{part_begin(keys, parts, rank + 1) - a, a, 1},
                {part_begin(keys, parts, mirror + 1) - b, b, 1}}}};
    }
    case Shard::contiguous:
      break;
  }
  const std::int64_t a = part_begin(keys, ranks, rank);
  return {{{{part_begin(keys, ranks, rank + 1) - a, a, 1}, {0, 0, 1}}}};
}

}  // namespace cubevp::platform
