// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/vector_ops.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "hw/numerics/aligned_buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hw/numerics/vector_ops.cpp"
#include <hwy/foreach_target.h>

#include "hw/numerics/math-inl.h"
#include "hw/numerics/vector_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

template <VectorOp kOp>
HWY_INLINE VF element(VF a, VF b, VF c) {
  if constexpr (kOp == VectorOp::add) {
    return canonical_nan(hn::Add(a, b));
  } else if constexpr (kOp == VectorOp::sub) {
    return canonical_nan(hn::Sub(a, b));
  } else if constexpr (kOp == VectorOp::mul) {
    return canonical_nan(hn::Mul(a, b));
  } else if constexpr (kOp == VectorOp::div) {
    return canonical_nan(hn::Div(a, b));
  } else if constexpr (kOp == VectorOp::maximum) {
    return maximum(a, b);
  } else if constexpr (kOp == VectorOp::where) {
    return hn::IfThenElse(hn::Eq(a, hn::Zero(F32())), c, b);
  } else if constexpr (kOp == VectorOp::exp) {
    return exp_f32(a);
  } else {
    return a;
  }
}

/// A read operand of an elementwise operation, broadcast to the destination's shape.
class Source {
 public:
  HWY_INLINE Source(const MatrixView& view, std::size_t cols)
      : view_(view), one_value_a_row_(view.cols == 1 && cols != 1), one_row_(view.rows == 1) {}

  HWY_INLINE const float* chunk(std::size_t r, std::size_t c, std::size_t n) {
    const std::size_t row = one_row_ ? 0 : r;
    if (!one_value_a_row_) {
      return read_chunk(view_, row, c, n, 0.0F, buffer_);
    }
    if (c == 0 && row != filled_row_) {
      std::fill(buffer_, buffer_ + kChunk, read_value(view_, row));
      filled_row_ = row;
    }
    return buffer_;
  }

 private:
  const MatrixView view_;
  const bool one_value_a_row_;
  const bool one_row_;
  std::size_t filled_row_ = std::numeric_limits<std::size_t>::max();
  alignas(64) float buffer_[kChunk];
};

template <VectorOp kOp>
HWY_NOINLINE void elementwise(const MatrixView* operands, std::size_t count, float scalar) {
  const F32 d;
  MatrixView view[4];
  bool one_run = true;
  for (std::size_t i = 0; i < count; ++i) {
    view[i] = operands[i];
    one_run = one_run && view[i].contiguous() && view[i].rows == view[0].rows &&
              view[i].cols == view[0].cols;
  }
  // Operands without gaps are one long row.
  const std::uint64_t elements = std::uint64_t{view[0].rows} * view[0].cols;
  if (one_run && elements <= std::numeric_limits<std::uint32_t>::max()) {
    for (std::size_t i = 0; i < count; ++i) {
      view[i].rows = 1;
      view[i].cols = static_cast<std::uint32_t>(elements);
    }
  }
  const MatrixView& dst = view[0];
  constexpr bool kBinary = kOp == VectorOp::add || kOp == VectorOp::sub || kOp == VectorOp::mul ||
                           kOp == VectorOp::div || kOp == VectorOp::maximum;
  constexpr bool kTernary = kOp == VectorOp::where;
  constexpr bool kFill = kOp == VectorOp::fill;
  Source source_a(view[kFill ? 0 : 1], dst.cols);
  Source source_b(view[kBinary || kTernary ? 2 : 0], dst.cols);
  Source source_c(view[kTernary ? 3 : 0], dst.cols);
  alignas(64) float buffer[kChunk];
  for (std::size_t r = 0; r < dst.rows; ++r) {
    for (std::size_t c = 0, n = 0; c < dst.cols; c += n) {
      n = chunk_size(c, dst.cols);
      float* result = result_chunk(dst, r, c, n, buffer);
      if constexpr (kFill) {
        for (std::size_t i = 0; i < padded(n); i += kLanes) {
          hn::StoreU(set(scalar), d, result + i);
        }
      } else {
        const float* a = source_a.chunk(r, c, n);
        const float* b = kBinary || kTernary ? source_b.chunk(r, c, n) : a;
        const float* e = kTernary ? source_c.chunk(r, c, n) : a;
        for (std::size_t i = 0; i < padded(n); i += kLanes) {
          hn::StoreU(element<kOp>(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, e + i)), d,
                     result + i);
        }
      }
      write_chunk(dst, r, c, n, result, buffer);
    }
  }
}

/// result = exp(scores - m), its sum added to `lanes`; elements beyond n become 0.
HWY_INLINE void exp_chunk(const float* scores, std::size_t n, float m, float* result,
                          LaneSums& lanes) {
  const F32 d;
  const VF max = set(m);
  for (std::size_t i = 0; i < padded(n); i += kLanes) {
    hn::StoreU(exp_below(hn::LoadU(d, scores + i), max), d, result + i);
  }
  lanes.add(result, padded(n));
}

HWY_NOINLINE void softmax_rows(const MatrixView& dst, const MatrixView& a, float* row_buffer) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const F32 d;
  alignas(64) float in[kChunk];
  for (std::size_t r = 0; r < a.rows; ++r) {
    const float m = row_max_of(a, r);
    LaneSums lanes;
    for (std::size_t c = 0, n = 0; c < a.cols; c += n) {
      n = chunk_size(c, a.cols);
      exp_chunk(read_chunk(a, r, c, n, kHidden, in), n, m, row_buffer + c, lanes);
    }
    const float total = lanes.total();
    // No visible key: every exp is 0, and 0 / 1 keeps the row 0.
    const VF divisor = set(m == kHidden ? 1.0F : total);
    for (std::size_t i = 0; i < padded(a.cols); i += kLanes) {
      hn::Store(canonical_nan(hn::Div(hn::Load(d, row_buffer + i), divisor)), d, row_buffer + i);
    }
    write_row(row_buffer, a.cols, dst.dtype, dst.row(r));
  }
}

HWY_NOINLINE void softmax_update_rows(const MatrixView* operands) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const MatrixView& p = operands[0];
  const MatrixView& s = operands[1];
  const MatrixView& m = operands[2];
  const MatrixView& l = operands[3];
  const MatrixView& alpha = operands[4];
  alignas(64) float in[kChunk];
  alignas(64) float out[kChunk];
  for (std::size_t r = 0; r < s.rows; ++r) {
    const float m_old = read_value(m, r);
    const float m_new = maximum(m_old, row_max_of(s, r));
    const float factor = exp_below(m_old, m_new);
    LaneSums lanes;
    for (std::size_t c = 0, n = 0; c < s.cols; c += n) {
      n = chunk_size(c, s.cols);
      float* result = result_chunk(p, r, c, n, out);
      exp_chunk(read_chunk(s, r, c, n, kHidden, in), n, m_new, result, lanes);
      write_chunk(p, r, c, n, result, out);
    }
    const float kept = read_value(l, r) * factor;
    write_value(l, r, canonical_nan(kept + lanes.total()));
    write_value(m, r, m_new);
    write_value(alpha, r, factor);
  }
}

HWY_NOINLINE void merge_rows(const MatrixView* operands) {
  const F32 d;
  const MatrixView& m = operands[0];
  const MatrixView& l = operands[1];
  const MatrixView& o = operands[2];
  const MatrixView& m2 = operands[3];
  const MatrixView& l2 = operands[4];
  const MatrixView& o2 = operands[5];
  alignas(64) float mine[kChunk];
  alignas(64) float theirs[kChunk];
  alignas(64) float out[kChunk];
  for (std::size_t r = 0; r < o.rows; ++r) {
    const float m_a = read_value(m, r);
    const float m_b = read_value(m2, r);
    const float m_new = maximum(m_a, m_b);
    const float a = exp_below(m_a, m_new);
    const float b = exp_below(m_b, m_new);
    const float l_a = a * read_value(l, r);
    const float l_b = b * read_value(l2, r);
    write_value(m, r, m_new);
    write_value(l, r, canonical_nan(l_a + l_b));
    for (std::size_t c = 0, n = 0; c < o.cols; c += n) {
      n = chunk_size(c, o.cols);
      const float* x = read_chunk(o, r, c, n, 0.0F, mine);
      const float* y = read_chunk(o2, r, c, n, 0.0F, theirs);
      float* result = result_chunk(o, r, c, n, out);
      for (std::size_t i = 0; i < padded(n); i += kLanes) {
        const VF sum =
            hn::Add(hn::Mul(set(a), hn::LoadU(d, x + i)), hn::Mul(set(b), hn::LoadU(d, y + i)));
        hn::StoreU(canonical_nan(sum), d, result + i);
      }
      write_chunk(o, r, c, n, result, out);
    }
  }
}

HWY_NOINLINE void normalize_rows(const MatrixView& dst, const MatrixView& o, const MatrixView& l) {
  const F32 d;
  alignas(64) float in[kChunk];
  alignas(64) float out[kChunk];
  for (std::size_t r = 0; r < o.rows; ++r) {
    const float divisor = read_value(l, r);
    for (std::size_t c = 0, n = 0; c < o.cols; c += n) {
      n = chunk_size(c, o.cols);
      const float* x = read_chunk(o, r, c, n, 0.0F, in);
      float* result = result_chunk(dst, r, c, n, out);
      for (std::size_t i = 0; i < padded(n); i += kLanes) {
        const VF quotient = canonical_nan(hn::Div(hn::LoadU(d, x + i), set(divisor)));
        hn::StoreU(divisor == 0.0F ? hn::Zero(d) : quotient, d, result + i);
      }
      write_chunk(dst, r, c, n, result, out);
    }
  }
}

void vector_op_on_target(VectorOp op, float scalar, const MatrixView* operands, std::size_t count,
                         float* row_buffer) {
  switch (op) {
    case VectorOp::fill:
      return elementwise<VectorOp::fill>(operands, count, scalar);
    case VectorOp::copy:
    case VectorOp::cast:
      return elementwise<VectorOp::cast>(operands, count, scalar);
    case VectorOp::add:
      return elementwise<VectorOp::add>(operands, count, scalar);
    case VectorOp::sub:
      return elementwise<VectorOp::sub>(operands, count, scalar);
    case VectorOp::mul:
      return elementwise<VectorOp::mul>(operands, count, scalar);
    case VectorOp::div:
      return elementwise<VectorOp::div>(operands, count, scalar);
    case VectorOp::maximum:
      return elementwise<VectorOp::maximum>(operands, count, scalar);
    case VectorOp::where:
      return elementwise<VectorOp::where>(operands, count, scalar);
    case VectorOp::exp:
      return elementwise<VectorOp::exp>(operands, count, scalar);
    case VectorOp::row_max:
      for (std::size_t r = 0; r < operands[1].rows; ++r) {
        write_value(operands[0], r, row_max_of(operands[1], r));
      }
      return;
    case VectorOp::row_sum:
      for (std::size_t r = 0; r < operands[1].rows; ++r) {
        write_value(operands[0], r, row_sum_of(operands[1], r));
      }
      return;
    case VectorOp::softmax:
      return softmax_rows(operands[0], operands[1], row_buffer);
    case VectorOp::softmax_update:
      return softmax_update_rows(operands);
    case VectorOp::merge_mlo:
      return merge_rows(operands);
    case VectorOp::normalize:
      return normalize_rows(operands[0], operands[1], operands[2]);
  }
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace cubevp::numerics {
namespace {

HWY_EXPORT(vector_op_on_target);

[[noreturn]] void reject(VectorOp op, const std::string& why) {
  throw std::invalid_argument("vector " + std::string(to_string(op)) + ": " + why);
}

std::string shape(const MatrixView& view) {
  return std::to_string(view.rows) + "x" + std::to_string(view.cols);
}

void expect_shape(VectorOp op, const MatrixView& view, std::size_t index, std::size_t rows,
                  std::size_t cols) {
  if (view.rows != rows || view.cols != cols) {
    reject(op, "operand " + std::to_string(index) + " is " + shape(view) + ", expected " +
                   std::to_string(rows) + "x" + std::to_string(cols));
  }
}

std::size_t operands_of(VectorOp op) {
  switch (op) {
    case VectorOp::fill:
      return 1;
    case VectorOp::copy:
    case VectorOp::cast:
    case VectorOp::exp:
    case VectorOp::row_max:
    case VectorOp::row_sum:
    case VectorOp::softmax:
      return 2;
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::mul:
    case VectorOp::div:
    case VectorOp::maximum:
    case VectorOp::normalize:
      return 3;
    case VectorOp::where:
      return 4;
    case VectorOp::softmax_update:
      return 5;
    case VectorOp::merge_mlo:
      return 6;
  }
  throw std::invalid_argument("vector: unknown operation");
}

void check(VectorOp op, const MatrixView* v, std::size_t count) {
  const std::size_t expected = operands_of(op);
  if (count != expected) {
    reject(op, "expected " + std::to_string(expected) + " operands, got " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (v[i].transposed) {
      reject(op, "operand " + std::to_string(i) + " is transposed");
    }
  }
  switch (op) {
    case VectorOp::row_max:
    case VectorOp::row_sum:
      return expect_shape(op, v[0], 0, v[1].rows, 1);
    case VectorOp::softmax:
      return expect_shape(op, v[0], 0, v[1].rows, v[1].cols);
    case VectorOp::softmax_update:
      expect_shape(op, v[0], 0, v[1].rows, v[1].cols);
      for (std::size_t i = 2; i < 5; ++i) {
        expect_shape(op, v[i], i, v[1].rows, 1);
      }
      return;
    case VectorOp::merge_mlo:
      for (const std::size_t i : {0, 1, 3, 4}) {
        expect_shape(op, v[i], i, v[2].rows, 1);
      }
      return expect_shape(op, v[5], 5, v[2].rows, v[2].cols);
    case VectorOp::normalize:
      expect_shape(op, v[0], 0, v[1].rows, v[1].cols);
      return expect_shape(op, v[2], 2, v[1].rows, 1);
    default:
      break;
  }
  for (std::size_t i = 1; i < count; ++i) {
    const bool rows_fit = v[i].rows == v[0].rows || (v[i].rows == 1 && v[i].cols == 1);
    const bool cols_fit = v[i].cols == v[0].cols || v[i].cols == 1;
    if (!rows_fit || !cols_fit) {
      reject(op, "operand " + std::to_string(i) + " is " + shape(v[i]) +
                     " and does not broadcast to " + shape(v[0]));
    }
  }
}

/// Copies between equal types keep every bit, NaN payloads too.
void copy_bits(const MatrixView& dst, const MatrixView& src) {
  for (std::size_t r = 0; r < dst.rows; ++r) {
    std::memmove(dst.row(r), src.row(r), dst.cols * size_bytes(dst.dtype));
  }
}

}  // namespace

void vector_op(VectorOp op, float scalar, const MatrixView* operands, std::size_t count) {
  check(op, operands, count);
  const MatrixView& first = operands[0];
  if (first.rows == 0 || (first.cols == 0 && op != VectorOp::softmax_update)) {
    return;
  }
  if ((op == VectorOp::copy || op == VectorOp::cast) && first.dtype == operands[1].dtype &&
      first.rows == operands[1].rows && first.cols == operands[1].cols) {
    return copy_bits(first, operands[1]);
  }
  float* row_buffer = nullptr;
  if (op == VectorOp::softmax) {
    thread_local AlignedBuffer buffer;
    row_buffer = buffer.reserve((std::size_t{first.cols} + 15) / 16 * 16);
  }
  HWY_DYNAMIC_DISPATCH(vector_op_on_target)(op, scalar, operands, count, row_buffer);
}

}  // namespace cubevp::numerics
#endif  // HWY_ONCE
