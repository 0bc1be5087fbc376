cubevp_test(cpu_test
  SOURCES cpu_test.cpp cpu_fault_test.cpp
  LINK cubevp_cpu
  LABELS unit)
