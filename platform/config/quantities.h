// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hw/base/units.h"

namespace cubevp::platform {

// Numbers as a configuration writes them. Reading is exact: what a decimal says is what comes out,
// correctly rounded for real quantities and refused where an integer quantity has a fraction.
// Formatting gives the shortest text that reads back as the same value.

enum class Dimension : std::uint8_t { frequency, bandwidth, time, bytes, energy };

/// A value, or what was expected instead ("a time with a unit (ps, ns, us, ms, s)").
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string expected;
};

/// "a frequency with a unit (Hz, kHz, MHz, GHz, THz)"
std::string expected_quantity(Dimension dimension);

/// Hz, bytes per second, seconds or pJ. Not negative, finite; a unit is required.
Parsed<double> parse_real_quantity(std::string_view text, Dimension dimension);
/// Whole picoseconds.
Parsed<Ps> parse_time(std::string_view text);
/// Whole bytes. kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024.
Parsed<std::uint64_t> parse_bytes(std::string_view text);
/// Plain decimal from `min` to `max`: no sign but minus, no leading zeros, no prefix, no
/// separators, no fraction, no exponent.
Parsed<std::uint64_t> parse_integer(std::string_view text, std::uint64_t min, std::uint64_t max);
/// A plain finite number.
Parsed<double> parse_real(std::string_view text);

std::string format_real_quantity(double value, Dimension dimension);
std::string format_time(Ps ps);
std::string format_bytes(std::uint64_t bytes);
std::string format_real(double value);

}  // namespace cubevp::platform
