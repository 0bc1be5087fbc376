// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "hw/base/command.h"

namespace cubevp::tl {

/// Dimensions of a tensor, outermost first; 1 to 4 of them. Operations see the last dimension as
/// columns and the product of the others as rows; a 1-D tensor of n is n rows of one value.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims);  // throws KernelFault for 0 or over 4 dims

  int rank() const { return rank_; }
  std::int64_t operator[](int i) const { return dims_[static_cast<std::size_t>(i)]; }
  std::int64_t rows() const;
  std::int64_t cols() const;
  std::int64_t elements() const;
  /// "(8, 128)"
  std::string to_string() const;
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.dims_ == b.dims_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::array<std::int64_t, 4> dims_{};
  int rank_ = 0;
};

/// Handle of a tensor in the PE's scratchpad or in HBM: shape, type, place, no bytes. Cheap to
/// copy. A scratchpad handle dies with the scratch_scope it was made in; using it later faults.
struct Tensor {
  Space space = Space::scratchpad;
  std::uint64_t address = 0;
  Shape shape;
  DType dtype = DType::f16;
  std::uint64_t row_stride_bytes = 0;
  bool transposed = false;  ///< trans(): shape is already the transposed one
  std::uint32_t scope = 0;  ///< scope it lives in, and that scope's serial number
  std::uint64_t scope_serial = 0;
  CommandId pending{};  ///< recv_async: what wait() waits for

  std::int64_t rows() const { return shape.rows(); }
  std::int64_t cols() const { return shape.cols(); }
};

}  // namespace cubevp::tl
