// SPDX-License-Identifier: Apache-2.0
#include "platform/report/progress.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "platform/report/summary.h"

namespace cubevp::platform {

using Clock = std::chrono::steady_clock;

void ProgressLine::step(const std::string& what) {
  start_ = Clock::now();
  draw(what);
}

void ProgressLine::update(Ps simulated_ps, double done) {
  const auto now = Clock::now();
  if (!on_ || now - last_ < std::chrono::milliseconds(100)) {
    return;
  }
  last_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  std::string text = fmt::format("simulated {}, {:.0f} % of the work", show_time(simulated_ps),
                                 100 * std::min(done, 1.0));
  if (done > 0.02 && elapsed_s > 1) {
    text += fmt::format(", about {:.0f} s left", elapsed_s * (1 - std::min(done, 1.0)) / done);
  }
  draw(text);
}

void ProgressLine::draw(const std::string& text) {
  if (on_) {
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    std::fflush(stderr);
    drawn_ = true;
  }
}

void ProgressLine::clear() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    drawn_ = false;
  }
}

}  // namespace cubevp::platform
