// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_machine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "hw/base/sfr_table.h"
#include "hw/numerics/convert.h"
#include "hw/numerics/gemm.h"
#include "hw/numerics/vector_ops.h"

namespace cubevp::test {

namespace {

struct Abort {};

// The gap after each allocation catches accesses that run over its end.
constexpr std::uint64_t kGap = 4096;
constexpr unsigned char kPoison = 0xff;  // NaN in every type

}  // namespace

class FakeMachine::Pe final : public CommandPort {
 public:
  Pe(FakeMachine& machine, CubeId cube, PeId pe) : machine_(machine) {
    identity_.cube = cube;
    identity_.pe = pe;
    identity_.pes_per_cube = machine.config_.pes;
    identity_.cubes = machine.config_.cubes;
    identity_.scratchpad_bytes = machine.config_.scratchpad_bytes;
  }
  ~Pe() override {
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  void start(Firmware firmware) {
    if (thread_.joinable()) {
      thread_.join();
    }
    scratchpad_.assign(identity_.scratchpad_bytes, kPoison);
    firmware_ = std::move(firmware);
    finished_ = false;
    failure_ = nullptr;
    ready_ = nullptr;
    thread_ = std::thread([this] { body(); });
  }

  const PeIdentity& identity() const override { return identity_; }

  CommandId issue(const Command& command) override {
    Command numbered = command;
    numbered.id = static_cast<CommandId>(++last_);
    counted_.commands.push_back(numbered);
    if (numbered.untracked) {
      deferred_.push_back(numbered);
    } else {
      if (numbered.opcode == Opcode::recv) {
        deliver_before(numbered.message);
      }
      execute(numbered);
    }
    ++now_;
    return numbered.id;
  }
  void wait_for(CommandId id, const BlockedOn& why) override {
    counted_.waits.push_back(why.op);
    while (!deferred_.empty() && index(deferred_.front().id) <= index(id)) {
      deliver_first();
    }
  }
  void wait_all(const BlockedOn& why) override {
    counted_.waits.push_back(why.op);
    while (!deferred_.empty()) {
      deliver_first();
    }
  }
  bool complete(CommandId id) const override {
    return std::none_of(deferred_.begin(), deferred_.end(),
                        [id](const Command& c) { return c.id == id; });
  }
  void barrier(const BlockedOn& why) override {
    counted_.waits.push_back(why.op);
    const std::uint64_t mine = ++barriers_;
    block(why.op, [this, mine] {
      for (const auto& other : machine_.pes_) {
        if (other->identity_.cube == identity_.cube && other->started() &&
            other->barriers_ < mine) {
          return false;
        }
      }
      return true;
    });
  }
  std::uint32_t read_sfr(std::uint32_t offset) override {
    ++counted_.sfr_reads;
    return machine_.sfr(identity_.cube, offset);
  }
  void read_memory(Address address, void* data, std::size_t bytes) override {
    std::memcpy(data, machine_.memory(address, bytes), bytes);
  }
  void peek_scratchpad(std::uint64_t offset, void* data, std::size_t bytes) override {
    std::memcpy(data, &scratchpad_.at(offset), bytes);
  }
  std::uint64_t now_cycles() const override { return now_; }
  void spend_cycles(std::uint64_t cycles) override { now_ += cycles; }
  void set_phase(const char* phase) override { counted_.phases.emplace_back(phase); }
  void count(const char* counter, std::uint64_t n) override { counted_.counters[counter] += n; }

  bool started() const { return firmware_ != nullptr; }
  bool finished() const { return finished_; }
  bool can_run() const { return !ready_ || ready_(); }
  const std::string& waits_for() const { return waits_for_; }
  const Counted& counted() const { return counted_; }
  std::exception_ptr failure() const { return failure_; }
  void join() { thread_.join(); }

 private:
  void body() {
    wait_for_turn();
    try {
      if (!machine_.aborting_) {
        firmware_(*this);
      }
    } catch (const Abort&) {
      // the machine stops
    } catch (...) {
      failure_ = std::current_exception();
    }
    finished_ = true;
    give_turn_back();
  }
  void wait_for_turn() {
    std::unique_lock<std::mutex> lock(machine_.mutex_);
    machine_.turn_.wait(lock, [this] { return machine_.running_ == this; });
  }
  void give_turn_back() {
    const std::lock_guard<std::mutex> lock(machine_.mutex_);
    machine_.running_ = nullptr;
    machine_.turn_.notify_all();
  }
  void block(const std::string& why, const std::function<bool()>& ready) {
    while (!ready()) {
      ready_ = ready;
      waits_for_ = why;
      give_turn_back();
      wait_for_turn();
      ready_ = nullptr;
      if (machine_.aborting_) {
        throw Abort{};
      }
    }
  }

  void deliver_first() {
    const Command c = deferred_.front();
    deferred_.pop_front();
    execute(c);
  }
  // Messages of one direction arrive in order: earlier recv_asyncs take theirs first.
  void deliver_before(const MessageParams& m) {
    for (auto it = deferred_.begin(); it != deferred_.end();) {
      if (it->message.axis == m.axis && it->message.direction == m.direction) {
        const Command c = *it;
        it = deferred_.erase(it);
        execute(c);
      } else {
        ++it;
      }
    }
  }

  unsigned char* bytes_of(const Operand& o) {
    if (o.space == Space::hbm) {
      return machine_.memory(o.address, o.span_bytes());
    }
    if (o.span_bytes() > scratchpad_.size() || o.address > scratchpad_.size() - o.span_bytes()) {
      throw std::out_of_range("operand outside the scratchpad");
    }
    return scratchpad_.data() + o.address;
  }
  numerics::MatrixView view(const Operand& o) { return numerics::view_of(o, bytes_of(o)); }

  void execute(const Command& c) {
    const auto& op = c.operands;
    switch (c.opcode) {
      case Opcode::dma_load:
      case Opcode::dma_store:
        for (std::uint32_t r = 0; r < op[0].rows; ++r) {
          std::memcpy(bytes_of(op[0]) + std::uint64_t{r} * op[0].row_stride_bytes,
                      bytes_of(op[1]) + std::uint64_t{r} * op[1].row_stride_bytes,
                      op[0].cols * size_bytes(op[0].dtype));
        }
        break;
      case Opcode::gemm:
      case Opcode::composite:
        if (c.opcode == Opcode::composite) {
          spoil_staging(c);
        }
        numerics::gemm(view(op[0]), view(op[1]), view(op[2]), c.accumulate, c.epilogue,
                       c.epilogue.inner.causal);
        break;
      case Opcode::vector: {
        std::vector<numerics::MatrixView> views;
        for (int i = 0; i < c.operand_count; ++i) {
          views.push_back(view(op[static_cast<std::size_t>(i)]));
        }
        numerics::vector_op(c.vector_op, c.scalar, views.data(), views.size());
        break;
      }
      case Opcode::send:
        send(c);
        break;
      case Opcode::recv:
        receive(c);
        break;
    }
  }
  // Whoever keeps a tensor where a composite stages its tiles must notice.
  void spoil_staging(const Command& c) {
    const std::uint64_t bytes = 2ULL * c.composite.tile_rows * c.operands[2].row_stride_bytes;
    if (c.composite.tile_rows == 0 || c.composite.staging_address + bytes > scratchpad_.size()) {
      throw std::out_of_range("composite staging outside the scratchpad");
    }
    std::memset(scratchpad_.data() + c.composite.staging_address, kPoison, bytes);
  }
  void send(const Command& c) {
    const Operand& src = c.operands[0];
    ++counted_.messages;
    counted_.message_bytes += src.bytes();
    std::vector<float> values(src.elements());
    numerics::to_f32(bytes_of(src), src.dtype, values.size(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool allowed =
          i < c.message.may_be_neg_inf && values[i] == -std::numeric_limits<float>::infinity();
      counted_.nonfinite_sent += !std::isfinite(values[i]) && !allowed ? 1 : 0;
    }
    Channel& out =
        machine_.outgoing(identity_.cube, identity_.pe, c.message.axis, c.message.direction);
    const std::uint64_t room = machine_.config_.channel_bytes;
    for (std::uint64_t sent = 0; sent < src.bytes();) {
      block("send " + std::string(to_string(c.message.direction)),
            [&out, room] { return out.bytes.size() < room; });
      const std::uint64_t n = std::min(room - out.bytes.size(), src.bytes() - sent);
      const unsigned char* from = bytes_of(src) + sent;
      out.bytes.insert(out.bytes.end(), from, from + n);
      sent += n;
    }
  }
  void receive(const Command& c) {
    const Operand& dst = c.operands[0];
    Channel& in =
        machine_.channel(identity_.cube, identity_.pe, c.message.axis, c.message.direction);
    for (std::uint64_t got = 0; got < dst.bytes();) {
      block("recv " + std::string(to_string(c.message.direction)),
            [&in] { return !in.bytes.empty(); });
      const std::uint64_t n = std::min<std::uint64_t>(in.bytes.size(), dst.bytes() - got);
      std::copy_n(in.bytes.begin(), n, bytes_of(dst) + got);
      in.bytes.erase(in.bytes.begin(), in.bytes.begin() + static_cast<std::ptrdiff_t>(n));
      got += n;
    }
  }

  FakeMachine& machine_;
  PeIdentity identity_;
  std::vector<unsigned char> scratchpad_;
  std::uint64_t last_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t barriers_ = 0;
  std::deque<Command> deferred_;  // recv_async
  Counted counted_;

  Firmware firmware_;
  std::thread thread_;
  bool finished_ = true;
  std::exception_ptr failure_;
  std::function<bool()> ready_;
  std::string waits_for_;
};

FakeMachine::FakeMachine(const FakeConfig& config) : config_(config) {
  for (std::uint32_t c = 0; c < config.cubes; ++c) {
    for (std::uint32_t p = 0; p < config.pes; ++p) {
      pes_.push_back(std::make_unique<Pe>(*this, static_cast<CubeId>(c), static_cast<PeId>(p)));
    }
  }
}

FakeMachine::~FakeMachine() {
  aborting_ = true;
  for (const auto& pe : pes_) {
    if (!pe->finished()) {
      resume(*pe);
    }
  }
}

Address FakeMachine::allocate(CubeId cube, std::uint64_t bytes) {
  std::uint64_t& top = hbm_top_[index(cube)];
  const Address address = make_address(cube, Region::hbm, top);
  hbm_[address].assign(bytes, kPoison);
  top += (bytes + 2 * kGap - 1) / kGap * kGap;
  return address;
}

unsigned char* FakeMachine::memory(Address address, std::size_t bytes) const {
  auto it = hbm_.upper_bound(address);
  if (it != hbm_.begin()) {
    --it;
    const std::uint64_t offset = address - it->first;
    if (bytes <= it->second.size() && offset <= it->second.size() - bytes) {
      return it->second.data() + offset;
    }
  }
  if (bytes == 0) {
    return nullptr;
  }
  throw std::out_of_range("access of " + std::to_string(bytes) +
                          " bytes outside what is allocated, at " + std::to_string(address));
}

void FakeMachine::write(Address address, const void* data, std::size_t bytes) {
  if (bytes != 0) {
    std::memcpy(memory(address, bytes), data, bytes);
  }
}

void FakeMachine::read(Address address, void* data, std::size_t bytes) const {
  if (bytes != 0) {
    std::memcpy(data, memory(address, bytes), bytes);
  }
}

void FakeMachine::write_sfr(CubeId cube, std::uint32_t offset, std::uint32_t value) {
  sfr_[{index(cube), offset}] = value;
}

std::uint32_t FakeMachine::sfr(CubeId cube, std::uint32_t offset) const {
  const auto it = sfr_.find({index(cube), offset});
  if (it != sfr_.end()) {
    return it->second;
  }
  const sfr::Field* field = sfr::find(offset);
  return field == nullptr ? 0 : field->reset;
}

void FakeMachine::chain(const std::vector<CubeId>& cubes, bool ring) {
  const std::size_t n = cubes.size();
  for (std::size_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n;
    write_sfr(cubes[i], sfr::kTopoCtrl, sfr::kTopoEnable | (ring ? sfr::kTopoRing : 0));
    write_sfr(cubes[i], sfr::kRingSize, static_cast<std::uint32_t>(n));
    write_sfr(cubes[i], sfr::kRingRank, static_cast<std::uint32_t>(i));
    write_sfr(cubes[i], sfr::kNeighbour + 4 * index(Direction::east),
              last && !ring ? sfr::kNoNeighbour : index(cubes[(i + 1) % n]));
    write_sfr(cubes[i], sfr::kNeighbour + 4 * index(Direction::west),
              i == 0 && !ring ? sfr::kNoNeighbour : index(cubes[(i + n - 1) % n]));
  }
}

FakeMachine::Channel& FakeMachine::channel(CubeId cube, PeId pe, RankAxis axis, Direction from) {
  return channels_[message_window_address(cube, pe, axis, from)];
}

FakeMachine::Channel& FakeMachine::outgoing(CubeId cube, PeId pe, RankAxis axis, Direction to) {
  if (axis == RankAxis::cube) {
    const std::uint32_t next =
        sfr(cube, sfr::kNeighbour + 4 * static_cast<std::uint32_t>(index(to)));
    if (next >= config_.cubes) {
      throw std::logic_error("message to cube " + std::to_string(next));
    }
    return channel(static_cast<CubeId>(next), pe, axis, opposite(to));
  }
  const std::uint32_t ring = sfr(cube, sfr::kPeRingSize);
  const std::uint32_t n = ring != 0 ? ring : config_.pes;
  const std::uint32_t next = (index(pe) + (to == Direction::east ? 1 : n - 1)) % n;
  return channel(cube, static_cast<PeId>(next), axis, opposite(to));
}

FakeMachine::Pe& FakeMachine::pe(CubeId cube, PeId pe) const {
  return *pes_.at(index(cube) * config_.pes + index(pe));
}

void FakeMachine::start(CubeId cube, PeId which, Firmware firmware) {
  pe(cube, which).start(std::move(firmware));
}

void FakeMachine::resume(Pe& pe) {
  std::unique_lock<std::mutex> lock(mutex_);
  running_ = &pe;
  turn_.notify_all();
  turn_.wait(lock, [this] { return running_ == nullptr; });
}

std::string FakeMachine::who_waits() const {
  std::string text = "deadlock:";
  for (const auto& pe : pes_) {
    if (!pe->finished()) {
      text += " cube " + std::to_string(index(pe->identity().cube)) + " PE " +
              std::to_string(index(pe->identity().pe)) + " waits for " + pe->waits_for() + ";";
    }
  }
  return text;
}

void FakeMachine::run() {
  while (true) {
    bool progress = false;
    bool all_done = true;
    for (const auto& pe : pes_) {
      if (pe->finished() || !pe->can_run()) {
        all_done = all_done && pe->finished();
        continue;
      }
      resume(*pe);
      progress = true;
      if (pe->failure()) {
        std::rethrow_exception(pe->failure());
      }
      all_done = all_done && pe->finished();
    }
    if (all_done) {
      return;
    }
    if (!progress) {
      throw FakeDeadlock(who_waits());
    }
  }
}

const FakeMachine::Counted& FakeMachine::counted(CubeId cube, PeId which) const {
  return pe(cube, which).counted();
}

std::uint64_t FakeMachine::total(const std::string& counter) const {
  std::uint64_t sum = 0;
  for (const auto& pe : pes_) {
    const auto it = pe->counted().counters.find(counter);
    sum += it == pe->counted().counters.end() ? 0 : it->second;
  }
  return sum;
}

}  // namespace cubevp::test
