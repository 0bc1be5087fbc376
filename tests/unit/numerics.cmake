cubevp_test(numerics_test
  SOURCES numerics_convert_test.cpp numerics_gemm_test.cpp numerics_vector_test.cpp
    numerics_targets_test.cpp
  LINK cubevp_numerics hwy::hwy
  LABELS unit)
cubevp_test(host_pool_test
  SOURCES host_pool_test.cpp
  LINK cubevp_sim
  LABELS unit)
