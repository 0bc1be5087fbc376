// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "hw/numerics/convert.h"
#include "hw/numerics/matrix_view.h"

namespace cubevp::numerics::test {

/// Owns a matrix in memory, with `gap_bytes` of sentinel bytes after every row.
class Matrix {
 public:
  static constexpr std::uint8_t kSentinel = 0xA5;

  Matrix(std::uint32_t rows, std::uint32_t cols, DType type, std::uint32_t gap_bytes = 0)
      : rows_(rows),
        cols_(cols),
        type_(type),
        stride_(static_cast<std::uint32_t>(cols * size_bytes(type)) + gap_bytes),
        bytes_(std::size_t{rows} * stride_, kSentinel) {
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < cols; ++c) {
        set(r, c, 0.0F);
      }
    }
  }

  float at(std::size_t r, std::size_t c) const {
    const std::uint8_t* p = bytes_.data() + r * stride_ + c * size_bytes(type_);
    if (type_ == DType::f32) {
      float value = 0.0F;
      std::memcpy(&value, p, sizeof value);
      return value;
    }
    std::uint16_t half = 0;
    std::memcpy(&half, p, sizeof half);
    return type_ == DType::f16 ? f16_to_f32(half) : bf16_to_f32(half);
  }
  void set(std::size_t r, std::size_t c, float value) {
    std::uint8_t* p = bytes_.data() + r * stride_ + c * size_bytes(type_);
    if (type_ == DType::f32) {
      std::memcpy(p, &value, sizeof value);
    } else {
      const std::uint16_t half = type_ == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      std::memcpy(p, &half, sizeof half);
    }
  }
  Matrix& randomize(std::uint32_t seed, float scale = 1.0F) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::uint32_t c = 0; c < cols_; ++c) {
        set(r, c, scale * normal(random));
      }
    }
    return *this;
  }
  Matrix& fill(float value) {
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::uint32_t c = 0; c < cols_; ++c) {
        set(r, c, value);
      }
    }
    return *this;
  }
  bool gaps_intact() const {
    for (std::uint32_t r = 0; r < rows_; ++r) {
      for (std::size_t i = cols_ * size_bytes(type_); i < stride_; ++i) {
        if (bytes_[r * std::size_t{stride_} + i] != kSentinel) {
          return false;
        }
      }
    }
    return true;
  }

  MatrixView view(bool transposed = false) {
    return {bytes_.data(), rows_, cols_, stride_, type_, transposed};
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t cols() const { return cols_; }
  DType type() const { return type_; }

 private:
  std::uint32_t rows_;
  std::uint32_t cols_;
  DType type_;
  std::uint32_t stride_;
  std::vector<std::uint8_t> bytes_;
};

/// What storing `value` in `type` and reading it back gives.
inline float rounded(float value, DType type) {
  Matrix one(1, 1, type);
  one.set(0, 0, value);
  return one.at(0, 0);
}

/// Same bits, or both NaN.
inline bool same(float a, float b) {
  return f32_bits(a) == f32_bits(b) || (std::isnan(a) && std::isnan(b));
}

/// Distance in units in the last place of f32.
inline double ulp_error(float value, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(value) || std::isnan(exact) || std::isnan(value)) {
    return same(value, nearest) ? 0.0 : 1e9;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(value - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

}  // namespace cubevp::numerics::test
