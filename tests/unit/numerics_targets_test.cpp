// SPDX-License-Identifier: Apache-2.0
// Every SIMD target that this machine supports must give the same bits.
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "hw/numerics/convert.h"
#include "hw/numerics/gemm.h"
#include "hw/numerics/vector_ops.h"
#include "tests/unit/numerics_test_matrix.h"

namespace cubevp::numerics {
namespace {

using test::Matrix;

constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::f32};

/// Collects the bytes of named results.
class Results {
 public:
  void add(const std::string& name, const std::vector<std::uint8_t>& bytes) {
    names_.push_back(name);
    bytes_.push_back(bytes);
  }
  void expect_equal(const Results& other, const std::string& target) const {
    ASSERT_EQ(names_, other.names_);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      EXPECT_EQ(bytes_[i] == other.bytes_[i], true) << names_[i] << " differs on " << target;
    }
  }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::uint8_t>> bytes_;
};

/// Any bit patterns: infinities, NaN, subnormals among them.
Matrix any_bits(std::uint32_t rows, std::uint32_t cols, DType type, std::uint32_t seed) {
  std::mt19937 random(seed);
  Matrix matrix(rows, cols, type, 6);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < cols * size_bytes(type); ++i) {
      matrix.view().row(r)[i] = static_cast<std::uint8_t>(random());
    }
  }
  return matrix;
}

void run_conversions(Results& results) {
  std::vector<std::uint8_t> halves(2 * 65536);
  for (std::size_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    std::memcpy(halves.data() + 2 * i, &bits, 2);
  }
  Matrix source = any_bits(1, 65539, DType::f32, 5);
  for (const DType type : {DType::f16, DType::bf16}) {
    std::vector<std::uint8_t> wide(4 * 65535);
    to_f32(halves.data() + 2, type, 65535, reinterpret_cast<float*>(wide.data()));
    results.add("to_f32 " + std::string(to_string(type)), wide);
    std::vector<std::uint8_t> narrow(2 * 65539);
    from_f32(reinterpret_cast<const float*>(source.view().row(0)), 65539, type, narrow.data());
    results.add("from_f32 " + std::string(to_string(type)), narrow);
  }
}

void run_gemm(Results& results) {
  for (const DType a_type : kTypes) {
    for (const DType b_type : kTypes) {
      for (const bool transposed : {false, true}) {
        for (const std::uint32_t rows : {1U, 3U, 8U, 15U}) {
          Matrix a(rows, 133, a_type);
          Matrix b(transposed ? 71 : 133, transposed ? 133 : 71, b_type);
          // Tiny and huge values: products that underflow where the types allow it.
          a.randomize(1, rows == 3 ? 1e-25F : 1.0F);
          b.randomize(2, rows == 3 ? 1e-18F : 1.0F);
          Matrix c(rows, 71, DType::f32);
          c.randomize(3);
          Epilogue epilogue;
          epilogue.scale = 0.088388F;
          epilogue.softcap = rows == 8 ? 20.0F : 0.0F;
          const std::string name = "gemm " + std::string(to_string(a_type)) + " " +
                                   std::string(to_string(b_type)) + " " + std::to_string(rows);
          gemm(c.view(), a.view(), b.view(transposed), rows == 1, epilogue);
          results.add(name, c.bytes());
          Matrix wild_a = any_bits(rows, 133, a_type, 10 + rows);
          Matrix wild_b = any_bits(b.rows(), b.cols(), b_type, 11);
          gemm(c.view(), wild_a.view(), wild_b.view(transposed), false, epilogue, true);
          results.add(name + " any bits", c.bytes());
        }
      }
    }
  }
}

void run_vector_ops(Results& results) {
  for (const DType type : kTypes) {
    for (const std::uint32_t cols : {1U, 3U, 16U, 45U, 1061U}) {
      for (const bool wild : {false, true}) {
        Matrix a = wild ? any_bits(9, cols, type, 1) : Matrix(9, cols, type).randomize(1, 9.0F);
        Matrix b = wild ? any_bits(9, cols, type, 2) : Matrix(9, cols, type).randomize(2, 9.0F);
        Matrix dst(9, cols, DType::f32);
        const auto run = [&](VectorOp op, std::initializer_list<MatrixView> operands,
                             const Matrix& out) {
          vector_op(op, 1.0F / 3.0F, operands);
          results.add(std::string(to_string(op)) + " " + std::string(to_string(type)) + " " +
                          std::to_string(cols) + (wild ? " any bits" : ""),
                      out.bytes());
        };
        for (const VectorOp op :
             {VectorOp::add, VectorOp::sub, VectorOp::mul, VectorOp::div, VectorOp::maximum}) {
          run(op, {dst.view(), a.view(), b.view()}, dst);
        }
        for (const VectorOp op : {VectorOp::exp, VectorOp::softmax, VectorOp::cast}) {
          run(op, {dst.view(), a.view()}, dst);
        }
        run(VectorOp::where, {dst.view(), a.view(), b.view(), a.view()}, dst);
        run(VectorOp::fill, {a.view()}, a);
        Matrix m(9, 1, DType::f32);
        Matrix l(9, 1, DType::f32);
        Matrix alpha(9, 1, DType::f32);
        Matrix m2(9, 1, DType::f32);
        Matrix l2(9, 1, DType::f32);
        run(VectorOp::row_max, {m2.view(), b.view()}, m2);
        run(VectorOp::row_sum, {l2.view(), b.view()}, l2);
        m.fill(-std::numeric_limits<float>::infinity());
        run(VectorOp::softmax_update, {dst.view(), b.view(), m.view(), l.view(), alpha.view()},
            dst);
        results.add("state", l.bytes());
        run(VectorOp::merge_mlo, {m.view(), l.view(), dst.view(), m2.view(), l2.view(), b.view()},
            dst);
        run(VectorOp::normalize, {a.view(), dst.view(), l.view()}, a);
      }
    }
  }
}

TEST(SimdTargets, AllGiveTheSameBits) {
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  Results first;
  std::string first_name;
  int targets = 0;
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((supported & target) == 0) {
      continue;
    }
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    Results results;
    run_conversions(results);
    run_gemm(results);
    run_vector_ops(results);
    EXPECT_GT(results.size(), 500U);
    if (targets++ == 0) {
      first = results;
      first_name = hwy::TargetName(target);
    } else {
      results.expect_equal(first, std::string(hwy::TargetName(target)) + " from " + first_name);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  RecordProperty("targets", targets);
  EXPECT_GE(targets, 1);
}

}  // namespace
}  // namespace cubevp::numerics
