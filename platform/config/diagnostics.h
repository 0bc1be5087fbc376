// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "platform/config/errors.h"

namespace cubevp::platform {

/// Where a value was written. Line 0: not in a file, `source` says where ("--set").
struct Position {
  std::string source;
  int line = 0;
  int column = 0;

  std::string to_string() const;
};

/// Where each key's value comes from; the last one to set it counts.
class Origins {
 public:
  /// `whole`: where keys come from that nothing has set.
  explicit Origins(Position whole) : whole_(std::move(whole)) {}

  void set(const std::string& key, Position at) { positions_[key] = std::move(at); }
  bool has(const std::string& key) const { return positions_.count(key) != 0; }
  /// Of the key, or of the nearest mapping around it that was written, or the whole.
  Position at(std::string key) const;

 private:
  Position whole_;
  std::map<std::string, Position> positions_;
};

/// Everything wrong with a configuration, gathered so that it can be reported at once.
class Problems {
 public:
  /// `key` may be empty: the text stands for itself.
  void add(const Position& at, const std::string& key, const std::string& text);
  /// Whether something is wrong with the key itself or with a mapping that it is in; what follows
  /// from it need not be told.
  bool about(std::string key) const;
  /// What is in this mapping could not be read, as a problem under another name says.
  void could_not_read(const std::string& key) { keys_.insert(key); }
  bool empty() const { return problems_.empty(); }
  /// Throws ConfigError when there is any, in the order of the files' lines.
  void throw_if_any() const;

 private:
  struct Problem {
    std::size_t source;
    Position at;
    std::string text;
  };
  std::vector<std::string> sources_;
  std::vector<Problem> problems_;
  std::set<std::string> keys_;
};

/// The text in quotes, on one line and not too long.
std::string quoted(const std::string& text);
/// The name nearest by edit distance; empty when there is none to choose from.
std::string nearest(const std::string& name, const std::vector<std::string>& names);
std::size_t edit_distance(const std::string& a, const std::string& b);

}  // namespace cubevp::platform
