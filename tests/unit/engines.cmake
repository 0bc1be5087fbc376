cubevp_test(engines_test
  SOURCES gemm_timing_test.cpp gemm_unit_test.cpp vector_timing_test.cpp vector_unit_test.cpp
    dma_test.cpp message_queue_test.cpp scoreboard_test.cpp command_processor_test.cpp
  LINK cubevp_gemm cubevp_vector cubevp_dma cubevp_message_queue cubevp_command_processor
    cubevp_scratchpad
  LABELS unit)
