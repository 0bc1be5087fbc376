cubevp_test(config_test
  SOURCES config_quantities_test.cpp config_yaml_test.cpp config_rules_test.cpp
    config_limits_test.cpp config_presets_test.cpp config_files_test.cpp config_resolved_test.cpp
  LINK cubevp_config cubevp_kernels cubevp_check cubevp_test_process
  LABELS unit)
