// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "platform/config/diagnostics.h"
#include "platform/config/yaml_reader.h"

namespace cubevp::platform {

namespace {

constexpr std::size_t kNamesInMessage = 8;

std::string one_of(const std::vector<std::string>& names) {
  return fmt::format("one of {}", fmt::join(names, ", "));
}

/// Sets a scalar's field; returns what was expected when the text is something else.
struct Setter {
  const std::string& text;

  std::string operator()(const IntegerField& f) const {
    const Parsed<std::uint64_t> n = parse_integer(text, f.min, f.max);
    if (!n.value) {
      return n.expected;
    }
    std::visit(
        [&](auto* target) {
          *target = static_cast<std::remove_pointer_t<decltype(target)>>(*n.value);
        },
        f.target);
    return {};
  }

  std::string operator()(const RealField& f) const {
    const Parsed<double> x = parse_real(text);
    const bool inside = x.value && *x.value >= f.min && *x.value <= f.max &&
                        !(f.above_min && *x.value == f.min) && !(f.below_max && *x.value == f.max);
    if (!inside) {
      return f.expected;
    }
    *f.target = *x.value;
    return {};
  }

  std::string operator()(const QuantityField& f) const {
    return std::visit([&](auto* target) { return quantity(f, target); }, f.target);
  }

  std::string operator()(const BoolField& f) const {
    if (text != "true" && text != "false") {
      return "true or false";
    }
    *f.target = text == "true";
    return {};
  }

  std::string operator()(const ChoiceField& f) const {
    const auto found = std::find(f.names.begin(), f.names.end(), text);
    if (found == f.names.end()) {
      return one_of(f.names);
    }
    f.set(static_cast<std::size_t>(found - f.names.begin()));
    return {};
  }

  std::string operator()(const TextField& f) const {
    if (!f.names.empty() && std::find(f.names.begin(), f.names.end(), text) == f.names.end()) {
      return f.names.size() <= kNamesInMessage
                 ? one_of(f.names)
                 : fmt::format("{} such as {} (see {})", f.expected, nearest(text, f.names),
                               f.where_listed);
    }
    if (!f.accepts(text)) {
      return f.expected;
    }
    *f.target = text;
    return {};
  }

  std::string operator()(const TextListField& f) const { return f.expected; }

  std::string operator()(const OptionalRealField& f) const {
    if (text == f.word) {
      f.target->reset();
      return {};
    }
    const Parsed<double> x = parse_real(text);
    if (!x.value) {
      return fmt::format("{} or {}", f.word, x.expected);
    }
    *f.target = *x.value;
    return {};
  }

  std::string operator()(const OptionalTimeField& f) const {
    if (text == f.word) {
      f.target->reset();
      return {};
    }
    const Parsed<Ps> t = parse_time(text);
    if (!t.value) {
      return fmt::format("{} or {}", f.word, t.expected);
    }
    *f.target = *t.value;
    return {};
  }

  std::string operator()(const Section& s) const {
    return s.is_none ? "a mapping or none" : "a mapping";
  }

 private:
  static std::string positive(Dimension d) {
    std::string expected = expected_quantity(d);
    return expected.insert(expected.find(' ') + 1, "positive ");
  }

  std::string quantity(const QuantityField& f, double* target) const {
    const Parsed<double> x = parse_real_quantity(text, f.dimension);
    if (!x.value || (f.positive && *x.value <= 0)) {
      return x.value ? positive(f.dimension) : x.expected;
    }
    *target = *x.value;
    return {};
  }

  std::string quantity(const QuantityField& f, Ps* target) const {
    const Parsed<Ps> t = parse_time(text);
    if (!t.value || (f.positive && *t.value == 0)) {
      return t.value ? positive(f.dimension) : t.expected;
    }
    *target = *t.value;
    return {};
  }

  template <class Int>
  std::string quantity(const QuantityField& f, Int* target) const {
    const Parsed<std::uint64_t> n = parse_bytes(text);
    if (!n.value || (f.positive && *n.value == 0)) {
      return n.value ? positive(f.dimension) : n.expected;
    }
    if (*n.value > std::numeric_limits<Int>::max()) {
      return fmt::format("a size below {}", format_bytes(std::uint64_t{1} << 32));
    }
    *target = static_cast<Int>(*n.value);
    return {};
  }
};

}  // namespace

std::string set_field(const Entry& entry, const std::string& text) {
  return std::visit(Setter{text}, entry.value);
}

}  // namespace cubevp::platform
