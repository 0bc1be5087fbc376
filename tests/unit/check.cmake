cubevp_test(check_test
  SOURCES check_npy_test.cpp check_tensors_test.cpp check_inputs_test.cpp check_reference_test.cpp
    check_gates_test.cpp
  LINK cubevp_check
  LABELS unit)
