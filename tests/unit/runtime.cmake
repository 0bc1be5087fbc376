cubevp_test(runtime_test
  SOURCES kernel_context_test.cpp neighbours_test.cpp run_kernel_test.cpp
    ../support/fake_machine.cpp
  LINK cubevp_runtime cubevp_numerics
  LABELS unit)
