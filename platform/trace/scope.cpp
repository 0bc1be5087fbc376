// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/scope.h"

#include <cctype>

#include <fmt/format.h>

namespace cubevp::platform {

bool glob_match(const std::string& pattern, const std::string& name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

std::string expand_cube_alias(const std::string& pattern, unsigned columns) {
  constexpr std::size_t kPrefix = 4;  // "cube"
  std::size_t end = kPrefix;
  unsigned id = 0;
  while (end < pattern.size() && end < kPrefix + 6 &&
         std::isdigit(static_cast<unsigned char>(pattern[end])) != 0) {
    id = id * 10 + static_cast<unsigned>(pattern[end++] - '0');
  }
  const bool alias = pattern.compare(0, kPrefix, "cube") == 0 && end > kPrefix && columns > 0 &&
                     (end == pattern.size() || pattern[end] == '.');
  return alias ? fmt::format("cube_{}_{}", id % columns, id / columns) + pattern.substr(end)
               : pattern;
}

std::string no_match_message(const std::string& pattern, const std::vector<std::string>& modules) {
  std::string nearest;
  const std::string wanted = pattern.substr(0, pattern.find_first_of("*"));
  for (const std::string& module : modules) {
    std::size_t same = 0;
    while (same < module.size() && same < wanted.size() && module[same] == wanted[same]) {
      ++same;
    }
    std::size_t best = 0;
    while (best < nearest.size() && best < wanted.size() && nearest[best] == wanted[best]) {
      ++best;
    }
    if (nearest.empty() || same > best) {
      nearest = module;
    }
  }
  return fmt::format("trace.scope: expected a pattern that matches a module, got \"{}\"{}", pattern,
                     nearest.empty() ? "" : fmt::format("; there is \"{}\"", nearest));
}

}  // namespace cubevp::platform
