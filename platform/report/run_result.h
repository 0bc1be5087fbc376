// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hw/base/units.h"
#include "platform/check/gates.h"

namespace cubevp::platform {

// What a run leaves behind: plain values that collect() fills from the machine and that
// result.json, the summary and the reports show. docs/output.md explains every field.

enum class VerdictStatus : std::uint8_t { pass, fail, skipped };
constexpr const char* to_string(VerdictStatus s) {
  return s == VerdictStatus::pass ? "pass" : s == VerdictStatus::fail ? "fail" : "skipped";
}

/// The numerical check of a run: the gate's own result, and what else makes an answer wrong.
struct Verdict {
  VerdictStatus status = VerdictStatus::skipped;
  CheckResult gate;                      ///< status of its own; all zero when skipped
  std::uint64_t nonfinite_on_links = 0;  ///< NaN and infinities in messages between ranks
  bool replicas_agree = true;            ///< ranks that hold the same rows (outputs_agree)
  std::string message;                   ///< why it failed or was skipped; empty on pass
};

enum class BoundBy : std::uint8_t { gemm, vector, hbm, noc, link, latency };
inline constexpr int kBounds = 6;
constexpr const char* to_string(BoundBy b) {
  constexpr const char* names[] = {"gemm", "vector", "hbm", "noc", "link", "latency"};
  return names[static_cast<int>(b)];
}

/// A time no run of this work on this machine can be shorter than: the largest of its terms.
struct Bound {
  std::array<Ps, kBounds> terms_ps{};
  Ps roofline_ps = 0;
  BoundBy by = BoundBy::gemm;
  double efficiency = 0;  ///< roofline / kernel time
};

struct Counters {
  std::uint64_t flops = 0;  ///< useful ones: 2 M N K of every product
  std::uint64_t hbm_read_bytes = 0;
  std::uint64_t hbm_write_bytes = 0;
  std::uint64_t link_bytes = 0;  ///< payload over all die-to-die links
  std::uint64_t noc_bytes = 0;   ///< payload entering routers, once for each router crossed
  std::uint64_t messages = 0;    ///< sent
  std::uint64_t commands = 0;    ///< issued by firmware
  std::uint64_t ring_steps = 0;  ///< counted by the kernels, as the next two
  std::uint64_t tiles = 0;
  std::uint64_t tiles_skipped = 0;
  std::map<std::string, std::uint64_t> more;  ///< other counters of kernels
};

/// PEs that did the same kind of work, and how their time was spent, as fractions of the kernel
/// time that sum to 1 (hw/sim/activity.h).
struct PeClass {
  std::string name;  ///< computing, forwarding, waiting
  std::uint64_t pes = 0;
  std::array<double, 8> fractions{};
};

struct UnitResult {
  std::string name;
  std::string kind;
  Ps busy_ps = 0;
  double utilization = 0;  ///< busy / kernel time
  std::uint64_t bytes = 0;
  std::uint64_t ops = 0;
  std::map<std::string, std::uint64_t> more;
};

struct Energy {
  double total_nj = 0;
  std::vector<std::pair<std::string, double>> by_unit_nj;
};

struct HostUse {
  double wall_s = 0;
  double cpu_s = 0;
  double peak_rss_mib = 0;
  double events_per_s = 0;  ///< model_events over wall_s
  std::string data_mode;    ///< "data", or "no-data"
};

/// What ran on what, for people.
struct RunDescription {
  std::string kernel;
  std::string hardware;
  std::uint64_t cubes = 0;
  std::uint64_t pes_per_cube = 0;
  std::int64_t q_heads = 0, kv_heads = 0, head_dim = 0, context = 0, new_tokens = 0, batch = 0;
  std::int64_t ranks = 0;
  std::string rank_axis;
  double peak_flops_per_s = 0;  ///< of the whole machine
  double peak_hbm_bytes_per_s = 0;
};

struct RunResult {
  std::string name;
  std::string version;
  std::string config_sha256;
  std::uint64_t seed = 0;
  std::string end;                    ///< finished, fault, deadlock, sim_time_limit, ...
  std::vector<std::string> messages;  ///< why it did not finish
  RunDescription run;
  Ps kernel_ps = 0;
  Ps total_ps = 0;
  Verdict check;
  Bound bound;
  Counters counters;
  std::vector<PeClass> breakdown;
  std::vector<UnitResult> units;
  Energy energy;
  HostUse host;
};

}  // namespace cubevp::platform
