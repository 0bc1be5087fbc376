// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/trace/ordered_sink.h"
#include "platform/trace/output_file.h"

namespace cubevp::platform {

/// Writes a value change dump (IEEE 1364, 18) in picoseconds: a scope per component of a module's
/// name, words for states and labels as comments. The same changes give the same bytes.
class VcdWriter : public OrderedSink {
 public:
  /// The file appears under `path` at close(). Throws IoError.
  VcdWriter(const std::string& path, TraceWindow window);

 protected:
  void begin(Ps at_ps, const std::vector<std::uint64_t>& values) override;
  void step(Ps at_ps, const std::vector<Change>& changes) override;
  void end(Ps at_ps) override;

 private:
  void put_header();
  void put_states();
  void put_time(Ps at_ps);
  void put_value(std::size_t signal, std::uint64_t value);

  OutputFile file_;
  std::vector<std::string> codes_;  ///< of every signal
  Ps last_ps_ = 0;
};

}  // namespace cubevp::platform
