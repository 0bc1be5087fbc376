// SPDX-License-Identifier: Apache-2.0
#include "platform/check/gates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace cubevp::platform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// What o may hold where the reference is not finite in o's type.
bool same_nonfinite(double o, double expected) {
  return std::isnan(expected) ? std::isnan(o) : o == expected;
}

class Comparison {
 public:
  Comparison(const Tensor16& o, const ReferenceResult& reference, const AttentionShape& shape,
             Gate gate, DType p)
      : o_(o), reference_(reference), shape_(shape), limits_(gate_limits(gate, p)) {
    result_.gate = gate;
    result_.rows_checked = static_cast<std::int64_t>(reference.rows.size());
    result_.rows_total = shape.batch * shape.q_heads * shape.t_q;
  }

  CheckResult run() {
    measure_reference();
    for (std::size_t row = 0; row < reference_.rows.size(); ++row) {
      const RowIndex& at = reference_.rows[row];
      const std::int64_t first =
          ((at.batch * shape_.q_heads + at.head) * shape_.t_q + at.t) * shape_.d;
      for (std::int64_t i = 0; i < shape_.d; ++i) {
        compare(
            widen(o_.bits[static_cast<std::size_t>(first + i)], o_.dtype),
            reference_.o[row * static_cast<std::size_t>(shape_.d) + static_cast<std::size_t>(i)],
            {at.batch, at.head, at.t, i});
      }
    }
    const double mean_square = result_.rms_ref * result_.rms_ref;
    result_.nmse = mean_square > 0 ? square_error_ / finite_ / mean_square : 0;
    judge();
    return result_;
  }

 private:
  /// The reference in o's type, as a double.
  double rounded(double ref) const { return widen(narrow(ref, o_.dtype), o_.dtype); }

  void measure_reference() {
    double square = 0;
    double square_error = 0;
    for (const double ref : reference_.o) {
      const double ideal = rounded(ref);
      if (std::isfinite(ideal)) {
        finite_ += 1;
        square += ref * ref;
        square_error += (ideal - ref) * (ideal - ref);
      }
    }
    if (square > 0) {
      result_.rms_ref = std::sqrt(square / finite_);
      result_.nmse_ideal = square_error / square;
    }
  }

  void compare(double o, double ref, const ElementIndex& at) {
    const double ideal = rounded(ref);
    if (!std::isfinite(ideal) || !std::isfinite(o)) {
      if (!same_nonfinite(o, ideal)) {
        note_mismatch(at);
      }
      return;
    }
    const double error = std::fabs(o - ref);
    const double ulp = ulp16(ref, o_.dtype);
    const double allowed = limits_.k_ulp * ulp + limits_.k_rms * result_.rms_ref;
    square_error_ += error * error;
    result_.max_abs_err = std::max(result_.max_abs_err, error);
    result_.max_ulp16 = std::max(result_.max_ulp16, error / ulp);
    if (error / allowed > worst_) {
      worst_ = error / allowed;
      worst_o_ = o;
      worst_ref_ = ref;
      worst_allowed_ = allowed;
      if (result_.nonfinite_mismatches == 0) {
        result_.worst_index = at;
      }
    }
  }

  void note_mismatch(const ElementIndex& at) {
    if (result_.nonfinite_mismatches++ == 0) {
      result_.worst_index = at;
    }
  }

  void judge() {
    const ElementIndex& at = result_.worst_index;
    const std::string where =
        fmt::format("batch {} head {} query {} column {}", at.batch, at.head, at.t, at.d);
    const double nmse_allowed = limits_.k_nmse * result_.nmse_ideal + limits_.k_rms * limits_.k_rms;
    if (result_.nonfinite_mismatches > 0) {
      result_.message = fmt::format(
          "{} elements are NaN or infinite where the reference is not, or the reverse; "
          "the first is {}",
          result_.nonfinite_mismatches, where);
    } else if (worst_ > 1) {
      result_.message = fmt::format("{} is {:.6g}, expected {:.6g} within {:.3g}", where, worst_o_,
                                    worst_ref_, worst_allowed_);
    } else if (result_.nmse > nmse_allowed) {
      result_.message = fmt::format("normalised mean square error {:.3g} exceeds {:.3g}",
                                    result_.nmse, nmse_allowed);
    }
    result_.status = result_.message.empty() ? CheckStatus::pass : CheckStatus::fail;
  }

  const Tensor16& o_;
  const ReferenceResult& reference_;
  const AttentionShape& shape_;
  const GateLimits limits_;
  CheckResult result_;
  double finite_ = 0;  // elements that are finite in o's type
  double square_error_ = 0;
  double worst_ = -kInf;
  double worst_o_ = 0;
  double worst_ref_ = 0;
  double worst_allowed_ = 0;
};

}  // namespace

std::string_view to_string(Gate gate) {
  switch (gate) {
    case Gate::strict:
      return "strict";
    case Gate::seq:
      return "seq";
    case Gate::wire16:
      return "wire16";
  }
  return "?";
}

std::optional<Gate> gate_from_string(std::string_view name) {
  for (const Gate gate : {Gate::strict, Gate::seq, Gate::wire16}) {
    if (name == to_string(gate)) {
      return gate;
    }
  }
  return std::nullopt;
}

GateLimits gate_limits(Gate gate, DType p) {
  switch (gate) {
    case Gate::strict:
      return {0.51, 2e-5, 1.25};
    case Gate::seq:
      return {0.51, 3e-4, 1.5};
    case Gate::wire16:
      break;
  }
  return {1.0, p == DType::bf16 ? 3.2e-2 : 4e-3, 3.0};
}

double ulp16(double x, DType dtype) {
  const bool bf16 = dtype == DType::bf16;
  const int exponent = std::ilogb(std::max(std::fabs(x), bf16 ? 0x1p-126 : 0x1p-14));
  return std::ldexp(1.0, exponent - (bf16 ? 7 : 10));
}

CheckResult check_output(const Tensor16& o, const ReferenceResult& reference,
                         const AttentionShape& shape, Gate gate, DType p) {
  const std::vector<std::int64_t> expected = tensor_shape(TensorRole::q, shape);
  if (o.shape != expected || static_cast<std::int64_t>(o.bits.size()) != element_count(expected) ||
      reference.o.size() != reference.rows.size() * static_cast<std::size_t>(shape.d)) {
    throw std::invalid_argument("output has shape " + describe(o.shape) + ", expected " +
                                describe(expected));
  }
  return Comparison(o, reference, shape, gate, p).run();
}

CheckResult check_output(const Tensor16& o, const std::vector<double>& golden,
                         const AttentionShape& shape, const std::vector<RowIndex>& rows, Gate gate,
                         DType p) {
  if (static_cast<std::int64_t>(golden.size()) !=
      element_count(tensor_shape(TensorRole::q, shape))) {
    throw std::invalid_argument("the golden output has another size than the output");
  }
  ReferenceResult reference;
  reference.rows = rows;
  for (const RowIndex& at : rows) {
    const auto first =
        golden.begin() + ((at.batch * shape.q_heads + at.head) * shape.t_q + at.t) * shape.d;
    reference.o.insert(reference.o.end(), first, first + shape.d);
  }
  return check_output(o, reference, shape, gate, p);
}

bool outputs_agree(const Tensor16& a, const Tensor16& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bits.size() != b.bits.size()) {
    return false;
  }
  if (a.bits == b.bits) {
    return true;
  }
  double square = 0;
  double finite = 0;
  for (const std::uint16_t bits : a.bits) {
    const double x = widen(bits, a.dtype);
    if (std::isfinite(x)) {
      square += x * x;
      finite += 1;
    }
  }
  const double slack =
      finite > 0 ? gate_limits(Gate::strict).k_rms * std::sqrt(square / finite) : 0;
  for (std::size_t i = 0; i < a.bits.size(); ++i) {
    const double x = widen(a.bits[i], a.dtype);
    const double y = widen(b.bits[i], b.dtype);
    const bool same = std::isfinite(x) && std::isfinite(y)
                          ? std::fabs(x - y) <= ulp16(x, a.dtype) + slack
                          : same_nonfinite(y, x);
    if (!same) {
      return false;
    }
  }
  return true;
}

}  // namespace cubevp::platform
