// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "hw/sim/time.h"

namespace cubevp::sim {

/// What a module has to do later, sorted by time and then by order of entry, behind one event.
/// The owner runs a process sensitive to event() that takes everything due and then calls rearm().
template <typename Item>
class Agenda {
 public:
  explicit Agenda(const char* name) : event_(name) {}
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  const sc_core::sc_event& event() const { return event_; }

  void push(Ps at, Item item) {
    entries_.push_back({at, next_sequence_++, std::move(item)});
    std::push_heap(entries_.begin(), entries_.end(), later);
    arm(at);
  }
  /// Takes the first entry if its time has come.
  bool take_due(Item& item) {
    if (entries_.empty() || entries_.front().at > now_ps()) {
      return false;
    }
    std::pop_heap(entries_.begin(), entries_.end(), later);
    item = std::move(entries_.back().item);
    entries_.pop_back();
    return true;
  }
  /// After everything due has been taken, in the process that the event woke.
  void rearm() {
    armed_at_ = kNever;
    if (!entries_.empty()) {
      arm(entries_.front().at);
    }
  }
  bool empty() const { return entries_.empty(); }

 private:
  static constexpr Ps kNever = std::numeric_limits<Ps>::max();
  struct Entry {
    Ps at;
    std::uint64_t sequence;
    Item item;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }
  void arm(Ps at) {
    if (at < armed_at_) {
      armed_at_ = at;
      event_.notify(to_sc_time(std::max<Ps>(0, at - now_ps())));
    }
  }

  std::vector<Entry> entries_;
  std::uint64_t next_sequence_ = 0;
  Ps armed_at_ = kNever;
  sc_core::sc_event event_;
};

}  // namespace cubevp::sim
