// SPDX-License-Identifier: Apache-2.0
#include "platform/commands.h"

#include <iostream>

#include <fmt/format.h>

#include "platform/check/errors.h"
#include "platform/check/inputs.h"
#include "platform/config/load.h"
#include "platform/errors.h"
#include "platform/host/hierarchy.h"
#include "platform/host/machine.h"
#include "platform/kernel_library.h"
#include "platform/known_names.h"
#include "platform/report/compare.h"
#include "platform/report/result_json.h"

namespace cubevp::platform {

namespace {

RunConfig load(const RunOptions& options) {
  const tl::KernelRegistry kernels = load_kernels(options.kernel_libraries);
  return load_run_config(options.config, options.overrides, known_names(kernels));
}

void list_signals(const RunOptions& options) {
  const tl::KernelRegistry kernels = load_kernels(options.kernel_libraries);
  const RunConfig config =
      load_run_config(options.config.empty() ? "llama70b_decode.yaml" : options.config,
                      options.overrides, known_names(kernels));
  const Machine machine(config.hardware, {false, 1}, kernels);
  for_each_module<sim::TraceSource>([](sim::TraceSource& source, const std::string& name) {
    for (const sim::TraceSignal* signal : source.trace_signals()) {
      std::cout << name << '.' << signal->name() << '\n';
    }
  });
}

}  // namespace

std::string version_text() {
  return std::string("CubeVP ") + CUBEVP_VERSION + " (SystemC " + SC_VERSION + ")";
}

int validate_command(const RunOptions& options) {
  return guarded([&] {
    const RunConfig config = load(options);
    std::cout << config.name << ": valid\n";
    return ExitStatus::ok;
  });
}

int show_command(const RunOptions& options) {
  return guarded([&] {
    std::cout << to_yaml(load(options));
    return ExitStatus::ok;
  });
}

int list_command(const std::string& what, const RunOptions& options) {
  return guarded([&] {
    if (what == "kernels") {
      const tl::KernelRegistry kernels = load_kernels(options.kernel_libraries);
      for (const tl::KernelInfo& k : kernels.all()) {
        std::cout << fmt::format("{:<22}{}\n", k.name, k.summary);
      }
    } else if (what == "configs") {
      for (const ListedConfig& c : list_configs(default_search_paths())) {
        std::cout << fmt::format("{:<36}{}\n", c.name, c.path);
      }
    } else if (what == "hardware") {
      for (const ListedConfig& c : list_presets(default_search_paths())) {
        std::cout << fmt::format("{:<36}{}\n", c.name, c.path);
      }
    } else if (what == "inputs") {
      for (const Distribution& d : distributions()) {
        std::cout << fmt::format("{:<26}{}\n", d.name, d.about);
      }
    } else if (what == "signals") {
      list_signals(options);
    } else {
      std::cerr << "platform list: expected kernels, configs, hardware, inputs or signals, got \""
                << what << "\"\n";
      return ExitStatus::usage;
    }
    return ExitStatus::ok;
  });
}

int compare_command(const std::vector<std::string>& results) {
  return guarded([&] {
    std::cout << compare_results(results);
    return ExitStatus::ok;
  });
}

}  // namespace cubevp::platform
