// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "firmware/tl/kernel.h"
#include "firmware/tl/tensor.h"

namespace cubevp::tl {

/// What a kernel can do. A kernel sees this interface and nothing of the machine. Operations are
/// commands: they are written to the PE's command queue and run asynchronously; the scoreboard
/// keeps their order where they touch the same bytes, so results may be used at once. Every
/// misuse (shapes that do not fit, a handle used after its scope, a full scratchpad, a send where
/// no neighbour is configured) faults the PE with a message that names op, shapes and bytes.
///
/// Operations that return a tensor allocate it in the scratchpad's current scope; those with a
/// `dst` first write into a tensor that exists. f32 is the type of results unless said otherwise.
class Context {
 public:
  virtual ~Context() = default;

  // --- where am I -------------------------------------------------------------------------
  /// axis 0: PE in its cube; axis 1: place of the cube in its chain or ring (RING_RANK).
  virtual std::int64_t program_id(int axis) const = 0;
  /// axis 0: PEs of a cube; axis 1: cubes of the chain or ring (RING_SIZE).
  virtual std::int64_t num_programs(int axis) const = 0;
  /// PE clock cycles since reset.
  virtual std::uint64_t cycles() const = 0;
  virtual std::int64_t scratchpad_free_bytes() const = 0;
  /// Faults the kernel with this text unless `RING_SIZE == size` and TOPO_CTRL is an enabled ring
  /// (cube axis), or PE_RING_SIZE == size (pe axis); the message names the register.
  virtual void require_ring(RankAxis axis, std::int64_t size) = 0;

  // --- memory -----------------------------------------------------------------------------
  /// Names memory in HBM; no command. row_stride_bytes 0: contiguous.
  virtual Tensor hbm(std::uint64_t address, Shape shape, DType dtype,
                     std::uint64_t row_stride_bytes = 0) = 0;
  /// Uninitialised tensor in the scratchpad.
  virtual Tensor empty(Shape shape, DType dtype) = 0;
  virtual Tensor full(Shape shape, float value, DType dtype) = 0;
  Tensor zeros(Shape shape, DType dtype) { return full(shape, 0.0F, dtype); }
  virtual void fill(const Tensor& dst, float value) = 0;
  /// HBM -> scratchpad.
  virtual void load_to(const Tensor& dst, const Tensor& hbm) = 0;
  Tensor load(const Tensor& source) {
    Tensor dst = empty(source.shape, source.dtype);
    load_to(dst, source);
    return dst;
  }
  Tensor load(std::uint64_t address, Shape shape, DType dtype) {
    return load(hbm(address, shape, dtype));
  }
  /// Scratchpad -> HBM; same shape and type.
  virtual void store(const Tensor& hbm, const Tensor& src) = 0;
  void store(std::uint64_t address, const Tensor& src) {
    store(hbm(address, src.shape, src.dtype), src);
  }
  /// Scratchpad -> scratchpad, converting the type.
  virtual void copy_to(const Tensor& dst, const Tensor& src) = 0;

  // --- shape: no command ------------------------------------------------------------------
  /// The same bytes in another shape; contiguous tensors with equal element counts only.
  virtual Tensor view(const Tensor& t, Shape shape) = 0;
  /// The transposed operand of a dot; the bytes stay.
  virtual Tensor trans(const Tensor& t) = 0;
  /// Rows first .. first+n-1 of the tensor seen as rows x cols.
  virtual Tensor rows(const Tensor& t, std::int64_t first, std::int64_t n) = 0;
  /// The n elements from `first` of a contiguous tensor, in a new shape.
  virtual Tensor slice(const Tensor& t, std::int64_t first, Shape shape) = 0;

  // --- matrix -----------------------------------------------------------------------------
  /// dst = [dst +] epilogue(a x b): (M, K) x (K, N) -> (M, N), f32 accumulation.
  virtual void dot_to(const Tensor& dst, const Tensor& a, const Tensor& b, bool accumulate = false,
                      const Epilogue& epilogue = {}) = 0;
  Tensor dot(const Tensor& a, const Tensor& b, const Epilogue& epilogue = {}) {
    Tensor dst = empty({a.rows(), b.cols()}, DType::f32);
    dot_to(dst, a, b, false, epilogue);
    return dst;
  }
  /// As dot_to, with b in HBM: the PE streams it in tiles of `tile_rows` stored rows (0: as large
  /// as a quarter of the free scratchpad) with double buffering.
  virtual void composite_to(const Tensor& dst, const Tensor& a, const Tensor& b_hbm,
                            bool accumulate = false, const Epilogue& epilogue = {},
                            std::int64_t tile_rows = 0) = 0;
  Tensor composite(const Tensor& a, const Tensor& b_hbm, const Epilogue& epilogue = {},
                   std::int64_t tile_rows = 0) {
    Tensor dst = empty({a.rows(), b_hbm.cols()}, DType::f32);
    composite_to(dst, a, b_hbm, false, epilogue, tile_rows);
    return dst;
  }

  // --- elementwise and rows ---------------------------------------------------------------
  /// add, sub, mul, div, maximum; b has a's shape, or one value a row, or one value.
  virtual Tensor binary(VectorOp op, const Tensor& a, const Tensor& b) = 0;
  Tensor add(const Tensor& a, const Tensor& b) { return binary(VectorOp::add, a, b); }
  Tensor sub(const Tensor& a, const Tensor& b) { return binary(VectorOp::sub, a, b); }
  Tensor mul(const Tensor& a, const Tensor& b) { return binary(VectorOp::mul, a, b); }
  Tensor div(const Tensor& a, const Tensor& b) { return binary(VectorOp::div, a, b); }
  Tensor maximum(const Tensor& a, const Tensor& b) { return binary(VectorOp::maximum, a, b); }
  virtual Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b) = 0;
  virtual Tensor exp(const Tensor& a) = 0;
  /// Over the last dimension; the result is (rows, 1).
  virtual Tensor max(const Tensor& a) = 0;
  virtual Tensor sum(const Tensor& a) = 0;
  virtual Tensor softmax(const Tensor& a) = 0;
  virtual Tensor cast(const Tensor& a, DType dtype) = 0;

  // --- the steps of flash attention, fused in the vector unit -----------------------------
  /// See VectorOp::softmax_update. p (R, C), scores (R, C) f32, m, l, alpha (R, 1) f32.
  virtual void softmax_update(const Tensor& p, const Tensor& scores, const Tensor& m,
                              const Tensor& l, const Tensor& alpha) = 0;
  /// t *= one value a row, in place.
  virtual void scale_rows(const Tensor& t, const Tensor& by_row) = 0;
  /// See VectorOp::merge_mlo. m, l, m2, l2 (R, 1), o, o2 (R, d).
  virtual void merge_mlo(const Tensor& m, const Tensor& l, const Tensor& o, const Tensor& m2,
                         const Tensor& l2, const Tensor& o2) = 0;
  /// o / l by row in the given type; rows with l = 0 give 0.
  virtual Tensor normalize(const Tensor& o, const Tensor& l, DType dtype) = 0;

  // --- messages ---------------------------------------------------------------------------
  /// To the logical neighbour; a contiguous tensor is one message. The buffer is free again when
  /// the scoreboard says so. may_be_neg_inf: see MessageParams.
  virtual void send(RankAxis axis, Direction to, const Tensor& src,
                    std::uint32_t may_be_neg_inf = 0) = 0;
  /// Receives into dst; readers of dst wait for it by the scoreboard.
  virtual void recv_to(RankAxis axis, Direction from, const Tensor& dst) = 0;
  Tensor recv(RankAxis axis, Direction from, Shape shape, DType dtype) {
    Tensor dst = empty(shape, dtype);
    recv_to(axis, from, dst);
    return dst;
  }
  /// Receives into dst behind the kernel's back: dst must not be read before wait(), which is
  /// what the returned handle is for; reading earlier gives stale bytes.
  virtual Tensor recv_async(RankAxis axis, Direction from, const Tensor& dst) = 0;
  /// True when the neighbour is configured.
  virtual bool has_neighbour(RankAxis axis, Direction d) = 0;

  // --- order ------------------------------------------------------------------------------
  virtual void wait(const Tensor& pending) = 0;
  /// Until every command of this PE is complete.
  virtual void fence() = 0;
  /// fence(), then until every started PE of the cube is here too.
  virtual void barrier() = 0;

  // --- scratchpad scopes ------------------------------------------------------------------
  virtual void open_scope() = 0;
  virtual void close_scope() = 0;

  // --- telling ----------------------------------------------------------------------------
  /// Names the kernel's phase in the trace; a string literal.
  virtual void phase(const char* name) = 0;
  /// Adds to a counter of the result: "tiles", "tiles_skipped", "ring_steps", or one of your own.
  virtual void count(const char* counter, std::uint64_t n = 1) = 0;
};

/// Frees at its end what was allocated since its start. Commands that still use those bytes
/// finish first: the scoreboard orders them before whatever is allocated there next.
class ScratchScope {
 public:
  explicit ScratchScope(Context& context) : context_(context) { context_.open_scope(); }
  ~ScratchScope() { context_.close_scope(); }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Context& context_;
};

}  // namespace cubevp::tl
