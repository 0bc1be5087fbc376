// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/base/command.h"
#include "hw/scratchpad/scratchpad.h"
#include "hw/sim/agenda.h"
#include "hw/sim/command_target.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/pe_shared.h"
#include "tests/support/protocol_checker.h"
#include "tests/support/test_target.h"

namespace cubevp::test {

// --- commands -------------------------------------------------------------------------------

inline Operand block(std::uint64_t address, std::uint32_t rows, std::uint32_t cols,
                     DType dtype = DType::f32) {
  Operand o;
  o.address = address;
  o.rows = rows;
  o.cols = cols;
  o.dtype = dtype;
  o.row_stride_bytes = static_cast<std::uint32_t>(cols * size_bytes(dtype));
  return o;
}
inline Operand transposed(Operand o) {
  o.transposed = true;
  return o;
}
inline Operand in_hbm(Operand o) {
  o.space = Space::hbm;
  return o;
}
inline Operand strided(Operand o, std::uint32_t row_stride_bytes) {
  o.row_stride_bytes = row_stride_bytes;
  return o;
}

inline Command command(Opcode opcode, unsigned writes, unsigned reads,
                       std::initializer_list<Operand> operands) {
  Command c;
  c.opcode = opcode;
  c.label = to_string(opcode).data();
  c.writes = static_cast<std::uint8_t>(writes);
  c.reads = static_cast<std::uint8_t>(reads);
  for (const Operand& o : operands) {
    c.operands[c.operand_count++] = o;
  }
  return c;
}
inline Command gemm(const Operand& c, const Operand& a, const Operand& b, bool accumulate = false) {
  Command g = command(Opcode::gemm, 0b1, accumulate ? 0b111 : 0b110, {c, a, b});
  g.accumulate = accumulate;
  return g;
}
inline Command load(const Operand& scratchpad, const Operand& hbm) {
  return command(Opcode::dma_load, 0b1, 0b10, {scratchpad, hbm});
}
inline Command store(const Operand& hbm, const Operand& scratchpad) {
  return command(Opcode::dma_store, 0b1, 0b10, {hbm, scratchpad});
}
inline Command vector(VectorOp op, unsigned writes, unsigned reads,
                      std::initializer_list<Operand> operands) {
  Command v = command(Opcode::vector, writes, reads, operands);
  v.vector_op = op;
  return v;
}
inline Command send(const Operand& src, Direction to, RankAxis axis = RankAxis::pe) {
  Command s = command(Opcode::send, 0, 0b1, {src});
  s.message = {axis, to, 0};
  return s;
}
inline Command recv(const Operand& dst, Direction from, RankAxis axis = RankAxis::pe) {
  Command r = command(Opcode::recv, 0b1, 0, {dst});
  r.message = {axis, from, 0};
  return r;
}

// --- modules --------------------------------------------------------------------------------

/// Binds memory sockets that a test leaves open.
class SocketStub : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<SocketStub> isock{"isock"};
  explicit SocketStub(const sc_core::sc_module_name& name) : sc_module(name) {
    isock.register_nb_transport_bw(this, &SocketStub::nb_transport_bw);
  }

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
    return tlm::TLM_ACCEPTED;
  }
};
/// The surroundings of a unit of PE `pe`: scratchpad, payloads and the strand its data runs on.
struct PeBench {
  explicit PeBench(bool keep_data = true, std::uint32_t pe = 0,
                   sim::PayloadPool* shared_pool = nullptr)
      : pool(shared_pool != nullptr ? *shared_pool : own_pool),
        strand(keep_data ? std::make_unique<sim::Strand>(host_pool) : nullptr),
        scratchpad(("scratchpad_" + std::to_string(pe)).c_str(), hw::ScratchpadConfig{}, keep_data),
        shared{pool, activity, strand.get(), identity(pe)} {}

  static PeIdentity identity(std::uint32_t pe) {
    PeIdentity id;
    id.pe = static_cast<PeId>(pe);
    id.pes_per_cube = 8;
    id.cubes = 4;
    id.scratchpad_bytes = hw::ScratchpadConfig{}.bytes;
    return id;
  }
  template <class T>
  void put(std::uint64_t address, const std::vector<T>& values) {
    tlm::tlm_generic_payload payload;
    std::vector<T> copy = values;
    sim::set_access(payload, tlm::TLM_WRITE_COMMAND, address,
                    reinterpret_cast<unsigned char*>(copy.data()), copy.size() * sizeof(T));
    scratchpad.mem_tsocks[0].get_base_export()->transport_dbg(payload);
  }
  template <class T>
  std::vector<T> get(std::uint64_t address, std::size_t n) {
    strand->join();
    std::vector<T> values(n);
    scratchpad.peek(address, values.data(), n * sizeof(T));
    return values;
  }

  /// Binds the scratchpad's sockets from `used` on to nobody.
  void leave_memory_open(std::size_t used) {
    for (std::size_t i = used; i <= scratchpad.mem_tsocks.size(); ++i) {
      stubs.push_back(std::make_unique<SocketStub>(
          ("stub_" + std::to_string(index(shared.id.pe)) + "_" + std::to_string(i)).c_str()));
      stubs.back()->isock.bind(i < scratchpad.mem_tsocks.size() ? scratchpad.mem_tsocks[i]
                                                                : scratchpad.net_tsock);
    }
  }

  sim::PayloadPool own_pool;
  sim::PayloadPool& pool;
  sim::HostPool host_pool{1};
  std::unique_ptr<sim::Strand> strand;
  sim::ActivityMonitor activity;
  hw::Scratchpad scratchpad;
  sim::PeShared shared;
  std::vector<std::unique_ptr<SocketStub>> stubs;
};

/// Binds initiator sockets that a test leaves open.
class TargetStub : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<TargetStub> tsock{"tsock"};
  explicit TargetStub(const sc_core::sc_module_name& name) : sc_module(name) {
    tsock.register_b_transport(this, &TargetStub::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

/// Gives an engine commands, each not before its time, as its END_REQ allows.
class CommandSource : public sc_core::sc_module {
 public:
  struct Issued {
    Command command;
    Ps at = 0;
    Ps accepted = -1;
    Ps done = -1;
    std::string fault;
  };
  tlm_utils::simple_initiator_socket<CommandSource> isock{"isock"};
  std::function<void(Issued&)> on_done;

  CommandSource(const sc_core::sc_module_name& name, sim::PayloadPool& pool)
      : sc_module(name), pool_(pool) {
    isock.register_nb_transport_bw(this, &CommandSource::nb_transport_bw);
    SC_HAS_PROCESS(CommandSource);
    SC_METHOD(run);
    sensitive << agenda_.event();
    dont_initialize();
  }
  Issued& add(Command command, Ps at = 0) {
    command.id = static_cast<CommandId>(issued_.size() + 1);
    issued_.push_back(std::make_unique<Issued>(Issued{command, at, -1, -1, {}}));
    agenda_.push(std::max(at, sim::now_ps()), 0);
    return *issued_.back();
  }

 private:
  void run() {
    int none = 0;
    while (agenda_.take_due(none)) {
    }
    agenda_.rearm();
    while (!requesting_ && next_ < issued_.size() && issued_[next_]->at <= sim::now_ps()) {
      Issued& issued = *issued_[next_];
      tlm::tlm_generic_payload& payload = pool_.allocate();
      sim::extension(payload)->command = &issued.command;
      sim::extension(payload)->initiator_tag = next_++;
      requesting_ = true;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time t;
      if (isock->nb_transport_fw(payload, phase, t) == tlm::TLM_UPDATED) {
        accepted(payload);
      }
    }
  }
  void accepted(const tlm::tlm_generic_payload& payload) {
    requesting_ = false;
    issued_[sim::extension(payload)->initiator_tag]->accepted = sim::now_ps();
    agenda_.push(sim::now_ps(), 0);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    if (phase == tlm::END_REQ) {
      accepted(payload);
      return tlm::TLM_ACCEPTED;
    }
    Issued& issued = *issued_[sim::extension(payload)->initiator_tag];
    if (issued.accepted < 0) {
      accepted(payload);
    }
    issued.done = sim::now_ps();
    issued.fault = sim::extension(payload)->fault;
    if (payload.is_response_error()) {
      EXPECT_FALSE(issued.fault.empty());
    }
    payload.release();
    if (on_done) {
      on_done(issued);
    }
    return tlm::TLM_COMPLETED;
  }

  sim::PayloadPool& pool_;
  std::deque<std::unique_ptr<Issued>> issued_;
  std::size_t next_ = 0;
  bool requesting_ = false;
  sim::Agenda<int> agenda_{"agenda"};
};

// --- values ---------------------------------------------------------------------------------

inline std::vector<float> random_f32(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  std::vector<float> values(n);
  for (float& v : values) {
    v = distribution(generator);
  }
  return values;
}

constexpr Ps kCycle = 1000;

}  // namespace cubevp::test
