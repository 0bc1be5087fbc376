// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <systemc>

#include "platform/commands.h"

// The command line: options in, one call of platform/commands.h out. The only place that knows
// Boost.Program_options.

namespace {

namespace po = boost::program_options;
using cubevp::platform::ExitStatus;
using cubevp::platform::RunOptions;

constexpr std::int64_t kMostThreads = 256;

struct CommandHelp {
  const char* name;
  const char* summary;
  const char* example;
};

constexpr CommandHelp kCommands[] = {
    {"run", "simulate one run (the default command)",
     "platform --config llama70b_decode.yaml --set hardware.link.bandwidth='256 GB/s'"},
    {"validate", "check a configuration, build nothing",
     "platform validate --config llama70b_decode.yaml"},
    {"show", "print the resolved configuration, every default filled in",
     "platform show --config llama70b_decode.yaml --set workload.context=131072"},
    {"list", "list kernels, configs, hardware, inputs or signals", "platform list kernels"},
    {"compare", "put results side by side",
     "platform compare out/llama70b_decode/result.json out/other/result.json"},
};

void print_help(const CommandHelp& command, const po::options_description& options) {
  std::cout << "usage: platform " << (std::string(command.name) == "run" ? "" : command.name)
            << " [options]\n\n"
            << command.summary << "\n\n"
            << options << "\nexample:\n  " << command.example << "\n";
  if (std::string(command.name) == "run") {
    std::cout << "\ncommands (platform COMMAND --help tells more):\n";
    for (const CommandHelp& c : kCommands) {
      std::cout << fmt::format("  {:<10}{}\n", c.name, c.summary);
    }
    std::cout << "\nexit status: 0 done and check passed, 1 numerical check failed, 2 usage or "
                 "configuration error,\n3 deadlock, fault or time limit, 4 input/output error, "
                 "130 interrupted\n";
  }
}

po::options_description config_options(RunOptions& o) {
  po::options_description d("configuration");
  d.add_options()("config,c", po::value(&o.config)->value_name("FILE"),
                  "run file; a bare name is looked up here, then in the project's configs/")(
      "set", po::value(&o.overrides)->value_name("KEY=VALUE")->composing(),
      "override a key, e.g. workload.context=131072; may be given again")(
      "seed", po::value<std::string>()->value_name("N")->notifier([&o](const std::string& seed) {
        o.overrides.push_back("input.seed=" + seed);
      }),
      "seed of generated inputs");
  return d;
}

po::options_description run_options(RunOptions& o) {
  po::options_description d("run");
  d.add_options()("out,o", po::value(&o.out_dir)->value_name("DIR"),
                  "where results go (default out/<name>)")("no-trace", po::bool_switch(&o.no_trace),
                                                           "write no VCD trace")(
      "trace", po::value(&o.trace_file)->value_name("FILE"), "write the VCD trace to FILE")(
      "no-data", po::bool_switch(&o.no_data),
      "timing only: no tensor bytes move, the same simulated time")(
      "threads", po::value<std::int64_t>()->value_name("N")->notifier([&o](std::int64_t n) {
        if (n < 1 || n > kMostThreads) {
          throw po::error(fmt::format("--threads: expected 1 to {}, got {}", kMostThreads, n));
        }
        o.threads = static_cast<unsigned>(n);
      }),
      "host threads for arithmetic (default: one for each core)")(
      "kernel-lib", po::value(&o.kernel_libraries)->value_name("FILE")->composing(),
      "shared library with kernels of your own")("quiet,q", po::bool_switch(&o.quiet),
                                                 "no summary")("json", po::bool_switch(&o.json),
                                                               "result.json on standard output")(
      "report", po::bool_switch(&o.html), "also write report.html")(
      "perfetto", po::bool_switch(&o.perfetto), "also write trace.perfetto.json")(
      "progress", po::bool_switch()->notifier([&o](bool on) {
        if (on) {
          o.progress = true;
        }
      }),
      "a live line on standard error (default: when it is a terminal)")(
      "no-progress", po::bool_switch()->notifier([&o](bool on) {
        if (on) {
          o.progress = false;
        }
      }),
      "no live line");
  return d;
}

/// Parses one command's arguments; true when the caller should go on, false after --help.
bool parse(const CommandHelp& command, const std::vector<std::string>& args,
           const po::options_description& options,
           const po::positional_options_description& positional, po::variables_map& vm) {
  po::options_description all;
  all.add(options);
  all.add_options()("help,h", "this text");
  po::store(
      po::command_line_parser(args)
          .options(all)
          .positional(positional)
          .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
          .run(),
      vm);
  if (vm.count("help") != 0) {
    print_help(command, all);
    return false;
  }
  po::notify(vm);
  return true;
}

int usage_error(const std::string& text) {
  std::cerr << "platform: " << text << " (see platform --help)\n";
  return static_cast<int>(ExitStatus::usage);
}

int dispatch(const std::string& name, const std::vector<std::string>& args) {
  namespace cp = cubevp::platform;
  const CommandHelp& command = *std::find_if(std::begin(kCommands), std::end(kCommands),
                                             [&](const CommandHelp& c) { return name == c.name; });
  RunOptions o;
  po::options_description options;
  po::positional_options_description positional;
  po::variables_map vm;

  if (name == "run") {
    options.add(config_options(o)).add(run_options(o));
    options.add_options()("version", "print the version");
    if (!parse(command, args, options, positional, vm)) {
      return 0;
    }
    if (vm.count("version") != 0) {
      std::cout << cp::version_text() << "\n";
      return 0;
    }
    return o.config.empty() ? usage_error("--config FILE is missing") : cp::run_command(o);
  }
  if (name == "validate" || name == "show") {
    options.add(config_options(o));
    options.add_options()("kernel-lib", po::value(&o.kernel_libraries)->composing(),
                          "shared library with kernels of your own");
    if (!parse(command, args, options, positional, vm)) {
      return 0;
    }
    if (o.config.empty()) {
      return usage_error("--config FILE is missing");
    }
    return name == "show" ? cp::show_command(o) : cp::validate_command(o);
  }
  if (name == "list") {
    std::string what;
    options.add_options()("what",
                          po::value(&what)->value_name("kernels|configs|hardware|inputs|signals"),
                          "what to list")("kernel-lib", po::value(&o.kernel_libraries)->composing(),
                                          "shared library with kernels of your own");
    options.add(config_options(o));
    positional.add("what", 1);
    if (!parse(command, args, options, positional, vm)) {
      return 0;
    }
    return cp::list_command(what, o);
  }
  if (name == "compare") {
    std::vector<std::string> results;
    options.add_options()("result", po::value(&results)->composing(), "result.json files");
    positional.add("result", -1);
    if (!parse(command, args, options, positional, vm)) {
      return 0;
    }
    return results.size() < 2 ? usage_error("compare needs at least two result.json files")
                              : cp::compare_command(results);
  }
  return usage_error("unknown command \"" + name + "\"");
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  std::vector<std::string> args(argv + 1, argv + argc);
  std::string name = "run";
  if (!args.empty() && !args.front().empty() && args.front()[0] != '-') {
    name = args.front();
    args.erase(args.begin());
    if (std::none_of(std::begin(kCommands), std::end(kCommands),
                     [&](const CommandHelp& c) { return name == c.name; })) {
      return usage_error("unknown command \"" + name + "\"");
    }
  }
  int status = static_cast<int>(ExitStatus::machine);
  try {
    status = dispatch(name, args);
  } catch (const po::error& e) {
    status = usage_error(e.what());
  } catch (const std::exception& e) {
    // Whatever nobody foresaw still ends in one line and a status.
    std::cerr << "platform: internal error: " << e.what() << "\n";
  }
  std::cout.flush();
  if (!std::cout && status == 0) {
    std::cerr << "platform: standard output cannot be written\n";
    status = static_cast<int>(ExitStatus::io);
  }
  // All files are closed; SystemC takes longer to take a large machine apart than many a run takes.
  std::fflush(nullptr);
  std::_Exit(status);
}

int main(int argc, char* argv[]) {
  // SystemC prints a banner unless told not to.
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
