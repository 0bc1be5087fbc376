// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "platform/check/tensors.h"

namespace cubevp::platform {

struct AttentionOptions {
  bool causal = false;
  /// Key j is visible to query t if j <= t + offset; nothing: s_kv - t_q, the last query sees all.
  std::optional<std::int64_t> offset;
  std::optional<double> scale;  ///< nothing: 1/sqrt(d)
  double softcap = 0;           ///< c: scores become c * tanh(score / c) before the mask; 0: off
  int threads = 1;              ///< the result does not depend on it
};

/// One row of the output.
struct RowIndex {
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t t = 0;
};
std::vector<RowIndex> all_rows(const AttentionShape& shape);
/// min(count, all) different rows, spread evenly over batches, heads and queries with the
/// first and the last row among them; in C order.
std::vector<RowIndex> sample_rows(const AttentionShape& shape, std::int64_t count);

struct ReferenceResult {
  std::vector<RowIndex> rows;
  std::vector<double> o;  ///< rows x d
  /// For each row: the largest score (-inf: no visible key), the sum of exp(score - m), and
  /// m + log(l).
  std::vector<double> m, l, lse;
};

/// Attention from its definition in double precision,
///
///   O[b,h,t] = sum_j p_j V[b,g,j],  p = softmax over visible j of cap(scale * Q[b,h,t].K[b,g,j])
///
/// with g = h / (q_heads / kv_heads). The maximum over all keys is found before any exponential is
/// taken, and blocks of keys are added with compensation; no step is shared with the kernels that
/// are checked against it. A row without a visible key is 0. NaN and infinities follow IEEE, and
/// what lies at invisible keys has no influence. Scores are kept for a strip of rows at a time,
/// bounded in memory whatever the context.
///
/// q_heads must be a multiple of kv_heads, and rows lie within the shape (std::invalid_argument).
ReferenceResult reference_attention(const InputSource& inputs, const AttentionShape& shape,
                                    const AttentionOptions& options,
                                    const std::vector<RowIndex>& rows);
/// All rows.
ReferenceResult reference_attention(const InputSource& inputs, const AttentionShape& shape,
                                    const AttentionOptions& options);

}  // namespace cubevp::platform
