// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/sim/trace_signal.h"

namespace cubevp::platform {

/// A signal of the trace: the module's full name and what the module says of it.
struct TracedSignal {
  std::string module;  ///< cube_0_0.pe_3.gemm_unit
  const sim::TraceSignal* signal = nullptr;

  std::string name() const { return module + '.' + signal->name(); }
};

/// Words that signals without states of their own show by number (operations, kernel phases).
/// Number 0 is "nothing".
using TraceLabels = std::vector<std::string>;

/// A trace format. Gets the changes in the order of time, only real ones, at most one a signal
/// and instant.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  /// `values`: of every signal at `start_ps`.
  virtual void begin(Ps start_ps, const std::vector<std::uint64_t>& values) = 0;
  /// `signal`: index into the list of signals.
  virtual void change(std::size_t signal, std::uint64_t value, Ps at_ps) = 0;
  virtual void end(Ps at_ps, const TraceLabels& labels) = 0;
};

}  // namespace cubevp::platform
