// SPDX-License-Identifier: Apache-2.0
#include "platform/config/quantities.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

struct Unit {
  const char* name;
  int ten = 0;  // power of ten
  int two = 0;  // power of two
};

// Smallest first. The base of frequency is Hz, of bandwidth B/s, of bytes B, of energy pJ; of time
// it is the second where a real is wanted and the picosecond (12 more) where an integer is.
const std::vector<Unit>& units_of(Dimension dimension) {
  static const std::vector<Unit> frequency = {
      {"Hz", 0, 0}, {"kHz", 3, 0}, {"MHz", 6, 0}, {"GHz", 9, 0}, {"THz", 12, 0}};
  static const std::vector<Unit> bandwidth = {{"B/s", 0, 0},    {"kB/s", 3, 0},   {"MB/s", 6, 0},
                                              {"GB/s", 9, 0},   {"TB/s", 12, 0},  {"KiB/s", 0, 10},
                                              {"MiB/s", 0, 20}, {"GiB/s", 0, 30}, {"TiB/s", 0, 40}};
  static const std::vector<Unit> time = {
      {"ps", -12, 0}, {"ns", -9, 0}, {"us", -6, 0}, {"ms", -3, 0}, {"s", 0, 0}};
  static const std::vector<Unit> bytes = {{"B", 0, 0},    {"kB", 3, 0},   {"MB", 6, 0},
                                          {"GB", 9, 0},   {"TB", 12, 0},  {"KiB", 0, 10},
                                          {"MiB", 0, 20}, {"GiB", 0, 30}, {"TiB", 0, 40}};
  static const std::vector<Unit> energy = {{"fJ", -3, 0}, {"pJ", 0, 0}, {"nJ", 3, 0}};
  switch (dimension) {
    case Dimension::frequency:
      return frequency;
    case Dimension::bandwidth:
      return bandwidth;
    case Dimension::time:
      return time;
    case Dimension::bytes:
      return bytes;
    case Dimension::energy:
      break;
  }
  return energy;
}

const char* noun_of(Dimension dimension) {
  constexpr const char* nouns[] = {"a frequency", "a bandwidth", "a time", "a size", "an energy"};
  return nouns[static_cast<std::size_t>(dimension)];
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_from(std::string_view text, std::size_t i) {
  std::size_t n = 0;
  while (i + n < text.size() && is_digit(text[i + n])) {
    ++n;
  }
  return n;
}

/// Length of the plain number that the text starts with; 0: it starts with none.
std::size_t number_length(std::string_view text) {
  std::size_t i = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = digits_from(text, i);
  if (whole == 0 || (whole > 1 && text[i] == '0')) {
    return 0;
  }
  i += whole;
  if (i < text.size() && text[i] == '.') {
    const std::size_t fraction = digits_from(text, i + 1);
    if (fraction == 0) {
      return 0;
    }
    i += 1 + fraction;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign = i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+');
    const std::size_t exponent = digits_from(text, i + 1 + sign);
    if (exponent != 0) {
      i += 1 + sign + exponent;
    }
  }
  return i;
}

/// digits x 10^exponent
struct Decimal {
  std::string digits;
  std::int64_t exponent = 0;
};

Decimal decimal_of(std::string_view number) {
  Decimal d;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < number.size() && number[i] != 'e' && number[i] != 'E'; ++i) {
    if (number[i] == '.') {
      fraction = true;
    } else {
      d.digits += number[i];
      d.exponent -= fraction ? 1 : 0;
    }
  }
  if (i < number.size()) {
    // Clamped: beyond any range, and it must not overflow.
    const double e = std::strtod(std::string(number.substr(i + 1)).c_str(), nullptr);
    d.exponent += static_cast<std::int64_t>(std::fmax(-100000.0, std::fmin(100000.0, e)));
  }
  const std::size_t first = d.digits.find_first_not_of('0');
  d.digits = first == std::string::npos ? "" : d.digits.substr(first);
  while (!d.digits.empty() && d.digits.back() == '0') {
    d.digits.pop_back();
    ++d.exponent;
  }
  return d;
}

struct Split {
  std::string_view number;
  const Unit* unit = nullptr;
};

/// Number and unit; no unit when the text is none of this dimension.
Split split(std::string_view text, Dimension dimension) {
  Split s;
  const std::size_t n = number_length(text);
  s.number = text.substr(0, n);
  std::string_view rest = text.substr(n);
  while (!rest.empty() && rest.front() == ' ') {
    rest.remove_prefix(1);
  }
  if (n != 0) {
    for (const Unit& unit : units_of(dimension)) {
      if (rest == unit.name) {
        s.unit = &unit;
      }
    }
  }
  return s;
}

/// number x 2^two x 10^ten as an integer, or what it is not.
Parsed<std::uint64_t> whole(std::string_view number, int two, int ten, std::uint64_t max,
                            const std::string& noun, const std::string& parts) {
  const std::string too_large = noun + " that is not this large";
  const std::string fraction = noun + " of whole " + parts;
  const Decimal d = decimal_of(number);
  if (d.digits.empty()) {
    return {0, {}};
  }
  errno = 0;
  std::uint64_t value = std::strtoull(d.digits.c_str(), nullptr, 10);
  if (errno == ERANGE) {
    return {{}, d.exponent < 0 ? fraction : too_large};
  }
  for (int i = 0; i < two; ++i) {
    if (value > std::numeric_limits<std::uint64_t>::max() / 2) {
      return {{}, too_large};
    }
    value *= 2;
  }
  std::int64_t exponent = d.exponent + ten;
  for (; exponent > 0; --exponent) {
    if (value > std::numeric_limits<std::uint64_t>::max() / 10) {
      return {{}, too_large};
    }
    value *= 10;
  }
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) {
      return {{}, fraction};
    }
    value /= 10;
  }
  if (value > max) {
    return {{}, too_large};
  }
  return {value, {}};
}

double real_of(std::string_view number, const Unit& unit) {
  const std::size_t e = number.find_first_of("eE");
  long exponent = unit.ten;
  if (e != std::string_view::npos) {
    exponent += static_cast<long>(std::fmax(
        -100000.0,
        std::fmin(100000.0, std::strtod(std::string(number.substr(e + 1)).c_str(), nullptr))));
  }
  // One correctly rounded conversion; multiplying by a power of ten would round twice.
  const std::string decimal = fmt::format("{}e{}", number.substr(0, e), exponent);
  return std::ldexp(std::strtod(decimal.c_str(), nullptr), unit.two);
}

}  // namespace

std::string expected_quantity(Dimension dimension) {
  std::string list;
  for (const Unit& unit : units_of(dimension)) {
    list += (list.empty() ? "" : ", ") + std::string(unit.name);
  }
  return fmt::format("{} with a unit ({})", noun_of(dimension), list);
}

Parsed<double> parse_real_quantity(std::string_view text, Dimension dimension) {
  const Split s = split(text, dimension);
  if (s.unit == nullptr) {
    return {{}, expected_quantity(dimension)};
  }
  const double value = real_of(s.number, *s.unit);
  if (std::signbit(value)) {
    return {{}, std::string(noun_of(dimension)) + " that is not negative"};
  }
  if (!std::isfinite(value)) {
    return {{}, std::string(noun_of(dimension)) + " that is not this large"};
  }
  return {value, {}};
}

Parsed<Ps> parse_time(std::string_view text) {
  const Split s = split(text, Dimension::time);
  if (s.unit == nullptr) {
    return {{}, expected_quantity(Dimension::time)};
  }
  if (s.number.front() == '-') {
    return {{}, "a time that is not negative"};
  }
  // Half of what a picosecond counter holds, so that sums of a few do not overflow.
  const Parsed<std::uint64_t> ps =
      whole(s.number, 0, s.unit->ten + 12, std::uint64_t{1} << 62, "a time", "picoseconds");
  if (!ps.value) {
    return {{}, ps.expected};
  }
  return {static_cast<Ps>(*ps.value), {}};
}

Parsed<std::uint64_t> parse_bytes(std::string_view text) {
  const Split s = split(text, Dimension::bytes);
  if (s.unit == nullptr) {
    return {{}, expected_quantity(Dimension::bytes)};
  }
  if (s.number.front() == '-') {
    return {{}, "a size that is not negative"};
  }
  return whole(s.number, s.unit->two, s.unit->ten, std::numeric_limits<std::uint64_t>::max(),
               "a size", "bytes");
}

Parsed<std::uint64_t> parse_integer(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const std::string kind = min == 0   ? "an integer of at least 0"
                           : min == 1 ? "a positive integer"
                                      : fmt::format("an integer from {} to {}", min, max);
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const std::size_t n = digits_from(digits, 0);
  if (digits.size() > 1 && digits[0] == '0' &&
      (n > 1 || digits[1] == 'o' || digits[1] == 'x' || digits[1] == 'b')) {
    return {{}, kind + " in plain decimal, without leading zeros or prefix"};
  }
  if (n == 0 || n != digits.size()) {
    return {{}, kind};
  }
  if (negative) {
    return {{}, kind};
  }
  std::uint64_t value = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
      return {{}, fmt::format("an integer from {} to {}", min, max)};
    }
    value = value * 10 + digit;
  }
  if (value > max) {
    return {{}, fmt::format("an integer from {} to {}", min, max)};
  }
  if (value < min) {
    return {{}, kind};
  }
  return {value, {}};
}

Parsed<double> parse_real(std::string_view text) {
  const std::size_t n = number_length(text);
  if (n == 0 || n != text.size()) {
    return {{}, "a number"};
  }
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) {
    return {{}, "a number that is not this large"};
  }
  return {value, {}};
}

std::string format_real(double value) {
  return fmt::format("{}", value);
}

std::string format_real_quantity(double value, Dimension dimension) {
  if (dimension == Dimension::energy) {
    return fmt::format("{} pJ", value);  // the unit of every table of energies
  }
  const std::vector<Unit>& units = units_of(dimension);
  std::string best;
  for (const Unit& unit : units) {
    if (unit.two != 0) {
      continue;
    }
    const double scaled = value / std::pow(10.0, unit.ten);
    const std::string text = fmt::format("{} {}", scaled, unit.name);
    const Parsed<double> back = parse_real_quantity(text, dimension);
    if (!back.value || *back.value != value) {
      continue;
    }
    // The largest unit that leaves at least 1 of it; the first that reads back for what is less.
    if (best.empty() || scaled >= 1) {
      best = text;
    }
  }
  if (best.empty()) {
    // Scaling rounds: a short decimal exists all the same, that of the base unit.
    for (const Unit& unit : units) {
      if (unit.ten == 0 && unit.two == 0) {
        best = fmt::format("{} {}", value, unit.name);
      }
    }
  }
  return best;
}

std::string format_time(Ps ps) {
  constexpr Ps kMs = 1000000000;
  if (ps == 0) {
    return "0 ns";
  }
  if (ps % (1000 * kMs) == 0) {
    return fmt::format("{} s", ps / (1000 * kMs));
  }
  if (ps % kMs == 0) {
    return fmt::format("{} ms", ps / kMs);
  }
  if (ps < kPsPerNs) {
    return fmt::format("{} ps", ps);
  }
  std::string text = fmt::format("{}.{:03}", ps / kPsPerNs, ps % kPsPerNs);
  while (text.back() == '0') {
    text.pop_back();
  }
  if (text.back() == '.') {
    text.pop_back();
  }
  return text + " ns";
}

std::string format_bytes(std::uint64_t bytes) {
  const char* const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  while (i < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++i;
  }
  return fmt::format("{} {}", bytes, names[i]);
}

}  // namespace cubevp::platform
