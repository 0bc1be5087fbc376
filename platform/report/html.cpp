// SPDX-License-Identifier: Apache-2.0
#include "platform/report/html.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hw/sim/activity.h"
#include "platform/report/summary.h"

namespace cubevp::platform {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return out;
}

std::string bar(double fraction, const char* colour) {
  return fmt::format(
      "<svg width='240' height='12'><rect width='240' height='12' fill='#eee'/>"
      "<rect width='{:.1f}' height='12' fill='{}'/></svg>",
      240 * std::clamp(fraction, 0.0, 1.0), colour);
}

std::string row(const std::string& name, const std::string& value, double fraction,
                const char* colour) {
  return fmt::format("<tr><td>{}</td><td class='n'>{}</td><td>{}</td></tr>\n", escaped(name),
                     escaped(value), bar(fraction, colour));
}

struct KindUse {
  std::uint64_t units = 0;
  double sum = 0;
  double most = 0;
};

}  // namespace

std::string report_html(const RunResult& r) {
  std::string out =
      "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>" + escaped(r.name) +
      "</title><style>body{font:14px sans-serif;margin:2em;max-width:60em}"
      "td{padding:2px 12px 2px 0}td.n{text-align:right}pre{background:#f6f6f6;padding:1em}"
      "</style></head><body>\n<h1>" +
      escaped(r.name) + "</h1>\n<pre>" + escaped(summary(r, "", {})) + "</pre>\n";

  out += "<h2>Lower bound, part of the kernel time</h2><table>\n";
  for (int i = 0; i < kBounds; ++i) {
    const Ps term = r.bound.terms_ps[static_cast<std::size_t>(i)];
    out += row(to_string(static_cast<BoundBy>(i)), show_time(term),
               r.kernel_ps > 0 ? static_cast<double>(term) / static_cast<double>(r.kernel_ps) : 0.0,
               "#47a");
  }
  out += "</table>\n";
  for (const PeClass& c : r.breakdown) {
    out += fmt::format("<h2>Time of {} {} PEs</h2><table>\n", c.pes, escaped(c.name));
    for (int a = 0; a < sim::kPeActivities; ++a) {
      const double f = c.fractions[static_cast<std::size_t>(a)];
      out += row(sim::to_string(static_cast<sim::PeActivity>(a)), fmt::format("{:.1f} %", 100 * f),
                 f, "#4a7");
    }
    out += "</table>\n";
  }
  std::map<std::string, KindUse> kinds;
  for (const UnitResult& u : r.units) {
    KindUse& k = kinds[u.kind];
    ++k.units;
    k.sum += u.utilization;
    k.most = std::max(k.most, u.utilization);
  }
  out += "<h2>Units: mean use, and the busiest</h2><table>\n";
  for (const auto& [kind, k] : kinds) {
    const double mean = k.sum / static_cast<double>(k.units);
    out += row(fmt::format("{} ({})", kind, k.units),
               fmt::format("{:.1f} %, {:.1f} %", 100 * mean, 100 * k.most), mean, "#a74");
  }
  out += "</table>\n<h2>Energy</h2><table>\n";
  for (const auto& [unit, nj] : r.energy.by_unit_nj) {
    out += row(unit, fmt::format("{:.4g} nJ", nj),
               r.energy.total_nj > 0 ? nj / r.energy.total_nj : 0.0, "#a47");
  }
  return out + "</table>\n</body></html>\n";
}

}  // namespace cubevp::platform
