// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/sim/trace_signal.h"
#include "platform/config/run_config.h"
#include "platform/trace/ordered_sink.h"

namespace cubevp::platform {

/// Traces the machine that stands while it is made: chooses signals, listens to them and writes
/// them to a VCD file and, if wanted, a Perfetto file. To be closed or destroyed before the
/// modules; destroyed without close(), it leaves no files.
class Tracer {
 public:
  /// Chooses the signals whose full names ("cube_1_0.pe_3.gemm_unit.state", or "cube1" for the
  /// cube with that number) match one of config.scope. `perfetto_path` empty: no such file.
  /// Throws ConfigError for a pattern that matches nothing, IoError for a file that cannot be
  /// written.
  Tracer(const TraceConfig& config, const std::string& vcd_path, const std::string& perfetto_path);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Writes what happened before `now_ps`, absolute simulated time. Throws IoError.
  void advance(Ps now_ps);
  /// Completes the files; they appear under their names now. Throws IoError.
  void close(Ps end_ps);

  /// How many signals are traced.
  std::size_t signals() const;
  /// The signals in the order of the files, and the texts of label 0, 1, ...: what write_gtkw()
  /// needs, complete after close().
  const std::vector<TracedSignal>& table() const;
  const std::vector<std::string>& labels() const;

 private:
  class FanOut;

  void select(const std::vector<std::string>& patterns);
  void finish_sources(Ps at_ps);
  void detach();

  struct Selected {
    sim::TraceSignal* signal;
    std::string scope;
  };

  TraceWindow window_;
  std::vector<Selected> selected_;
  std::vector<sim::TraceSource*> sources_;  ///< those with a selected signal
  std::vector<std::unique_ptr<OrderedSink>> sinks_;
  std::unique_ptr<FanOut> fan_out_;  ///< when there is more than one sink
  bool attached_ = false;
};

}  // namespace cubevp::platform
