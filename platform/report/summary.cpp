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
constexpr std::size_t kLabel = 14;

/// With three or four digits and the prefix that brings the value below `step`.
template <std::size_t N>
std::string scaled(double value, const std::array<const char*, N>& units, double step) {
  std::size_t i = 0;
  while (i + 1 < N && std::abs(value) >= step) {
    value /= step;
    ++i;
  }
  const int digits = std::abs(value) >= 100 ? 1 : std::abs(value) >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, digits, units[i]);
}

std::string rate(double per_s, const char* unit) {
  constexpr std::array<const char*, 6> prefixes = {"", "k", "M", "G", "T", "P"};
  return scaled(per_s, prefixes, 1000) + unit;
}

std::string energy(double nj) {
  constexpr std::array<const char*, 5> units = {"nJ", "uJ", "mJ", "J", "kJ"};
  return scaled(nj, units, 1000);
}

/// A line with a label; what is too long for it goes on below, broken at spaces.
void add(std::string& out, const std::string& label, const std::string& text) {
  std::string line = fmt::format("{:<{}}", label, kLabel);
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!first && line.size() + 1 + word.size() > kColumns) {
      out += line + '\n';
      line = std::string(kLabel, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
    first = false;
    at = end + 1;
  }
  out += line + '\n';
}

std::string check_text(const Verdict& v) {
  if (v.status == VerdictStatus::skipped) {
    return fmt::format("skipped: {}", v.message);
  }
  if (v.status == VerdictStatus::fail) {
    return fmt::format("FAIL ({}): {}", to_string(v.gate.gate), v.message);
  }
  const std::string rows =
      v.gate.rows_checked == v.gate.rows_total
          ? fmt::format("all {} rows", v.gate.rows_total)
          : fmt::format("{} of {} rows", v.gate.rows_checked, v.gate.rows_total);
  return fmt::format("pass ({}): NMSE {:.2e} (f16 alone {:.2e}), {}", to_string(v.gate.gate),
                     v.gate.nmse, v.gate.nmse_ideal, rows);
}

/// The terms of the bound, all in the unit of the largest.
void add_terms(std::string& out, const Bound& b) {
  const std::string largest = show_time(b.roofline_ps);
  const std::string unit = largest.substr(largest.find(' ') + 1);
  const double unit_ps = unit == "s"    ? 1e12
                         : unit == "ms" ? 1e9
                         : unit == "us" ? 1e6
                         : unit == "ns" ? 1e3
                                        : 1;
  std::string text;
  for (int i = 0; i < kBounds; ++i) {
    text += fmt::format("{}{} {:.3g}", i == 0 ? "" : ", ", to_string(static_cast<BoundBy>(i)),
                        static_cast<double>(b.terms_ps[static_cast<std::size_t>(i)]) / unit_ps);
  }
  add(out, "  terms, " + unit, text);
}

/// A rate a second beside what the machine can do.
std::string achieved_text(double per_s, double peak_per_s, const char* unit) {
  return fmt::format("{} of {} ({:.1f} %)", rate(per_s, unit), rate(peak_per_s, unit),
                     100 * per_s / peak_per_s);
}

std::string energy_text(const Energy& e) {
  std::string text = energy(e.total_nj) + ':';
  for (const auto& [unit, nj] : e.by_unit_nj) {
    if (e.total_nj > 0 && nj / e.total_nj >= 0.005) {
      text += fmt::format(" {} {:.0f} %", unit, 100 * nj / e.total_nj);
    }
  }
  return text;
}

void add_busiest(std::string& out, const RunResult& r) {
  out += fmt::format("{:<13} {:<40} {:>10}  {:>8}\n", "busiest", "unit", "busy", "used");
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
      out += fmt::format("  {:<11} {:<40} {:>10}  {:>6.1f} %\n", kind, busiest->name,
                         show_time(busiest->busy_ps), 100 * busiest->utilization);
    }
  }
}

void add_breakdown(std::string& out, const RunResult& r) {
  for (const PeClass& c : r.breakdown) {
    std::string shares;
    for (int a = 0; a < sim::kPeActivities; ++a) {
      const double percent = 100 * c.fractions[static_cast<std::size_t>(a)];
      if (percent >= 0.5) {
        shares += fmt::format("{}{} {:.0f} %", shares.empty() ? "" : ", ",
                              sim::to_string(static_cast<sim::PeActivity>(a)), percent);
      }
    }
    add(out, &c == &r.breakdown.front() ? "PEs" : "",
        fmt::format("{} {}: {}", c.pes, c.name, shares));
  }
}

const char* workload_kind(const RunDescription& r) {
  return r.new_tokens == 1 ? "decode" : "prefill";
}

}  // namespace

std::string show_time(Ps ps) {
  constexpr std::array<const char*, 5> units = {"ps", "ns", "us", "ms", "s"};
  return scaled(static_cast<double>(ps), units, 1000);
}

std::string summary(const RunResult& r, const std::string& out_dir,
                    const std::vector<std::string>& files) {
  std::string out;
  out += fmt::format("{}: {} on {}, {} cubes x {} PEs\n", r.name, r.run.kernel, r.run.hardware,
                     r.run.cubes, r.run.pes_per_cube);
  add(out, workload_kind(r.run),
      fmt::format("{}/{} q/kv heads x {}, {} new of {} tokens, batch {}, {} {} ranks",
                  r.run.q_heads, r.run.kv_heads, r.run.head_dim, r.run.new_tokens, r.run.context,
                  r.run.batch, r.run.ranks, r.run.rank_axis));
  if (r.end != "finished") {
    add(out, "ended early", fmt::format("{} after {}", r.end, show_time(r.total_ps)));
  }
  add(out, "kernel time",
      fmt::format("{} ({} with the host's start and interrupt)", show_time(r.kernel_ps),
                  show_time(r.total_ps)));
  add(out, "lower bound",
      fmt::format("{} by {}; efficiency {:.1f} %", show_time(r.bound.roofline_ps),
                  to_string(r.bound.by), 100 * r.bound.efficiency));
  add_terms(out, r.bound);
  const Counters& c = r.counters;
  const auto hbm_bytes = static_cast<double>(c.hbm_read_bytes + c.hbm_write_bytes);
  if (r.kernel_ps > 0) {
    const double seconds = static_cast<double>(r.kernel_ps) * 1e-12;
    add(out, "compute",
        achieved_text(static_cast<double>(c.flops) / seconds, r.run.peak_flops_per_s, "FLOPS"));
    add(out, "HBM", achieved_text(hbm_bytes / seconds, r.run.peak_hbm_bytes_per_s, "B/s"));
  }
  add_busiest(out, r);
  add_breakdown(out, r);
  add(out, "traffic",
      fmt::format("HBM {}, NoC {}, links {}, {} messages", rate(hbm_bytes, "B"),
                  rate(static_cast<double>(c.noc_bytes), "B"),
                  rate(static_cast<double>(c.link_bytes), "B"), c.messages));
  add(out, "energy", energy_text(r.energy));
  add(out, "check", check_text(r.check));
  add(out, "host",
      fmt::format("{:.1f} s, {:.0f} MiB, {}events/s, {}", r.host.wall_s, r.host.peak_rss_mib,
                  rate(r.host.events_per_s, ""), r.host.data_mode));
  if (!files.empty()) {
    std::string list = out_dir + ':';
    for (const std::string& f : files) {
      list += ' ' + f;
    }
    add(out, "results", list);
  }
  return out;
}

}  // namespace cubevp::platform
