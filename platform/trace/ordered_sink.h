// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/sim/trace_signal.h"

namespace cubevp::platform {

/// A signal as the trace files show it.
struct TracedSignal {
  std::string scope;  ///< full name of its module: "cube_0_0.pe_0.cpu"
  std::string name;
  unsigned width_bits = 1;
  std::vector<std::string> states;  ///< words for 0, 1, ...; empty for a number
  bool is_text = false;             ///< its values are numbers of labels

  std::string full_name() const { return scope + "." + name; }
};

/// What part of the simulation a trace shows; both ends belong to it.
struct TraceWindow {
  Ps start_ps = 0;
  std::optional<Ps> stop_ps;  ///< nothing: to the end
};

/// Takes changes in any order and hands them to a file format in the order of time: of several
/// changes of a signal at one time the last announced counts, and what changes nothing is left
/// out. Every signal begins at 0; what is set before the window shows at its start.
class OrderedSink : public sim::TraceSink {
 public:
  explicit OrderedSink(TraceWindow window) : window_(window) {}

  /// Adds a signal of the module `scope`. Before the first flush.
  void add(const sim::TraceSignal& signal, const std::string& scope);

  void change(const sim::TraceSignal& signal, std::uint64_t value, Ps at_ps) final {
    pending_.push_back({at_ps, value, &signal});
  }
  /// Labels are numbered from 1 in the order they come; 0 is the empty one. When a signal is too
  /// narrow for the next number, its highest value stands for all further labels.
  std::uint64_t text(const sim::TraceSignal& signal, const char* text) final;

  /// Writes what happened before `until_ps`, of which no change may be announced any more (one
  /// that is shows at `until_ps`). Throws IoError.
  void flush_until(Ps until_ps);
  /// Writes what happened up to and including `end_ps` and completes the file. Throws IoError.
  void close(Ps end_ps);

  const std::vector<TracedSignal>& signals() const { return signals_; }
  /// The texts of label 0, 1, ...
  const std::vector<std::string>& labels() const { return labels_; }

 protected:
  struct Change {
    std::size_t signal;  ///< index in signals()
    std::uint64_t value;
  };

  /// The trace begins; all signals have the values that hold after everything at `at_ps`.
  virtual void begin(Ps at_ps, const std::vector<std::uint64_t>& values) = 0;
  /// All that changes at one time, in the order of the signals; times rise.
  virtual void step(Ps at_ps, const std::vector<Change>& changes) = 0;
  /// The trace ends; not before the last step.
  virtual void end(Ps at_ps) = 0;

 private:
  struct Announced {
    Ps at_ps;
    std::uint64_t value;
    const sim::TraceSignal* signal;
  };

  void take_step(Ps at_ps, std::size_t first, std::size_t last);
  void begin_at(Ps at_ps);
  std::uint64_t mask(std::size_t signal) const;

  TraceWindow window_;
  std::vector<TracedSignal> signals_;
  std::unordered_map<const sim::TraceSignal*, std::size_t> index_;
  std::vector<std::uint64_t> values_;      ///< of every signal, at the time last written
  std::vector<Announced> pending_;         ///< not yet written
  std::vector<std::uint64_t> new_values_;  ///< in the step being taken, where `touched_`
  std::vector<std::size_t> touched_;
  std::vector<char> is_touched_;
  std::vector<Change> changes_;
  Ps flushed_ps_ = 0;
  bool begun_ = false;

  std::vector<std::string> labels_ = {""};
  std::unordered_map<std::string, std::uint64_t> label_numbers_ = {{"", 0}};
  std::unordered_map<const char*, std::uint64_t> literal_numbers_;
};

}  // namespace cubevp::platform
