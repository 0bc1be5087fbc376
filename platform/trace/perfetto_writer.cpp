// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/perfetto_writer.h"

#include <map>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

/// As a JSON string holds it.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

/// Trace events count in microseconds.
std::string microseconds(Ps ps) {
  return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000);
}

}  // namespace

PerfettoWriter::PerfettoWriter(const std::string& path, const std::vector<TracedSignal>& signals)
    : file_(path), signals_(signals) {
  file_.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  std::map<std::string, int> processes;
  int thread = 0;
  for (const TracedSignal& s : signals_) {
    const std::string cube = s.module.substr(0, s.module.find('.'));
    const auto [process, added] = processes.emplace(cube, static_cast<int>(processes.size()) + 1);
    if (added) {
      event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})",
                        process->second, cube));
    }
    tracks_.push_back({process->second, ++thread, 0, 0});
    event(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                    process->second, thread, s.name()));
  }
}

bool PerfettoWriter::shows_labels(std::size_t signal) const {
  const std::string& name = signals_[signal].signal->name();
  return name == "op" || name == "phase";
}

void PerfettoWriter::begin(Ps start_ps, const std::vector<std::uint64_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    tracks_[i].value = values[i];
    tracks_[i].since_ps = start_ps;
    count(i, start_ps);
  }
}

void PerfettoWriter::change(std::size_t signal, std::uint64_t value, Ps at_ps) {
  leave(signal, at_ps);
  tracks_[signal].value = value;
  tracks_[signal].since_ps = at_ps;
  count(signal, at_ps);
}

void PerfettoWriter::count(std::size_t signal, Ps at_ps) {
  if (signals_[signal].signal->states().empty() && !shows_labels(signal)) {
    event(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"value":{}}}}})",
                      signals_[signal].name(), tracks_[signal].process, microseconds(at_ps),
                      tracks_[signal].value));
  }
}

void PerfettoWriter::leave(std::size_t signal, Ps at_ps) {
  const Track& t = tracks_[signal];
  if (t.value == 0 || at_ps <= t.since_ps) {
    return;
  }
  const std::vector<std::string>& states = signals_[signal].signal->states();
  if (shows_labels(signal)) {
    label_spans_.push_back({signal, t.value, t.since_ps, at_ps});
  } else if (t.value < states.size()) {
    span(signal, states[t.value], t.since_ps, at_ps);
  }
}

void PerfettoWriter::span(std::size_t signal, const std::string& word, Ps from_ps, Ps to_ps) {
  event(fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})", escaped(word),
                    tracks_[signal].process, tracks_[signal].thread, microseconds(from_ps),
                    microseconds(to_ps - from_ps)));
}

void PerfettoWriter::event(const std::string& json) {
  file_.put(first_event_ ? "\n" : ",\n");
  first_event_ = false;
  file_.put(json);
}

void PerfettoWriter::end(Ps at_ps, const TraceLabels& labels) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    leave(i, at_ps);
  }
  for (const LabelSpan& s : label_spans_) {
    span(s.signal, labels[s.label], s.from_ps, s.to_ps);
  }
  file_.put("\n]}\n");
  file_.close();
}

}  // namespace cubevp::platform
