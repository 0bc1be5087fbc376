// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/ordered_sink.h"

#include <algorithm>

namespace cubevp::platform {

void OrderedSink::add(const sim::TraceSignal& signal, const std::string& scope) {
  index_.emplace(&signal, signals_.size());
  signals_.push_back({scope, signal.name(), signal.width_bits(), signal.states(), false});
  values_.push_back(0);
  new_values_.push_back(0);
  is_touched_.push_back(0);
}

std::uint64_t OrderedSink::mask(std::size_t signal) const {
  const unsigned width = signals_[signal].width_bits;
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::uint64_t OrderedSink::text(const sim::TraceSignal& signal, const char* text) {
  const std::size_t index = index_.at(&signal);
  signals_[index].is_text = true;
  // The same literal has the same address nearly always; its text decides when it has not.
  const auto [known, is_new] = literal_numbers_.try_emplace(text, 0);
  if (is_new) {
    const std::string label = text == nullptr ? "" : text;
    const auto [number, is_new_label] = label_numbers_.try_emplace(label, labels_.size());
    if (is_new_label) {
      labels_.push_back(label);
    }
    known->second = number->second;
  }
  return std::min(known->second, mask(index));
}

void OrderedSink::flush_until(Ps until_ps) {
  const auto earlier = [](const Announced& a, const Announced& b) { return a.at_ps < b.at_ps; };
  if (!std::is_sorted(pending_.begin(), pending_.end(), earlier)) {
    // Stable: at one time the last announced counts.
    std::stable_sort(pending_.begin(), pending_.end(), earlier);
  }
  std::size_t first = 0;
  while (first < pending_.size() && pending_[first].at_ps < until_ps) {
    // What comes too late shows at the earliest time that is still open.
    const Ps at_ps = std::max(pending_[first].at_ps, flushed_ps_);
    std::size_t last = first + 1;
    while (last < pending_.size() && std::max(pending_[last].at_ps, flushed_ps_) == at_ps) {
      ++last;
    }
    take_step(at_ps, first, last);
    first = last;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first));
  flushed_ps_ = std::max(flushed_ps_, until_ps);
}

void OrderedSink::take_step(Ps at_ps, std::size_t first, std::size_t last) {
  if (window_.stop_ps && at_ps > *window_.stop_ps) {
    return;
  }
  if (at_ps > window_.start_ps) {
    begin_at(window_.start_ps);
  }
  touched_.clear();
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t signal = index_.at(pending_[i].signal);
    new_values_[signal] = pending_[i].value & mask(signal);
    if (is_touched_[signal] == 0) {
      is_touched_[signal] = 1;
      touched_.push_back(signal);
    }
  }
  std::sort(touched_.begin(), touched_.end());
  changes_.clear();
  for (const std::size_t signal : touched_) {
    is_touched_[signal] = 0;
    if (values_[signal] != new_values_[signal]) {
      values_[signal] = new_values_[signal];
      changes_.push_back({signal, new_values_[signal]});
    }
  }
  if (begun_ && !changes_.empty()) {
    step(at_ps, changes_);
  }
}

void OrderedSink::begin_at(Ps at_ps) {
  if (!begun_) {
    begun_ = true;
    begin(at_ps, values_);
  }
}

void OrderedSink::close(Ps end_ps) {
  flush_until(end_ps + 1);
  const Ps shown_end = window_.stop_ps ? std::min(*window_.stop_ps, end_ps) : end_ps;
  begin_at(std::min(window_.start_ps, shown_end));
  end(shown_end);
}

}  // namespace cubevp::platform
