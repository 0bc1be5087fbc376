// SPDX-License-Identifier: Apache-2.0
#include "platform/config/yaml_document.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr const char* kSetLabel = "--set";

std::string read_text(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw IoError(fmt::format("{}: is a directory, expected a file", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) {
    throw IoError(fmt::format("{}: cannot be read", path));
  }
  return text;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Length of the UTF-8 character at `i`; 0: there is none.
std::size_t utf8_length(const std::string& text, std::size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const std::size_t n = lead < 0x80                    ? 1
                        : lead >= 0xc2 && lead <= 0xdf ? 2
                        : lead >= 0xe0 && lead <= 0xef ? 3
                        : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                       : 0;
  if (n == 0 || i + n > text.size()) {
    return 0;
  }
  // Neither longer than it need be, nor a surrogate, nor beyond U+10FFFF.
  const auto second = static_cast<unsigned char>(n > 1 ? text[i + 1] : '\0');
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
    return 0;
  }
  for (std::size_t k = 1; k < n; ++k) {
    if (!is_continuation(text[i + k])) {
      return 0;
    }
  }
  return n;
}

/// Where the first byte is that is no UTF-8, or npos.
std::size_t first_not_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = utf8_length(text, i);
    if (n == 0) {
      return i;
    }
    i += n;
  }
  return std::string::npos;
}

std::string not_utf8(const std::string& text, std::size_t i) {
  return fmt::format("expected UTF-8, got the byte 0x{:02x}", static_cast<unsigned char>(text[i]));
}

Position position_of(const std::string& path, const std::string& text, std::size_t i) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(i);
  const std::size_t newline = i == 0 ? std::string::npos : text.rfind('\n', i - 1);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return {path, 1 + static_cast<int>(std::count(text.begin(), end, '\n')),
          1 + static_cast<int>(i - begin)};
}

/// The tab in the indentation of the line with this number (from 0), or npos.
std::size_t indenting_tab(const std::string& text, int line) {
  std::size_t i = 0;
  for (; line > 0 && i != std::string::npos; --line) {
    i = text.find('\n', i);
    i = i == std::string::npos ? i : i + 1;
  }
  i = i == std::string::npos ? i : text.find_first_not_of(' ', i);
  return i != std::string::npos && text[i] == '\t' ? i : std::string::npos;
}

YAML::Node parse_override_value(const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception&) {
    // "*" alone is no YAML but a sensible pattern; lists and mappings are meant as YAML.
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos || text[first] == '[' || text[first] == '{') {
      throw;
    }
    return YAML::Node(text);
  }
}

std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Position YamlSource::at(const YAML::Node& node) const {
  if (!has_lines) {
    return {label, 0, 0};
  }
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? Position{label, 1, 1} : Position{label, mark.line + 1, mark.column + 1};
}

Position YamlSource::at(const YAML::Node& value, const YAML::Node& key) const {
  return value.IsNull() ? at(key) : at(value);
}

YamlSource read_yaml_file(const std::string& path, Problems& problems) {
  YamlSource source{path, YAML::Node(), true};
  const std::string text = read_text(path);
  if (text.size() > kMaxFileBytes || text.find('\0') != std::string::npos) {
    problems.add({path, 1, 1}, "", "expected a YAML file, got something else");
    return source;
  }
  const std::size_t bad = first_not_utf8(text);
  if (bad != std::string::npos) {
    problems.add(position_of(path, text, bad), "", not_utf8(text, bad));
    return source;
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      problems.add(source.at(documents[1]), "", "expected one YAML document, got more");
      return source;
    }
    if (!documents.empty()) {
      source.root = documents.front();
    }
  } catch (const YAML::Exception& e) {
    const std::size_t tab = e.mark.is_null() ? std::string::npos : indenting_tab(text, e.mark.line);
    if (tab != std::string::npos) {
      problems.add(position_of(path, text, tab), "", "expected spaces to indent with, got a tab");
      return source;
    }
    const Position at = e.mark.is_null() ? Position{path, 1, 1}
                                         : Position{path, e.mark.line + 1, e.mark.column + 1};
    problems.add(at, "", "not valid YAML: " + e.msg);
    return source;
  }
  if (!source.root.IsMap()) {
    problems.add({path, 1, 1}, "",
                 "expected a mapping of keys, got " + describe_value(source.root));
    source.root = YAML::Node();
  }
  return source;
}

std::vector<Override> read_overrides(const std::vector<std::string>& texts, Problems& problems) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    const Position at{kSetLabel, 0, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.add(at, "", "expected dotted.key=value, got " + quoted(text));
      continue;
    }
    const std::size_t bad = first_not_utf8(text);
    if (bad != std::string::npos) {
      problems.add(at, "", not_utf8(text, bad));
      continue;
    }
    Override o;
    const std::string key = text.substr(0, equals);
    o.path = split_key(key);
    o.source = {kSetLabel, YAML::Node(), false};
    bool complete = true;
    for (const std::string& part : o.path) {
      complete = complete && !part.empty();
    }
    if (!complete) {
      problems.add(at, "", "expected dotted.key=value, got " + quoted(text));
      continue;
    }
    try {
      o.value = parse_override_value(text.substr(equals + 1));
    } catch (const YAML::Exception& e) {
      problems.add(at, key, "not valid YAML: " + e.msg);
      continue;
    }
    YAML::Node node = o.value;
    for (auto part = o.path.rbegin(); part != o.path.rend(); ++part) {
      YAML::Node outer(YAML::NodeType::Map);
      outer[*part] = node;
      node.reset(outer);  // assigning would change o.value, which is the same node
    }
    o.source.root = node;
    overrides.push_back(std::move(o));
  }
  return overrides;
}

std::string describe_value(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return quoted(node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return "nothing";
}

}  // namespace cubevp::platform
