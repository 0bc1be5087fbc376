// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <systemc>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// A warning of the kernel (a duplicate name, a late binding) is a fault of the model: it fails the
// test that caused it. Errors throw, as by default; fatal ones throw too instead of aborting.
void report_handler(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() == sc_core::SC_WARNING) {
    ADD_FAILURE() << "SystemC warning: " << report.what();
  }
  if ((actions & sc_core::SC_THROW) != 0 || report.get_severity() >= sc_core::SC_ERROR) {
    throw report;
  }
}

}  // namespace

// libsystemc holds main() and calls this; gtest_main must not be linked.
int sc_main(int argc, char* argv[]) {
  // Where tests find the sources and the executable, unless the caller says otherwise.
  setenv("CUBEVP_SOURCE_DIR", CUBEVP_TEST_SOURCE_DIR, 0);
  setenv("CUBEVP_PLATFORM", CUBEVP_TEST_PLATFORM, 0);
  testing::InitGoogleTest(&argc, argv);
  sc_core::sc_report_handler::set_handler(report_handler);
  return RUN_ALL_TESTS();
}
