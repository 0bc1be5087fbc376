cubevp_test(sim_test
  SOURCES sim_payload_test.cpp sim_time_test.cpp sim_memory_test.cpp sim_command_target_test.cpp
  LINK cubevp_sim
  LABELS unit)
