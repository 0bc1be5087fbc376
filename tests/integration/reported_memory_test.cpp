// SPDX-License-Identifier: Apache-2.0
// What lies in memory before a kernel starts must not reach its result: a machine whose memory is
// full of NaN, and one that another kernel has used.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firmware/kernels/kernels.h"
#include "platform/check/gates.h"
#include "platform/check/inputs.h"
#include "platform/check/reference.h"
#include "platform/config/load.h"
#include "platform/host/machine.h"
#include "tests/golden/golden_cases.h"

namespace cubevp::test {
namespace {

using namespace cubevp::platform;

const tl::KernelRegistry& registry() {
  static const tl::KernelRegistry registry = [] {
    tl::KernelRegistry r;
    kernels::register_kernels(r);
    return r;
  }();
  return registry;
}

/// SystemC builds one machine a process: all tests run on it.
Machine& machine() {
  static Machine* const machine = new Machine(load_hardware("tiny"), {}, registry());
  return *machine;
}

struct Outcome {
  std::vector<Tensor16> replicas;
  Ps kernel_ps = 0;
};

Outcome run(const WorkloadConfig& workload, const TensorInputs& inputs,
            const AttentionShape& shape) {
  RunConfig config;
  config.hardware = machine().system().config();
  config.workload = workload;
  config.workload.q_heads = shape.q_heads;
  config.workload.kv_heads = shape.kv_heads;
  config.workload.head_dim = shape.d;
  config.workload.context = shape.s_kv;
  config.workload.new_tokens = shape.t_q;
  const Placement placement = place(config, *registry().find(workload.kernel));
  const HostTensors tensors{inputs.tensor(TensorRole::q).bits.data(),
                            inputs.tensor(TensorRole::k).bits.data(),
                            inputs.tensor(TensorRole::v).bits.data()};
  const RunOutcome run = machine().run(placement, registry().number_of(workload.kernel), shape.d,
                                       tensors, RunControl{});
  EXPECT_EQ(run.reason, EndReason::finished);
  Outcome outcome;
  outcome.kernel_ps = run.kernel_ps;
  for (std::int64_t i = 0; i < placement.replicas; ++i) {
    Tensor16 o{DType::f16, tensor_shape(TensorRole::q, shape), {}};
    o.bits.resize(static_cast<std::size_t>(element_count(o.shape)));
    machine().read_output(placement, shape.d, i, o.bits.data());
    outcome.replicas.push_back(std::move(o));
  }
  return outcome;
}

std::vector<WorkloadConfig> every_kernel() {
  std::vector<WorkloadConfig> all;
  for (const tl::KernelInfo& kernel : registry().all()) {
    for (const RankAxis axis : {RankAxis::pe, RankAxis::cube}) {
      for (const GemmMode gemm : {GemmMode::dot, GemmMode::composite}) {
        for (const Overlap overlap : {Overlap::none, Overlap::async}) {
          WorkloadConfig w;
          w.kernel = kernel.name;
          w.ranks = 4;
          w.rank_axis = axis;
          w.gemm = gemm;
          w.overlap = overlap;
          w.tile_keys = 8;  // the shards of 37 keys end within a tile
          if (kernel.placement != tl::Placement::ring_kv || axis == RankAxis::cube) {
            all.push_back(w);
          }
        }
      }
    }
  }
  return all;
}

TEST(ReportedMemory, UnusedMemoryHasNoInfluence) {
  GoldenCase golden;
  for (const GoldenCase& c : golden_cases()) {
    if (c.name == "poisoned_memory") {
      golden = c;
    }
  }
  const LoadedInputs loaded = golden.inputs();
  for (WorkloadConfig w : every_kernel()) {
    SCOPED_TRACE(w.kernel);
    w.causal = false;
    machine().clear_memory(0);
    const Outcome zeros = run(w, loaded.inputs, golden.shape);
    machine().clear_memory(0xff);  // NaN in every type
    const Outcome poison = run(w, loaded.inputs, golden.shape);
    ASSERT_EQ(zeros.replicas.size(), poison.replicas.size());
    for (std::size_t i = 0; i < zeros.replicas.size(); ++i) {
      EXPECT_EQ(zeros.replicas[i].bits, poison.replicas[i].bits) << "replica " << i;
    }
    const CheckResult check = check_output(poison.replicas[0], golden.output(), golden.shape,
                                           all_rows(golden.shape), Gate::wire16);
    EXPECT_EQ(check.status, CheckStatus::pass) << check.message;
  }
}

TEST(ReportedMemory, WhatRanBeforeHasNoInfluence) {
  // Long, short and long again on one machine, whose first contents are of the other size.
  machine().clear_memory(0);
  for (const WorkloadConfig& w : every_kernel()) {
    SCOPED_TRACE(w.kernel);
    std::vector<Outcome> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::size_t i = 0;
      for (const std::int64_t keys : {64, 5, 203}) {
        const AttentionShape shape{1, 4, 2, 5, keys, 64};
        const GeneratedInputs generated("normal", 3, shape, DType::f16);
        const TensorInputs inputs(generated.tensor(TensorRole::q), generated.tensor(TensorRole::k),
                                  generated.tensor(TensorRole::v));
        const Outcome outcome = run(w, inputs, shape);
        AttentionOptions options;
        options.causal = true;
        const CheckResult check = check_output(
            outcome.replicas[0], reference_attention(inputs, shape, options), shape, Gate::wire16);
        EXPECT_EQ(check.status, CheckStatus::pass) << keys << " keys: " << check.message;
        if (repeat == 0) {
          first.push_back(outcome);
        } else {
          EXPECT_EQ(outcome.replicas[0].bits, first[i].replicas[0].bits) << keys << " keys";
        }
        ++i;
      }
    }
  }
}

}  // namespace
}  // namespace cubevp::test
