// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/tracer.h"

#include <algorithm>
#include <cstdio>

#include "platform/config/errors.h"
#include "platform/host/hierarchy.h"
#include "platform/trace/gtkw.h"
#include "platform/trace/perfetto_writer.h"
#include "platform/trace/scope.h"
#include "platform/trace/vcd_writer.h"

namespace cubevp::platform {

namespace {

/// Columns of the grid of cubes, from the modules' names.
unsigned grid_columns(const std::vector<std::string>& modules) {
  unsigned columns = 0;
  for (const std::string& name : modules) {
    unsigned x = 0;
    unsigned y = 0;
    if (std::sscanf(name.c_str(), "cube_%u_%u", &x, &y) == 2) {
      columns = std::max(columns, x + 1);
    }
  }
  return columns;
}

}  // namespace

Tracer::Tracer(const TraceConfig& config, const std::string& vcd_path,
               const std::string& perfetto_path)
    : start_ps_(config.start_ps), stop_ps_(config.stop_ps), vcd_path_(vcd_path) {
  select(config.scope);
  writers_.push_back(std::make_unique<VcdWriter>(vcd_path, signals_));
  if (!perfetto_path.empty()) {
    writers_.push_back(std::make_unique<PerfettoWriter>(perfetto_path, signals_));
  }
  shows_labels_.assign(signals_.size(), false);
  for (const TracedSignal& s : signals_) {
    values_.push_back(s.signal->initial());
    const_cast<sim::TraceSignal*>(s.signal)->attach(this);
  }
}

Tracer::~Tracer() {
  for (const TracedSignal& s : signals_) {
    const_cast<sim::TraceSignal*>(s.signal)->attach(nullptr);
  }
}

void Tracer::select(const std::vector<std::string>& scopes) {
  std::vector<std::string> modules;
  for_each_module<sim::TraceSource>(
      [&](sim::TraceSource&, const std::string& name) { modules.push_back(name); });
  std::vector<std::string> patterns;
  for (const std::string& scope : scopes) {
    patterns.push_back(expand_cube_alias(scope, grid_columns(modules)));
  }
  std::vector<bool> used(patterns.size(), false);
  for_each_module<sim::TraceSource>([&](sim::TraceSource& source, const std::string& name) {
    const std::size_t before = signals_.size();
    for (sim::TraceSignal* signal : source.trace_signals()) {
      bool wanted = false;
      for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (glob_match(patterns[i], name) || glob_match(patterns[i], name + '.' + signal->name())) {
          used[i] = true;
          wanted = true;
        }
      }
      if (wanted) {
        index_[signal] = signals_.size();
        signals_.push_back({name, signal});
      }
    }
    if (signals_.size() != before) {
      sources_.push_back(&source);
    }
  });
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (!used[i]) {
      errors.push_back(no_match_message(scopes[i], modules));
    }
  }
  if (!errors.empty()) {
    throw ConfigError(errors);
  }
}

void Tracer::change(const sim::TraceSignal& signal, std::uint64_t value, Ps at_ps) {
  pending_.push_back({at_ps, index_.find(&signal)->second, value});
}

std::uint64_t Tracer::text(const sim::TraceSignal& signal, const char* text) {
  shows_labels_[index_.find(&signal)->second] = true;
  if (text == nullptr || *text == '\0') {
    return 0;
  }
  const auto [found, added] = label_numbers_.emplace(text, labels_.size());
  if (added) {
    labels_.emplace_back(text);
  }
  return found->second;
}

void Tracer::advance(Ps now_ps) {
  for (sim::TraceSource* source : sources_) {
    source->finish_trace(now_ps);
  }
  flush(now_ps);
}

void Tracer::close(Ps end_ps) {
  for (sim::TraceSource* source : sources_) {
    source->finish_trace(end_ps + 1);
  }
  flush(end_ps + 1);
  if (!begun_) {
    begin();
  }
  const Ps last = std::max(start_ps_, stop_ps_ ? std::min(*stop_ps_, end_ps) : end_ps);
  for (const std::unique_ptr<TraceWriter>& writer : writers_) {
    writer->end(last, labels_);
  }
  write_gtkw(vcd_path_, signals_, shows_labels_, labels_);
}

void Tracer::begin() {
  begun_ = true;
  for (const std::unique_ptr<TraceWriter>& writer : writers_) {
    writer->begin(start_ps_, values_);
  }
}

void Tracer::flush(Ps until_ps) {
  // Announcements beyond the time reached stay; of several changes in one instant the last counts.
  std::stable_sort(pending_.begin(), pending_.end(), [](const Change& a, const Change& b) {
    return a.at_ps != b.at_ps ? a.at_ps < b.at_ps : a.signal < b.signal;
  });
  std::size_t done = 0;
  for (; done < pending_.size() && pending_[done].at_ps < until_ps; ++done) {
    const Change& c = pending_[done];
    const bool overtaken = done + 1 < pending_.size() && pending_[done + 1].at_ps == c.at_ps &&
                           pending_[done + 1].signal == c.signal;
    if (overtaken || (stop_ps_ && c.at_ps > *stop_ps_)) {
      continue;
    }
    if (!begun_ && c.at_ps > start_ps_) {
      begin();
    }
    if (values_[c.signal] == c.value) {
      continue;
    }
    values_[c.signal] = c.value;
    if (begun_) {
      for (const std::unique_ptr<TraceWriter>& writer : writers_) {
        writer->change(c.signal, c.value, c.at_ps);
      }
    }
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace cubevp::platform
