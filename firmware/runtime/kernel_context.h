// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firmware/runtime/neighbours.h"
#include "firmware/tl/context.h"
#include "hw/base/arena.h"
#include "hw/base/command_port.h"

namespace cubevp::runtime {

struct Options {
  /// Every command is waited for before the next is issued: the reference that the scoreboard's
  /// order is measured against. Off: commands run asynchronously.
  bool blocking = false;
};

/// A kernel's view of one PE: checks what the kernel asks for, places tensors in the scratchpad,
/// and turns operations into command descriptors on a CommandPort. An operation on no elements
/// issues no command.
class KernelContext final : public tl::Context {
 public:
  using Tensor = tl::Tensor;
  using Shape = tl::Shape;

  explicit KernelContext(CommandPort& port, Options options = {});

  std::int64_t program_id(int axis) const override;
  std::int64_t num_programs(int axis) const override;
  std::uint64_t cycles() const override { return port_.now_cycles(); }
  std::int64_t scratchpad_free_bytes() const override;
  void require_ring(RankAxis axis, std::int64_t size) override;

  Tensor hbm(std::uint64_t address, Shape shape, DType dtype,
             std::uint64_t row_stride_bytes) override;
  Tensor empty(Shape shape, DType dtype) override { return allocate("empty", shape, dtype); }
  Tensor full(Shape shape, float value, DType dtype) override;
  void fill(const Tensor& dst, float value) override;
  void load_to(const Tensor& dst, const Tensor& hbm) override;
  void store(const Tensor& hbm, const Tensor& src) override;
  void copy_to(const Tensor& dst, const Tensor& src) override;

  Tensor view(const Tensor& t, Shape shape) override;
  Tensor trans(const Tensor& t) override;
  Tensor rows(const Tensor& t, std::int64_t first, std::int64_t n) override;
  Tensor slice(const Tensor& t, std::int64_t first, Shape shape) override;

  void dot_to(const Tensor& dst, const Tensor& a, const Tensor& b, bool accumulate,
              const Epilogue& epilogue) override;
  void composite_to(const Tensor& dst, const Tensor& a, const Tensor& b_hbm, bool accumulate,
                    const Epilogue& epilogue, std::int64_t tile_rows) override;

  Tensor binary(VectorOp op, const Tensor& a, const Tensor& b) override;
  Tensor where(const Tensor& cond, const Tensor& a, const Tensor& b) override;
  Tensor exp(const Tensor& a) override;
  Tensor max(const Tensor& a) override;
  Tensor sum(const Tensor& a) override;
  Tensor softmax(const Tensor& a) override;
  Tensor cast(const Tensor& a, DType dtype) override;

  void softmax_update(const Tensor& p, const Tensor& scores, const Tensor& m, const Tensor& l,
                      const Tensor& alpha) override;
  void scale_rows(const Tensor& t, const Tensor& by_row) override;
  void merge_mlo(const Tensor& m, const Tensor& l, const Tensor& o, const Tensor& m2,
                 const Tensor& l2, const Tensor& o2) override;
  Tensor normalize(const Tensor& o, const Tensor& l, DType dtype) override;

  void send(RankAxis axis, Direction to, const Tensor& src, std::uint32_t may_be_neg_inf) override;
  void recv_to(RankAxis axis, Direction from, const Tensor& dst) override;
  Tensor recv_async(RankAxis axis, Direction from, const Tensor& dst) override;
  bool has_neighbour(RankAxis axis, Direction d) override;

  void wait(const Tensor& pending) override;
  void fence() override;
  void barrier() override;

  void open_scope() override;
  void close_scope() override;

  void phase(const char* name) override { port_.set_phase(name); }
  void count(const char* counter, std::uint64_t n) override { port_.count(counter, n); }

 private:
  enum class Use : std::uint8_t { read, write, update };

  Tensor allocate(const char* op, Shape shape, DType dtype);
  /// Of the form that an engine can take: alive, inside its memory, addressable.
  void check(const char* op, const Tensor& t, Space space) const;
  void check_contiguous(const char* op, const Tensor& t) const;
  void check_same_shape(const char* op, const Tensor& a, const Tensor& b) const;
  void check_per_row(const char* op, const Tensor& t, std::int64_t rows) const;
  void check_dot(const char* op, const Tensor& dst, const Tensor& a, const Tensor& b) const;
  /// No operand is overwritten while it is read: what is written overlaps nothing else, unless an
  /// elementwise operation works in place.
  void check_overlap(const Command& command) const;
  Operand operand(const char* op, const Tensor& t) const;
  void attach(Command& command, const Tensor& t, Use use) const;
  void submit(Command command, const std::string& why = {});
  void vector_command(VectorOp op, std::initializer_list<std::pair<const Tensor*, Use>> operands,
                      float scalar = 0.0F);
  Tensor unary(VectorOp op, const Tensor& a, Shape shape);
  CommandId receive(RankAxis axis, Direction from, const Tensor& dst, bool untracked);

  CommandPort& port_;
  const Options options_;
  // The register block is read through a const query too: mutable, as it only remembers.
  mutable Neighbours neighbours_;
  Arena arena_;
  std::vector<std::uint64_t> scopes_;  // serial numbers of the open scopes, outermost first
  std::uint64_t next_scope_ = 1;
  bool scope_underflow_ = false;
  std::map<std::uint64_t, std::string> receiving_;  // recv_async by command: what it waits for
  bool composite_upper_half_ = false;
};

}  // namespace cubevp::runtime
