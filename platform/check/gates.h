// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/check/reference.h"
#include "platform/check/tensors.h"

namespace cubevp::platform {

// How far an output may lie from the float64 reference. The rule is relative to the data:
//
//   |o - ref| <= k_ulp * ulp16(ref) + k_rms * rms(ref)     for every element, and
//   NMSE(o) <= k_nmse * NMSE(ref rounded to the type of o) + k_rms^2
//
// with ulp16(x) the distance of neighbouring values of o's type at x. NaN must stand exactly where
// ref has NaN, and infinity of the same sign where ref rounds to infinity (|ref| >= 65520 in f16).

enum class Gate : std::uint8_t {
  strict,  ///< everything f32 between loading the inputs and the final store
  seq,     ///< the same, sums taken one after the other
  wire16,  ///< P, or a normalised o, rounded to 16 bits once; m and l stay f32
};
std::string_view to_string(Gate gate);
/// Nothing for an unknown name.
std::optional<Gate> gate_from_string(std::string_view name);

struct GateLimits {
  double k_ulp;
  double k_rms;
  double k_nmse;
};
/// The limits of a gate; `p` is what P (or o on the wire) is rounded to. The k_rms of wire16
/// stands for that rounding and is eight times larger for bf16, whose ulp is eight times that of
/// f16. The other terms follow the type of o through its ulp.
GateLimits gate_limits(Gate gate, DType p = DType::f16);

/// Distance between neighbouring values of `dtype` (f16, bf16) at x.
double ulp16(double x, DType dtype);

enum class CheckStatus : std::uint8_t { pass, fail };
constexpr std::string_view to_string(CheckStatus status) {
  return status == CheckStatus::pass ? "pass" : "fail";
}

struct ElementIndex {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t t = 0;
  std::int64_t d = 0;
};

struct CheckResult {
  CheckStatus status = CheckStatus::pass;
  Gate gate = Gate::wire16;
  double max_abs_err = 0;
  double max_ulp16 = 0;   ///< largest error in ulp16 of the reference
  double nmse = 0;        ///< mean square error over mean square of ref; 0 for an all-zero ref
  double nmse_ideal = 0;  ///< the same of ref rounded to the type of o
  double rms_ref = 0;
  std::int64_t rows_checked = 0;
  std::int64_t rows_total = 0;
  ElementIndex worst_index;  ///< of the element furthest out, measured against its own limit
  std::int64_t nonfinite_mismatches = 0;
  std::string message;  ///< one line that says what failed; empty on pass
};

/// Compares the rows `reference.rows` of the output `o` (batch, q_heads, t_q, d) with the
/// reference; `p` as in gate_limits. Sums and rms are over the checked rows. Throws
/// std::invalid_argument when o has another shape.
CheckResult check_output(const Tensor16& o, const ReferenceResult& reference,
                         const AttentionShape& shape, Gate gate, DType p = DType::f16);

/// The same against an expected output read from a file (load_golden), all rows or those given.
CheckResult check_output(const Tensor16& o, const std::vector<double>& golden,
                         const AttentionShape& shape, const std::vector<RowIndex>& rows, Gate gate,
                         DType p = DType::f16);

/// Whether two outputs of one shape are the same up to the order of f32 additions: every element
/// within ulp16 + 2e-5 rms of the other's (the k_rms of `strict`), NaN and infinity at the same
/// places. Ranks that merge the same partials in another order differ by that much at most.
bool outputs_agree(const Tensor16& a, const Tensor16& b);

}  // namespace cubevp::platform
