// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/vcd_writer.h"

#include <map>
#include <set>

namespace cubevp::platform {

namespace {

/// 0, 1, ... as the shortest strings of printable characters.
std::string code_of(std::size_t number) {
  constexpr std::size_t kFirst = '!';
  constexpr std::size_t kCharacters = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(kFirst + number % kCharacters);
    number /= kCharacters;
  } while (number-- != 0);
  return code;
}

/// A module's scope: its own signals, then the scopes below in the order they were met.
struct Scope {
  std::vector<std::size_t> signals;
  std::vector<std::pair<std::string, Scope>> below;

  Scope& child(const std::string& name) {
    // Modules come depth first, so it is the last one or none.
    for (auto it = below.rbegin(); it != below.rend(); ++it) {
      if (it->first == name) {
        return it->second;
      }
    }
    return below.emplace_back(name, Scope{}).second;
  }
};

Scope scope_tree(const std::vector<TracedSignal>& signals) {
  Scope root;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    Scope* scope = &root;
    const std::string& path = signals[i].module;
    for (std::size_t from = 0; from < path.size();) {
      const std::size_t dot = std::min(path.find('.', from), path.size());
      scope = &scope->child(path.substr(from, dot - from));
      from = dot + 1;
    }
    scope->signals.push_back(i);
  }
  return root;
}

void put_scope(OutputFile& file, const Scope& scope, const std::vector<TracedSignal>& signals,
               const std::vector<std::string>& codes) {
  for (const std::size_t i : scope.signals) {
    const sim::TraceSignal& s = *signals[i].signal;
    file.put("$var wire ");
    file.put_number(s.width_bits());
    file.put(' ');
    file.put(codes[i]);
    file.put(' ');
    file.put(s.name());
    if (s.width_bits() > 1) {
      file.put(" [");
      file.put_number(s.width_bits() - 1);
      file.put(":0]");
    }
    file.put(" $end\n");
  }
  for (const auto& [name, below] : scope.below) {
    file.put("$scope module ");
    file.put(name);
    file.put(" $end\n");
    put_scope(file, below, signals, codes);
    file.put("$upscope $end\n");
  }
}

}  // namespace

VcdWriter::VcdWriter(const std::string& path, const std::vector<TracedSignal>& signals)
    : file_(path), signals_(signals) {
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    codes_.push_back(code_of(i));
  }
}

void VcdWriter::put_states() {
  std::set<std::vector<std::string>> told;
  for (const TracedSignal& s : signals_) {
    const std::vector<std::string>& states = s.signal->states();
    if (states.empty() || !told.insert(states).second) {
      continue;
    }
    file_.put("$comment states");
    for (std::size_t i = 0; i < states.size(); ++i) {
      file_.put(' ');
      file_.put_number(static_cast<std::int64_t>(i));
      file_.put('=');
      file_.put(states[i]);
    }
    file_.put(": ");
    file_.put(s.name());
    file_.put(" and alike $end\n");
  }
}

void VcdWriter::begin(Ps start_ps, const std::vector<std::uint64_t>& values) {
  // No date: the same run gives the same bytes.
  file_.put("$version CubeVP $end\n$timescale 1 ps $end\n");
  put_states();
  put_scope(file_, scope_tree(signals_), signals_, codes_);
  file_.put("$enddefinitions $end\n");
  put_time(start_ps);
  file_.put("$dumpvars\n");
  for (std::size_t i = 0; i < values.size(); ++i) {
    put_value(i, values[i]);
  }
  file_.put("$end\n");
}

void VcdWriter::change(std::size_t signal, std::uint64_t value, Ps at_ps) {
  put_time(at_ps);
  put_value(signal, value);
}

void VcdWriter::end(Ps at_ps, const TraceLabels& labels) {
  put_time(at_ps);
  for (std::size_t i = 1; i < labels.size(); ++i) {
    file_.put("$comment label ");
    file_.put_number(static_cast<std::int64_t>(i));
    file_.put(' ');
    file_.put(labels[i]);
    file_.put(" $end\n");
  }
  file_.close();
}

void VcdWriter::put_time(Ps at_ps) {
  if (at_ps == last_ps_) {
    return;
  }
  file_.put('#');
  file_.put_number(at_ps);
  file_.put('\n');
  last_ps_ = at_ps;
}

void VcdWriter::put_value(std::size_t signal, std::uint64_t value) {
  if (signals_[signal].signal->width_bits() == 1) {
    file_.put(value != 0 ? '1' : '0');
  } else {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, 2).ptr;
    file_.put('b');
    file_.put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    file_.put(' ');
  }
  file_.put(codes_[signal]);
  file_.put('\n');
}

}  // namespace cubevp::platform
