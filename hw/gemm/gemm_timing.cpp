// SPDX-License-Identifier: Apache-2.0
#include "hw/gemm/gemm_timing.h"

namespace cubevp::hw {

namespace {

GemmCycles systolic(std::int64_t folds, std::int64_t fill, std::int64_t stream, bool overlap) {
  if (overlap) {
    return {folds * stream, fill};
  }
  return {folds * (fill + stream), 0};
}

}  // namespace

GemmCycles gemm_cycles(const GemmConfig& config, const GemmShape& shape) {
  if (shape.empty()) {
    return {};
  }
  const std::int64_t rows = config.rows;
  const std::int64_t cols = config.cols;
  switch (config.dataflow) {
    case Dataflow::block:
      return {ceil_div(shape.m, rows) * ceil_div(shape.n, cols) * ceil_div(shape.k, config.depth),
              config.fill_cycles};
    case Dataflow::output_stationary:
      return systolic(ceil_div(shape.m, rows) * ceil_div(shape.n, cols), rows + cols - 2, shape.k,
                      config.overlap_fill);
    case Dataflow::weight_stationary:
      return systolic(ceil_div(shape.k, rows) * ceil_div(shape.n, cols), 2 * rows + cols - 2,
                      shape.m, config.overlap_fill);
  }
  return {};
}

}  // namespace cubevp::hw
