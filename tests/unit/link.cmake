cubevp_test(link_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_test.cpp
  LINK cubevp_noc cubevp_link)
