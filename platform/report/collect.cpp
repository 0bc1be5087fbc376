// SPDX-License-Identifier: Apache-2.0
#include "platform/report/collect.h"

#include <algorithm>

#include "hw/hbm/hbm_config.h"
#include "platform/host/hierarchy.h"
#include "platform/report/bound.h"
#include "platform/report/energy.h"
#include "platform/report/exchange_latency.h"

namespace cubevp::platform {

namespace {

std::vector<UnitResult> read_units(Ps kernel_ps) {
  std::vector<UnitResult> units;
  for_each_module<sim::StatsProvider>([&](sim::StatsProvider& unit, const std::string& name) {
    const sim::UnitStats s = unit.stats();
    const double utilization =
        kernel_ps > 0 ? static_cast<double>(s.busy_ps) / static_cast<double>(kernel_ps) : 0.0;
    units.push_back({name, unit.stats_kind(), s.busy_ps, utilization, s.bytes, s.ops, s.more});
  });
  return units;
}

std::uint64_t more(const UnitResult& unit, const char* key) {
  const auto found = unit.more.find(key);
  return found == unit.more.end() ? 0 : found->second;
}

Counters sum_counters(const std::vector<UnitResult>& units) {
  Counters c;
  for (const UnitResult& u : units) {
    if (u.kind == "gemm") {
      c.flops += u.ops;
    } else if (u.kind == "hbm_channel") {
      c.hbm_read_bytes += more(u, "read_bytes");
      c.hbm_write_bytes += more(u, "write_bytes");
    } else if (u.kind == "link") {
      c.link_bytes += u.bytes;
    } else if (u.kind == "router") {
      c.noc_bytes += u.bytes;
    } else if (u.kind == "message_queue") {
      c.messages += more(u, "messages_sent");
    } else if (u.kind == "cpu") {
      c.commands += u.ops;
      for (const auto& [name, n] : u.more) {
        (name == "ring_steps"      ? c.ring_steps
         : name == "tiles"         ? c.tiles
         : name == "tiles_skipped" ? c.tiles_skipped
                                   : c.more[name]) += n;
      }
    }
  }
  return c;
}

/// Fractions of the kernel time of the PEs that were started, by the kind of work they did.
std::vector<PeClass> break_down(Machine& machine, const Placement& placement, Ps kernel_ps,
                                Ps total_ps) {
  if (kernel_ps <= 0) {
    return {};
  }
  std::vector<PeClass> classes = {{"computing", 0, {}}, {"forwarding", 0, {}}, {"waiting", 0, {}}};
  for (const PeLaunch& l : placement.launches) {
    hw::Pe& pe = machine.system().cube(l.cube).pe(l.pe);
    std::array<Ps, sim::kPeActivities> spent = pe.activity().spent_ps();
    const bool computes = spent[static_cast<std::size_t>(sim::PeActivity::gemm)] > 0;
    const bool sends = pe.message_queue().stats().ops > 0;
    PeClass& c = classes[computes ? 0 : sends ? 1 : 2];
    ++c.pes;
    // Before the first PE starts and after the last one ends all are idle.
    Ps& idle = spent[static_cast<std::size_t>(sim::PeActivity::idle)];
    idle = std::max<Ps>(0, idle - (total_ps - kernel_ps));
    Ps sum = 0;
    for (const Ps t : spent) {
      sum += t;
    }
    for (std::size_t a = 0; a < spent.size(); ++a) {
      c.fractions[a] += static_cast<double>(spent[a]) / static_cast<double>(std::max<Ps>(sum, 1));
    }
  }
  std::vector<PeClass> present;
  for (PeClass& c : classes) {
    if (c.pes != 0) {
      for (double& f : c.fractions) {
        f /= static_cast<double>(c.pes);
      }
      present.push_back(c);
    }
  }
  return present;
}

RunDescription describe(const RunConfig& config) {
  const hw::SystemConfig& h = config.hardware;
  const WorkloadConfig& w = config.workload;
  RunDescription d;
  d.kernel = w.kernel;
  d.hardware = config.hardware_name;
  d.cubes = h.cubes();
  d.pes_per_cube = h.pes_per_cube();
  d.q_heads = w.q_heads;
  d.kv_heads = w.kv_heads;
  d.head_dim = w.head_dim;
  d.context = w.context;
  d.new_tokens = w.new_tokens;
  d.batch = w.batch;
  d.ranks = w.ranks;
  d.rank_axis = std::string(to_string(w.rank_axis));
  const hw::GemmConfig& g = h.pe.gemm;
  const double macs =
      static_cast<double>(g.rows) * g.cols * (g.dataflow == hw::Dataflow::block ? g.depth : 1);
  d.peak_flops_per_s = 2.0 * macs * g.clock.hz * static_cast<double>(d.cubes * d.pes_per_cube);
  d.peak_hbm_bytes_per_s = h.hbm.bytes_per_s() * static_cast<double>(d.cubes);
  return d;
}

}  // namespace

std::uint64_t model_events(const std::vector<UnitResult>& units) {
  std::uint64_t events = 0;
  for (const UnitResult& u : units) {
    if (u.kind == "command_processor" || u.kind == "dma" || u.kind == "router" ||
        u.kind == "link" || u.kind == "hbm_channel") {
      events += u.ops;
    } else if (u.kind == "message_queue") {
      events += more(u, "packets");
    }
  }
  return events;
}

const char* to_string(EndReason reason) {
  constexpr const char* names[] = {"finished",       "fault",           "deadlock",
                                   "sim_time_limit", "wall_time_limit", "interrupted"};
  return names[static_cast<int>(reason)];
}

RunResult collect(Machine& machine, const RunConfig& config, const Placement& placement,
                  const RunOutcome& outcome) {
  RunResult r;
  r.name = config.name;
  r.seed = config.input.seed;
  r.end = to_string(outcome.reason);
  r.messages = outcome.messages;
  r.run = describe(config);
  r.kernel_ps = outcome.kernel_ps;
  r.total_ps = outcome.total_ps;
  r.units = read_units(outcome.kernel_ps);
  r.counters = sum_counters(r.units);
  r.bound = lower_bound(r.units, exchange_latency_ps(config), outcome.kernel_ps);
  r.breakdown = break_down(machine, placement, outcome.kernel_ps, outcome.total_ps);
  r.energy = energy_of(r.units, config.hardware);
  for (const UnitResult& u : r.units) {
    r.check.nonfinite_on_links += more(u, "nonfinite");
  }
  return r;
}

}  // namespace cubevp::platform
