// SPDX-License-Identifier: Apache-2.0
// The operations of KernelContext that become commands.
#include <algorithm>
#include <utility>

#include "firmware/runtime/kernel_context.h"

namespace cubevp::runtime {

using tl::KernelFault;

namespace {

std::string describe(const tl::Tensor& t) {
  return t.shape.to_string() + " " + std::string(to_string(t.dtype));
}

std::string message_op(const char* op, RankAxis axis, Direction d) {
  return std::string(op) + " " + std::string(to_string(d)) + " (" + std::string(to_string(axis)) +
         " axis)";
}

Command make_command(Opcode opcode, const char* label) {
  Command c;
  c.opcode = opcode;
  c.label = label;
  return c;
}

}  // namespace

// --- memory ---------------------------------------------------------------------------------

tl::Tensor KernelContext::full(Shape shape, float value, DType dtype) {
  const Tensor dst = allocate("full", shape, dtype);
  fill(dst, value);
  return dst;
}

void KernelContext::fill(const Tensor& dst, float value) {
  vector_command(VectorOp::fill, {{&dst, Use::write}}, value);
}

void KernelContext::load_to(const Tensor& dst, const Tensor& hbm) {
  check("load", dst, Space::scratchpad);
  check("load", hbm, Space::hbm);
  check_same_shape("load", dst, hbm);
  if (dst.dtype != hbm.dtype || dst.transposed || hbm.transposed) {
    throw KernelFault("load: " + describe(hbm) + " into " + describe(dst) +
                      ": a load neither converts nor transposes");
  }
  Command c = make_command(Opcode::dma_load, "load");
  attach(c, dst, Use::write);
  attach(c, hbm, Use::read);
  if (dst.shape.elements() != 0) {
    submit(c);
  }
}

void KernelContext::store(const Tensor& hbm, const Tensor& src) {
  check("store", hbm, Space::hbm);
  check("store", src, Space::scratchpad);
  check_same_shape("store", hbm, src);
  if (src.dtype != hbm.dtype || src.transposed || hbm.transposed) {
    throw KernelFault("store: " + describe(src) + " into " + describe(hbm) +
                      ": a store neither converts nor transposes");
  }
  Command c = make_command(Opcode::dma_store, "store");
  attach(c, hbm, Use::write);
  attach(c, src, Use::read);
  if (src.shape.elements() != 0) {
    submit(c);
  }
}

// --- matrix ---------------------------------------------------------------------------------

void KernelContext::check_dot(const char* op, const Tensor& dst, const Tensor& a,
                              const Tensor& b) const {
  const std::string shapes =
      std::string(op) + ": " + a.shape.to_string() + " x " + b.shape.to_string();
  if (a.cols() != b.rows()) {
    throw KernelFault(shapes + ": the inner dimensions " + std::to_string(a.cols()) + " and " +
                      std::to_string(b.rows()) + " differ");
  }
  if (a.cols() == 0) {
    throw KernelFault(shapes + ": the inner dimension is 0");
  }
  if (dst.rows() != a.rows() || dst.cols() != b.cols() || dst.transposed) {
    throw KernelFault(shapes + " does not give the destination " + dst.shape.to_string());
  }
}

void KernelContext::dot_to(const Tensor& dst, const Tensor& a, const Tensor& b, bool accumulate,
                           const Epilogue& epilogue) {
  check("dot", dst, Space::scratchpad);
  check("dot", a, Space::scratchpad);
  check("dot", b, Space::scratchpad);
  check_dot("dot", dst, a, b);
  Command c = make_command(Opcode::gemm, "dot");
  c.accumulate = accumulate;
  c.epilogue = epilogue;
  attach(c, dst, accumulate ? Use::update : Use::write);
  attach(c, a, Use::read);
  attach(c, b, Use::read);
  if (dst.shape.elements() != 0) {
    submit(c);
  }
}

void KernelContext::composite_to(const Tensor& dst, const Tensor& a, const Tensor& b_hbm,
                                 bool accumulate, const Epilogue& epilogue,
                                 std::int64_t tile_rows) {
  check("composite", dst, Space::scratchpad);
  check("composite", a, Space::scratchpad);
  check("composite", b_hbm, Space::hbm);
  check_dot("composite", dst, a, b_hbm);
  if (dst.shape.elements() == 0) {
    return;
  }
  if (tile_rows < 0) {
    throw KernelFault("composite: " + std::to_string(tile_rows) + " rows a tile");
  }
  const std::int64_t stored_rows = b_hbm.transposed ? b_hbm.cols() : b_hbm.rows();
  const std::int64_t row = (b_hbm.transposed ? b_hbm.rows() : b_hbm.cols()) *
                           static_cast<std::int64_t>(size_bytes(b_hbm.dtype));
  // Successive composites take turns at two staging places, so that the next one can stream while
  // the last tiles of this one compute: a tile is at most an eighth of what is free.
  if (tile_rows == 0) {
    tile_rows = std::max<std::int64_t>(1, scratchpad_free_bytes() / 8 / row);
  }
  tile_rows = std::min(tile_rows, stored_rows);
  open_scope();
  struct Close {
    KernelContext& context;
    ~Close() { context.close_scope(); }
  } close{*this};
  const Tensor lower = allocate("composite staging", {2 * tile_rows, row}, DType::f16);
  const std::int64_t upper_bytes = 2 * tile_rows * row;
  Command c = make_command(Opcode::composite, "composite");
  c.accumulate = accumulate;
  c.epilogue = epilogue;
  c.composite.tile_rows = static_cast<std::uint32_t>(tile_rows);
  c.composite.staging_address =
      lower.address + (composite_upper_half_ ? static_cast<std::uint64_t>(upper_bytes) : 0);
  composite_upper_half_ = !composite_upper_half_;
  attach(c, dst, accumulate ? Use::update : Use::write);
  attach(c, a, Use::read);
  attach(c, b_hbm, Use::read);
  submit(c);
}

// --- elementwise and rows -------------------------------------------------------------------

void KernelContext::vector_command(VectorOp op,
                                   std::initializer_list<std::pair<const Tensor*, Use>> operands,
                                   float scalar) {
  Command c = make_command(Opcode::vector, to_string(op).data());
  c.vector_op = op;
  c.scalar = scalar;
  bool empty = true;
  for (const auto& [tensor, use] : operands) {
    check(c.label, *tensor, Space::scratchpad);
    if (tensor->transposed) {
      throw KernelFault(std::string(c.label) + ": " + describe(*tensor) +
                        " is transposed, which only a dot can read");
    }
    attach(c, *tensor, use);
    empty = empty && (use == Use::read || tensor->shape.elements() == 0);
  }
  if (!empty) {
    submit(c);
  }
}

tl::Tensor KernelContext::unary(VectorOp op, const Tensor& a, Shape shape) {
  check(to_string(op).data(), a, Space::scratchpad);
  const Tensor dst = allocate(to_string(op).data(), shape, DType::f32);
  vector_command(op, {{&dst, Use::write}, {&a, Use::read}});
  return dst;
}

void KernelContext::copy_to(const Tensor& dst, const Tensor& src) {
  check_same_shape("copy_to", dst, src);
  vector_command(dst.dtype == src.dtype ? VectorOp::copy : VectorOp::cast,
                 {{&dst, Use::write}, {&src, Use::read}});
}

tl::Tensor KernelContext::binary(VectorOp op, const Tensor& a, const Tensor& b) {
  if (op != VectorOp::add && op != VectorOp::sub && op != VectorOp::mul && op != VectorOp::div &&
      op != VectorOp::maximum) {
    throw KernelFault("binary: " + std::string(to_string(op)) + " is not one of add, sub, mul, " +
                      "div, maximum");
  }
  const bool same = b.rows() == a.rows() && b.cols() == a.cols();
  const bool by_row = b.rows() == a.rows() && b.cols() == 1;
  const bool one = b.rows() == 1 && b.cols() == 1;
  if (!same && !by_row && !one) {
    throw KernelFault(std::string(to_string(op)) + ": shape " + b.shape.to_string() +
                      " does not broadcast to " + a.shape.to_string());
  }
  const Tensor dst = allocate(to_string(op).data(), a.shape, DType::f32);
  vector_command(op, {{&dst, Use::write}, {&a, Use::read}, {&b, Use::read}});
  return dst;
}

tl::Tensor KernelContext::where(const Tensor& cond, const Tensor& a, const Tensor& b) {
  check_same_shape("where", cond, a);
  check_same_shape("where", a, b);
  const Tensor dst = allocate("where", a.shape, DType::f32);
  vector_command(VectorOp::where,
                 {{&dst, Use::write}, {&cond, Use::read}, {&a, Use::read}, {&b, Use::read}});
  return dst;
}

tl::Tensor KernelContext::exp(const Tensor& a) {
  return unary(VectorOp::exp, a, a.shape);
}
tl::Tensor KernelContext::max(const Tensor& a) {
  return unary(VectorOp::row_max, a, {a.rows(), 1});
}
tl::Tensor KernelContext::sum(const Tensor& a) {
  return unary(VectorOp::row_sum, a, {a.rows(), 1});
}
tl::Tensor KernelContext::softmax(const Tensor& a) {
  return unary(VectorOp::softmax, a, a.shape);
}

tl::Tensor KernelContext::cast(const Tensor& a, DType dtype) {
  check("cast", a, Space::scratchpad);
  const Tensor dst = allocate("cast", a.shape, dtype);
  vector_command(VectorOp::cast, {{&dst, Use::write}, {&a, Use::read}});
  return dst;
}

// --- flash attention ------------------------------------------------------------------------

void KernelContext::softmax_update(const Tensor& p, const Tensor& scores, const Tensor& m,
                                   const Tensor& l, const Tensor& alpha) {
  check_same_shape("softmax_update", p, scores);
  for (const Tensor* t : {&m, &l, &alpha}) {
    check_per_row("softmax_update", *t, scores.rows());
  }
  for (const Tensor* t : {&scores, &m, &l, &alpha}) {
    if (t->dtype != DType::f32) {
      throw KernelFault("softmax_update: " + describe(*t) + " is not f32");
    }
  }
  vector_command(VectorOp::softmax_update, {{&p, Use::write},
                                            {&scores, Use::read},
                                            {&m, Use::update},
                                            {&l, Use::update},
                                            {&alpha, Use::write}});
}

void KernelContext::scale_rows(const Tensor& t, const Tensor& by_row) {
  check_per_row("scale_rows", by_row, t.rows());
  vector_command(VectorOp::mul, {{&t, Use::write}, {&t, Use::read}, {&by_row, Use::read}});
}

void KernelContext::merge_mlo(const Tensor& m, const Tensor& l, const Tensor& o, const Tensor& m2,
                              const Tensor& l2, const Tensor& o2) {
  check_same_shape("merge_mlo", o, o2);
  for (const Tensor* t : {&m, &l, &m2, &l2}) {
    check_per_row("merge_mlo", *t, o.rows());
  }
  vector_command(VectorOp::merge_mlo, {{&m, Use::update},
                                       {&l, Use::update},
                                       {&o, Use::update},
                                       {&m2, Use::read},
                                       {&l2, Use::read},
                                       {&o2, Use::read}});
}

tl::Tensor KernelContext::normalize(const Tensor& o, const Tensor& l, DType dtype) {
  check_per_row("normalize", l, o.rows());
  const Tensor dst = allocate("normalize", o.shape, dtype);
  vector_command(VectorOp::normalize, {{&dst, Use::write}, {&o, Use::read}, {&l, Use::read}});
  return dst;
}

// --- messages -------------------------------------------------------------------------------

bool KernelContext::has_neighbour(RankAxis axis, Direction d) {
  return !neighbours_.why_none(axis, d);
}

void KernelContext::send(RankAxis axis, Direction to, const Tensor& src,
                         std::uint32_t may_be_neg_inf) {
  if (const auto why = neighbours_.why_none(axis, to)) {
    throw KernelFault("send " + std::string(to_string(to)) + ": no neighbour (" + *why + ")");
  }
  check("send", src, Space::scratchpad);
  check_contiguous("send", src);
  Command c = make_command(Opcode::send, "send");
  c.message = {axis, to, may_be_neg_inf};
  attach(c, src, Use::read);
  if (src.shape.elements() != 0) {
    submit(c, message_op("send", axis, to));
  }
}

CommandId KernelContext::receive(RankAxis axis, Direction from, const Tensor& dst, bool untracked) {
  if (const auto why = neighbours_.why_none(axis, from)) {
    throw KernelFault("recv " + std::string(to_string(from)) + ": no neighbour (" + *why + ")");
  }
  check("recv", dst, Space::scratchpad);
  check_contiguous("recv", dst);
  Command c = make_command(Opcode::recv, untracked ? "recv_async" : "recv");
  c.message = {axis, from, 0};
  c.untracked = untracked;
  attach(c, dst, Use::write);
  if (dst.shape.elements() == 0) {
    return CommandId{};
  }
  if (untracked) {
    const CommandId id = port_.issue(c);
    receiving_[index(id)] = message_op("recv", axis, from);
    return id;
  }
  submit(c, message_op("recv", axis, from));
  return CommandId{};
}

void KernelContext::recv_to(RankAxis axis, Direction from, const Tensor& dst) {
  receive(axis, from, dst, false);
}

tl::Tensor KernelContext::recv_async(RankAxis axis, Direction from, const Tensor& dst) {
  Tensor handle = dst;
  handle.pending = receive(axis, from, dst, true);
  return handle;
}

}  // namespace cubevp::runtime
