// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cubevp::test {

/// Reads a value change dump as IEEE 1364-2005, 18.2 defines it, independently of what writes it,
/// and fails the test where the file is not one.
class VcdReader {
 public:
  struct Variable {
    std::string name;  ///< with its scopes
    unsigned width;
  };
  /// Time, full name, value.
  using Change = std::tuple<std::int64_t, std::string, std::uint64_t>;

  explicit VcdReader(const std::string& text) : in_(text) {
    std::string token;
    while (in_ >> token) {
      if (token[0] == '$') {
        section(token.substr(1));
      } else {
        EXPECT_TRUE(body_) << "a value in the header: " << token;
        value(token);
      }
    }
    EXPECT_TRUE(body_) << "no $enddefinitions";
    EXPECT_FALSE(dumping_) << "$dumpvars without $end";
    EXPECT_EQ(dumped_.size(), variables_.size()) << "not every variable is in $dumpvars";
  }

  const std::string& timescale() const { return timescale_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const std::string& code : codes_) {
      all.push_back(variables_.at(code).name);
    }
    return all;
  }
  unsigned width(const std::string& name) const {
    for (const auto& [code, v] : variables_) {
      if (v.name == name) {
        return v.width;
      }
    }
    ADD_FAILURE() << "no variable " << name;
    return 0;
  }
  const std::vector<std::string>& comments() const { return comments_; }
  const std::vector<std::int64_t>& times() const { return times_; }
  const std::map<std::string, std::uint64_t>& initial() const { return initial_; }
  const std::vector<Change>& changes() const { return changes_; }  ///< after $dumpvars
  /// Value of a variable at a time.
  std::uint64_t at(std::int64_t time, const std::string& name) const {
    std::uint64_t v = initial_.at(name);
    for (const auto& [t, n, value] : changes_) {
      if (t <= time && n == name) {
        v = value;
      }
    }
    return v;
  }

 private:
  std::vector<std::string> until_end() {
    std::vector<std::string> words;
    std::string word;
    while (in_ >> word && word != "$end") {
      words.push_back(word);
    }
    EXPECT_EQ(word, "$end");
    return words;
  }
  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words) {
      text += (text.empty() ? "" : " ") + w;
    }
    return text;
  }

  void section(const std::string& keyword) {
    if (keyword == "dumpvars") {
      EXPECT_EQ(times_.size(), 1U);
      dumping_ = true;
    } else if (keyword == "end") {
      EXPECT_TRUE(dumping_);
      dumping_ = false;
    } else if (keyword == "comment") {
      comments_.push_back(joined(until_end()));
    } else {
      EXPECT_FALSE(body_) << "$" << keyword << " after $enddefinitions";
      const std::vector<std::string> words = until_end();
      if (keyword == "timescale") {
        EXPECT_EQ(timescale_, "");
        timescale_ = joined(words);
      } else if (keyword == "scope") {
        ASSERT_EQ(words.size(), 2U);
        EXPECT_EQ(words[0], "module");
        scopes_.push_back(words[1]);
      } else if (keyword == "upscope") {
        ASSERT_FALSE(scopes_.empty());
        scopes_.pop_back();
      } else if (keyword == "var") {
        variable(words);
      } else if (keyword == "enddefinitions") {
        EXPECT_TRUE(scopes_.empty());
        EXPECT_NE(timescale_, "");
        body_ = true;
      } else {
        EXPECT_TRUE(keyword == "version" || keyword == "date") << keyword;
      }
    }
  }

  // $var wire <size> <code> <reference> [ '[' msb ':' lsb ']' ] $end
  void variable(const std::vector<std::string>& words) {
    ASSERT_GE(words.size(), 4U);
    EXPECT_EQ(words[0], "wire");
    Variable v;
    for (const std::string& scope : scopes_) {
      v.name += scope + '.';
    }
    v.name += words[3];
    v.width = static_cast<unsigned>(std::stoul(words[1]));
    EXPECT_GT(v.width, 0U);
    if (words.size() > 4) {
      EXPECT_EQ(words[4], "[" + std::to_string(v.width - 1) + ":0]");
    }
    for (const char c : words[2]) {
      EXPECT_TRUE(c >= '!' && c <= '~');
    }
    EXPECT_TRUE(names_.insert(v.name).second) << "twice: " << v.name;
    EXPECT_TRUE(variables_.emplace(words[2], v).second) << "a code twice: " << words[2];
    codes_.push_back(words[2]);
  }

  void value(const std::string& token) {
    if (token[0] == '#') {
      const std::int64_t time = std::stoll(token.substr(1));
      EXPECT_TRUE(times_.empty() || time > times_.back()) << "time goes back or stands: " << time;
      times_.push_back(time);
      changed_.clear();
      return;
    }
    std::string bits = token.substr(0, 1);
    std::string code = token.substr(1);
    if (token[0] == 'b') {
      bits = code;
      in_ >> code;
    }
    ASSERT_EQ(variables_.count(code), 1U) << "no such code: " << code;
    const Variable& v = variables_.at(code);
    EXPECT_LE(bits.size(), v.width);
    EXPECT_EQ(token[0] == 'b', v.width > 1) << v.name;
    std::uint64_t number = 0;
    for (const char bit : bits) {
      EXPECT_TRUE(bit == '0' || bit == '1') << bits;
      number = number * 2 + (bit == '1' ? 1 : 0);
    }
    ASSERT_FALSE(times_.empty());
    EXPECT_TRUE(changed_.insert(code).second) << v.name << " twice at " << times_.back();
    if (dumping_) {
      dumped_.insert(code);
      initial_[v.name] = number;
    } else {
      changes_.emplace_back(times_.back(), v.name, number);
    }
  }

  std::istringstream in_;
  bool body_ = false;
  bool dumping_ = false;
  std::string timescale_;
  std::vector<std::string> scopes_;
  std::map<std::string, Variable> variables_;  // by code
  std::vector<std::string> codes_;
  std::set<std::string> names_;
  std::vector<std::string> comments_;
  std::vector<std::int64_t> times_;
  std::set<std::string> changed_;  // at this time
  std::set<std::string> dumped_;
  std::map<std::string, std::uint64_t> initial_;
  std::vector<Change> changes_;
};

}  // namespace cubevp::test
