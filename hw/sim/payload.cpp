// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/payload.h"

#include <cstdio>

namespace cubevp::sim {

void TransactionExtension::reset() {
  message_class = MessageClass::request;
  timing_only = false;
  tail_lag_ps = 0;
  hops = 0;
  command = nullptr;
  message_bytes = 0;
  message_offset = 0;
  message_number = 0;
  initiator_tag = 0;
  target_tag = 0;
  fault.clear();
}

PayloadPool::~PayloadPool() {
  // A payload still referenced at the end of a stopped simulation is destroyed with the pool.
  for (const auto& payload : all_) {
    TransactionExtension* ext = nullptr;
    payload->get_extension(ext);
    payload->clear_extension(ext);
    delete ext;
  }
}

tlm::tlm_generic_payload& PayloadPool::allocate() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
    all_.back()->set_extension(new TransactionExtension);
    free_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload& payload = *free_.back();
  free_.pop_back();
  payload.set_command(tlm::TLM_IGNORE_COMMAND);
  payload.set_address(0);
  payload.set_data_ptr(nullptr);
  payload.set_data_length(0);
  payload.set_streaming_width(0);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  payload.set_dmi_allowed(false);
  payload.set_gp_option(tlm::TLM_MIN_PAYLOAD);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  extension(payload)->reset();
  payload.acquire();
  return payload;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  free_.push_back(payload);
}

void set_access(tlm::tlm_generic_payload& payload, tlm::tlm_command command, Address address,
                unsigned char* data, std::size_t bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

std::string describe_error(const tlm::tlm_generic_payload& payload) {
  const DecodedAddress a = decode(payload.get_address());
  char text[160];
  std::snprintf(text, sizeof text, "%s at address 0x%llx (cube %u, region %s, offset 0x%llx)",
                payload.get_response_string().c_str(),
                static_cast<unsigned long long>(payload.get_address()), index(a.cube),
                region_name(a.region), static_cast<unsigned long long>(a.offset));
  const TransactionExtension* ext = extension(payload);
  return ext != nullptr && !ext->fault.empty() ? std::string(text) + ": " + ext->fault : text;
}

}  // namespace cubevp::sim
