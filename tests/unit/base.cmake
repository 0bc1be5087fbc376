cubevp_test(base_test
  SOURCES base_address_test.cpp base_command_test.cpp base_units_test.cpp
  LINK cubevp_base
  LABELS unit)
