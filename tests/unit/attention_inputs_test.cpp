// SPDX-License-Identifier: Apache-2.0
// Inputs that tell right kernels from nearly right ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/attention_fixture.h"

namespace cubevp::test {
namespace {

class Inputs : public testing::TestWithParam<std::string> {
 protected:
  AttentionCase base() const {
    AttentionCase c;
    c.kernel = GetParam();
    c.ranks = 3;
    c.t_q = 5;
    if (c.kernel == "gqa_prefill_ring") {
      c.axis = RankAxis::cube;
    }
    return c;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Inputs,
                         testing::Values("attention_mesh_mlo", "attention_ring_mlo",
                                         "gqa_prefill_ring"));

TEST_P(Inputs, ZerosGiveTheMeanOfV) {
  AttentionInputs in = normal_inputs(base());
  std::fill(in.q.begin(), in.q.end(), 0.0F);
  expect_right(base(), in, kWire16);
  std::fill(in.v.begin(), in.v.end(), 0.0F);
  expect_right(base(), in, kWire16);
}

TEST_P(Inputs, OneKeyDominates) {
  const AttentionCase c = base();
  AttentionInputs in = normal_inputs(c);
  std::fill(in.k.begin(), in.k.end(), 0.0F);
  for (std::int64_t j = 0; j < c.keys; ++j) {
    in.k[static_cast<std::size_t>(j * c.head_dim + j % c.head_dim)] = 32.0F;
  }
  expect_right(c, in, kWire16);
}

TEST_P(Inputs, ScoresBeyondF16) {
  AttentionInputs in = normal_inputs(base());
  std::fill(in.q.begin(), in.q.end(), 256.0F);
  std::fill(in.k.begin(), in.k.end(), 64.0F);
  expect_right(base(), in, kWire16);
  std::fill(in.k.begin(), in.k.end(), -64.0F);  // far below any finite sentinel
  expect_right(base(), in, kWire16);
}

TEST_P(Inputs, ScoresOfEveryMagnitude) {
  for (const double scale : {0.01, 1.0, 4.0}) {
    expect_right(base(), normal_inputs(base(), scale), kWire16);
  }
}

TEST_P(Inputs, Softcap) {
  AttentionCase c = base();
  c.softcap = 2.0;
  expect_right(c, normal_inputs(c, 3.0), kWire16);
}

TEST_P(Inputs, MaskedPositionsHaveNoInfluence) {
  AttentionCase c = base();
  AttentionInputs in = normal_inputs(c);
  // The last key of all is seen by the last query only.
  const std::size_t last = static_cast<std::size_t>((c.keys - 1) * c.head_dim);
  for (std::size_t x = 0; x < static_cast<std::size_t>(c.head_dim); ++x) {
    in.k[last + x] = std::numeric_limits<float>::quiet_NaN();
    in.v[last + x] = std::numeric_limits<float>::quiet_NaN();
  }
  expect_right(c, in, kWire16);
}

TEST_P(Inputs, NanInAQueryStaysInItsRow) {
  AttentionCase c = base();
  AttentionInputs in = normal_inputs(c);
  in.q[2 * static_cast<std::size_t>(c.head_dim)] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<double> ref = reference(c, in);
  ASSERT_TRUE(std::isnan(ref[2 * static_cast<std::size_t>(c.head_dim)]));
  expect_right(c, in, kWire16);
}

}  // namespace
}  // namespace cubevp::test
