// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cubevp::platform {

enum class ExitStatus : int {
  ok = 0,
  check_failed = 1,
  usage = 2,
  machine = 3,  ///< deadlock, fault, time limit
  io = 4,
  interrupted = 130,
};

/// What the command line says about a run.
struct RunOptions {
  std::string config;
  std::vector<std::string> overrides;  ///< dotted.key=value
  std::string out_dir;                 ///< empty: out/<name>
  bool no_trace = false;
  std::string trace_file;  ///< empty: as the configuration says
  bool no_data = false;
  unsigned threads = 0;  ///< 0: one for each core
  bool quiet = false;
  bool json = false;
  bool html = false;
  bool perfetto = false;
  std::optional<bool> progress;  ///< nothing: when standard error is a terminal
  std::vector<std::string> kernel_libraries;
};

// One function a command; each returns the process's exit status and has told the user, in one
// line on standard error, whatever went wrong.
int run_command(const RunOptions& options);
int validate_command(const RunOptions& options);
int show_command(const RunOptions& options);
/// `what`: kernels, configs, hardware, inputs or signals.
int list_command(const std::string& what, const RunOptions& options);
int compare_command(const std::vector<std::string>& results);
std::string version_text();

}  // namespace cubevp::platform
