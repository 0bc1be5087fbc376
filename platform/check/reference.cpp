// SPDX-License-Identifier: Apache-2.0
#include "platform/check/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "platform/check/f64_product.h"

namespace cubevp::platform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBlockKeys = 256;
constexpr std::int64_t kMaxStripRows = 128;
constexpr std::int64_t kStripBytes = std::int64_t{64} << 20;

std::size_t size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

/// Row length of a matrix of `cols` columns: whole vectors, and an odd number of cache lines so
/// that a column does not fall into few cache sets.
std::size_t padded(std::int64_t cols) {
  const std::size_t units = (size(cols) + kF64ColumnUnit - 1) / kF64ColumnUnit;
  return units * kF64ColumnUnit + kF64ColumnUnit / 2;
}
std::size_t whole_columns(std::int64_t cols) {
  return (size(cols) + kF64ColumnUnit - 1) / kF64ColumnUnit * kF64ColumnUnit;
}

/// Sum with Neumaier's compensation.
class CompensatedSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  /// Compensating an infinite sum gives NaN; it needs none.
  double value() const { return std::isfinite(lost_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// Rows of one (batch, KV head) that are computed together.
struct Strip {
  std::int64_t batch = 0;
  std::int64_t kv_head = 0;
  std::vector<std::size_t> rows;  ///< numbers in ReferenceResult::rows
};

/// Computes strips; one for each thread.
class StripWorker {
 public:
  StripWorker(const InputSource& inputs, const AttentionShape& shape,
              const AttentionOptions& options, ReferenceResult& result)
      : inputs_(inputs),
        shape_(shape),
        options_(options),
        result_(result),
        scale_(options.scale.value_or(1.0 / std::sqrt(static_cast<double>(shape.d)))),
        offset_(options.offset.value_or(shape.s_kv - shape.t_q)),
        half_(size(kBlockKeys * shape.d)),
        d_stride_(padded(shape.d)),
        k_transposed_(size(shape.d) * padded(kBlockKeys)),
        v_(size(kBlockKeys) * d_stride_) {}

  void run(const Strip& strip) {
    keys_ = 0;
    for (const std::size_t row : strip.rows) {
      keys_ = std::max(keys_, visible_keys(row));
    }
    score_stride_ = padded(keys_) + kBlockKeys;  // the last block's product may be written whole
    q_.assign(strip.rows.size() * size(shape_.d), 0);
    scores_.resize(strip.rows.size() * score_stride_);
    load_queries(strip);
    for (std::int64_t key = 0; key < keys_; key += kBlockKeys) {
      score_block(strip, key, std::min(kBlockKeys, keys_ - key));
    }
    take_exponentials(strip);
    sums_.assign(strip.rows.size() * size(shape_.d), {});
    product_.resize(strip.rows.size() * d_stride_);
    for (std::int64_t key = 0; key < keys_; key += kBlockKeys) {
      add_values(strip, key, std::min(kBlockKeys, keys_ - key));
    }
    store(strip);
  }

 private:
  /// Keys 0 .. n-1 are visible to the row.
  std::int64_t visible_keys(std::size_t row) const {
    if (!options_.causal) {
      return shape_.s_kv;
    }
    return std::clamp<std::int64_t>(result_.rows[row].t + offset_ + 1, 0, shape_.s_kv);
  }
  std::int64_t kv_element(const Strip& strip, std::int64_t key) const {
    return ((strip.batch * shape_.kv_heads + strip.kv_head) * shape_.s_kv + key) * shape_.d;
  }

  void load_queries(const Strip& strip) {
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      const RowIndex& at = result_.rows[strip.rows[r]];
      inputs_.read(TensorRole::q,
                   ((at.batch * shape_.q_heads + at.head) * shape_.t_q + at.t) * shape_.d,
                   half_.data(), size(shape_.d));
      for (std::size_t i = 0; i < size(shape_.d); ++i) {
        q_[r * size(shape_.d) + i] = widen(half_[i], inputs_.dtype());
      }
    }
  }

  /// scores[., key ..] = cap(scale * Q K^T), invisible keys -inf.
  void score_block(const Strip& strip, std::int64_t key, std::int64_t count) {
    const std::size_t d = size(shape_.d);
    const std::size_t k_stride = padded(kBlockKeys);
    inputs_.read(TensorRole::k, kv_element(strip, key), half_.data(), size(count) * d);
    for (std::size_t j = 0; j < size(count); ++j) {
      for (std::size_t i = 0; i < d; ++i) {
        k_transposed_[i * k_stride + j] = widen(half_[j * d + i], inputs_.dtype());
      }
    }
    f64_product({q_.data(), d}, {k_transposed_.data(), k_stride}, strip.rows.size(), d,
                whole_columns(count), &scores_[size(key)], score_stride_);
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      double* scores = &scores_[r * score_stride_ + size(key)];
      const std::int64_t visible =
          std::clamp<std::int64_t>(visible_keys(strip.rows[r]) - key, 0, count);
      for (std::int64_t j = 0; j < visible; ++j) {
        scores[j] *= scale_;
        if (options_.softcap > 0) {
          scores[j] = options_.softcap * std::tanh(scores[j] / options_.softcap);
        }
      }
      std::fill(scores + visible, scores + count, -kInf);
    }
  }

  /// Turns scores into exp(score - m), and stores m and l.
  void take_exponentials(const Strip& strip) {
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      double* scores = &scores_[r * score_stride_];
      double m = -kInf;
      for (std::int64_t j = 0; j < keys_; ++j) {
        m = scores[j] > m || std::isnan(scores[j]) ? scores[j] : m;
        if (std::isnan(m)) {
          break;
        }
      }
      const double shift = m == -kInf ? 0 : m;  // a row without a key: exp(-inf) = 0 everywhere
      CompensatedSum l;
      for (std::int64_t key = 0; key < keys_; key += kBlockKeys) {
        double block = 0;
        for (std::int64_t j = key; j < std::min(keys_, key + kBlockKeys); ++j) {
          scores[j] = scores[j] == -kInf ? 0 : std::exp(scores[j] - shift);
          block += scores[j];
        }
        l.add(block);
      }
      result_.m[strip.rows[r]] = m;
      result_.l[strip.rows[r]] = l.value();
    }
  }

  /// sums += P V for a block of keys.
  void add_values(const Strip& strip, std::int64_t key, std::int64_t count) {
    const std::size_t d = size(shape_.d);
    inputs_.read(TensorRole::v, kv_element(strip, key), half_.data(), size(count) * d);
    bool finite = true;
    for (std::size_t j = 0; j < size(count); ++j) {
      for (std::size_t i = 0; i < d; ++i) {
        const double value = widen(half_[j * d + i], inputs_.dtype());
        finite = finite && std::isfinite(value);
        v_[j * d_stride_ + i] = value;
      }
    }
    // 0 * NaN is NaN: when a value is not finite, each row multiplies only what it can see.
    const std::size_t rows_at_once = finite ? strip.rows.size() : 1;
    for (std::size_t r = 0; r < strip.rows.size(); r += rows_at_once) {
      const std::int64_t depth =
          finite ? count : std::clamp<std::int64_t>(visible_keys(strip.rows[r]) - key, 0, count);
      f64_product({&scores_[r * score_stride_ + size(key)], score_stride_}, {v_.data(), d_stride_},
                  rows_at_once, size(depth), whole_columns(shape_.d), &product_[r * d_stride_],
                  d_stride_);
    }
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      for (std::size_t i = 0; i < d; ++i) {
        sums_[r * d + i].add(product_[r * d_stride_ + i]);
      }
    }
  }

  void store(const Strip& strip) {
    const std::size_t d = size(shape_.d);
    for (std::size_t r = 0; r < strip.rows.size(); ++r) {
      const std::size_t row = strip.rows[r];
      const double m = result_.m[row];
      const double l = result_.l[row];
      const bool empty = m == -kInf;
      result_.lse[row] = empty ? -kInf : m + std::log(l);
      for (std::size_t i = 0; i < d; ++i) {
        result_.o[row * d + i] = empty ? 0 : sums_[r * d + i].value() / l;
      }
    }
  }

  const InputSource& inputs_;
  const AttentionShape& shape_;
  const AttentionOptions& options_;
  ReferenceResult& result_;
  const double scale_;
  const std::int64_t offset_;

  std::vector<std::uint16_t> half_;  ///< a block of K or V, or a row of Q, as read
  std::size_t d_stride_;
  std::vector<double> k_transposed_;
  std::vector<double> v_;
  std::int64_t keys_ = 0;  ///< that some row of the strip sees
  std::size_t score_stride_ = 0;
  std::vector<double> q_;
  std::vector<double> scores_;
  std::vector<double> product_;
  std::vector<CompensatedSum> sums_;
};

/// Rows of a KV head that see about as many keys come together.
std::vector<Strip> make_strips(const AttentionShape& shape, const std::vector<RowIndex>& rows) {
  const std::int64_t group = shape.q_heads / shape.kv_heads;
  const std::int64_t strip_rows = std::clamp<std::int64_t>(
      kStripBytes / (static_cast<std::int64_t>(sizeof(double)) * (shape.s_kv + 1)), 8,
      kMaxStripRows);
  std::vector<std::vector<std::size_t>> by_head(size(shape.batch * shape.kv_heads));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    by_head[size(rows[i].batch * shape.kv_heads + rows[i].head / group)].push_back(i);
  }
  std::vector<Strip> strips;
  for (std::size_t h = 0; h < by_head.size(); ++h) {
    std::vector<std::size_t>& members = by_head[h];
    std::stable_sort(members.begin(), members.end(),
                     [&rows](std::size_t a, std::size_t b) { return rows[a].t < rows[b].t; });
    for (std::size_t first = 0; first < members.size(); first += size(strip_rows)) {
      const std::size_t last = std::min(members.size(), first + size(strip_rows));
      strips.push_back({static_cast<std::int64_t>(h) / shape.kv_heads,
                        static_cast<std::int64_t>(h) % shape.kv_heads,
                        {members.begin() + static_cast<std::ptrdiff_t>(first),
                         members.begin() + static_cast<std::ptrdiff_t>(last)}});
    }
  }
  return strips;
}

void check_arguments(const AttentionShape& shape, const std::vector<RowIndex>& rows) {
  if (shape.batch < 1 || shape.q_heads < 1 || shape.kv_heads < 1 || shape.t_q < 0 ||
      shape.s_kv < 0 || shape.d < 1 || shape.q_heads % shape.kv_heads != 0) {
    throw std::invalid_argument("not a shape of grouped-query attention");
  }
  for (const RowIndex& row : rows) {
    if (row.batch < 0 || row.batch >= shape.batch || row.head < 0 || row.head >= shape.q_heads ||
        row.t < 0 || row.t >= shape.t_q) {
      throw std::invalid_argument("a row to check lies outside the output");
    }
  }
}

}  // namespace

std::vector<RowIndex> all_rows(const AttentionShape& shape) {
  return sample_rows(shape, shape.batch * shape.q_heads * shape.t_q);
}

std::vector<RowIndex> sample_rows(const AttentionShape& shape, std::int64_t count) {
  const std::int64_t all = shape.batch * shape.q_heads * shape.t_q;
  const std::int64_t chosen = std::min(std::max<std::int64_t>(count, 0), all);
  std::vector<RowIndex> rows;
  rows.reserve(size(chosen));
  for (std::int64_t i = 0; i < chosen; ++i) {
    // From the first row to the last in equal steps.
    const std::int64_t row = chosen == 1 ? all - 1 : i * (all - 1) / (chosen - 1);
    rows.push_back(
        {row / (shape.q_heads * shape.t_q), row / shape.t_q % shape.q_heads, row % shape.t_q});
  }
  return rows;
}

ReferenceResult reference_attention(const InputSource& inputs, const AttentionShape& shape,
                                    const AttentionOptions& options,
                                    const std::vector<RowIndex>& rows) {
  check_arguments(shape, rows);
  ReferenceResult result;
  result.rows = rows;
  result.o.resize(rows.size() * size(shape.d));
  result.m.resize(rows.size());
  result.l.resize(rows.size());
  result.lse.resize(rows.size());
  const std::vector<Strip> strips = make_strips(shape, rows);

  // Each strip writes its own rows only, so it does not matter which thread computes it.
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      StripWorker worker(inputs, shape, options, result);
      for (std::size_t i = next++; i < strips.size(); i = next++) {
        worker.run(strips[i]);
      }
    } catch (...) {
      next = strips.size();
      const std::lock_guard<std::mutex> lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min(strips.size(), size(std::max(options.threads, 1)));
  for (std::size_t i = 1; i < wanted; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return result;
}

ReferenceResult reference_attention(const InputSource& inputs, const AttentionShape& shape,
                                    const AttentionOptions& options) {
  return reference_attention(inputs, shape, options, all_rows(shape));
}

}  // namespace cubevp::platform
