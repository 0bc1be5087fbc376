// SPDX-License-Identifier: Apache-2.0
// Whole runs of the main configurations, each a process of its own: host seconds, modelled events a
// second and peak memory, as the run itself reports them.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace {

/// The result of a run with `options`; null when the run did not end well.
nlohmann::json run(const std::string& config, const char* mode) {
  std::string folder = (std::filesystem::temp_directory_path() / "cubevp_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    execl(CUBEVP_BENCH_PLATFORM, "platform", "--config", config.c_str(), "--out", folder.c_str(),
          "--quiet", "--no-trace", mode, nullptr);
    _exit(127);
  }
  int status = -1;
  nlohmann::json result;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
      WEXITSTATUS(status) == 0) {
    std::ifstream file(folder + "/result.json");
    result = nlohmann::json::parse(file, nullptr, false);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return result.is_object() ? result : nlohmann::json();
}

/// `mode`: one more option of run, --no-data for timing alone.
void platform(benchmark::State& state, const char* config, const char* mode) {
  nlohmann::json host;
  for (auto _ : state) {
    const nlohmann::json result = run(config, mode);
    if (result.is_null()) {
      state.SkipWithError("the run failed");
      return;
    }
    host = result.at("host");
    state.SetIterationTime(host.at("wall_s").get<double>());
    state.counters["simulated_us"] = result.at("time").at("kernel_ns").get<double>() / 1e3;
  }
  state.counters["events_per_s"] = host.at("events_per_s").get<double>();
  state.counters["peak_rss_mib"] = host.at("peak_rss_mib").get<double>();
  state.counters["cpu_s"] = host.at("cpu_s").get<double>();
}

#define CUBEVP_MAIN_RUN(name, config)                              \
  BENCHMARK_CAPTURE(platform, name, config, "--no-progress")       \
      ->UseManualTime()                                            \
      ->Unit(benchmark::kSecond)                                   \
      ->Iterations(1);                                             \
  BENCHMARK_CAPTURE(platform, name##_no_data, config, "--no-data") \
      ->UseManualTime()                                            \
      ->Unit(benchmark::kSecond)                                   \
      ->Iterations(1)

CUBEVP_MAIN_RUN(decode, "llama70b_decode.yaml");
CUBEVP_MAIN_RUN(decode_multi_user, "llama70b_decode_multi_user.yaml");
CUBEVP_MAIN_RUN(prefill, "llama70b_prefill.yaml");

}  // namespace
