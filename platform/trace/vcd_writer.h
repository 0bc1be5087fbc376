// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/trace/output_file.h"
#include "platform/trace/trace_writer.h"

namespace cubevp::platform {

/// Writes a value change dump (IEEE 1364, 18) in picoseconds: a scope per component of a module's
/// name, words for states and labels as comments. The same changes give the same bytes.
class VcdWriter final : public TraceWriter {
 public:
  /// The file appears under `path` at end(). Throws IoError.
  VcdWriter(const std::string& path, const std::vector<TracedSignal>& signals);

  void begin(Ps start_ps, const std::vector<std::uint64_t>& values) override;
  void change(std::size_t signal, std::uint64_t value, Ps at_ps) override;
  void end(Ps at_ps, const TraceLabels& labels) override;

 private:
  void put_states();
  void put_time(Ps at_ps);
  void put_value(std::size_t signal, std::uint64_t value);

  OutputFile file_;
  const std::vector<TracedSignal> signals_;
  std::vector<std::string> codes_;  ///< of every signal
  Ps last_ps_ = -1;
};

}  // namespace cubevp::platform
