// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "platform/check/inputs.h"
#include "platform/check/load_inputs.h"
#include "platform/check/reference.h"
#include "platform/commands.h"
#include "platform/config/load.h"
#include "platform/errors.h"
#include "platform/host/hierarchy.h"
#include "platform/host/machine.h"
#include "platform/host_use.h"
#include "platform/kernel_library.h"
#include "platform/known_names.h"
#include "platform/report/collect.h"
#include "platform/report/files.h"
#include "platform/report/html.h"
#include "platform/report/progress.h"
#include "platform/report/result_json.h"
#include "platform/report/summary.h"
#include "platform/trace/tracer.h"

namespace cubevp::platform {

namespace {

std::atomic<bool> interrupted{false};

constexpr std::size_t kMostFaults = 4;

extern "C" void on_interrupt(int) {
  interrupted = true;
  // A second one ends the process at once.
  std::signal(SIGINT, SIG_DFL);
}

AttentionShape shape_of(const WorkloadConfig& w) {
  AttentionShape s;
  s.batch = w.batch;
  s.q_heads = w.q_heads;
  s.kv_heads = w.kv_heads;
  s.t_q = w.new_tokens;
  s.s_kv = w.context;
  s.d = w.head_dim;
  return s;
}

/// FLOPs of the products of visible scores; tiles compute some more.
double expected_flops(const WorkloadConfig& w) {
  const double t = static_cast<double>(w.new_tokens);
  const double s = static_cast<double>(w.context);
  const double pairs = w.causal ? t * (s - t) + t * (t + 1) / 2 : t * s;
  return 4.0 * static_cast<double>(w.batch * w.q_heads * w.head_dim) * pairs;
}

/// One run from the configuration to the files it leaves.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        kernels_(load_kernels(options.kernel_libraries)),
        config_(load_run_config(options.config, options.overrides, known_names(kernels_))),
        kernel_(*kernels_.find(config_.workload.kernel)),
        shape_(shape_of(config_.workload)),
        placement_(place(config_, kernel_)),
        out_dir_(options.out_dir.empty() ? "out/" + config_.name : options.out_dir),
        threads_(options.threads != 0 ? options.threads
                                      : std::max(1U, std::thread::hardware_concurrency())),
        progress_(!options.quiet && options.progress.value_or(isatty(STDERR_FILENO) != 0)) {
    config_.trace.enabled = config_.trace.enabled && !options.no_trace;
    if (!options.trace_file.empty()) {
      config_.trace.enabled = true;
    }
  }

  ExitStatus go() {
    const bool existed = std::filesystem::exists(out_dir_);
    make_output_folder(out_dir_);
    try {
      load_tensors();
      build();
    } catch (...) {
      // What cannot start leaves no empty folder behind.
      std::error_code ignored;
      if (!existed) {
        std::filesystem::remove(out_dir_, ignored);
      }
      throw;
    }
    const RunOutcome outcome = simulate();
    RunResult result = collect(*machine_, config_, placement_, outcome);
    result.version = CUBEVP_VERSION;
    result.config_sha256 = config_sha256(config_);
    if (outcome.reason == EndReason::finished) {
      check(result);
    } else {
      result.check.message = fmt::format("the run did not finish ({})", result.end);
    }
    host_use_.finish(result.host, model_events(result.units));
    result.host.data_mode = options_.no_data ? "no-data" : "data";
    progress_.clear();
    write(result);
    tell(result);
    return status_of(outcome.reason, result.check.status);
  }

 private:
  std::string in_out_dir(const std::string& name) const {
    return (std::filesystem::path(out_dir_) / name).string();
  }

  void load_tensors() {
    if (options_.no_data) {
      return;
    }
    progress_.step("loading inputs");
    const InputConfig& in = config_.input;
    if (in.generate.empty()) {
      LoadedInputs loaded = load_inputs(in.q, in.k, in.v, shape_, config_.numerics.io);
      for (const std::string& note : loaded.notes) {
        std::cerr << "note: " << note << '\n';
      }
      inputs_ = std::make_unique<TensorInputs>(std::move(loaded.inputs));
    } else {
      const GeneratedInputs generated(in.generate, in.seed, shape_, config_.numerics.io);
      inputs_ = std::make_unique<TensorInputs>(generated.tensor(TensorRole::q),
                                               generated.tensor(TensorRole::k),
                                               generated.tensor(TensorRole::v));
    }
    // A golden file that cannot be used shows now, not after the simulation.
    const std::string& golden = config_.check.golden;
    if (golden != "reference" && golden != "none") {
      golden_ = load_golden(golden, shape_);
    }
  }

  void build() {
    progress_.step("building the machine");
    hw::System::Options options;
    options.keep_data = !options_.no_data;
    options.threads = threads_;
    machine_ = std::make_unique<Machine>(config_.hardware, options, kernels_);
    if (config_.trace.enabled) {
      trace_file_ =
          options_.trace_file.empty() ? in_out_dir(config_.trace.vcd) : options_.trace_file;
      perfetto_file_ = options_.perfetto ? in_out_dir("trace.perfetto.json") : "";
      tracer_ = std::make_unique<Tracer>(config_.trace, trace_file_, perfetto_file_);
    }
    for_each_module<sim::StatsProvider>([this](sim::StatsProvider& unit, const std::string&) {
      if (std::string(unit.stats_kind()) == "gemm") {
        gemm_units_.push_back(&unit);
      }
    });
  }

  RunOutcome simulate() {
    progress_.step("simulating");
    RunControl control;
    control.limits = config_.limits;
    control.interrupted = &interrupted;
    control.on_slice = [this, expected = expected_flops(config_.workload)](Ps now) {
      if (tracer_) {
        tracer_->advance(sim::now_ps());
      }
      double flops = 0;
      for (const sim::StatsProvider* unit : gemm_units_) {
        flops += static_cast<double>(unit->stats().ops);
      }
      progress_.update(now, expected > 0 ? flops / expected : 0.0);
    };
    HostTensors tensors;
    if (inputs_) {
      tensors.q = inputs_->tensor(TensorRole::q).bits.data();
      tensors.k = inputs_->tensor(TensorRole::k).bits.data();
      tensors.v = inputs_->tensor(TensorRole::v).bits.data();
    }
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    const RunOutcome outcome =
        machine_->run(placement_, kernels_.number_of(kernel_.name), shape_.d, tensors, control);
    if (tracer_) {
      tracer_->close(sim::now_ps());
    }
    return outcome;
  }

  Tensor16 read_output(std::int64_t replica) {
    Tensor16 o;
    o.dtype = config_.numerics.io;
    o.shape = tensor_shape(TensorRole::q, shape_);
    o.bits.resize(static_cast<std::size_t>(element_count(o.shape)));
    machine_->read_output(placement_, shape_.d, replica, o.bits.data());
    return o;
  }

  void check(RunResult& result) {
    Verdict& v = result.check;
    if (options_.no_data) {
      v.message = "no data moved (--no-data)";
      return;
    }
    output_ = read_output(0);
    for (std::int64_t i = 1; i < placement_.replicas; ++i) {
      v.replicas_agree = v.replicas_agree && outputs_agree(output_, read_output(i));
    }
    if (config_.check.golden == "none") {
      v.message = "check.golden is none";
      return;
    }
    progress_.step("checking the output");
    const Gate gate = *gate_from_string(config_.check.gate);
    const std::vector<RowIndex> rows =
        config_.check.rows > 0 ? sample_rows(shape_, config_.check.rows) : all_rows(shape_);
    bool finite = true;
    if (!golden_.empty() || config_.check.golden != "reference") {
      v.gate = check_output(output_, golden_, shape_, rows, gate, config_.numerics.p);
      finite =
          std::all_of(golden_.begin(), golden_.end(), [](double x) { return std::isfinite(x); });
    } else {
      AttentionOptions options;
      options.causal = config_.workload.causal;
      options.scale = config_.workload.softmax_scale;
      options.softcap = config_.workload.softcap;
      options.threads = static_cast<int>(threads_);
      const ReferenceResult reference = reference_attention(*inputs_, shape_, options, rows);
      v.gate = check_output(output_, reference, shape_, gate, config_.numerics.p);
      finite = std::all_of(reference.o.begin(), reference.o.end(),
                           [](double x) { return std::isfinite(x); });
    }
    judge(v, finite);
  }

  static void judge(Verdict& v, bool reference_is_finite) {
    v.status = v.gate.status == CheckStatus::pass ? VerdictStatus::pass : VerdictStatus::fail;
    v.message = v.gate.message;
    const auto fail = [&v](const std::string& why) {
      v.status = VerdictStatus::fail;
      v.message += (v.message.empty() ? "" : "; ") + why;
    };
    if (!v.replicas_agree) {
      fail("ranks that hold the same rows disagree");
    }
    // Where the right answer itself is not finite, such values have to travel.
    if (v.nonfinite_on_links > 0 && reference_is_finite) {
      fail(fmt::format("{} non-finite values in messages between ranks", v.nonfinite_on_links));
    }
  }

  void write(const RunResult& result) {
    if (!config_.output_o.empty() && !output_.bits.empty()) {
      write_tensor(in_out_dir(config_.output_o), output_);
      files_.push_back(config_.output_o);
    }
    write_file(in_out_dir("config.yaml"), to_yaml(config_));
    files_.emplace_back("config.yaml");
    if (options_.html) {
      write_file(in_out_dir("report.html"), report_html(result));
      files_.emplace_back("report.html");
    }
    if (tracer_) {
      files_.push_back(options_.trace_file.empty() ? config_.trace.vcd : options_.trace_file);
      files_.push_back(std::filesystem::path(files_.back()).replace_extension(".gtkw").string());
      if (!perfetto_file_.empty()) {
        files_.emplace_back("trace.perfetto.json");
      }
    }
    // Last: whoever finds a result finds the rest.
    text_ = to_text(to_json(result));
    write_file(in_out_dir("result.json"), text_);
    files_.insert(files_.begin(), "result.json");
  }

  void tell(const RunResult& result) const {
    // A fault is often the same on every PE; a deadlock is told PE by PE.
    const std::size_t shown = result.end == "fault" ? std::min(result.messages.size(), kMostFaults)
                                                    : result.messages.size();
    for (std::size_t i = 0; i < shown; ++i) {
      std::cerr << result.messages[i] << '\n';
    }
    if (shown < result.messages.size()) {
      std::cerr << fmt::format("and {} more PEs, see end.messages in {}\n",
                               result.messages.size() - shown, in_out_dir("result.json"));
    }
    if (result.check.status == VerdictStatus::fail) {
      std::cerr << "check failed: " << result.check.message << '\n';
    }
    if (options_.json) {
      std::cout << text_;
    } else if (!options_.quiet) {
      std::cout << summary(result, out_dir_, files_);
    }
  }

  static ExitStatus status_of(EndReason reason, VerdictStatus check) {
    switch (reason) {
      case EndReason::finished:
        return check == VerdictStatus::fail ? ExitStatus::check_failed : ExitStatus::ok;
      case EndReason::interrupted:
        return ExitStatus::interrupted;
      default:
        return ExitStatus::machine;
    }
  }

  HostUseMeter host_use_;
  const RunOptions& options_;
  const tl::KernelRegistry kernels_;
  RunConfig config_;
  const tl::KernelInfo& kernel_;
  const AttentionShape shape_;
  const Placement placement_;
  const std::string out_dir_;
  const unsigned threads_;
  ProgressLine progress_;

  std::unique_ptr<TensorInputs> inputs_;
  std::vector<double> golden_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Tracer> tracer_;
  std::vector<const sim::StatsProvider*> gemm_units_;
  Tensor16 output_;
  std::string trace_file_;
  std::string perfetto_file_;
  std::string text_;
  std::vector<std::string> files_;
};

}  // namespace

int run_command(const RunOptions& options) {
  return guarded([&] {
    // Never destroyed: SystemC takes longer to take a large machine apart than many a run takes,
    // and the process ends here.
    return (new Run(options))->go();
  });
}

}  // namespace cubevp::platform
