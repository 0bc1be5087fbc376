// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/hbm/hbm_address_map.h"
#include "hw/hbm/hbm_channel.h"
#include "hw/hbm/hbm_config.h"
#include "hw/sim/agenda.h"
#include "hw/sim/sparse_memory.h"

namespace cubevp::hw {

/// The HBM stack of a cube: one port beside each NoC stop, each port with a slab of the capacity
/// and its own channels, and the bytes.
///
/// A request is cut into the parts that lie in one row; each goes to its pseudo-channel's queue,
/// and the answer leaves the port when the last part is done, one answer at a time. END_REQ is
/// held back while a queue it needs is full. Bytes move when the request arrives, in the order of
/// arrival, so that a read sees every write accepted before it.
///
/// b_transport adds the idle latency and does not contend; transport_dbg is untimed. Byte enables
/// and streaming are served. No DMI: the memory is sparse.
class HbmStack final : public sc_core::sc_module, private HbmChannelClient {
 public:
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<HbmStack>> port_tsocks;

  HbmStack(const sc_core::sc_module_name& name, const HbmConfig& config, std::uint32_t ports);

  sim::SparseMemory& memory() { return memory_; }
  /// transport_dbg for whoever has no port: the payload's address is a system address.
  unsigned debug_access(tlm::tlm_generic_payload& payload);

 private:
  struct Request {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint32_t port = 0;
    std::uint32_t parts_left = 0;
    Ps done_ps = 0;
  };
  struct Part {
    std::uint32_t channel = 0;
    std::uint32_t pseudo_channel = 0;  ///< of the channel
    HbmTrain train;
    std::uint32_t bytes = 0;
  };
  struct Port {
    tlm::tlm_generic_payload* held = nullptr;  ///< BEGIN_REQ without END_REQ
    Ps held_from_ps = 0;                       ///< when it arrived
    std::deque<std::uint32_t> answers;         ///< done, in order
    bool answering = false;                    ///< BEGIN_RESP without END_RESP
    Ps answer_from_ps = 0;
  };

  tlm::tlm_sync_enum nb_transport(int port, tlm::tlm_generic_payload& payload,
                                  tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void b_transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int, tlm::tlm_generic_payload& payload) { return debug_access(payload); }
  void part_done(std::uint32_t request, Ps at_ps) override;
  void room() override;
  void run();

  /// Moves the bytes and sets the status; false when the range does not exist.
  bool transfer(tlm::tlm_generic_payload& payload);
  void split(const tlm::tlm_generic_payload& payload, std::vector<Part>& parts) const;
  bool try_enqueue(std::uint32_t port, tlm::tlm_generic_payload& payload, Ps arrival_ps);
  void answer(std::uint32_t port);
  std::uint32_t new_request(std::uint32_t port, tlm::tlm_generic_payload& payload,
                            std::size_t parts);

  const HbmConfig config_;
  const std::uint64_t slab_bytes_;
  const std::uint32_t channels_per_port_;
  const HbmAddressMap map_;
  sim::SparseMemory memory_;
  sc_core::sc_vector<HbmChannel> channels_;
  std::vector<Port> ports_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  std::vector<Part> scratch_parts_;
  sim::Agenda<std::uint32_t> done_{"done"};              ///< requests, by when they are done
  sim::Agenda<std::uint32_t> ports_free_{"ports_free"};  ///< ports that may answer again
};

}  // namespace cubevp::hw
