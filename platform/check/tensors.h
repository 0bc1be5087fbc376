// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hw/base/dtype.h"

namespace cubevp::platform {

/// One attention layer: Q (batch, q_heads, t_q, d), K and V (batch, kv_heads, s_kv, d), O as Q.
struct AttentionShape {
  std::int64_t batch = 1;
  std::int64_t q_heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t t_q = 1;
  std::int64_t s_kv = 0;
  std::int64_t d = 1;
};

enum class TensorRole : std::uint8_t { q, k, v };
inline constexpr TensorRole kTensorRoles[] = {TensorRole::q, TensorRole::k, TensorRole::v};

/// {batch, heads, rows, d} of an input; O has the shape of Q.
std::vector<std::int64_t> tensor_shape(TensorRole role, const AttentionShape& shape);
std::int64_t element_count(const std::vector<std::int64_t>& shape);
/// "(1, 8, 64, 128)".
std::string describe(const std::vector<std::int64_t>& shape);

/// Values of a 16-bit type as the machine's memory holds them, in C order.
struct Tensor16 {
  DType dtype = DType::f16;  ///< f16 or bf16
  std::vector<std::int64_t> shape;
  std::vector<std::uint16_t> bits;
};

// The conversions of the check. They are written apart from the machine's, so that an error in one
// shows as a difference.

inline double double_from_f16(std::uint16_t h) {
  const std::uint64_t exponent = (h >> 10) & 31U;
  const std::uint64_t fraction = h & 0x3ffU;
  const double sign = (h & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 0) {
    return sign * 0x1p-24 * static_cast<double>(fraction);
  }
  const std::uint64_t bits = (exponent == 31 ? 0x7ffU : exponent - 15 + 1023) << 52 | fraction
                                                                                          << 42;
  double magnitude;
  std::memcpy(&magnitude, &bits, sizeof magnitude);
  return sign * magnitude;
}

inline double double_from_bf16(std::uint16_t h) {
  const std::uint32_t bits = std::uint32_t{h} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounded once, to nearest, ties to even; overflow gives infinity, NaN the quiet NaN of its sign.
std::uint16_t f16_from_double(double value);
std::uint16_t bf16_from_double(double value);

inline double widen(std::uint16_t bits, DType dtype) {
  return dtype == DType::bf16 ? double_from_bf16(bits) : double_from_f16(bits);
}
inline std::uint16_t narrow(double value, DType dtype) {
  return dtype == DType::bf16 ? bf16_from_double(value) : f16_from_double(value);
}

/// Where the values of Q, K and V come from. `read` copies `count` elements, counted in C order
/// from the start of the tensor; it may be called from several threads at once.
class InputSource {
 public:
  virtual ~InputSource() = default;
  virtual DType dtype() const = 0;
  virtual void read(TensorRole role, std::int64_t first, std::uint16_t* out,
                    std::size_t count) const = 0;
};

/// Inputs that lie in memory.
class TensorInputs final : public InputSource {
 public:
  /// Throws std::invalid_argument unless all three have one type.
  TensorInputs(Tensor16 q, Tensor16 k, Tensor16 v);
  DType dtype() const override { return tensors_[0].dtype; }
  void read(TensorRole role, std::int64_t first, std::uint16_t* out,
            std::size_t count) const override;
  const Tensor16& tensor(TensorRole role) const { return tensors_[static_cast<std::size_t>(role)]; }

 private:
  Tensor16 tensors_[3];
};

}  // namespace cubevp::platform
