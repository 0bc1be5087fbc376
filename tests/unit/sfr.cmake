cubevp_test(sfr_test
  SOURCES sfr_registers_test.cpp sfr_block_test.cpp
  LINK cubevp_sfr
  LABELS unit)
