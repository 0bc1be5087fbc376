// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/command_processor/command_processor_config.h"
#include "hw/command_processor/composite.h"
#include "hw/command_processor/scoreboard.h"
#include "hw/sim/busy_timer.h"
#include "hw/sim/pe_shared.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// Index into CommandProcessor::engine_isocks.
enum class Engine : std::uint8_t { gemm, vector, dma, message_queue };
inline constexpr int kEngines = 4;

/// The command processor of a PE: holds up to `queue_depth` commands that are not complete, lets
/// each start once no earlier one conflicts with it (scoreboard.h), and expands composites into
/// loads and gemms (composite.h).
///
/// Timing: dispatch takes no time of its own; issuing was paid for by the cpu. Commands start in
/// order within a lane (gemm, vector, loads, stores, sends and receives of one axis and
/// direction) and out of order between lanes. A full queue holds the writer's b_transport.
///
/// Does not model: speculative start, cancelling of commands, priorities.
class CommandProcessor final : public sc_core::sc_module,
                               public sim::StatsProvider,
                               public sim::TraceSource {
 public:
  using Config = CommandProcessorConfig;
  /// A command has failed; the text says why. The command counts as complete.
  using FaultCallback = std::function<void(CommandId, const std::string&)>;

  tlm_utils::simple_target_socket<CommandProcessor> cpu_tsock{"cpu_tsock"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<CommandProcessor>> engine_isocks{
      "engine_isocks", kEngines};

  CommandProcessor(const sc_core::sc_module_name& name, const Config& config,
                   const sim::PeShared& shared, FaultCallback on_fault);

  auto& engine_isock(Engine engine) { return engine_isocks[static_cast<std::size_t>(engine)]; }

  /// The command was issued and is complete.
  bool complete(CommandId id) const;
  /// Commands issued and not complete.
  std::size_t incomplete() const { return commands_.size(); }
  /// Notified whenever a command completes.
  const sc_core::sc_event& completed_event() const { return completed_event_; }

  struct PendingCommand {
    enum class State : std::uint8_t {
      blocked,     ///< an earlier command touches the same bytes
      waiting,     ///< its lane or its engine is taken
      dispatched,  ///< its engine has it
    };
    CommandId id{};
    Opcode opcode = Opcode::vector;
    const char* label = "";
    MessageParams message;
    State state = State::waiting;
    CommandId blocked_by{};  ///< with State::blocked
    Ps since_ps = 0;         ///< when it was issued
  };
  /// Every command that is not complete, oldest first, for the reader of a stuck machine.
  std::vector<PendingCommand> pending() const;

  const char* stats_kind() const override { return "command_processor"; }
  /// ops: commands completed. more: composites, sub_commands, queue_full_ps.
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state_signal_, &op_signal_, &queue_signal_};
  }

 private:
  /// Lanes: gemm, vector, loads, stores, then sends and receives by axis and direction.
  static constexpr int kChannels = 2 * kDirections;
  static constexpr int kGemmLane = 0;
  static constexpr int kVectorLane = 1;
  static constexpr int kLoadLane = 2;
  static constexpr int kStoreLane = 3;
  static constexpr int kSendLane = 4;
  static constexpr int kRecvLane = kSendLane + kChannels;
  static constexpr int kLanes = kRecvLane + kChannels;

  /// What an engine is given: a command, or a part of a composite.
  struct Unit {
    Command command;
    int lane = 0;
    bool dispatched = false;
  };
  /// A command that is not complete. A composite has its loads and gemms as units, two tiles at a
  /// time; every other command is its own only unit.
  struct Entry {
    Command command;
    Ps since_ps = 0;
    std::map<std::uint32_t, Unit> units;  ///< expanded and not complete, by part
    std::unique_ptr<CompositeExpansion> composite;
    std::uint32_t tiles_expanded = 0;
    std::uint32_t loads_dispatched = 0;
    std::uint32_t gemms_dispatched = 0;
    std::uint32_t gemms_complete = 0;
    std::string fault;
  };
  struct Response {
    Ps at_ps;
    SequenceKey key;
    std::string fault;
  };

  tlm::tlm_sync_enum on_cpu_nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay);
  void on_cpu_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned on_cpu_debug(tlm::tlm_generic_payload&) { return 0; }
  tlm::tlm_sync_enum on_engine_response(int engine, tlm::tlm_generic_payload& payload,
                                        tlm::tlm_phase& phase, sc_core::sc_time& delay);

  bool full() const { return commands_.size() >= config_.queue_depth; }
  bool refuse(tlm::tlm_generic_payload& payload) const;
  void enqueue(const Command& command);
  void admit_foreign();

  void step();
  void take_responses();
  void finish_unit(const Response& response);
  void finish_command(Entry& entry);
  void expand(Entry& entry);
  void add_unit(Entry& entry, std::uint32_t part, const Command& command);
  void dispatch();
  bool dispatch_one(int engine);
  /// The part that goes next in a lane, if it is expanded and waits.
  bool head(int lane, SequenceKey& key) const;
  void mark_dispatched(Entry& entry, SequenceKey key);
  void send(int engine, SequenceKey key, const Unit& unit);
  void note_response(const tlm::tlm_generic_payload& payload, Ps at_ps);
  void schedule();
  void trace();

  const Config config_;
  const sim::PeShared shared_;
  const FaultCallback on_fault_;

  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Entry> commands_;  ///< not complete, by number
  std::array<std::deque<std::uint64_t>, kLanes> lanes_;
  Scoreboard scoreboard_;
  std::deque<Response> responses_;
  std::array<tlm::tlm_generic_payload*, kEngines> requesting_{};  ///< END_REQ to come
  std::array<Ps, kEngines> port_free_ps_{};
  std::deque<tlm::tlm_generic_payload*> foreign_;  ///< nb_transport writers waiting for room

  sc_core::sc_event step_event_{"step_event"};
  sc_core::sc_event completed_event_{"completed_event"};

  sim::BusyTimer busy_;
  sim::UnitStats counts_;
  sim::TraceSignal state_signal_{"state", 2, {"idle", "waiting", "active"}};
  sim::TraceSignal op_signal_{"op", 8};
  sim::TraceSignal queue_signal_{"queue", 16};
};

}  // namespace cubevp::hw
