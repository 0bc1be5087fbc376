// SPDX-License-Identifier: Apache-2.0
#include "platform/check/tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace cubevp::platform {
namespace {

struct Format {
  int fraction_bits;
  int min_exponent;  // of the smallest normal number
  int max_exponent;
};
constexpr Format kF16{10, -14, 15};
constexpr Format kBf16{7, -126, 127};

std::uint16_t encode(double value, const Format& format) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int bias = format.max_exponent;
  const auto infinity = static_cast<std::uint16_t>((2 * bias + 1) << format.fraction_bits);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | 1U << (format.fraction_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (magnitude == 0) {
    return sign;
  }
  if (std::isinf(magnitude)) {
    return static_cast<std::uint16_t>(sign | infinity);
  }
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  // In units of the last place; both scalings are exact, and nearbyint rounds ties to even.
  const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  if (exponent > format.max_exponent ||
      std::ldexp(units, exponent - format.fraction_bits) >= std::ldexp(1.0, bias + 1)) {
    return static_cast<std::uint16_t>(sign | infinity);
  }
  // A subnormal has units < 2^fraction_bits and the exponent field 0, which the sum yields; so
  // does a fraction that rounds up to the next exponent.
  const int field = exponent - format.min_exponent;
  const auto code = (static_cast<std::uint32_t>(field) << format.fraction_bits) +
                    static_cast<std::uint32_t>(units);
  return static_cast<std::uint16_t>(sign | code);
}

}  // namespace

std::vector<std::int64_t> tensor_shape(TensorRole role, const AttentionShape& shape) {
  return role == TensorRole::q
             ? std::vector<std::int64_t>{shape.batch, shape.q_heads, shape.t_q, shape.d}
             : std::vector<std::int64_t>{shape.batch, shape.kv_heads, shape.s_kv, shape.d};
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

std::string describe(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::uint16_t f16_from_double(double value) {
  return encode(value, kF16);
}
std::uint16_t bf16_from_double(double value) {
  return encode(value, kBf16);
}

TensorInputs::TensorInputs(Tensor16 q, Tensor16 k, Tensor16 v)
    : tensors_{std::move(q), std::move(k), std::move(v)} {
  if (tensors_[0].dtype != tensors_[1].dtype || tensors_[0].dtype != tensors_[2].dtype) {
    throw std::invalid_argument("Q, K and V must have one element type");
  }
}

void TensorInputs::read(TensorRole role, std::int64_t first, std::uint16_t* out,
                        std::size_t count) const {
  const auto from = tensor(role).bits.begin() + first;
  std::copy(from, from + static_cast<std::ptrdiff_t>(count), out);
}

}  // namespace cubevp::platform
