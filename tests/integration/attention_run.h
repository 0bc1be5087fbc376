// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/check/tensors.h"
#include "tests/support/process.h"

namespace cubevp::test {

/// A run file of attention on a small machine; what is left out is the platform's default.
struct AttentionRun {
  std::string kernel = "attention_mesh_mlo";
  std::int64_t ranks = 4;
  std::string axis = "pe";
  platform::AttentionShape shape{1, 4, 2, 1, 64, 64};
  bool causal = false;
  std::optional<double> scale;
  double softcap = 0;
  std::string params;             ///< "overlap: none, gemm: dot"
  std::string hardware = "tiny";  ///< or "{base: tiny, ...}"
  std::string generate = "normal";
  std::string q, k, v;               ///< files, instead of generate
  std::string golden = "reference";  ///< the platform's own float64 reference, or a file
  std::string gate = "wire16";
  std::vector<std::string> options;  ///< of the command line

  std::string yaml() const;
};
inline void PrintTo(const AttentionRun& run, std::ostream* out) {
  *out << run.kernel << ", " << run.ranks << ' ' << run.axis << "s";
}

/// A machine as tiny with as many PEs a cube as ranks on the PE axis need.
std::string hardware_for(const std::string& axis, std::int64_t ranks);

/// What a run left behind.
struct AttentionOutcome {
  int status = -1;
  std::string err;
  nlohmann::ordered_json result;  ///< null when there is none
  std::string o_file;             ///< content of o.npy
  std::vector<double> o;          ///< its elements
};

/// Runs the platform in a folder of its own.
AttentionOutcome run_attention(const AttentionRun& run);

/// Runs and expects a passed check of every row, ranks that agree and, with `finite`, nothing else
/// than numbers between ranks.
AttentionOutcome expect_right(const AttentionRun& run, bool finite = true);

/// Expects that the run ends with a failed check.
AttentionOutcome expect_check_fails(const AttentionRun& run);

}  // namespace cubevp::test
