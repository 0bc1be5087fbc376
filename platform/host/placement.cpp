// SPDX-License-Identifier: Apache-2.0
#include "platform/host/placement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "firmware/kernels/attention_args.h"
#include "hw/base/sfr_table.h"
#include "platform/host/shards.h"

namespace cubevp::platform {

namespace {

// Tensors start on a burst's boundary so that rows never straddle one more burst than they must.
constexpr std::uint64_t kTensorAlignment = 1024;

/// Hands out the memory beside each PE from the bottom up.
class SlabAllocator {
 public:
  explicit SlabAllocator(const hw::SystemConfig& system)
      : slab_bytes_(system.hbm.bytes / system.noc.stops()) {}

  Address allocate(CubeId cube, PeId pe, std::uint64_t bytes) {
    std::uint64_t& top = tops_[{index(cube), index(pe)}];
    const std::uint64_t start = (top + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    if (bytes > slab_bytes_ || start > slab_bytes_ - bytes) {
      throw std::invalid_argument(
          fmt::format("hardware.hbm.capacity: the memory beside cube {} PE {} holds {} B, the "
                      "tensors placed there need at least {} B",
                      index(cube), index(pe), slab_bytes_, start + bytes));
    }
    top = start + bytes;
    return make_address(cube, Region::hbm, index(pe) * slab_bytes_ + start);
  }

 private:
  std::uint64_t slab_bytes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> tops_;
};

/// One independent attention problem: query heads of one KV head of one user.
struct Problem {
  std::int64_t user = 0;
  std::int64_t kv_head = 0;
  std::int64_t first_head = 0;  ///< global query head
  std::int64_t heads = 0;
};

/// The PEs that work on the same items, in rank order.
struct Chain {
  std::vector<std::pair<CubeId, PeId>> ranks;
  std::vector<Problem> problems;
};

class Placer {
 public:
  Placer(const RunConfig& config, const tl::KernelInfo& kernel)
      : config_(config),
        w_(config.workload),
        system_(config.hardware),
        kernel_(kernel),
        allocator_(config.hardware) {}

  Placement run() {
    if (kernel_.placement == tl::Placement::ring_kv) {
      place_ring();
    } else {
      place_sharded();
    }
    out_.sfr_writes.insert(out_.sfr_writes.begin(), pe_ring_writes_.begin(), pe_ring_writes_.end());
    return std::move(out_);
  }

 private:
  std::int64_t group_heads() const { return w_.q_heads / w_.kv_heads; }
  std::uint64_t row_bytes() const {
    return static_cast<std::uint64_t>(w_.head_dim) * size_bytes(config_.numerics.io);
  }
  std::int64_t q_row(const Problem& p) const {
    return (p.user * w_.q_heads + p.first_head) * w_.new_tokens;
  }
  std::int64_t kv_row(const Problem& p) const {
    return (p.user * w_.kv_heads + p.kv_head) * w_.context;
  }

  tl::Args common_args(std::int64_t rank) const;
  Address put(CubeId cube, PeId pe, TensorKind kind, std::int64_t first_row, std::int64_t rows,
              std::int64_t replica = 0);
  void launch(CubeId cube, PeId pe, tl::Args args);

  void configure_cubes(const std::vector<CubeGroup>& groups);
  std::vector<Chain> chains_over_pes();
  std::vector<Chain> chains_over_cubes();
  void place_sharded();
  void place_ring();
  void ring_item(const CubeGroup& group, const std::vector<PeId>& pes, const Problem& problem,
                 std::uint32_t item,
                 std::map<std::pair<std::uint32_t, std::uint32_t>, tl::Args>& args);

  const RunConfig& config_;
  const WorkloadConfig& w_;
  const hw::SystemConfig& system_;
  const tl::KernelInfo& kernel_;
  SlabAllocator allocator_;
  std::vector<SfrWrite> pe_ring_writes_;
  Placement out_;
};

tl::Args Placer::common_args(std::int64_t rank) const {
  tl::Args args;
  args.set("ranks", w_.ranks);
  args.set("rank", rank);
  args.set("axis", static_cast<std::int64_t>(w_.rank_axis));
  args.set("head_dim", w_.head_dim);
  args.set("t_q", w_.new_tokens);
  args.set("offset", w_.context - w_.new_tokens);
  args.set("causal", w_.causal ? 1 : 0);
  args.set_real("scale",
                w_.softmax_scale.value_or(1.0 / std::sqrt(static_cast<double>(w_.head_dim))));
  args.set_real("softcap", w_.softcap);
  args.set("io", static_cast<std::int64_t>(config_.numerics.io));
  args.set("p", static_cast<std::int64_t>(config_.numerics.p));
  args.set("tile_keys", w_.tile_keys);
  args.set("gemm", w_.gemm == GemmMode::composite ? 1 : 0);
  args.set("overlap", w_.overlap == Overlap::async ? 1 : 0);
  args.set("exchange",
           static_cast<std::int64_t>(w_.exchange == Exchange::f32 ? DType::f32 : DType::f16));
  args.set("pack", w_.pack ? 1 : 0);
  for (const auto& [name, value] : w_.extra_params) {
    args.set_real(name, value);
  }
  return args;
}

Address Placer::put(CubeId cube, PeId pe, TensorKind kind, std::int64_t first_row,
                    std::int64_t rows, std::int64_t replica) {
  const Address address =
      allocator_.allocate(cube, pe, static_cast<std::uint64_t>(rows) * row_bytes());
  if (rows > 0) {
    auto& list = kind == TensorKind::o ? out_.outputs : out_.inputs;
    list.push_back({kind, address, first_row, 1, rows, replica});
  }
  return address;
}

void Placer::launch(CubeId cube, PeId pe, tl::Args args) {
  const std::uint64_t bytes = args.to_words().size() * sizeof(std::uint64_t);
  out_.launches.push_back({cube, pe, allocator_.allocate(cube, pe, bytes), std::move(args)});
}

void Placer::configure_cubes(const std::vector<CubeGroup>& groups) {
  const bool ring = kernel_.needs_ring && w_.rank_axis == RankAxis::cube;
  out_.sfr_writes =
      ring ? configure_sfr_intercube_ring(system_, groups, static_cast<std::uint32_t>(w_.ranks))
           : configure_sfr_intercube_mesh(system_, groups);
}

std::vector<Chain> Placer::chains_over_pes() {
  if (w_.ranks > static_cast<std::int64_t>(system_.pes_per_cube())) {
    throw std::invalid_argument(
        fmt::format("workload.ranks: {} ranks on the pe axis, a cube has "
                    "{} PEs",
                    w_.ranks, system_.pes_per_cube()));
  }
  const std::int64_t cubes = system_.cubes();
  // As few heads a cube as the cubes allow: a head alone where there are enough of them.
  const std::int64_t heads =
      std::clamp<std::int64_t>(ceil_div(w_.batch * w_.q_heads, cubes), 1, group_heads());
  std::vector<Chain> chains(static_cast<std::size_t>(cubes));
  std::int64_t next = 0;
  for (std::int64_t user = 0; user < w_.batch; ++user) {
    for (std::int64_t kv = 0; kv < w_.kv_heads; ++kv) {
      for (std::int64_t h = 0; h < group_heads(); h += heads) {
        chains[static_cast<std::size_t>(next++ % cubes)].problems.push_back(
            {user, kv, kv * group_heads() + h, std::min(heads, group_heads() - h)});
      }
    }
  }
  for (std::int64_t c = 0; c < cubes; ++c) {
    for (std::int64_t r = 0; r < w_.ranks; ++r) {
      chains[static_cast<std::size_t>(c)].ranks.emplace_back(static_cast<CubeId>(c),
                                                             static_cast<PeId>(r));
    }
  }
  configure_cubes({});
  for (std::int64_t c = 0; c < cubes; ++c) {
    pe_ring_writes_.push_back({static_cast<CubeId>(c), sfr::kPeRingSize,
                               kernel_.needs_ring ? static_cast<std::uint32_t>(w_.ranks) : 0});
  }
  return chains;
}

std::vector<Chain> Placer::chains_over_cubes() {
  const std::vector<CubeGroup> groups =
      form_groups(system_, static_cast<std::uint32_t>(w_.ranks), kernel_.needs_ring);
  if (groups.empty()) {
    throw std::invalid_argument(
        fmt::format("workload.ranks: {} ranks on the cube axis, the system has {} cubes", w_.ranks,
                    system_.cubes()));
  }
  const std::size_t pes = system_.pes_per_cube();
  std::vector<Chain> chains(groups.size() * pes);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t p = 0; p < pes; ++p) {
      for (const CubeId cube : groups[g].cubes) {
        chains[g * pes + p].ranks.emplace_back(cube, static_cast<PeId>(p));
      }
    }
  }
  for (std::int64_t user = 0; user < w_.batch; ++user) {
    for (std::int64_t kv = 0; kv < w_.kv_heads; ++kv) {
      const std::size_t g = static_cast<std::size_t>(kv) % groups.size();
      const std::size_t p = static_cast<std::size_t>(user) % pes;
      chains[g * pes + p].problems.push_back({user, kv, kv * group_heads(), group_heads()});
    }
  }
  configure_cubes(groups);
  return chains;
}

void Placer::place_sharded() {
  const std::vector<Chain> chains =
      w_.rank_axis == RankAxis::pe ? chains_over_pes() : chains_over_cubes();
  out_.replicas = w_.ranks;
  for (const Chain& chain : chains) {
    if (chain.problems.empty()) {
      continue;
    }
    ++out_.chains;
    for (std::int64_t r = 0; r < w_.ranks; ++r) {
      const auto [cube, pe] = chain.ranks[static_cast<std::size_t>(r)];
      tl::Args args = common_args(r);
      args.set("items", static_cast<std::int64_t>(chain.problems.size()));
      for (std::uint32_t i = 0; i < chain.problems.size(); ++i) {
        const Problem& p = chain.problems[i];
        const std::int64_t rows = p.heads * w_.new_tokens;
        const std::int64_t begin = kernels::part_begin(w_.context, w_.ranks, r);
        const std::int64_t keys = kernels::part_begin(w_.context, w_.ranks, r + 1) - begin;
        const auto at = [&](TensorKind kind, std::int64_t first, std::int64_t n,
                            std::int64_t replica = 0) {
          return static_cast<std::int64_t>(put(cube, pe, kind, first, n, replica));
        };
        args.set("rows", rows, i);
        args.set("keys", keys, i);
        args.set("first_key", begin, i);
        args.set("q", at(TensorKind::q, q_row(p), rows), i);
        args.set("k", at(TensorKind::k, kv_row(p) + begin, keys), i);
        args.set("v", at(TensorKind::v, kv_row(p) + begin, keys), i);
        args.set("o", at(TensorKind::o, q_row(p), rows, r), i);
      }
      launch(cube, pe, std::move(args));
    }
  }
}

void Placer::ring_item(const CubeGroup& group, const std::vector<PeId>& pes, const Problem& problem,
                       std::uint32_t item,
                       std::map<std::pair<std::uint32_t, std::uint32_t>, tl::Args>& args) {
  const std::int64_t ranks = w_.ranks;
  const auto slices = static_cast<std::int64_t>(pes.size());
  const std::int64_t rows = problem.heads * w_.new_tokens;
  std::int64_t largest = 0;
  std::vector<Block> blocks;
  for (std::int64_t b = 0; b < ranks; ++b) {
    blocks.push_back(shard_block(w_.shard, w_.context, ranks, b));
    largest = std::max(largest, blocks.back().keys());
  }
  for (std::int64_t c = 0; c < ranks; ++c) {
    const CubeId cube = group.cubes[static_cast<std::size_t>(c)];
    // Slot 0 starts with the cube's own block, slot 1 receives; both hold any block's slice.
    std::vector<std::int64_t> k_slots;
    std::vector<std::int64_t> v_slots;
    for (int slot = 0; slot < (ranks > 1 ? 2 : 1); ++slot) {
      for (std::int64_t s = 0; s < slices; ++s) {
        const PeId pe = pes[static_cast<std::size_t>(s)];
        const std::uint64_t capacity =
            static_cast<std::uint64_t>(ceil_div(largest, slices)) * row_bytes();
        k_slots.push_back(static_cast<std::int64_t>(allocator_.allocate(cube, pe, capacity)));
        v_slots.push_back(static_cast<std::int64_t>(allocator_.allocate(cube, pe, capacity)));
        if (slot == 0) {
          const Block& own = blocks[static_cast<std::size_t>(c)];
          const std::int64_t begin = kernels::part_begin(own.keys(), slices, s);
          const std::int64_t end = kernels::part_begin(own.keys(), slices, s + 1);
          for (const BlockPiece& piece : own.pieces(begin, end)) {
            const std::uint64_t offset =
                static_cast<std::uint64_t>(piece.index - begin) * row_bytes();
            const std::int64_t first = kv_row(problem) + piece.first;
            out_.inputs.push_back({TensorKind::k, static_cast<Address>(k_slots.back()) + offset,
                                   first, piece.stride, piece.keys, 0});
            out_.inputs.push_back({TensorKind::v, static_cast<Address>(v_slots.back()) + offset,
                                   first, piece.stride, piece.keys, 0});
          }
        }
      }
    }
    const std::int64_t cube_begin = kernels::part_begin(rows, ranks, c);
    const std::int64_t cube_rows = kernels::part_begin(rows, ranks, c + 1) - cube_begin;
    for (std::int64_t s = 0; s < slices; ++s) {
      const PeId pe = pes[static_cast<std::size_t>(s)];
      const std::int64_t begin = cube_begin + kernels::part_begin(cube_rows, slices, s);
      const std::int64_t end = cube_begin + kernels::part_begin(cube_rows, slices, s + 1);
      tl::Args& a = args.try_emplace({index(cube), index(pe)}, common_args(c)).first->second;
      a.set("slices", slices);
      a.set("slice", s);
      a.set("pe_active", 1);
      a.set("rows", end - begin, item);
      a.set("first_row", begin, item);
      a.set("max_rows", ceil_div(ceil_div(rows, ranks), slices), item);
      a.set("q",
            static_cast<std::int64_t>(
                put(cube, pe, TensorKind::q, q_row(problem) + begin, end - begin)),
            item);
      a.set("o",
            static_cast<std::int64_t>(
                put(cube, pe, TensorKind::o, q_row(problem) + begin, end - begin)),
            item);
      for (std::uint32_t slot = 0; slot < k_slots.size() / pes.size(); ++slot) {
        for (std::uint32_t p = 0; p < pes.size(); ++p) {
          const std::uint32_t at =
              kernels::key_slot(item, static_cast<std::uint32_t>(slices), slot, p);
          a.set("k", k_slots[slot * pes.size() + p], at);
          a.set("v", v_slots[slot * pes.size() + p], at);
        }
      }
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        const auto n = static_cast<std::uint32_t>(ranks);
        a.set("block_keys", blocks[b].keys(), kernels::block_index(item, n, b));
        for (std::uint32_t run = 0; run < 2; ++run) {
          const BlockRun& r = blocks[b].runs[run];
          const std::uint32_t at = kernels::run_index(item, n, b, run);
          a.set("run_keys", r.keys, at);
          a.set("run_first", r.first, at);
          a.set("run_stride", r.stride, at);
        }
      }
    }
  }
}

void Placer::place_ring() {
  if (w_.rank_axis != RankAxis::cube) {
    throw std::invalid_argument(fmt::format(
        "workload.rank_axis: {} passes blocks around a ring of cubes: expected cube, got pe",
        kernel_.name));
  }
  const std::vector<CubeGroup> groups =
      form_groups(system_, static_cast<std::uint32_t>(w_.ranks), true);
  if (groups.empty()) {
    throw std::invalid_argument(fmt::format("workload.ranks: a ring of {} cubes, the system has {}",
                                            w_.ranks, system_.cubes()));
  }
  out_.sfr_writes =
      configure_sfr_intercube_ring(system_, groups, static_cast<std::uint32_t>(w_.ranks));

  // One user: the PEs of a cube share its rows and the block. Several: PE p serves user p, alone.
  const std::size_t pes = system_.pes_per_cube();
  std::map<std::pair<std::uint32_t, std::uint32_t>, tl::Args> args;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> items;
  for (std::int64_t user = 0; user < w_.batch; ++user) {
    for (std::int64_t kv = 0; kv < w_.kv_heads; ++kv) {
      const std::size_t g = static_cast<std::size_t>(kv) % groups.size();
      std::vector<PeId> members;
      if (w_.batch > 1 || !w_.pe_tiling) {
        members.push_back(static_cast<PeId>(static_cast<std::size_t>(user) % pes));
      } else {
        for (std::size_t p = 0; p < pes; ++p) {
          members.push_back(static_cast<PeId>(p));
        }
      }
      const std::uint32_t item = items[{g, index(members.front())}]++;
      ring_item(groups[g], members, {user, kv, kv * group_heads(), group_heads()}, item, args);
    }
  }
  out_.chains = static_cast<std::int64_t>(items.size());
  for (auto& [where, a] : args) {
    std::uint32_t n = 0;
    while (a.has("rows", n)) {
      ++n;
    }
    a.set("items", n);
    launch(static_cast<CubeId>(where.first), static_cast<PeId>(where.second), std::move(a));
  }
}

}  // namespace

Placement place(const RunConfig& config, const tl::KernelInfo& kernel) {
  return Placer(config, kernel).run();
}

}  // namespace cubevp::platform
