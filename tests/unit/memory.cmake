cubevp_test(hbm_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/hbm_timing_test.cpp ${CMAKE_CURRENT_LIST_DIR}/hbm_channel_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/hbm_rates_test.cpp ${CMAKE_CURRENT_LIST_DIR}/hbm_stack_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/hbm_protocol_test.cpp
  LINK cubevp_hbm)
cubevp_test(scratchpad_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/scratchpad_test.cpp
  LINK cubevp_scratchpad)
