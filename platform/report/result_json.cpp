// SPDX-License-Identifier: Apache-2.0
#include "platform/report/result_json.h"

#include <fstream>

#include <fmt/format.h>

#include "hw/sim/activity.h"
#include "platform/config/errors.h"

namespace cubevp::platform {

using nlohmann::ordered_json;

namespace {

ordered_json check_json(const Verdict& v) {
  ordered_json j;
  j["status"] = to_string(v.status);
  if (v.status != VerdictStatus::skipped) {
    const CheckResult& g = v.gate;
    j["gate"] = std::string(to_string(g.gate));
    j["max_abs_err"] = g.max_abs_err;
    j["max_ulp16"] = g.max_ulp16;
    j["nmse"] = g.nmse;
    j["nmse_ideal"] = g.nmse_ideal;
    j["rms_ref"] = g.rms_ref;
    j["rows_checked"] = g.rows_checked;
    j["rows_total"] = g.rows_total;
    j["worst_index"] = {g.worst_index.batch, g.worst_index.head, g.worst_index.t, g.worst_index.d};
    j["nonfinite_mismatches"] = g.nonfinite_mismatches;
  }
  j["nonfinite_on_links"] = v.nonfinite_on_links;
  j["replicas_agree"] = v.replicas_agree;
  if (!v.message.empty()) {
    j["message"] = v.message;
  }
  return j;
}

ordered_json bound_json(const Bound& b) {
  ordered_json j;
  j["roofline_ns"] = ns_from_ps(b.roofline_ps);
  j["by"] = to_string(b.by);
  j["efficiency"] = b.efficiency;
  for (int i = 0; i < kBounds; ++i) {
    j["terms_ns"][to_string(static_cast<BoundBy>(i))] =
        ns_from_ps(b.terms_ps[static_cast<std::size_t>(i)]);
  }
  return j;
}

ordered_json counters_json(const Counters& c) {
  ordered_json j = {{"flops", c.flops},
                    {"hbm_read_bytes", c.hbm_read_bytes},
                    {"hbm_write_bytes", c.hbm_write_bytes},
                    {"link_bytes", c.link_bytes},
                    {"noc_bytes", c.noc_bytes},
                    {"messages", c.messages},
                    {"ring_steps", c.ring_steps},
                    {"tiles", c.tiles},
                    {"tiles_skipped", c.tiles_skipped},
                    {"commands", c.commands}};
  for (const auto& [name, value] : c.more) {
    j[name] = value;
  }
  return j;
}

ordered_json unit_json(const UnitResult& u) {
  ordered_json j = {{"name", u.name},
                    {"kind", u.kind},
                    {"busy_ns", ns_from_ps(u.busy_ps)},
                    {"utilization", u.utilization},
                    {"bytes", u.bytes},
                    {"ops", u.ops}};
  for (const auto& [name, value] : u.more) {
    j[name] = value;
  }
  return j;
}

}  // namespace

ordered_json to_json(const RunResult& r) {
  ordered_json j;
  j["schema"] = "cubevp-result-1";
  j["name"] = r.name;
  j["version"] = r.version;
  j["config_sha256"] = r.config_sha256;
  j["seed"] = r.seed;
  j["end"] = {{"reason", r.end}, {"messages", r.messages}};
  j["run"] = {{"kernel", r.run.kernel},
              {"hardware", r.run.hardware},
              {"cubes", r.run.cubes},
              {"pes_per_cube", r.run.pes_per_cube},
              {"q_heads", r.run.q_heads},
              {"kv_heads", r.run.kv_heads},
              {"head_dim", r.run.head_dim},
              {"context", r.run.context},
              {"new_tokens", r.run.new_tokens},
              {"batch", r.run.batch},
              {"ranks", r.run.ranks},
              {"rank_axis", r.run.rank_axis},
              {"peak_flops_per_s", r.run.peak_flops_per_s},
              {"peak_hbm_bytes_per_s", r.run.peak_hbm_bytes_per_s}};
  j["time"] = {{"kernel_ns", ns_from_ps(r.kernel_ps)}, {"total_ns", ns_from_ps(r.total_ps)}};
  j["check"] = check_json(r.check);
  j["bound"] = bound_json(r.bound);
  j["counters"] = counters_json(r.counters);
  j["breakdown"] = ordered_json::object();
  for (const PeClass& c : r.breakdown) {
    for (int a = 0; a < sim::kPeActivities; ++a) {
      j["breakdown"][c.name][sim::to_string(static_cast<sim::PeActivity>(a))] =
          c.fractions[static_cast<std::size_t>(a)];
    }
    j["pe_classes"][c.name] = c.pes;
  }
  j["energy"]["total_nj"] = r.energy.total_nj;
  for (const auto& [unit, nj] : r.energy.by_unit_nj) {
    j["energy"]["by_unit"][unit] = nj;
  }
  j["host"] = {{"wall_s", r.host.wall_s},
               {"cpu_s", r.host.cpu_s},
               {"peak_rss_mib", r.host.peak_rss_mib},
               {"events_per_s", r.host.events_per_s},
               {"data_mode", r.host.data_mode}};
  j["units"] = ordered_json::array();
  for (const UnitResult& u : r.units) {
    j["units"].push_back(unit_json(u));
  }
  return j;
}

std::string to_text(const ordered_json& result) {
  // Thousands of units, indented value by value, would bury the rest.
  ordered_json head = result;
  head.erase("units");
  std::string text = head.dump(2);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n  \"units\": [";
  const char* separator = "\n    ";
  for (const ordered_json& unit : result.at("units")) {
    text += separator + unit.dump();
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

ordered_json read_result(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    throw IoError(path + ": cannot be read");
  }
  ordered_json j = ordered_json::parse(in, nullptr, false);
  if (j.is_discarded() || !j.is_object()) {
    throw IoError(path + ": expected a result.json, got something that is not JSON");
  }
  for (const char* key : {"name", "time", "check", "bound", "counters", "units"}) {
    if (!j.contains(key)) {
      throw IoError(fmt::format("{}: expected a result.json, got JSON without \"{}\"", path, key));
    }
  }
  return j;
}

}  // namespace cubevp::platform
