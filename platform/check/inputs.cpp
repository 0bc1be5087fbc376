// SPDX-License-Identifier: Apache-2.0
#include "platform/check/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "platform/check/philox.h"

namespace cubevp::platform {
namespace {

using Filler = GeneratedInputs::Filler;
using Position = GeneratedInputs::Position;

constexpr std::size_t kCodes = std::size_t{1} << 16;
constexpr std::int64_t kDrawsPerBlock = 8;  // 16 bits each

/// x with P(normal <= x) = p: Acklam's rational approximation (1.2e-9), far finer than the types
/// that the values are rounded to.
double normal_quantile(double p) {
  constexpr double kTail = 0.02425;
  if (p > 0.5) {
    return -normal_quantile(1 - p);  // exactly symmetric
  }
  if (p < kTail) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
              2.549732539343734) *
                 q +
             4.374664141464968) *
                q +
            2.938163982698783) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q +
             3.754408661907416) *
                q +
            1);
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1);
}

/// Builds fillers for one input set.
class Maker {
 public:
  Maker(const AttentionShape& s, std::uint64_t seed, DType dtype)
      : shape(s), seed_(seed), dtype_(dtype) {}

  const AttentionShape shape;

  /// The elements' random 16 bits looked up in a table of `value(bits)`; `stream` tells apart
  /// independent draws.
  Filler random(TensorRole stream, const std::function<double(std::uint32_t)>& value) const {
    auto table = std::make_shared<std::vector<std::uint16_t>>(kCodes);
    for (std::size_t bits = 0; bits < kCodes; ++bits) {
      (*table)[bits] = narrow(value(static_cast<std::uint32_t>(bits)), dtype_);
    }
    const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed_),
                                              static_cast<std::uint32_t>(seed_ >> 32)};
    const auto tensor = static_cast<std::uint32_t>(stream);
    return [table, key, tensor](const Position& at, std::uint16_t* out, std::size_t count) {
      const std::uint16_t* codes = table->data();
      const std::int64_t end = at.first + static_cast<std::int64_t>(count);
      for (std::int64_t i = at.first; i < end;) {
        const std::int64_t block = i / kDrawsPerBlock;
        const auto words = philox(
            {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), tensor, 0},
            key);
        const std::int64_t block_end = std::min(end, (block + 1) * kDrawsPerBlock);
        for (std::int64_t draw = i % kDrawsPerBlock; i < block_end; ++draw, ++i) {
          *out++ = codes[words[static_cast<std::size_t>(draw / 2)] >> (draw % 2 * 16) & 0xffffU];
        }
      }
    };
  }
  Filler normal(TensorRole stream, double factor = 1, double offset = 0,
                double limit = std::numeric_limits<double>::infinity()) const {
    return random(stream, [=](std::uint32_t bits) {
      const double x = normal_quantile((bits + 0.5) / kCodes) * factor;
      return std::clamp(x, -limit, limit) + offset;
    });
  }
  Filler uniform(TensorRole stream, double low, double high) const {
    return random(stream,
                  [=](std::uint32_t bits) { return low + (high - low) * (bits + 0.5) / kCodes; });
  }
  /// Integers low .. high - 1 times `unit`.
  Filler integers(TensorRole stream, int low, int high, double unit) const {
    return random(stream, [=](std::uint32_t bits) {
      return (low + static_cast<int>(bits % static_cast<std::uint32_t>(high - low))) * unit;
    });
  }
  /// A value for each row.
  Filler rows(std::function<double(const Position&)> value) const {
    return [value = std::move(value), type = dtype_](const Position& at, std::uint16_t* out,
                                                     std::size_t count) {
      std::fill_n(out, count, narrow(value(at), type));
    };
  }
  Filler constant(double value) const {
    return [code = narrow(value, dtype_)](const Position&, std::uint16_t* out, std::size_t count) {
      std::fill_n(out, count, code);
    };
  }
  /// `other` in rows where `when` holds, `base` elsewhere.
  static Filler choose(std::function<bool(const Position&)> when, Filler other, Filler base) {
    return [=](const Position& at, std::uint16_t* out, std::size_t count) {
      (when(at) ? other : base)(at, out, count);
    };
  }
  /// `base`, except for column `col` of the rows where `when` holds.
  Filler poke(Filler base, std::function<bool(const Position&)> when,
              std::function<std::int64_t(const Position&)> col, double value) const {
    return [=, code = narrow(value, dtype_)](const Position& at, std::uint16_t* out,
                                             std::size_t count) {
      base(at, out, count);
      const std::int64_t i = when(at) ? col(at) - at.col : -1;
      if (i >= 0 && i < static_cast<std::int64_t>(count)) {
        out[i] = code;
      }
    };
  }

 private:
  std::uint64_t seed_;
  DType dtype_;
};

using Fillers = std::array<Filler, 3>;
constexpr TensorRole kQ = TensorRole::q;
constexpr TensorRole kK = TensorRole::k;
constexpr TensorRole kV = TensorRole::v;

Fillers normal(const Maker& m) {
  return {m.normal(kQ), m.normal(kK), m.normal(kV)};
}
Fillers uniform(const Maker& m, double low) {
  return {m.uniform(kQ, low, 1), m.uniform(kK, low, 1), m.uniform(kV, low, 1)};
}
Fillers constant(const Maker& m, double value) {
  return {m.constant(value), m.constant(value), m.constant(value)};
}

/// Every score is `score(key)`: Q = 1, K = score / sqrt(d).
Fillers scores(const Maker& m, const std::function<double(std::int64_t)>& score, Filler v) {
  const double root = std::sqrt(static_cast<double>(m.shape.d));
  return {m.constant(1), m.rows([=](const Position& at) { return score(at.row) / root; }),
          std::move(v)};
}

double ramp_score(const Maker& m, std::int64_t key) {
  const std::int64_t s = m.shape.s_kv;
  return s == 1 ? -40.0 : key == s - 1 ? 40.0 : -40 + key * (80.0 / static_cast<double>(s - 1));
}

/// Spreads one winning key for each column of Q and K over all keys; query t of head h asks for
/// the winner of column (t + h) % n.
Fillers one_hot(const Maker& m) {
  const std::int64_t n = std::min(m.shape.d, m.shape.s_kv);
  std::vector<std::int64_t> keys;  // ascending, all different
  for (std::int64_t i = 0; i < n; ++i) {
    const double step =
        n > 1 ? static_cast<double>(m.shape.s_kv - 1) / static_cast<double>(n - 1) : 0.0;
    keys.push_back(i == n - 1 && n > 1 ? m.shape.s_kv - 1
                                       : static_cast<std::int64_t>(static_cast<double>(i) * step));
  }
  const auto column = [keys](const Position& at) {
    return std::lower_bound(keys.begin(), keys.end(), at.row) - keys.begin();
  };
  const auto winner = [keys](const Position& at) {
    return std::binary_search(keys.begin(), keys.end(), at.row);
  };
  const Filler zero = m.constant(0);
  return {m.poke(
              zero, [n](const Position&) { return n > 0; },
              [n](const Position& at) { return (at.row + at.head) % n; },
              4 * std::sqrt(static_cast<double>(m.shape.d))),
          m.poke(zero, winner, column, 64), m.normal(kV)};
}

/// Scores near +-60000 before scaling, a few of them apart by tens. All values are multiples of
/// 1/4, so that f32 sums of products are exact and only the softmax is tried; in f16 neighbouring
/// scores would be the same.
Fillers large(const Maker& m) {
  const double size = std::round(4 * std::sqrt(60000.0 / static_cast<double>(m.shape.d))) / 4;
  // A quarter up, a quarter down, else the size. Every other key is turned round, so that the
  // lowest scores are as large as the highest.
  const auto near = [&m, size](TensorRole stream, double sign) {
    return m.random(stream, [=](std::uint32_t bits) {
      return sign * (size + (bits % 4 == 0 ? 0.25 : bits % 4 == 1 ? -0.25 : 0.0));
    });
  };
  return {
      near(kQ, 1),
      Maker::choose([](const Position& at) { return at.row % 2 != 0; }, near(kK, -1), near(kK, 1)),
      m.normal(kV)};
}

struct Entry {
  Distribution info;
  Fillers (*make)(const Maker&);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {{"normal", "standard normal Q, K, V"}, normal},
      {{"uniform", "between -1 and 1"}, [](const Maker& m) { return uniform(m, -1); }},
      {{"uniform_pm1", "the same as uniform"}, [](const Maker& m) { return uniform(m, -1); }},
      {{"uniform01", "between 0 and 1: all scores alike, O near the mean of V"},
       [](const Maker& m) { return uniform(m, 0); }},
      {{"zeros", "Q = K = V = 0"}, [](const Maker& m) { return constant(m, 0); }},
      {{"ones", "Q = K = V = 1: O is exactly 1"}, [](const Maker& m) { return constant(m, 1); }},
      {{"peaked", "normal with Q four times larger: few keys dominate"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ, 4), m.normal(kK), m.normal(kV)};
       }},
      {{"large", "scores near +-60000 before scaling, close to what f16 can hold"}, large},
      {{"zero_scores", "Q = 0: l is the number of visible keys, O the mean of their V"},
       [](const Maker& m) {
         return Fillers{m.constant(0), m.normal(kK), m.normal(kV)};
       }},
      {{"zero_scores_ones", "Q = 0 and V = 1: O is exactly 1 however the keys are split"},
       [](const Maker& m) {
         return Fillers{m.constant(0), m.normal(kK), m.constant(1)};
       }},
      {{"shard_ramp", "Q = 0 and V[j] = j/S: a block skipped, doubled or misplaced shifts O"},
       [](const Maker& m) {
         const auto s = static_cast<double>(std::max<std::int64_t>(m.shape.s_kv, 1));
         return Fillers{m.constant(0), m.normal(kK), m.rows([s](const Position& at) {
                          return static_cast<double>(at.row) / s;
                        })};
       }},
      {{"head_tag", "V of KV head g is g + 1: O tells which KV head was read"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ), m.normal(kK), m.rows([](const Position& at) {
                          return static_cast<double>(at.head + 1);
                        })};
       }},
      {{"huge_scores", "q.k up to 2e5 before scaling: infinite in f16, fine in f32"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ, 40), m.normal(kK, 40), m.normal(kV)};
       }},
      {{"score_overflow_const", "every q.k is 64*64*d, too large for f16: O is the mean of V"},
       [](const Maker& m) {
         return Fillers{m.constant(64), m.constant(64), m.normal(kV)};
       }},
      {{"below_sentinel", "every q.k is -64*64*d, below any finite stand-in for -inf: O is 1"},
       [](const Maker& m) {
         return Fillers{m.constant(64), m.constant(-64), m.constant(1)};
       }},
      {{"masked_dominates", "the later half of the keys has far larger scores and V near 100"},
       [](const Maker& m) {
         const auto late = [s = m.shape.s_kv](const Position& at) { return at.row >= s / 2; };
         return Fillers{m.constant(8.0 / static_cast<double>(m.shape.d)),
                        Maker::choose(late, m.constant(64), m.constant(-8)),
                        Maker::choose(late, m.normal(kV, 1, 100), m.normal(kV))};
       }},
      {{"one_hot", "one key wins by far, another one for each query: O is its V"}, one_hot},
      {{"alternating", "Q = 0 and V = +-1000 in turn: everything cancels"},
       [](const Maker& m) {
         return Fillers{m.constant(0), m.normal(kK), m.rows([](const Position& at) {
                          return at.row % 2 == 0 ? 1000.0 : -1000.0;
                        })};
       }},
      {{"alternating_scores", "scores of +8 and -8 in turn"},
       [](const Maker& m) {
         return Fillers{m.constant(8 / std::sqrt(static_cast<double>(m.shape.d))),
                        m.rows([](const Position& at) { return at.row % 2 == 0 ? 1.0 : -1.0; }),
                        m.normal(kV)};
       }},
      {{"ascending", "scores grow from -40 to 40: the running maximum changes in every block"},
       [](const Maker& m) {
         return scores(
             m, [m](std::int64_t key) { return ramp_score(m, key); }, m.normal(kV));
       }},
      {{"descending", "scores fall from 40 to -40: later blocks underflow"},
       [](const Maker& m) {
         return scores(
             m, [m](std::int64_t key) { return ramp_score(m, m.shape.s_kv - 1 - key); },
             m.normal(kV));
       }},
      {{"lse_gap", "the later half scores 200 higher: exp of the difference overflows"},
       [](const Maker& m) {
         const std::int64_t half = m.shape.s_kv / 2;
         return scores(
             m, [half](std::int64_t key) { return key < half ? 0.0 : 200.0; }, m.normal(kV));
       }},
      {{"lse_gap2", "the later half scores 2 higher and has V = 1, the rest 0: O is 0.8808"},
       [](const Maker& m) {
         const std::int64_t half = m.shape.s_kv / 2;
         return scores(
             m, [half](std::int64_t key) { return key < half ? 0.0 : 2.0; },
             m.rows([half](const Position& at) { return at.row < half ? 0.0 : 1.0; }));
       }},
      {{"l_gap", "equal maxima, but of the later half (V = 1) only every eighth key counts"},
       [](const Maker& m) {
         const std::int64_t half = m.shape.s_kv / 2;
         return scores(
             m,
             [half](std::int64_t key) {
               return key >= half && (key - half) % 8 != 0 ? -20.0 : 0.0;
             },
             m.rows([half](const Position& at) { return at.row < half ? 0.0 : 1.0; }));
       }},
      {{"long_prefix_short_suffix", "normal, but the last 48th of the keys has V = 8"},
       [](const Maker& m) {
         const std::int64_t s = m.shape.s_kv;
         const std::int64_t suffix = s - std::max<std::int64_t>(1, s / 48);
         return Fillers{m.normal(kQ), m.normal(kK),
                        Maker::choose([suffix](const Position& at) { return at.row >= suffix; },
                                      m.constant(8), m.normal(kV))};
       }},
      {{"subnormal", "V is subnormal in f16: flushing it gives 0"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ), m.normal(kK), m.integers(kV, 1, 512, 0x1p-24)};
       }},
      {{"subnormal_qk", "K is subnormal in f16 and Q is large"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ, 20000, 0, 60000), m.integers(kK, -600, 600, 0x1p-24),
                        m.normal(kV)};
       }},
      {{"v_max", "V = 65504: a sum of P times V that is not normalised overflows f16"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ), m.normal(kK), m.constant(65504)};
       }},
      {{"neg_zero", "V = -0"},
       [](const Maker& m) {
         return Fillers{m.normal(kQ), m.normal(kK), m.constant(-0.0)};
       }},
      {{"nan_in_masked_tail", "the last quarter of K and V is NaN: must be masked to be legal"},
       [](const Maker& m) {
         const auto tail = [s = m.shape.s_kv](const Position& at) { return at.row >= s - s / 4; };
         const Filler nan = m.constant(std::numeric_limits<double>::quiet_NaN());
         return Fillers{m.normal(kQ), Maker::choose(tail, nan, m.normal(kK)),
                        Maker::choose(tail, nan, m.normal(kV))};
       }},
      {{"inf_v", "V of the middle key is infinite in column 0"},
       [](const Maker& m) {
         return Fillers{
             m.normal(kQ), m.normal(kK),
             m.poke(
                 m.normal(kV), [s = m.shape.s_kv](const Position& at) { return at.row == s / 2; },
                 [](const Position&) { return std::int64_t{0}; },
                 std::numeric_limits<double>::infinity())};
       }},
      {{"nan_q_row", "query 0 holds a NaN: its rows of O are NaN, no others"},
       [](const Maker& m) {
         return Fillers{m.poke(
                            m.normal(kQ), [](const Position& at) { return at.row == 0; },
                            [](const Position&) { return std::int64_t{0}; },
                            std::numeric_limits<double>::quiet_NaN()),
                        m.normal(kK), m.normal(kV)};
       }},
  };
  return table;
}

}  // namespace

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> infos = [] {
    std::vector<Distribution> list;
    for (const Entry& entry : entries()) {
      list.push_back(entry.info);
    }
    return list;
  }();
  return infos;
}

bool is_distribution(std::string_view name) {
  const auto& list = distributions();
  return std::any_of(list.begin(), list.end(),
                     [name](const Distribution& d) { return d.name == name; });
}

GeneratedInputs::GeneratedInputs(std::string_view distribution, std::uint64_t seed,
                                 const AttentionShape& shape, DType dtype)
    : shape_(shape), dtype_(dtype) {
  if (dtype != DType::f16 && dtype != DType::bf16) {
    throw std::invalid_argument("inputs are f16 or bf16");
  }
  const auto& table = entries();
  const auto entry = std::find_if(table.begin(), table.end(), [distribution](const Entry& e) {
    return e.info.name == distribution;
  });
  if (entry == table.end()) {
    throw std::invalid_argument("unknown input distribution '" + std::string(distribution) + "'");
  }
  fillers_ = entry->make(Maker(shape, seed, dtype));
}

void GeneratedInputs::read(TensorRole role, std::int64_t first, std::uint16_t* out,
                           std::size_t count) const {
  const Filler& fill = fillers_[static_cast<std::size_t>(role)];
  const std::int64_t rows = role == TensorRole::q ? shape_.t_q : shape_.s_kv;
  const std::int64_t heads = role == TensorRole::q ? shape_.q_heads : shape_.kv_heads;
  const std::int64_t end = first + static_cast<std::int64_t>(count);
  while (first < end) {
    const std::int64_t row = first / shape_.d;
    const std::int64_t col = first % shape_.d;
    const std::int64_t run = std::min(end - first, shape_.d - col);
    fill({row / rows % heads, row % rows, col, first}, out, static_cast<std::size_t>(run));
    first += run;
    out += run;
  }
}

Tensor16 GeneratedInputs::tensor(TensorRole role) const {
  Tensor16 result{dtype_, tensor_shape(role, shape_), {}};
  result.bits.resize(static_cast<std::size_t>(element_count(result.shape)));
  read(role, 0, result.bits.data(), result.bits.size());
  return result;
}

void generate(std::string_view distribution, std::uint64_t seed, TensorRole role,
              const AttentionShape& shape, DType dtype, std::int64_t first, std::uint16_t* out,
              std::size_t count) {
  GeneratedInputs(distribution, seed, shape, dtype).read(role, first, out, count);
}

}  // namespace cubevp::platform
