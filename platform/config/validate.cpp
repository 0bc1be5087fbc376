// SPDX-License-Identifier: Apache-2.0
#include "platform/config/validate.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "hw/base/address_map.h"
#include "platform/config/checker.h"
#include "platform/config/quantities.h"

namespace cubevp::platform {

namespace {

std::string binary(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  for (; bytes >= 1024 && i < 4; ++i) {
    bytes /= 1024;
  }
  return fmt::format("{:.4g} {}", bytes, units[i]);
}

void check_heads_and_ranks(const RunConfig& c, const Known& known, const Checker& check) {
  const WorkloadConfig& w = c.workload;
  const hw::SystemConfig& system = c.hardware;
  const KnownKernel* kernel = known.kernel(w.kernel);
  check.that(!w.kernel.empty(), {"workload.kernel"}, "expected the name of a kernel, got nothing");
  check.that(w.context >= 1, {"workload.context"}, "expected a positive integer, got nothing");
  check.that(
      w.q_heads % w.kv_heads == 0, {"workload.q_heads", "workload.kv_heads"},
      fmt::format("expected a multiple of kv_heads ({}), got \"{}\"", w.kv_heads, w.q_heads));
  if (w.rank_axis == RankAxis::pe) {
    check.that(
        w.ranks <= system.pes_per_cube(),
        {"workload.ranks", "workload.rank_axis", "hardware.noc.columns", "hardware.noc.rows"},
        fmt::format("expected at most the {} PEs of a cube (rank_axis pe), got \"{}\"",
                    system.pes_per_cube(), w.ranks));
    check.that(
        kernel == nullptr || !kernel->ring_kv, {"workload.rank_axis", "workload.kernel"},
        fmt::format("expected cube, since {} passes blocks around a ring of cubes, got \"pe\"",
                    w.kernel));
  } else {
    check.that(
        w.ranks <= system.cubes(),
        {"workload.ranks", "workload.rank_axis", "hardware.package.columns",
         "hardware.package.rows", "hardware.system.packages_x", "hardware.system.packages_y"},
        fmt::format("expected at most the {} cubes of the system (rank_axis cube), got \"{}\"",
                    system.cubes(), w.ranks));
  }
}

void check_files(const RunConfig& c, const Origins& origins, const Checker& check) {
  const InputConfig& in = c.input;
  if (in.q.empty() && in.k.empty() && in.v.empty()) {
    return;
  }
  check.that(
      in.generate.empty(), {"input.generate"},
      fmt::format("expected either generate or the files q, k and v, got both ({})", in.generate));
  for (const auto& [key, file] : {std::pair<const char*, const std::string*>{"input.q", &in.q},
                                  {"input.k", &in.k},
                                  {"input.v", &in.v}}) {
    check.that(!file->empty() || origins.has(key), {key},
               "expected the name of a .npy file, as for the other inputs, got nothing");
  }
}

void check_memory(const RunConfig& c, const Known& known, const Checker& check) {
  const KnownKernel* kernel = known.kernel(c.workload.kernel);
  const double slab = static_cast<double>(c.hardware.hbm.bytes) / c.hardware.pes_per_cube();
  const double needed = least_slab_bytes(c, kernel != nullptr && kernel->ring_kv);
  check.that(
      needed <= slab,
      {"workload.context", "workload.kernel", "workload.ranks", "workload.rank_axis",
       "workload.batch", "workload.q_heads", "workload.kv_heads", "workload.head_dim",
       "workload.new_tokens", "hardware.hbm.capacity", "hardware.noc.columns", "hardware.noc.rows"},
      fmt::format("expected tensors that fit the memory beside a PE, {} of a stack of {}; the "
                  "busiest PE needs at least {}",
                  binary(slab), binary(static_cast<double>(c.hardware.hbm.bytes)), binary(needed)));
}

void check_scratchpad(const RunConfig& c, const Known& known, const Checker& check) {
  const KnownKernel* kernel = known.kernel(c.workload.kernel);
  const std::uint64_t slots = c.hardware.pe.message_queue.reserved_bytes();
  const std::uint64_t size = c.hardware.pe.scratchpad.bytes;
  if ((kernel != nullptr && !kernel->shipped) || slots > size) {
    return;
  }
  const std::uint64_t needed = least_scratchpad_bytes(c);
  check.that(needed <= size - slots,
             {"hardware.pe.scratchpad.size", "workload.head_dim", "workload.params.tile_keys",
              "hardware.pe.message_queue.slots", "hardware.pe.message_queue.slot_size"},
             fmt::format("expected room for one tile: at least {} B are needed, {} B are free "
                         "beside {} B of message slots, got \"{}\"",
                         needed, size - slots, slots, format_bytes(size)));
}

}  // namespace

double least_slab_bytes(const RunConfig& c, bool ring_kv) {
  const WorkloadConfig& w = c.workload;
  const std::int64_t cubes = c.hardware.cubes();
  const std::int64_t pes = c.hardware.pes_per_cube();
  const std::int64_t group_heads = std::max<std::int64_t>(1, w.q_heads / w.kv_heads);
  const std::int64_t ranks = std::max<std::int64_t>(1, w.ranks);
  double items = 0;
  double rows = 0;
  std::int64_t sharers = 1;
  if (w.rank_axis == RankAxis::pe) {
    // As few heads of a group to a cube as the cubes allow.
    const std::int64_t heads =
        std::clamp<std::int64_t>(ceil_div(w.batch * w.q_heads, cubes), 1, group_heads);
    const std::int64_t parts = ceil_div(group_heads, heads);
    items = static_cast<double>(ceil_div(w.batch * w.kv_heads * parts, cubes));
    rows = static_cast<double>((group_heads - (parts - 1) * heads) * w.new_tokens);
  } else {
    const std::int64_t groups = std::max<std::int64_t>(1, cubes / ranks);
    const bool shared = ring_kv && w.batch == 1 && w.pe_tiling;
    sharers = shared ? pes : 1;
    items = static_cast<double>(ceil_div(w.kv_heads, groups)) *
            static_cast<double>(shared ? 1 : ceil_div(w.batch, pes));
    rows = static_cast<double>(group_heads) * static_cast<double>(w.new_tokens) /
           (ring_kv ? static_cast<double>(ranks * sharers) : 1.0);
  }
  const double blocks = ring_kv && ranks > 1 ? 2 : 1;
  const auto keys = static_cast<double>(ceil_div(ceil_div(w.context, ranks), sharers));
  return items * (blocks * 2 * keys + 2 * rows) * static_cast<double>(w.head_dim) *
         static_cast<double>(size_bytes(c.numerics.io));
}

std::uint64_t least_scratchpad_bytes(const RunConfig& c) {
  const WorkloadConfig& w = c.workload;
  const auto keys = static_cast<std::uint64_t>(std::clamp<std::int64_t>(
      w.tile_keys, 1, std::max<std::int64_t>(1, w.context / std::max<std::int64_t>(1, w.ranks))));
  const auto dim = static_cast<std::uint64_t>(w.head_dim);
  const std::uint64_t row = dim * size_bytes(c.numerics.io);
  // K and V have three tiles each; a macro-command streams them through two, of at most 64 keys.
  const std::uint64_t streamed =
      w.gemm == GemmMode::composite ? 4 * std::min<std::uint64_t>(keys, 64) : 6 * keys;
  const std::uint64_t state = 2 * row + (dim + 2) * size_bytes(DType::f32);
  return state + streamed * row + 2 * keys * (size_bytes(DType::f32) + size_bytes(c.numerics.p));
}

void validate(const RunConfig& config, const Known& known, const Origins& origins,
              Problems& problems) {
  const Checker check(origins, problems);
  validate_hardware(config.hardware, origins, problems);
  check_files(config, origins, check);
  // The machine's counts are what the others are measured against, and may not even fit 32 bits.
  if (grid_fits(config.hardware)) {
    check_heads_and_ranks(config, known, check);
  }
  if (grid_fits(config.hardware) && config.workload.context >= 1) {
    check_memory(config, known, check);
    check_scratchpad(config, known, check);
  }
  const TraceConfig& trace = config.trace;
  check.that(!trace.stop_ps || *trace.stop_ps > trace.start_ps, {"trace.stop", "trace.start"},
             fmt::format("expected a time after trace.start ({}), got \"{}\"",
                         format_time(trace.start_ps), format_time(trace.stop_ps.value_or(0))));
}

}  // namespace cubevp::platform
