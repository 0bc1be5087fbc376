// SPDX-License-Identifier: Apache-2.0
#include "platform/report/summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hw/sim/activity.h"

namespace cubevp::platform {

namespace {

constexpr std::size_t kColumns = 80;

std::string scaled(double value, const std::array<const char*, 5>& units, double step) {
  std::size_t i = 0;
  while (i + 1 < units.size() && std::abs(value) >= step) {
    value /= step;
    ++i;
  }
  const int digits = std::abs(value) >= 100 ? 1 : std::abs(value) >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, digits, units[i]);
}

std::string rate(double per_s, const char* unit) {
  constexpr std::array<const char*, 5> prefixes = {"", "k", "M", "G", "T"};
  return scaled(per_s, prefixes, 1000) + unit;
}

std::string energy(double nj) {
  return scaled(nj, {"nJ", "uJ", "mJ", "J", "kJ"}, 1000);
}

void add(std::string& out, std::string line) {
  if (line.size() > kColumns) {
    line.resize(kColumns - 3);
    line += "...";
  }
  out += line + '\n';
}

const char* workload_kind(const RunDescription& r) {
  return r.new_tokens == 1 ? "decode" : "prefill";
}

std::string check_line(const Verdict& v) {
  if (v.status == VerdictStatus::skipped) {
    return fmt::format("check          skipped: {}", v.message);
  }
  if (v.status == VerdictStatus::fail) {
    return fmt::format("check          FAIL ({}): {}", to_string(v.gate.gate), v.message);
  }
  return fmt::format("check          pass ({}): NMSE {:.2e} (f16 alone {:.2e}), {} of {} rows",
                     to_string(v.gate.gate), v.gate.nmse, v.gate.nmse_ideal, v.gate.rows_checked,
                     v.gate.rows_total);
}

void add_busiest(std::string& out, const RunResult& r) {
  add(out, "busiest        unit                               busy     used");
  constexpr std::array<const char*, 6> kinds = {"gemm",        "vector", "dma",
                                                "hbm_channel", "router", "link"};
  for (const char* kind : kinds) {
    const UnitResult* busiest = nullptr;
    for (const UnitResult& u : r.units) {
      if (u.kind == kind && (busiest == nullptr || u.busy_ps > busiest->busy_ps)) {
        busiest = &u;
      }
    }
    if (busiest != nullptr && busiest->busy_ps > 0) {
      add(out, fmt::format("  {:<12} {:<30} {:>10} {:>6.1f} %", kind, busiest->name,
                           show_time(busiest->busy_ps), 100 * busiest->utilization));
    }
  }
}

void add_breakdown(std::string& out, const RunResult& r) {
  for (const PeClass& c : r.breakdown) {
    std::string line = fmt::format("{} PEs {:<10}", c.pes, c.name);
    line.resize(std::max<std::size_t>(line.size(), 15), ' ');
    for (int a = 0; a < sim::kPeActivities; ++a) {
      const double percent = 100 * c.fractions[static_cast<std::size_t>(a)];
      if (percent >= 0.5) {
        line +=
            fmt::format("{} {:.0f}  ", sim::to_string(static_cast<sim::PeActivity>(a)), percent);
      }
    }
    line.resize(line.find_last_not_of(' ') + 1);
    add(out, line + " %");
  }
}

}  // namespace

std::string show_time(Ps ps) {
  return scaled(static_cast<double>(ps), {"ps", "ns", "us", "ms", "s"}, 1000);
}

std::string summary(const RunResult& r, const std::string& out_dir,
                    const std::vector<std::string>& files) {
  std::string out;
  add(out, fmt::format("{}: {} on {}, {} cubes x {} PEs", r.name, r.run.kernel, r.run.hardware,
                       r.run.cubes, r.run.pes_per_cube));
  add(out, fmt::format("{}: {} query heads, {} KV heads, d {}, context {}, new {}, batch {}, {} "
                       "ranks ({})",
                       workload_kind(r.run), r.run.q_heads, r.run.kv_heads, r.run.head_dim,
                       r.run.context, r.run.new_tokens, r.run.batch, r.run.ranks, r.run.rank_axis));
  add(out, "");
  if (r.end != "finished") {
    add(out, fmt::format("ended early    {} after {}", r.end, show_time(r.total_ps)));
  }
  add(out, fmt::format("kernel time    {}   ({} with the host's start and interrupt)",
                       show_time(r.kernel_ps), show_time(r.total_ps)));
  add(out, fmt::format("lower bound    {}   by {}; efficiency {:.1f} %",
                       show_time(r.bound.roofline_ps), to_string(r.bound.by),
                       100 * r.bound.efficiency));
  std::string terms = "             ";
  for (int i = 0; i < kBounds; ++i) {
    terms += fmt::format("  {} {}", to_string(static_cast<BoundBy>(i)),
                         show_time(r.bound.terms_ps[static_cast<std::size_t>(i)]));
  }
  add(out, terms);
  const double seconds = static_cast<double>(r.kernel_ps) * 1e-12;
  if (seconds > 0) {
    const double flops = static_cast<double>(r.counters.flops) / seconds;
    const double hbm =
        static_cast<double>(r.counters.hbm_read_bytes + r.counters.hbm_write_bytes) / seconds;
    add(out, fmt::format("achieved       {} of {} ({:.1f} %), HBM {} of {} ({:.1f} %)",
                         rate(flops, "FLOPS"), rate(r.run.peak_flops_per_s, "FLOPS"),
                         100 * flops / r.run.peak_flops_per_s, rate(hbm, "B/s"),
                         rate(r.run.peak_hbm_bytes_per_s, "B/s"),
                         100 * hbm / r.run.peak_hbm_bytes_per_s));
  }
  add_busiest(out, r);
  add_breakdown(out, r);
  add(out,
      fmt::format(
          "traffic        HBM {}, NoC {}, links {}, {} messages",
          rate(static_cast<double>(r.counters.hbm_read_bytes + r.counters.hbm_write_bytes), "B"),
          rate(static_cast<double>(r.counters.noc_bytes), "B"),
          rate(static_cast<double>(r.counters.link_bytes), "B"), r.counters.messages));
  std::string by_unit;
  for (const auto& [unit, nj] : r.energy.by_unit_nj) {
    if (r.energy.total_nj > 0 && nj / r.energy.total_nj >= 0.005) {
      by_unit += fmt::format(" {} {:.0f} %", unit, 100 * nj / r.energy.total_nj);
    }
  }
  add(out, fmt::format("energy         {}:{}", energy(r.energy.total_nj), by_unit));
  add(out, check_line(r.check));
  add(out, fmt::format("host           {:.1f} s, {:.0f} MiB, {}events/s, {}", r.host.wall_s,
                       r.host.peak_rss_mib, rate(r.host.events_per_s, ""), r.host.data_mode));
  if (!files.empty()) {
    std::string list;
    for (const std::string& f : files) {
      list += ' ' + f;
    }
    add(out, fmt::format("results        {}:{}", out_dir, list));
  }
  return out;
}

}  // namespace cubevp::platform
