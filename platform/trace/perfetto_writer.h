// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/trace/output_file.h"
#include "platform/trace/trace_writer.h"

namespace cubevp::platform {

/// Trace events in JSON, which ui.perfetto.dev and chrome://tracing show: a process for each cube,
/// a thread for each state of a module, a span for each time in which it is not at rest, a counter
/// for each number.
class PerfettoWriter final : public TraceWriter {
 public:
  PerfettoWriter(const std::string& path, const std::vector<TracedSignal>& signals);

  void begin(Ps start_ps, const std::vector<std::uint64_t>& values) override;
  void change(std::size_t signal, std::uint64_t value, Ps at_ps) override;
  void end(Ps at_ps, const TraceLabels& labels) override;

 private:
  /// A signal whose words are known only at the end is kept until then.
  struct Track {
    int process = 0;
    int thread = 0;
    std::uint64_t value = 0;
    Ps since_ps = 0;
  };
  struct LabelSpan {
    std::size_t signal;
    std::uint64_t label;
    Ps from_ps;
    Ps to_ps;
  };

  bool shows_labels(std::size_t signal) const;
  void leave(std::size_t signal, Ps at_ps);
  void count(std::size_t signal, Ps at_ps);
  void span(std::size_t signal, const std::string& word, Ps from_ps, Ps to_ps);
  void event(const std::string& json);

  OutputFile file_;
  const std::vector<TracedSignal> signals_;
  std::vector<Track> tracks_;
  std::vector<LabelSpan> label_spans_;
  bool first_event_ = true;
};

}  // namespace cubevp::platform
