// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "firmware/tl/kernel.h"
#include "firmware/tl/tensor.h"

namespace cubevp::tl {
namespace {

TEST(Shape, LastDimensionIsColumnsTheOthersRows) {
  const Shape s{2, 3, 4, 5};
  EXPECT_EQ(s.rows(), 24);
  EXPECT_EQ(s.cols(), 5);
  EXPECT_EQ(s.elements(), 120);
  EXPECT_EQ(s.to_string(), "(2, 3, 4, 5)");
}

TEST(Shape, OneDimensionIsRowsOfOneValue) {
  const Shape s{7};
  EXPECT_EQ(s.rows(), 7);
  EXPECT_EQ(s.cols(), 1);
  EXPECT_EQ(s.elements(), 7);
}

TEST(Shape, MayBeEmpty) {
  EXPECT_EQ((Shape{0, 128}).elements(), 0);
  EXPECT_EQ(Shape().elements(), 0);
}

TEST(Shape, RejectsTooManyNoneAndNegativeDimensions) {
  EXPECT_THROW((Shape{1, 2, 3, 4, 5}), KernelFault);
  EXPECT_THROW(Shape(std::initializer_list<std::int64_t>{}), KernelFault);
  EXPECT_THROW((Shape{4, -1}), KernelFault);
  EXPECT_THROW((Shape{1LL << 40, 0, 1LL << 40}), KernelFault);
}

TEST(Shape, ComparesByRankAndDimensions) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{6}), (Shape{6, 1}));
}

}  // namespace
}  // namespace cubevp::tl
