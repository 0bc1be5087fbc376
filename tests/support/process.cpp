// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace cubevp::test {

namespace fs = std::filesystem;

namespace {

// AddressSanitizer says once that it does not know the stack of a SystemC thread that throws. It
// is no word of the platform.
std::string without_sanitizer_notes(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("WARNING: ASan is ignoring requested __asan_handle_no_return") !=
            std::string::npos ||
        line == "False positive error reports may follow" ||
        line == "For details see https://github.com/google/sanitizers/issues/189") {
      continue;
    }
    kept += line;
    if (!lines.eof()) {
      kept += '\n';
    }
  }
  return kept;
}

}  // namespace

ProcessResult run_process(const std::string& program, const std::vector<std::string>& args,
                          const std::string& folder, int interrupt_after_ms) {
  const TemporaryFolder pipes;
  const std::string out = pipes.file("out");
  const std::string err = pipes.file("err");
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& a : args) {
    argv.push_back(const_cast<char*>(a.c_str()));
  }
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const auto redirect = [](const std::string& path, int to) {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      return file >= 0 && dup2(file, to) >= 0;
    };
    if (!redirect(out, STDOUT_FILENO) || !redirect(err, STDERR_FILENO) ||
        chdir(folder.c_str()) != 0) {
      _exit(126);
    }
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  if (child < 0) {
    throw std::runtime_error("fork failed");
  }
  if (interrupt_after_ms > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(interrupt_after_ms));
    kill(child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ProcessResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(out);
  result.err = without_sanitizer_notes(read_file(err));
  return result;
}

ProcessResult run_platform(const std::vector<std::string>& args, const std::string& folder,
                           int interrupt_after_ms) {
  const char* program = std::getenv("CUBEVP_PLATFORM");
  if (program == nullptr) {
    throw std::runtime_error("CUBEVP_PLATFORM is not set; run this test by ctest");
  }
  return run_process(program, args, folder, interrupt_after_ms);
}

TemporaryFolder::TemporaryFolder() {
  std::string path = (fs::temp_directory_path() / "cubevp_XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("no temporary folder can be made");
  }
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& content) const {
  const std::string path = file(name);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> found;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(path_)) {
    if (e.is_regular_file()) {
      found.push_back(fs::relative(e.path(), path_).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  if (!file) {
    ADD_FAILURE() << path << " cannot be read";
    return "";
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cubevp::test
