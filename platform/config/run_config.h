// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/base/dtype.h"
#include "hw/base/ids.h"
#include "hw/system/system_config.h"

namespace cubevp::platform {

// One run, resolved: every default filled in, every unit converted, everything checked. The YAML
// keys are the member names (docs/config.md is generated from the same table that reads them).

enum class Shard : std::uint8_t { contiguous, striped, zigzag };
enum class Overlap : std::uint8_t { none, async };
enum class GemmMode : std::uint8_t { dot, composite };
enum class Exchange : std::uint8_t { f32, f16 };

struct WorkloadConfig {
  std::string kernel;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t context = 0;     ///< S_kv, KV tokens, the new ones included
  std::int64_t new_tokens = 1;  ///< T_q
  std::int64_t batch = 1;
  std::int64_t ranks = 1;
  RankAxis rank_axis = RankAxis::pe;
  bool causal = true;
  std::optional<double> softmax_scale;  ///< auto: 1/sqrt(head_dim)
  double softcap = 0;                   ///< 0: off

  /// Parameters of the shipped kernels (workload.params).
  Exchange exchange = Exchange::f32;
  bool pack = true;  ///< m, l and O in one message
  Overlap overlap = Overlap::async;
  GemmMode gemm = GemmMode::dot;
  bool pe_tiling = true;
  Shard shard = Shard::contiguous;
  std::int64_t tile_keys = 0;  ///< keys in a tile; 0: sized to the scratchpad
  /// Parameters that the shipped kernels do not know, handed to a kernel of the user's by name.
  std::map<std::string, double> extra_params;
};

struct InputConfig {
  std::string generate = "normal";  ///< name of a distribution, or empty: q, k, v name files
  std::uint64_t seed = 1;
  std::string q, k, v;
};

struct CheckConfig {
  std::string golden = "reference";  ///< reference, none, or a .npy file
  std::string gate = "wire16";       ///< strict, seq, wire16
  std::int64_t rows = 0;             ///< check this many sampled rows; 0: all
};

struct NumericsConfig {
  DType io = DType::f16;  ///< f16 or bf16
  DType p = DType::f16;   ///< what P is rounded to before the second GEMM: f16, bf16 or f32
};

struct TraceConfig {
  bool enabled = true;
  std::string vcd = "trace.vcd";
  std::vector<std::string> scope = {"cube0.*"};
  Ps start_ps = 0;
  std::optional<Ps> stop_ps;  ///< nothing: to the end
};

struct LimitsConfig {
  Ps sim_time_ps = Ps{1000} * 1000 * 1000 * 1000;  ///< 1 s
  double wall_time_s = 3600;
};

struct RunConfig {
  std::string name;
  std::string hardware_name;  ///< preset it started from, or "inline"
  hw::SystemConfig hardware;
  WorkloadConfig workload;
  InputConfig input;
  CheckConfig check;
  std::string output_o;  ///< file name for O, or empty
  NumericsConfig numerics;
  TraceConfig trace;
  LimitsConfig limits;
};

}  // namespace cubevp::platform
