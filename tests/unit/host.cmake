cubevp_test(host_test
  SOURCES topology_test.cpp placement_test.cpp diagnosis_test.cpp
  LINK cubevp_host)
