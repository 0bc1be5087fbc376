// SPDX-License-Identifier: Apache-2.0
// Host speed of the arithmetic: GEMM shapes of prefill and decode, conversions, exp, softmax.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "hw/base/dtype.h"
#include "hw/numerics/convert.h"
#include "hw/numerics/gemm.h"
#include "hw/numerics/vector_ops.h"

namespace {

using cubevp::DType;
using cubevp::Epilogue;
using cubevp::size_bytes;
using cubevp::VectorOp;
using cubevp::numerics::MatrixView;

class Matrix {
 public:
  Matrix(std::uint32_t rows, std::uint32_t cols, DType type)
      : bytes_(std::size_t{rows} * cols * size_bytes(type)), rows_(rows), cols_(cols), type_(type) {
    std::vector<float> values(std::size_t{rows} * cols);
    std::uint32_t state = 12345;
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 8) * 0x1p-24F - 0.5F;
    }
    cubevp::numerics::from_f32(values.data(), values.size(), type, bytes_.data());
  }
  MatrixView view(bool transposed = false) {
    return {bytes_.data(), rows_,     cols_, static_cast<std::uint32_t>(cols_ * size_bytes(type_)),
            type_,         transposed};
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint32_t rows_;
  std::uint32_t cols_;
  DType type_;
};

void run_gemm(benchmark::State& state, DType type, bool transposed) {
  const auto m = static_cast<std::uint32_t>(state.range(0));
  const auto n = static_cast<std::uint32_t>(state.range(1));
  const auto k = static_cast<std::uint32_t>(state.range(2));
  Matrix a(m, k, type);
  Matrix b(transposed ? n : k, transposed ? k : n, type);
  Matrix c(m, n, DType::f32);
  for (auto _ : state) {
    cubevp::numerics::gemm(c.view(), a.view(), b.view(transposed), false, Epilogue{}, true);
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * m * n * k, benchmark::Counter::kIsIterationInvariantRate);
}
void gemm_f16(benchmark::State& state) {
  run_gemm(state, DType::f16, false);
}
void gemm_f16_transposed(benchmark::State& state) {
  run_gemm(state, DType::f16, true);
}
void gemm_f32(benchmark::State& state) {
  run_gemm(state, DType::f32, false);
}
void gemm_f32_transposed(benchmark::State& state) {
  run_gemm(state, DType::f32, true);
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t m : {1, 4, 8, 16, 64, 128}) {
    bench->Args({m, 512, 128});
  }
  bench->Args({8, 128, 512});
  bench->Args({64, 128, 512});
  bench->Args({64, 4096, 128});
  bench->Args({64, 128, 4096});
}
BENCHMARK(gemm_f16)->Apply(shapes);
BENCHMARK(gemm_f16_transposed)->Apply(shapes);
BENCHMARK(gemm_f32)->Apply(shapes);
BENCHMARK(gemm_f32_transposed)->Apply(shapes);

void conversion(benchmark::State& state, DType type, bool narrow) {
  constexpr std::size_t kCount = 16384;
  std::vector<float> values(kCount, 1.25F);
  std::vector<std::uint16_t> halves(kCount);
  cubevp::numerics::from_f32(values.data(), kCount, type, halves.data());
  for (auto _ : state) {
    if (narrow) {
      cubevp::numerics::from_f32(values.data(), kCount, type, halves.data());
    } else {
      cubevp::numerics::to_f32(halves.data(), type, kCount, values.data());
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kCount * 6));
}
BENCHMARK_CAPTURE(conversion, f16_to_f32, DType::f16, false);
BENCHMARK_CAPTURE(conversion, f32_to_f16, DType::f16, true);
BENCHMARK_CAPTURE(conversion, bf16_to_f32, DType::bf16, false);
BENCHMARK_CAPTURE(conversion, f32_to_bf16, DType::bf16, true);

void exp(benchmark::State& state) {
  Matrix a(64, 512, DType::f32);
  Matrix out(64, 512, DType::f32);
  for (auto _ : state) {
    cubevp::numerics::vector_op(VectorOp::exp, 0.0F, {out.view(), a.view()});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 64 * 512);
}
BENCHMARK(exp);

void softmax_update(benchmark::State& state) {
  const auto rows = static_cast<std::uint32_t>(state.range(0));
  Matrix p(rows, 512, DType::f16);
  Matrix s(rows, 512, DType::f32);
  Matrix m(rows, 1, DType::f32);
  Matrix l(rows, 1, DType::f32);
  Matrix alpha(rows, 1, DType::f32);
  for (auto _ : state) {
    cubevp::numerics::vector_op(VectorOp::softmax_update, 0.0F,
                                {p.view(), s.view(), m.view(), l.view(), alpha.view()});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rows * 512);
}
BENCHMARK(softmax_update)->Arg(8)->Arg(64);

}  // namespace
