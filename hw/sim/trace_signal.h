// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/time.h"

namespace cubevp::sim {

class TraceSignal;

/// Where changes of traced signals go (platform/trace). A unit that knows the future (a link that
/// is busy until t) may announce it. A unit whose announcements may still be overtaken holds them
/// back and gives them in the order of time, then after the fact: the sink sorts by time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void change(const TraceSignal& signal, std::uint64_t value, Ps at_ps) = 0;
  /// For signals that show names which are not known beforehand (labels): the number that
  /// stands for a string literal in this trace.
  virtual std::uint64_t text(const TraceSignal& signal, const char* text) = 0;
};

/// One traced value of a module. Costs one compare while nobody listens.
class TraceSignal {
 public:
  /// `states` gives the words for values 0, 1, ... of a state signal; empty for a number.
  /// `initial` is its value until the first change.
  TraceSignal(std::string name, unsigned width_bits, std::vector<std::string> states = {},
              std::uint64_t initial = 0)
      : name_(std::move(name)),
        width_bits_(width_bits),
        states_(std::move(states)),
        initial_(initial) {}
  TraceSignal(const TraceSignal&) = delete;
  TraceSignal& operator=(const TraceSignal&) = delete;

  void set(std::uint64_t value) {
    if (sink_ != nullptr) {
      sink_->change(*this, value, now_ps());
    }
  }
  void set_at(std::uint64_t value, Ps at_ps) {
    if (sink_ != nullptr) {
      sink_->change(*this, value, at_ps);
    }
  }
  /// Shows a string literal as a word.
  void set_text(const char* text) {
    if (sink_ != nullptr) {
      sink_->change(*this, sink_->text(*this, text), now_ps());
    }
  }
  bool traced() const { return sink_ != nullptr; }

  const std::string& name() const { return name_; }
  unsigned width_bits() const { return width_bits_; }
  const std::vector<std::string>& states() const { return states_; }
  std::uint64_t initial() const { return initial_; }
  void attach(TraceSink* sink) { sink_ = sink; }

 private:
  std::string name_;  ///< inside its module: "state", "op", "queue"
  unsigned width_bits_;
  std::vector<std::string> states_;
  std::uint64_t initial_;
  TraceSink* sink_ = nullptr;
};

/// A module with traced signals; the tracer walks the module hierarchy for these.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  virtual std::vector<TraceSignal*> trace_signals() = 0;
  /// The trace ends: announce changes up to `at_ps` that were held back.
  virtual void finish_trace(Ps /*at_ps*/) {}
};

}  // namespace cubevp::sim
