// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <systemc>
#include <tlm>

#include "hw/base/command.h"
#include "hw/base/units.h"

namespace cubevp::sim {

/// Virtual channel that a packet takes through the network.
enum class MessageClass : std::uint8_t { request, response, message };
inline constexpr int kMessageClasses = 3;

/// Everything the project attaches to a generic payload. All fields have neutral defaults, so a
/// payload of somebody else's, without the extension, is a request with real data.
struct TransactionExtension : tlm::tlm_extension<TransactionExtension> {
  static constexpr int kMaxHops = 120;

  /// Class of the packet that carries the request; the answer always travels as response.
  MessageClass message_class = MessageClass::request;
  /// No tensor bytes move: targets answer and take their time but leave the data array alone
  /// (it is a shared dummy of at least the payload's length).
  bool timing_only = false;

  /// Network state. A packet's tail arrives tail_lag_ps after its head: the longest
  /// serialisation on its way so far.
  Ps tail_lag_ps = 0;
  /// Input port by which the request entered each router or link on its way; the response goes
  /// back the same way and pops them.
  std::array<std::uint8_t, kMaxHops> path{};
  std::uint8_t hops = 0;

  /// Command dispatch (command processor -> engine): the descriptor, alive until completion.
  const Command* command = nullptr;

  /// Message packets: bytes of the whole message, byte of the message that this packet starts
  /// at, and the message's number on its channel.
  std::uint64_t message_bytes = 0;
  std::uint64_t message_offset = 0;
  std::uint64_t message_number = 0;

  /// Free for the initiator that owns the payload (index of a channel, of a burst).
  std::uint64_t initiator_tag = 0;
  /// Free for the target, between BEGIN_REQ and END_RESP.
  std::uint64_t target_tag = 0;
  /// Why the response is an error, when there is more to say than the status.
  std::string fault;

  tlm::tlm_extension_base* clone() const override { return new TransactionExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const TransactionExtension&>(other);
  }
  void reset();
};

/// The extension of a payload, or nullptr when somebody else's initiator made it.
inline TransactionExtension* extension(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<TransactionExtension>();
}

/// Keeps payloads, each with its extension, for reuse. One pool serves one machine.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  PayloadPool() = default;
  ~PayloadPool() override;
  PayloadPool(const PayloadPool&) = delete;
  PayloadPool& operator=(const PayloadPool&) = delete;

  /// A payload with one reference, every field at its neutral value.
  tlm::tlm_generic_payload& allocate();
  void free(tlm::tlm_generic_payload* payload) override;
  /// Payloads handed out and not yet back: 0 at the end of every clean run.
  std::size_t in_use() const { return all_.size() - free_.size(); }

  /// Bytes that timing-only payloads point at; never read for meaning.
  unsigned char* dummy_data() { return dummy_.data(); }
  static constexpr std::size_t kDummyBytes = std::size_t{1} << 16;

 private:
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> free_;
  std::vector<unsigned char> dummy_ = std::vector<unsigned char>(kDummyBytes);
};

/// Holds one reference of a payload and lets go of it.
class PayloadPtr {
 public:
  PayloadPtr() = default;
  /// Takes over the reference that PayloadPool::allocate gave.
  static PayloadPtr adopt(tlm::tlm_generic_payload& payload) { return PayloadPtr(&payload); }
  /// Adds a reference.
  static PayloadPtr share(tlm::tlm_generic_payload& payload) {
    payload.acquire();
    return PayloadPtr(&payload);
  }
  PayloadPtr(PayloadPtr&& other) noexcept : payload_(std::exchange(other.payload_, nullptr)) {}
  PayloadPtr& operator=(PayloadPtr&& other) noexcept {
    std::swap(payload_, other.payload_);
    return *this;
  }
  PayloadPtr(const PayloadPtr&) = delete;
  PayloadPtr& operator=(const PayloadPtr&) = delete;
  ~PayloadPtr() {
    if (payload_ != nullptr) {
      payload_->release();
    }
  }
  tlm::tlm_generic_payload* get() const { return payload_; }
  tlm::tlm_generic_payload& operator*() const { return *payload_; }
  tlm::tlm_generic_payload* operator->() const { return payload_; }
  explicit operator bool() const { return payload_ != nullptr; }

 private:
  explicit PayloadPtr(tlm::tlm_generic_payload* payload) : payload_(payload) {}
  tlm::tlm_generic_payload* payload_ = nullptr;
};

/// Sets the fields of a memory access; the rest keep their neutral values.
void set_access(tlm::tlm_generic_payload& payload, tlm::tlm_command command, Address address,
                unsigned char* data, std::size_t bytes);

/// "TLM_ADDRESS_ERROR_RESPONSE at 0x... (region hbm of cube 3)": for fault messages.
std::string describe_error(const tlm::tlm_generic_payload& payload);

}  // namespace cubevp::sim
