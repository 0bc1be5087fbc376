// SPDX-License-Identifier: Apache-2.0
#include "platform/config/diagnostics.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

constexpr std::size_t kLongestQuote = 60;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace

ConfigError::ConfigError(std::vector<std::string> lines)
    : std::runtime_error(joined(lines)), lines_(std::move(lines)) {}

std::string Position::to_string() const {
  return line == 0 ? source : fmt::format("{}:{}:{}", source, line, column);
}

Position Origins::at(std::string key) const {
  while (true) {
    const auto found = positions_.find(key);
    if (found != positions_.end()) {
      return found->second;
    }
    const std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) {
      return whole_;
    }
    key.resize(dot);
  }
}

void Problems::add(const Position& at, const std::string& key, const std::string& text) {
  auto source = std::find(sources_.begin(), sources_.end(), at.source);
  if (source == sources_.end()) {
    source = sources_.insert(sources_.end(), at.source);
  }
  problems_.push_back(
      {static_cast<std::size_t>(source - sources_.begin()), at,
       fmt::format("{}: {}{}{}", at.to_string(), key, key.empty() ? "" : ": ", text)});
  keys_.insert(key);
}

bool Problems::about(std::string key) const {
  while (keys_.count(key) == 0) {
    const std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) {
      return false;
    }
    key.resize(dot);
  }
  return true;
}

void Problems::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.source, a.at.line, a.at.column) < std::tie(b.source, b.at.line, b.at.column);
  });
  std::vector<std::string> lines;
  for (const Problem& p : sorted) {
    lines.push_back(p.text);
  }
  throw ConfigError(std::move(lines));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (out.size() > kLongestQuote) {
      out += "...";
      break;
    }
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& name, const std::vector<std::string>& names) {
  // A key that goes on for pages is no misspelling; the distance to all of it would take long.
  const std::string head = name.substr(0, 64);
  std::string best;
  std::size_t least = std::string::npos;
  for (const std::string& candidate : names) {
    const std::size_t distance = edit_distance(head, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace cubevp::platform
