// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/attention_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

#include "firmware/kernels/attention_args.h"
#include "firmware/kernels/kernels.h"
#include "firmware/runtime/run_kernel.h"
#include "hw/base/sfr_table.h"
#include "hw/numerics/convert.h"

namespace cubevp::test {

namespace {

using kernels::part_begin;

struct Run {
  std::int64_t keys = 0;
  std::int64_t first = 0;
  std::int64_t stride = 1;
};

std::vector<Run> runs_of(const AttentionCase& c, std::int64_t rank) {
  switch (c.sharding) {
    case Sharding::striped:
      return {{(c.keys - rank + c.ranks - 1) / c.ranks, rank, c.ranks}, {}};
    case Sharding::zigzag: {
      const auto part = [&](std::int64_t i) {
        const std::int64_t begin = part_begin(c.keys, 2 * c.ranks, i);
        return Run{part_begin(c.keys, 2 * c.ranks, i + 1) - begin, begin, 1};
      };
      return {part(rank), part(2 * c.ranks - 1 - rank)};
    }
    case Sharding::contiguous:
      break;
  }
  const std::int64_t begin = part_begin(c.keys, c.ranks, rank);
  return {{part_begin(c.keys, c.ranks, rank + 1) - begin, begin, 1}, {}};
}

/// Fills a machine with a case and starts it.
class Driver {
 public:
  Driver(const AttentionCase& c, const AttentionInputs& in) : c_(c), in_(in) {
    kernels::register_kernels(image_);
  }

  AttentionResult run() {
    FakeConfig config;
    const bool prefill = c_.kernel == "gqa_prefill_ring";
    const bool over_cubes = prefill || c_.axis == RankAxis::cube;
    config.cubes = over_cubes ? static_cast<std::uint32_t>(c_.ranks) : 1;
    config.pes = static_cast<std::uint32_t>(prefill ? c_.slices : over_cubes ? 1 : c_.ranks);
    config.scratchpad_bytes = c_.scratchpad_bytes;
    config.channel_bytes = c_.channel_bytes;
    result_.machine = std::make_unique<FakeMachine>(config);
    configure(prefill || c_.kernel == "attention_ring_mlo");
    const std::size_t replicas = prefill ? 1 : static_cast<std::size_t>(c_.ranks);
    result_.replicas.assign(replicas, std::vector<double>(in_.q.size(), -1e30));
    prefill ? place_ring() : place_sharded();
    machine().run();
    for (const Output& o : outputs_) {
      std::vector<std::uint16_t> half(static_cast<std::size_t>(o.rows * c_.head_dim));
      machine().read(o.address, half.data(), half.size() * 2);
      std::transform(half.begin(), half.end(),
                     result_.replicas[o.replica].begin() + o.first_row * c_.head_dim,
                     [](std::uint16_t h) { return double{numerics::f16_to_f32(h)}; });
    }
    return std::move(result_);
  }

 private:
  struct Output {
    Address address;
    std::int64_t first_row;
    std::int64_t rows;
    std::size_t replica;
  };

  FakeMachine& machine() { return *result_.machine; }
  std::int64_t group() const { return c_.q_heads / c_.kv_heads; }

  void configure(bool ring) {
    if (c_.ranks == 1 || !c_.configure_ring) {
      return;
    }
    if (machine_spans_cubes()) {
      std::vector<CubeId> cubes;
      for (std::int64_t i = 0; i < c_.ranks; ++i) {
        cubes.push_back(static_cast<CubeId>(i));
      }
      machine().chain(cubes, ring);
    } else if (ring) {
      machine().write_sfr(CubeId{0}, sfr::kPeRingSize, static_cast<std::uint32_t>(c_.ranks));
    }
  }
  bool machine_spans_cubes() const {
    return c_.kernel == "gqa_prefill_ring" || c_.axis == RankAxis::cube;
  }

  std::int64_t put(CubeId cube, const std::vector<float>& tensor, std::int64_t first_row,
                   const std::vector<Run>& rows) {
    std::vector<std::uint16_t> half;
    for (const Run& run : rows) {
      for (std::int64_t i = 0; i < run.keys; ++i) {
        const std::int64_t row = first_row + run.first + i * run.stride;
        for (std::int64_t x = 0; x < c_.head_dim; ++x) {
          half.push_back(
              numerics::f32_to_f16(tensor[static_cast<std::size_t>(row * c_.head_dim + x)]));
        }
      }
    }
    const Address address = machine().allocate(cube, half.size() * 2);
    machine().write(address, half.data(), half.size() * 2);
    return static_cast<std::int64_t>(address);
  }
  std::int64_t output(CubeId cube, std::int64_t first_row, std::int64_t rows, std::size_t replica) {
    const Address address =
        machine().allocate(cube, static_cast<std::uint64_t>(rows * c_.head_dim * 2));
    outputs_.push_back({address, first_row, rows, replica});
    return static_cast<std::int64_t>(address);
  }

  tl::Args common(std::int64_t rank) const {
    tl::Args a;
    a.set("ranks", c_.ranks);
    a.set("rank", rank);
    a.set("axis", static_cast<std::int64_t>(c_.axis));
    a.set("head_dim", c_.head_dim);
    a.set("t_q", c_.t_q);
    a.set("offset", c_.keys - c_.t_q);
    a.set("causal", c_.causal ? 1 : 0);
    a.set_real("scale", 1.0 / std::sqrt(static_cast<double>(c_.head_dim)));
    a.set_real("softcap", c_.softcap);
    a.set("io", static_cast<std::int64_t>(DType::f16));
    a.set("p", static_cast<std::int64_t>(c_.p));
    a.set("exchange", static_cast<std::int64_t>(c_.exchange));
    a.set("pack", c_.pack ? 1 : 0);
    a.set("gemm", c_.composite ? 1 : 0);
    a.set("overlap", c_.overlap ? 1 : 0);
    a.set("tile_keys", c_.tile_keys);
    a.set("items", c_.kv_heads);
    return a;
  }

  void start(CubeId cube, PeId pe, const tl::Args& args) {
    const std::vector<std::uint64_t> words = args.to_words();
    const Address block = machine().allocate(cube, words.size() * 8);
    machine().write(block, words.data(), words.size() * 8);
    machine().start(cube, pe, [this, block](CommandPort& port) {
      runtime::run_kernel(port, image_, image_.number_of(c_.kernel), block);
    });
  }

  void place_sharded() {
    for (std::int64_t r = 0; r < c_.ranks; ++r) {
      const bool cubes = c_.axis == RankAxis::cube;
      const auto cube = static_cast<CubeId>(cubes ? r : 0);
      const auto pe = static_cast<PeId>(cubes ? 0 : r);
      tl::Args a = common(r);
      const std::int64_t begin = part_begin(c_.keys, c_.ranks, r);
      const std::int64_t keys = part_begin(c_.keys, c_.ranks, r + 1) - begin;
      for (std::uint32_t i = 0; i < c_.kv_heads; ++i) {
        const std::int64_t rows = group() * c_.t_q;
        a.set("rows", rows, i);
        a.set("keys", keys, i);
        a.set("first_key", begin, i);
        a.set("q", put(cube, in_.q, i * rows, {{rows, 0, 1}}), i);
        a.set("k", put(cube, in_.k, i * c_.keys, {{keys, begin, 1}}), i);
        a.set("v", put(cube, in_.v, i * c_.keys, {{keys, begin, 1}}), i);
        a.set("o", output(cube, i * rows, rows, static_cast<std::size_t>(r)), i);
      }
      start(cube, pe, a);
    }
  }

  // The part of a block's runs that slice s of the cube's PEs holds.
  std::vector<Run> slice_of(const std::vector<Run>& runs, std::int64_t s) const {
    const std::int64_t keys = runs[0].keys + runs[1].keys;
    const std::int64_t begin = part_begin(keys, c_.slices, s);
    const std::int64_t end = part_begin(keys, c_.slices, s + 1);
    std::vector<Run> out;
    std::int64_t at = 0;
    for (const Run& run : runs) {
      const std::int64_t a = std::max(begin, at);
      const std::int64_t b = std::min(end, at + run.keys);
      if (a < b) {
        out.push_back({b - a, run.first + (a - at) * run.stride, run.stride});
      }
      at += run.keys;
    }
    return out;
  }

  void place_ring() {
    const auto n = static_cast<std::uint32_t>(c_.ranks);
    const auto slices = static_cast<std::uint32_t>(c_.slices);
    const std::int64_t active = c_.one_active ? 1 : c_.slices;
    const std::int64_t rows = group() * c_.t_q;
    for (std::uint32_t c = 0; c < n; ++c) {
      const auto cube = static_cast<CubeId>(c);
      std::vector<tl::Args> pes(slices, common(c));
      for (std::uint32_t i = 0; i < c_.kv_heads; ++i) {
        std::int64_t largest = 0;
        for (std::uint32_t b = 0; b < n; ++b) {
          const std::vector<Run> runs = runs_of(c_, b);
          largest = std::max(largest, runs[0].keys + runs[1].keys);
          for (tl::Args& a : pes) {
            a.set("block_keys", runs[0].keys + runs[1].keys, kernels::block_index(i, n, b));
            for (std::uint32_t run = 0; run < 2; ++run) {
              const std::uint32_t at = kernels::run_index(i, n, b, run);
              a.set("run_keys", runs[run].keys, at);
              a.set("run_first", runs[run].first, at);
              a.set("run_stride", runs[run].stride, at);
            }
          }
        }
        for (std::uint32_t p = 0; p < slices; ++p) {
          const std::vector<Run> own = slice_of(runs_of(c_, c), p);
          for (const char* name : {"k", "v"}) {
            const std::vector<float>& tensor = *name == 'k' ? in_.k : in_.v;
            const std::int64_t bytes = (largest + slices - 1) / slices * c_.head_dim * 2;
            const auto slot0 = static_cast<std::int64_t>(
                machine().allocate(cube, static_cast<std::uint64_t>(bytes)));
            const auto slot1 = static_cast<std::int64_t>(
                machine().allocate(cube, static_cast<std::uint64_t>(bytes)));
            const std::int64_t source = put(cube, tensor, i * c_.keys, own);
            copy(static_cast<Address>(slot0), static_cast<Address>(source), own);
            for (tl::Args& a : pes) {
              a.set(name, slot0, kernels::key_slot(i, slices, 0, p));
              a.set(name, slot1, kernels::key_slot(i, slices, 1, p));
            }
          }
        }
        const std::int64_t cube_begin = part_begin(rows, c_.ranks, c);
        const std::int64_t cube_rows = part_begin(rows, c_.ranks, c + 1) - cube_begin;
        for (std::uint32_t p = 0; p < slices; ++p) {
          const bool works = p < active;
          const std::int64_t begin = cube_begin + (works ? part_begin(cube_rows, active, p) : 0);
          const std::int64_t end =
              works ? cube_begin + part_begin(cube_rows, active, p + 1) : begin;
          tl::Args& a = pes[p];
          a.set("slices", c_.slices);
          a.set("slice", p);
          a.set("pe_active", works ? 1 : 0);
          a.set("rows", end - begin, i);
          a.set("max_rows", (rows + c_.ranks * active - 1) / (c_.ranks * active) + 1, i);
          a.set("first_row", begin, i);
          a.set("q", put(cube, in_.q, i * rows, {{end - begin, begin, 1}}), i);
          a.set("o", output(cube, i * rows + begin, end - begin, 0), i);
        }
      }
      for (std::uint32_t p = 0; p < slices; ++p) {
        start(cube, static_cast<PeId>(p), pes[p]);
      }
    }
  }
  void copy(Address to, Address from, const std::vector<Run>& rows) {
    std::int64_t n = 0;
    for (const Run& run : rows) {
      n += run.keys;
    }
    std::vector<unsigned char> bytes(static_cast<std::size_t>(n * c_.head_dim * 2));
    machine().read(from, bytes.data(), bytes.size());
    machine().write(to, bytes.data(), bytes.size());
  }

  const AttentionCase& c_;
  const AttentionInputs& in_;
  tl::KernelRegistry image_;
  std::vector<Output> outputs_;
  AttentionResult result_;
};

double ulp16(double x) {
  return std::pow(2.0, std::floor(std::log2(std::max(std::abs(x), std::pow(2.0, -14)))) - 10);
}

}  // namespace

AttentionInputs normal_inputs(const AttentionCase& c, double scale) {
  std::mt19937 random(c.seed);
  std::normal_distribution<double> normal(0.0, scale);
  const auto fill = [&](std::int64_t n) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& v : values) {
      v = numerics::f16_to_f32(numerics::f32_to_f16(static_cast<float>(normal(random))));
    }
    return values;
  };
  AttentionInputs in;
  in.q = fill(c.q_heads * c.t_q * c.head_dim);
  in.k = fill(c.kv_heads * c.keys * c.head_dim);
  in.v = fill(c.kv_heads * c.keys * c.head_dim);
  return in;
}

std::vector<double> reference(const AttentionCase& c, const AttentionInputs& in) {
  std::vector<double> out(in.q.size());
  const auto row = [&](const std::vector<float>& t, std::int64_t r) {
    return t.data() + r * c.head_dim;
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(c.head_dim));
  std::vector<double> s(static_cast<std::size_t>(c.keys));
  for (std::int64_t h = 0; h < c.q_heads; ++h) {
    const std::int64_t kv = h / (c.q_heads / c.kv_heads);
    for (std::int64_t t = 0; t < c.t_q; ++t) {
      const std::int64_t seen =
          c.causal ? std::clamp<std::int64_t>(c.keys - c.t_q + t + 1, 0, c.keys) : c.keys;
      double m = -std::numeric_limits<double>::infinity();
      for (std::int64_t j = 0; j < seen; ++j) {
        double dot = 0;
        for (std::int64_t x = 0; x < c.head_dim; ++x) {
          dot += double{row(in.q, h * c.t_q + t)[x]} * double{row(in.k, kv * c.keys + j)[x]};
        }
        dot *= scale;
        if (c.softcap > 0) {
          dot = c.softcap * std::tanh(dot / c.softcap);
        }
        s[static_cast<std::size_t>(j)] = dot;
        m = std::isnan(dot) || dot > m ? dot : m;
      }
      double l = 0;
      for (std::int64_t j = 0; j < seen; ++j) {
        s[static_cast<std::size_t>(j)] = std::exp(s[static_cast<std::size_t>(j)] - m);
        l += s[static_cast<std::size_t>(j)];
      }
      for (std::int64_t x = 0; x < c.head_dim; ++x) {
        double o = 0;
        for (std::int64_t j = 0; j < seen; ++j) {
          o += s[static_cast<std::size_t>(j)] * double{row(in.v, kv * c.keys + j)[x]};
        }
        out[static_cast<std::size_t>((h * c.t_q + t) * c.head_dim + x)] = seen == 0 ? 0 : o / l;
      }
    }
  }
  return out;
}

AttentionResult run_attention(const AttentionCase& c, const AttentionInputs& in) {
  return Driver(c, in).run();
}

std::string gate_failure(const std::vector<double>& o, const std::vector<double>& ref,
                         const Gate& gate) {
  double sum = 0;
  double error = 0;
  double ideal = 0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < ref.size(); ++i) {
    if (std::isnan(ref[i]) != std::isnan(o[i]) || std::isinf(ref[i]) != std::isinf(o[i])) {
      return "element " + std::to_string(i) + " is " + std::to_string(o[i]) + ", not " +
             std::to_string(ref[i]);
    }
    if (std::isfinite(ref[i])) {
      const double rounded = numerics::f16_to_f32(numerics::f32_to_f16(static_cast<float>(ref[i])));
      sum += ref[i] * ref[i];
      error += (o[i] - ref[i]) * (o[i] - ref[i]);
      ideal += (rounded - ref[i]) * (rounded - ref[i]);
      ++finite;
    }
  }
  const double rms = finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
  for (std::size_t i = 0; i < ref.size(); ++i) {
    const double allowed = gate.ulp * ulp16(ref[i]) + gate.rms * rms;
    if (std::isfinite(ref[i]) && std::abs(o[i] - ref[i]) > allowed) {
      return "element " + std::to_string(i) + " is " + std::to_string(o[i]) + ", not " +
             std::to_string(ref[i]) + ": off by " + std::to_string(o[i] - ref[i]) + ", allowed " +
             std::to_string(allowed);
    }
  }
  if (sum > 0 && error / sum > gate.nmse * ideal / sum + gate.rms * gate.rms) {
    return "nmse is " + std::to_string(error / sum);
  }
  return "";
}

AttentionResult expect_right(const AttentionCase& c, const AttentionInputs& in, const Gate& gate) {
  SCOPED_TRACE(describe(c));
  AttentionResult result;
  try {
    result = run_attention(c, in);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
    return result;
  }
  const std::vector<double> ref = reference(c, in);
  for (std::size_t r = 0; r < result.replicas.size(); ++r) {
    EXPECT_EQ(gate_failure(result.replicas[r], ref, gate), "") << "replica " << r;
  }
  return result;
}

AttentionResult expect_right(const AttentionCase& c, const Gate& gate) {
  return expect_right(c, normal_inputs(c), gate);
}

std::string describe(const AttentionCase& c) {
  std::ostringstream s;
  s << c.kernel << " ranks " << c.ranks << " over " << to_string(c.axis) << ", heads " << c.q_heads
    << "/" << c.kv_heads << ", d " << c.head_dim << ", keys " << c.keys << ", t_q " << c.t_q
    << (c.causal ? ", causal" : "") << ", exchange " << to_string(c.exchange) << ", pack " << c.pack
    << ", composite " << c.composite << ", overlap " << c.overlap << ", tile_keys " << c.tile_keys
    << ", sharding " << static_cast<int>(c.sharding) << ", slices " << c.slices << ", scratchpad "
    << c.scratchpad_bytes << ", channel " << c.channel_bytes;
  return s.str();
}

}  // namespace cubevp::test
