cubevp_test(noc_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/router_test.cpp ${CMAKE_CURRENT_LIST_DIR}/network_interface_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/noc_test.cpp
  LINK cubevp_noc cubevp_link)
