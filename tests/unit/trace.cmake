cubevp_test(trace_test
  SOURCES vcd_writer_test.cpp tracer_test.cpp perfetto_writer_test.cpp gtkw_test.cpp
    output_file_test.cpp trace_scope_test.cpp
  LINK cubevp_trace cubevp_test_process nlohmann_json::nlohmann_json
  LABELS unit)
