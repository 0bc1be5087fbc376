// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/kernel_context.h"

#include <cstdio>
#include <limits>
#include <utility>

#include "hw/base/sfr_table.h"

namespace cubevp::runtime {

using tl::KernelFault;

namespace {

std::string describe(const tl::Tensor& t) {
  return t.shape.to_string() + " " + std::string(to_string(t.dtype));
}

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::uint64_t row_bytes(const tl::Tensor& t) {
  return static_cast<std::uint64_t>(t.cols()) * size_bytes(t.dtype);
}

// Rows and columns as they lie in memory, which trans() does not change.
std::int64_t stored_rows(const tl::Tensor& t) {
  return t.transposed ? t.cols() : t.rows();
}
std::int64_t stored_cols(const tl::Tensor& t) {
  return t.transposed ? t.rows() : t.cols();
}

std::uint64_t span_bytes(const tl::Tensor& t) {
  if (t.shape.elements() == 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(stored_rows(t) - 1) * t.row_stride_bytes +
         static_cast<std::uint64_t>(stored_cols(t)) * size_bytes(t.dtype);
}

}  // namespace

KernelContext::KernelContext(CommandPort& port, Options options)
    : port_(port),
      options_(options),
      neighbours_(port),
      arena_(port.identity().scratchpad_bytes - port.identity().reserved_bytes) {
  scopes_.push_back(next_scope_++);
}

std::int64_t KernelContext::program_id(int axis) const {
  if (axis == 0) {
    return index(port_.identity().pe);
  }
  if (axis == 1) {
    return neighbours_.read(sfr::kRingRank);
  }
  throw KernelFault("program_id: axis " + std::to_string(axis) + " is neither 0 nor 1");
}

std::int64_t KernelContext::num_programs(int axis) const {
  if (axis == 0) {
    return port_.identity().pes_per_cube;
  }
  if (axis == 1) {
    return neighbours_.read(sfr::kRingSize);
  }
  throw KernelFault("num_programs: axis " + std::to_string(axis) + " is neither 0 nor 1");
}

std::int64_t KernelContext::scratchpad_free_bytes() const {
  return static_cast<std::int64_t>(arena_.free_bytes());
}

void KernelContext::require_ring(RankAxis axis, std::int64_t size) {
  if (const auto why = neighbours_.why_no_ring(axis, size)) {
    throw KernelFault("ring of " + std::to_string(size) + " required, " + *why);
  }
}

// --- tensors --------------------------------------------------------------------------------

tl::Tensor KernelContext::allocate(const char* op, Shape shape, DType dtype) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * size_bytes(dtype);
  const auto address = arena_.allocate(bytes);
  if (!address) {
    throw KernelFault(std::string(op) + " " + shape.to_string() + " " +
                      std::string(to_string(dtype)) + ": the scratchpad is full: needs " +
                      std::to_string(bytes) + " bytes, " + std::to_string(arena_.free_bytes()) +
                      " of " + std::to_string(arena_.capacity_bytes()) + " free");
  }
  Tensor t;
  t.address = *address;
  t.shape = shape;
  t.dtype = dtype;
  t.row_stride_bytes = row_bytes(t);
  t.scope = static_cast<std::uint32_t>(scopes_.size() - 1);
  t.scope_serial = scopes_.back();
  return t;
}

tl::Tensor KernelContext::hbm(std::uint64_t address, Shape shape, DType dtype,
                              std::uint64_t row_stride_bytes) {
  Tensor t;
  t.space = Space::hbm;
  t.address = address;
  t.shape = shape;
  t.dtype = dtype;
  t.row_stride_bytes = row_stride_bytes != 0 ? row_stride_bytes : row_bytes(t);
  if (t.row_stride_bytes < row_bytes(t)) {
    throw KernelFault("hbm " + describe(t) + ": rows of " + std::to_string(row_bytes(t)) +
                      " bytes overlap at a stride of " + std::to_string(row_stride_bytes));
  }
  return t;
}

tl::Tensor KernelContext::view(const Tensor& t, Shape shape) {
  check_contiguous("view", t);
  if (shape.elements() != t.shape.elements()) {
    throw KernelFault("view: " + describe(t) + " as " + shape.to_string() + ": " +
                      std::to_string(t.shape.elements()) + " elements are not " +
                      std::to_string(shape.elements()));
  }
  Tensor v = t;
  v.shape = shape;
  v.row_stride_bytes = row_bytes(v);
  return v;
}

tl::Tensor KernelContext::trans(const Tensor& t) {
  Tensor v = t;
  v.shape = Shape{t.cols(), t.rows()};
  v.transposed = !t.transposed;
  return v;
}

tl::Tensor KernelContext::rows(const Tensor& t, std::int64_t first, std::int64_t n) {
  if (t.transposed) {
    throw KernelFault("rows: " + describe(t) + " is transposed");
  }
  if (first < 0 || n < 0 || first > t.rows() - n) {
    throw KernelFault("rows: " + std::to_string(n) + " rows from " + std::to_string(first) +
                      " of " + describe(t));
  }
  Tensor v = t;
  v.shape = Shape{n, t.cols()};
  v.address += static_cast<std::uint64_t>(first) * t.row_stride_bytes;
  return v;
}

tl::Tensor KernelContext::slice(const Tensor& t, std::int64_t first, Shape shape) {
  check_contiguous("slice", t);
  if (first < 0 || first > t.shape.elements() - shape.elements()) {
    throw KernelFault("slice: " + shape.to_string() + " from element " + std::to_string(first) +
                      " of " + describe(t));
  }
  Tensor v = t;
  v.shape = shape;
  v.address += static_cast<std::uint64_t>(first) * size_bytes(t.dtype);
  v.row_stride_bytes = row_bytes(v);
  return v;
}

// --- checks ---------------------------------------------------------------------------------

void KernelContext::check(const char* op, const Tensor& t, Space space) const {
  const std::string head = std::string(op) + ": " + describe(t);
  if (t.space != space) {
    throw KernelFault(head + " is in " + (t.space == Space::hbm ? "hbm" : "the scratchpad") +
                      ", not in " + (space == Space::hbm ? "hbm" : "the scratchpad"));
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (t.rows() > kMax || t.cols() > kMax || t.row_stride_bytes > static_cast<std::uint64_t>(kMax)) {
    throw KernelFault(head + " is larger than a command can describe");
  }
  if (t.space == Space::scratchpad) {
    if (t.scope >= scopes_.size() || scopes_[t.scope] != t.scope_serial) {
      throw KernelFault(head + " is used after its scratch_scope has ended");
    }
    if (t.address > arena_.capacity_bytes() ||
        span_bytes(t) > arena_.capacity_bytes() - t.address) {
      throw KernelFault(head + " at " + hex(t.address) + " ends outside the scratchpad of " +
                        std::to_string(arena_.capacity_bytes()) + " bytes");
    }
    return;
  }
  const DecodedAddress where = decode(t.address);
  if (where.region != static_cast<std::uint8_t>(Region::hbm) ||
      index(where.cube) >= port_.identity().cubes) {
    throw KernelFault(head + ": address " + hex(t.address) + " is not hbm of one of " +
                      std::to_string(port_.identity().cubes) + " cubes");
  }
}

void KernelContext::check_contiguous(const char* op, const Tensor& t) const {
  if (t.transposed || (t.rows() > 1 && t.row_stride_bytes != row_bytes(t))) {
    throw KernelFault(std::string(op) + ": " + describe(t) + " is not contiguous");
  }
}

void KernelContext::check_same_shape(const char* op, const Tensor& a, const Tensor& b) const {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    throw KernelFault(std::string(op) + ": shapes " + a.shape.to_string() + " and " +
                      b.shape.to_string() + " differ");
  }
}

void KernelContext::check_per_row(const char* op, const Tensor& t, std::int64_t n) const {
  if (t.rows() != n || t.cols() != 1) {
    throw KernelFault(std::string(op) + ": shape " + t.shape.to_string() +
                      " where one value for each of " + std::to_string(n) + " rows belongs");
  }
}

void KernelContext::check_overlap(const Command& command) const {
  const auto shape = [](const Operand& o) {
    return Shape{o.rows, o.cols}.to_string() + " " + std::string(to_string(o.dtype));
  };
  for (int i = 0; i < command.operand_count; ++i) {
    const Operand& w = command.operands[static_cast<std::size_t>(i)];
    for (int j = 0; (command.writes >> i & 1) != 0 && j < command.operand_count; ++j) {
      const Operand& other = command.operands[static_cast<std::size_t>(j)];
      const bool apart = i == j || w.space != other.space ||
                         w.address + w.span_bytes() <= other.address ||
                         other.address + other.span_bytes() <= w.address;
      const bool in_place = command.opcode == Opcode::vector && w.address == other.address &&
                            w.row_stride_bytes == other.row_stride_bytes && w.rows == other.rows &&
                            w.cols == other.cols && w.dtype == other.dtype &&
                            (command.writes >> j & 1) == 0;
      if (!apart && !in_place) {
        throw KernelFault(std::string(command.label) + ": what it writes, " + shape(w) +
                          ", overlaps its operand " + shape(other));
      }
    }
  }
}

// --- commands -------------------------------------------------------------------------------

Operand KernelContext::operand(const char* op, const Tensor& t) const {
  check(op, t, t.space);
  Operand o;
  o.space = t.space;
  o.address = t.address;
  o.rows = static_cast<std::uint32_t>(stored_rows(t));
  o.cols = static_cast<std::uint32_t>(stored_cols(t));
  o.row_stride_bytes = static_cast<std::uint32_t>(t.row_stride_bytes);
  o.dtype = t.dtype;
  o.transposed = t.transposed;
  return o;
}

void KernelContext::attach(Command& command, const Tensor& t, Use use) const {
  const std::uint8_t bit = static_cast<std::uint8_t>(1U << command.operand_count);
  command.operands[command.operand_count++] = operand(command.label, t);
  if (use != Use::write) {
    command.reads |= bit;
  }
  if (use != Use::read) {
    command.writes |= bit;
  }
}

void KernelContext::submit(Command command, const std::string& why) {
  if (scope_underflow_) {
    throw KernelFault("scratch_scope: more scopes were closed than opened");
  }
  check_overlap(command);
  const CommandId id = port_.issue(command);
  if (options_.blocking) {
    port_.wait_for(id, {why.empty() ? std::string(command.label) : why, id});
  }
}

// --- order and scopes -----------------------------------------------------------------------

void KernelContext::fence() {
  if (scope_underflow_) {
    throw KernelFault("scratch_scope: more scopes were closed than opened");
  }
  port_.wait_all({"fence", CommandId{}});
}

void KernelContext::barrier() {
  fence();
  port_.barrier({"barrier", CommandId{}});
}

void KernelContext::wait(const Tensor& pending) {
  if (pending.shape.elements() == 0) {
    return;
  }
  if (pending.pending == CommandId{}) {
    throw KernelFault("wait: " + describe(pending) + " does not come from recv_async");
  }
  check("wait", pending, Space::scratchpad);
  const auto what = receiving_.find(index(pending.pending));
  if (what == receiving_.end()) {
    return;  // waited for before
  }
  port_.wait_for(pending.pending, {what->second, pending.pending});
  receiving_.erase(what);
}

void KernelContext::open_scope() {
  arena_.open_scope();
  scopes_.push_back(next_scope_++);
}

void KernelContext::close_scope() {
  if (arena_.depth() == 0) {
    // Called by destructors, so not the place to throw: the next operation faults.
    scope_underflow_ = true;
    return;
  }
  arena_.close_scope();
  scopes_.pop_back();
}

}  // namespace cubevp::runtime
