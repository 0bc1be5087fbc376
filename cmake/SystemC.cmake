# Debian ships SystemC with pkg-config files only. This defines SystemC::systemc from either a
# CMake package (other distributions, own builds) or those files.
#
# libsystemc exports one API symbol per C++ standard; Debian's is the C++17 one, so every target
# that links it must be compiled as C++17 exactly.
find_package(SystemCLanguage CONFIG QUIET)
if(NOT TARGET SystemC::systemc)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CUBEVP_SYSTEMC REQUIRED IMPORTED_TARGET systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::CUBEVP_SYSTEMC)
  # Both macros change class layouts and must match in every translation unit.
  target_compile_definitions(SystemC::systemc INTERFACE SC_INCLUDE_DYNAMIC_PROCESSES)
endif()
