// SPDX-License-Identifier: Apache-2.0
#include "platform/report/compare.h"

#include <fmt/format.h>

#include "platform/report/result_json.h"

namespace cubevp::platform {

namespace {

using nlohmann::ordered_json;

/// The value at a path like "time/kernel_ns"; null when it is not there.
ordered_json at(const ordered_json& result, const char* path) {
  const ordered_json::json_pointer pointer(std::string("/") + path);
  return result.contains(pointer) ? result.at(pointer) : ordered_json();
}

std::string show(const ordered_json& value) {
  if (value.is_number_float()) {
    return fmt::format("{:.6g}", value.get<double>());
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_null() ? "-" : value.dump();
}

std::string ratio(const ordered_json& value, const ordered_json& base) {
  if (!value.is_number() || !base.is_number() || base.get<double>() == 0) {
    return "";
  }
  return fmt::format(" x{:.3g}", value.get<double>() / base.get<double>());
}

std::string column(const std::string& text) {
  constexpr std::size_t kWidth = 26;
  return fmt::format("  {:<{}}", text.size() > kWidth ? text.substr(0, kWidth) : text, kWidth);
}

void add(std::string& out, std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string compare_results(const std::vector<std::string>& paths) {
  std::vector<ordered_json> results;
  for (const std::string& path : paths) {
    results.push_back(read_result(path));
  }
  constexpr const char* kRows[] = {"run/kernel",
                                   "run/hardware",
                                   "run/context",
                                   "time/kernel_ns",
                                   "time/total_ns",
                                   "bound/roofline_ns",
                                   "bound/by",
                                   "bound/efficiency",
                                   "check/status",
                                   "check/nmse",
                                   "counters/flops",
                                   "counters/hbm_read_bytes",
                                   "counters/link_bytes",
                                   "counters/noc_bytes",
                                   "counters/messages",
                                   "counters/ring_steps",
                                   "counters/tiles",
                                   "counters/tiles_skipped",
                                   "counters/commands",
                                   "energy/total_nj",
                                   "host/wall_s"};
  std::string out;
  std::string header = fmt::format("{:<24}", "");
  for (const ordered_json& r : results) {
    header += column(show(r.at("name")));
  }
  add(out, header);
  for (const char* row : kRows) {
    const ordered_json base = at(results.front(), row);
    std::string line = fmt::format("{:<24}", row);
    for (const ordered_json& r : results) {
      const ordered_json value = at(r, row);
      line += column(show(value) + (&r == &results.front() ? "" : ratio(value, base)));
    }
    add(out, line);
  }
  return out;
}

}  // namespace cubevp::platform
