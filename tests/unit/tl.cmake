cubevp_test(tl_test
  SOURCES tl_args_test.cpp tl_shape_test.cpp
  LINK cubevp_tl
  LABELS unit)
