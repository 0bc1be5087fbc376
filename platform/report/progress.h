// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "hw/base/units.h"

namespace cubevp::platform {

/// The live line on standard error: simulated time, part of the work that is done, and how long
/// the rest will take. Redraws at most ten times a second.
class ProgressLine {
 public:
  explicit ProgressLine(bool on) : on_(on) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// A step of the run that has no measure ("loading inputs").
  void step(const std::string& what);
  /// `done`: 0 to 1.
  void update(Ps simulated_ps, double done);
  void clear();

 private:
  void draw(const std::string& text);

  const bool on_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace cubevp::platform
