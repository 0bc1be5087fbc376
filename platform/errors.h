// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include <systemc>

#include "platform/check/errors.h"
#include "platform/commands.h"
#include "platform/config/errors.h"

namespace cubevp::platform {

/// Runs a command; turns everything it may throw into lines on standard error and a status.
template <class Command>
int guarded(const Command& command) {
  ExitStatus status = ExitStatus::machine;
  try {
    status = command();
  } catch (const ConfigError& e) {
    for (const std::string& line : e.lines()) {
      std::cerr << line << '\n';
    }
    status = ExitStatus::usage;
  } catch (const IoError& e) {
    std::cerr << e.what() << '\n';
    status = ExitStatus::io;
  } catch (const InputError& e) {
    std::cerr << e.what() << '\n';
    status = ExitStatus::io;
  } catch (const std::invalid_argument& e) {
    // What the configuration asks for cannot be built or placed.
    std::cerr << e.what() << '\n';
    status = ExitStatus::usage;
  } catch (const sc_core::sc_report& e) {
    std::cerr << "the simulated machine failed: " << e.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "out of host memory\n";
  }
  return static_cast<int>(status);
}

}  // namespace cubevp::platform
