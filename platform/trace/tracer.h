// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/sim/trace_signal.h"
#include "platform/config/run_config.h"
#include "platform/trace/trace_writer.h"

namespace cubevp::platform {

/// Listens to the signals of the machine that `trace.scope` selects, puts their changes in the
/// order of time, cuts out `trace.start` to `trace.stop` and hands them to the writers: the VCD
/// with its GTKWave save file, and on request Perfetto's JSON.
///
/// Units may announce changes ahead of time; what is announced is held until advance() passes it,
/// so call it often.
class Tracer final : public sim::TraceSink {
 public:
  /// Attaches itself to the modules that exist. `perfetto_path` empty: none. Throws ConfigError
  /// when a scope matches nothing and IoError when a file cannot be written.
  Tracer(const TraceConfig& config, const std::string& vcd_path, const std::string& perfetto_path);
  ~Tracer() override;

  /// Writes everything before `now_ps`.
  void advance(Ps now_ps);
  /// Writes the rest up to `end_ps` and completes the files.
  void close(Ps end_ps);
  std::size_t signals() const { return signals_.size(); }

  void change(const sim::TraceSignal& signal, std::uint64_t value, Ps at_ps) override;
  std::uint64_t text(const sim::TraceSignal& signal, const char* text) override;

 private:
  struct Change {
    Ps at_ps;
    std::size_t signal;
    std::uint64_t value;
  };

  void select(const std::vector<std::string>& scopes);
  void flush(Ps until_ps);
  void begin();

  const Ps start_ps_;
  const std::optional<Ps> stop_ps_;
  const std::string vcd_path_;
  std::vector<TracedSignal> signals_;
  std::vector<sim::TraceSource*> sources_;
  std::unordered_map<const sim::TraceSignal*, std::size_t> index_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
  std::vector<std::uint64_t> values_;
  std::vector<Change> pending_;
  bool begun_ = false;
  TraceLabels labels_{"-"};
  std::unordered_map<std::string, std::uint64_t> label_numbers_;
  std::vector<bool> shows_labels_;  ///< by signal
};

}  // namespace cubevp::platform
