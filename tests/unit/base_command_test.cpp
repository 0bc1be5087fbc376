// SPDX-License-Identifier: Apache-2.0
#include "hw/base/command.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "hw/base/arena.h"
#include "hw/base/command_check.h"

namespace cubevp {
namespace {

Operand operand(std::uint32_t rows, std::uint32_t cols, DType dtype, std::uint32_t stride,
                std::uint64_t address = 0) {
  Operand o;
  o.address = address;
  o.rows = rows;
  o.cols = cols;
  o.dtype = dtype;
  o.row_stride_bytes = stride;
  return o;
}

TEST(DTypes, SizesAndNames) {
  EXPECT_EQ(size_bytes(DType::f16), 2U);
  EXPECT_EQ(size_bytes(DType::bf16), 2U);
  EXPECT_EQ(size_bytes(DType::f32), 4U);
  EXPECT_EQ(to_string(DType::f16), "f16");
  EXPECT_EQ(to_string(DType::bf16), "bf16");
  EXPECT_EQ(to_string(DType::f32), "f32");
}

TEST(Operands, ElementsBytesAndSpan) {
  const Operand dense = operand(8, 128, DType::f16, 256);
  EXPECT_EQ(dense.elements(), 1024U);
  EXPECT_EQ(dense.bytes(), 2048U);
  EXPECT_EQ(dense.span_bytes(), 2048U);
  EXPECT_TRUE(dense.contiguous());
  const Operand strided = operand(8, 128, DType::f32, 1024);
  EXPECT_EQ(strided.bytes(), 4096U);
  EXPECT_EQ(strided.span_bytes(), 7U * 1024 + 512);
  EXPECT_FALSE(strided.contiguous());
  const Operand column = operand(8, 1, DType::f32, 4);
  EXPECT_EQ(column.span_bytes(), 32U);
  EXPECT_TRUE(column.contiguous());
}

TEST(Operands, EmptyAndLargeOnesDoNotOverflow) {
  EXPECT_EQ(operand(0, 128, DType::f16, 256).span_bytes(), 0U);
  EXPECT_EQ(operand(0, 128, DType::f16, 256).bytes(), 0U);
  const Operand large = operand(1U << 20, 1U << 14, DType::f32, 1U << 16);
  EXPECT_EQ(large.elements(), std::uint64_t{1} << 34);
  EXPECT_EQ(large.bytes(), std::uint64_t{1} << 36);
  EXPECT_EQ(large.span_bytes(), std::uint64_t{1} << 36);
}

TEST(CommandNames, EveryOpcodeAndOperationHasItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i < kOpcodes; ++i) {
    EXPECT_TRUE(names.insert(std::string(to_string(static_cast<Opcode>(i)))).second) << i;
  }
  for (int i = 0; i < kVectorOps; ++i) {
    EXPECT_TRUE(names.insert(std::string(to_string(static_cast<VectorOp>(i)))).second) << i;
  }
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(to_string(Opcode::dma_load), "load");
  EXPECT_EQ(to_string(Opcode::dma_store), "store");
  EXPECT_EQ(to_string(Opcode::composite), "composite");
  EXPECT_EQ(to_string(VectorOp::fill), "fill");
  EXPECT_EQ(to_string(VectorOp::where), "where");
  EXPECT_EQ(to_string(VectorOp::row_max), "row_max");
  EXPECT_EQ(to_string(VectorOp::normalize), "normalize");
}

// --- masks ----------------------------------------------------------------------------------

TEST(Masks, WithoutCausalityEverythingIsSeen) {
  const Mask mask;
  EXPECT_TRUE(mask.sees(0, 1000000));
}

TEST(Masks, AllPairsAgreeWithTheDefinition) {
  // Two heads of five queries against nine keys: query t sees keys up to t + (9 - 5).
  Mask mask;
  mask.causal = true;
  mask.rows_per_head = 5;
  mask.offset = 4;
  for (const std::int64_t first_row : {0, 3, 7}) {
    for (const std::int64_t first_key : {0, 1, 6}) {
      for (const std::int64_t stride : {1, 2, 4}) {
        mask.first_row = first_row;
        mask.first_key = first_key;
        mask.key_stride = stride;
        for (std::int64_t row = 0; row < 10; ++row) {
          std::int64_t t = first_row + row;
          while (t >= 5) {
            t -= 5;
          }
          for (std::int64_t column = 0; column < 9; ++column) {
            const std::int64_t key = first_key + stride * column;
            ASSERT_EQ(mask.sees(row, column), key <= t + 4);
          }
        }
      }
    }
  }
}

// --- operands that cannot be ----------------------------------------------------------------

TEST(OperandErrors, DescribesABlock) {
  EXPECT_EQ(describe(operand(8, 128, DType::f16, 256, 0x1000)), "8x128 f16 at scratchpad 0x1000");
  Operand far = operand(1, 1, DType::f32, 4, 0x0123'0000'00ab);
  far.space = Space::hbm;
  EXPECT_EQ(describe(far), "1x1 f32 at hbm 0x123000000ab");
  EXPECT_EQ(describe(operand(1, 1, DType::bf16, 2)), "1x1 bf16 at scratchpad 0x0");
}

Command command_of(std::initializer_list<Operand> operands) {
  Command c;
  c.opcode = Opcode::vector;
  c.vector_op = VectorOp::add;
  for (const Operand& o : operands) {
    c.operands[c.operand_count++] = o;
  }
  return c;
}

TEST(OperandErrors, TheirNumberMustBeTheOperations) {
  const Operand o = operand(1, 1, DType::f32, 4);
  EXPECT_EQ(operand_error(command_of({o, o, o}), 3, 4096), "");
  EXPECT_EQ(operand_error(command_of({o, o}), 3, 4096), "add: expected 3 operands, got 2");
  Command gemm = command_of({o});
  gemm.opcode = Opcode::gemm;
  EXPECT_EQ(operand_error(gemm, 3, 4096), "gemm: expected 3 operands, got 1");
}

TEST(OperandErrors, RowsMayNotOverlap) {
  EXPECT_EQ(operand_error(command_of({operand(2, 8, DType::f32, 32)}), 1, 4096), "");
  EXPECT_EQ(operand_error(command_of({operand(2, 8, DType::f32, 31)}), 1, 4096),
            "add: operand 0 (2x8 f32 at scratchpad 0x0) has rows closer together than they are "
            "long");
  // One row has no distance to the next.
  EXPECT_EQ(operand_error(command_of({operand(1, 8, DType::f32, 0)}), 1, 4096), "");
}

TEST(OperandErrors, ScratchpadBlocksEndWithTheScratchpad) {
  EXPECT_EQ(operand_error(command_of({operand(4, 8, DType::f16, 16, 4032)}), 1, 4096), "");
  EXPECT_EQ(operand_error(command_of({operand(4, 8, DType::f16, 16, 4034)}), 1, 4096),
            "add: operand 0 (4x8 f16 at scratchpad 0xfc2) reaches beyond the scratchpad's 4096 "
            "bytes");
  EXPECT_NE(operand_error(command_of({operand(1, 1, DType::f16, 2, 4097)}), 1, 4096), "");
  EXPECT_NE(operand_error(command_of({operand(1, 1, DType::f16, 2, ~std::uint64_t{0})}), 1, 4096),
            "");
  Operand hbm = operand(1, 1, DType::f16, 2, std::uint64_t{1} << 40);
  hbm.space = Space::hbm;
  EXPECT_EQ(operand_error(command_of({hbm}), 1, 4096), "");
}

// --- arena ----------------------------------------------------------------------------------

TEST(Arenas, BlocksAreAlignedAndScopesFreeThem) {
  Arena arena(1024);
  EXPECT_EQ(arena.allocate(1), 0U);
  EXPECT_EQ(arena.allocate(100), 64U);
  EXPECT_EQ(arena.used_bytes(), 164U);
  EXPECT_EQ(arena.free_bytes(), 860U);
  arena.open_scope();
  EXPECT_EQ(arena.depth(), 1);
  EXPECT_EQ(arena.allocate(64), 192U);
  arena.open_scope();
  EXPECT_EQ(arena.allocate(512), 256U);
  EXPECT_EQ(arena.peak_bytes(), 768U);
  arena.close_scope();
  EXPECT_EQ(arena.used_bytes(), 256U);
  EXPECT_EQ(arena.allocate(8), 256U);
  arena.close_scope();
  EXPECT_EQ(arena.used_bytes(), 164U);
  EXPECT_EQ(arena.depth(), 0);
  EXPECT_EQ(arena.peak_bytes(), 768U);
}

TEST(Arenas, WhatDoesNotFitIsRefusedAndChangesNothing) {
  Arena arena(1024);
  EXPECT_EQ(arena.allocate(1025), std::nullopt);
  EXPECT_EQ(arena.allocate(~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(arena.allocate(961), 0U);
  EXPECT_EQ(arena.allocate(1), std::nullopt);  // the next aligned byte is 1024
  EXPECT_EQ(arena.used_bytes(), 961U);
  Arena full(1024);
  EXPECT_EQ(full.allocate(1024), 0U);
  EXPECT_EQ(full.free_bytes(), 0U);
}

}  // namespace
}  // namespace cubevp
