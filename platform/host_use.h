// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>

#include "platform/report/run_result.h"

namespace cubevp::platform {

/// What a run costs on the host, from construction to finish().
class HostUseMeter {
 public:
  /// `events`: what the model did (model_events).
  void finish(HostUse& use, std::uint64_t events) const {
    rusage r{};
    getrusage(RUSAGE_SELF, &r);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    use.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    use.cpu_s = seconds(r.ru_utime) + seconds(r.ru_stime);
    use.peak_rss_mib = static_cast<double>(r.ru_maxrss) / 1024;
    use.events_per_s = use.wall_s > 0 ? static_cast<double>(events) / use.wall_s : 0.0;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace cubevp::platform
