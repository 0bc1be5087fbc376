# Installs the kernel interface and the CMake package that finds it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS cubevp_tl ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Headers include each other by their path from the root of the repository.
foreach(folder firmware/tl hw/base)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cubevp/${folder}/..
    FILES_MATCHING PATTERN "*.h")
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/CubeVP)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/CubeVPConfig.cmake.in
  ${CMAKE_BINARY_DIR}/CubeVPConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/CubeVPConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/CubeVPConfig.cmake ${CMAKE_BINARY_DIR}/CubeVPConfigVersion.cmake
  DESTINATION ${package_dir})
