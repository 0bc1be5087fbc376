// SPDX-License-Identifier: Apache-2.0
#include "firmware/tl/tensor.h"

#include <string>

#include "firmware/tl/kernel.h"

namespace cubevp::tl {

namespace {
// Beyond any memory, and far enough from where sizes in bytes overflow.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> dims) {
  if (dims.size() == 0 || dims.size() > dims_.size()) {
    throw KernelFault("shape: 1 to 4 dimensions, got " + std::to_string(dims.size()));
  }
  for (const std::int64_t d : dims) {
    dims_[static_cast<std::size_t>(rank_++)] = d;
  }
  std::int64_t n = 1;
  for (const std::int64_t d : dims) {
    if (d < 0) {
      throw KernelFault("shape " + to_string() + ": a dimension is negative");
    }
    if (d != 0 && n > kMaxElements / d) {
      throw KernelFault("shape " + to_string() + ": too many elements");
    }
    n *= d != 0 ? d : 1;
  }
}

std::int64_t Shape::rows() const {
  if (rank_ == 0) {
    return 0;
  }
  std::int64_t n = 1;
  const int leading = rank_ == 1 ? 1 : rank_ - 1;
  for (int i = 0; i < leading; ++i) {
    n *= (*this)[i];
  }
  return n;
}

std::int64_t Shape::cols() const {
  if (rank_ == 0) {
    return 0;
  }
  return rank_ == 1 ? 1 : (*this)[rank_ - 1];
}

std::int64_t Shape::elements() const {
  return rows() * cols();
}

std::string Shape::to_string() const {
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string((*this)[i]);
  }
  return text + ")";
}

}  // namespace cubevp::tl
