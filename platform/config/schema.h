// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/config/known.h"
#include "platform/config/quantities.h"
#include "platform/config/run_config.h"

namespace cubevp::platform {

// The one table of configuration keys. It binds every member of a RunConfig to its key, kind,
// limits and description; reading, printing, the reference documentation, suggestions for
// misspelled keys and --set all walk it.

struct IntegerField {
  std::variant<std::uint32_t*, std::uint64_t*, std::int64_t*> target;
  std::uint64_t min = 1;
  std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
};

struct RealField {
  double* target;
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
  bool above_min = false;  ///< min itself is excluded
  bool below_max = false;
  std::string expected;
};

/// A number with a unit. A Ps or an integer of bytes is exact.
struct QuantityField {
  Dimension dimension;
  std::variant<double*, std::uint64_t*, std::uint32_t*, Ps*> target;
  bool positive = true;
};

struct BoolField {
  bool* target;
};

/// One of several words; `get` and `set` go by place in `names`.
struct ChoiceField {
  std::vector<std::string> names;
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};

/// A text; `accepts` returns what is expected instead, or nothing. `names`: the only ones allowed.
struct TextField {
  std::string* target;
  std::string expected;
  std::function<bool(const std::string&)> accepts;
  std::vector<std::string> names;
  std::string where_listed;  ///< of many names: how to see them all
};

struct TextListField {
  std::vector<std::string>* target;
  std::string expected;
};

/// A number, or a word for "none given".
struct OptionalRealField {
  std::optional<double>* target;
  std::string word;
};

struct OptionalTimeField {
  std::optional<Ps>* target;
  std::string word;
};

struct Entry;

/// A mapping. Some may be the word `none` instead.
struct Section {
  std::vector<Entry> entries;
  std::function<bool()> is_none;
  std::function<void(bool)> set_none;
  std::map<std::string, double>* extra = nullptr;  ///< takes numbers of other names
  bool preset = false;                             ///< may be the name of a preset, has `base`
};

struct Entry {
  std::string key;
  std::string description;
  std::variant<IntegerField, RealField, QuantityField, BoolField, ChoiceField, TextField,
               TextListField, OptionalRealField, OptionalTimeField, Section>
      value;
};

/// The table, bound to `config`, which must outlive it.
Section run_schema(RunConfig& config, const Known& known);
/// The part that a hardware preset's file holds.
Section hardware_schema(RunConfig& config);

/// The keys of a section, and where a key is found elsewhere in the table ("workload.kernel").
std::vector<std::string> keys_of(const Section& section);
std::string find_elsewhere(const Section& root, const std::string& key);
/// The entry of a dotted key, or nullptr.
const Entry* find_entry(const Section& root, const std::string& dotted_key);

/// A file name usable on one line: not empty, no control characters.
bool is_file_name(const std::string& text);
/// Usable as a directory name: letters, digits, dot, dash, underscore.
bool is_run_name(const std::string& text);

}  // namespace cubevp::platform
