# One static library a folder, one helper a test file: the only CMake functions of the project.
include_guard()

add_library(cubevp_options INTERFACE)
target_compile_features(cubevp_options INTERFACE cxx_std_17)
target_include_directories(cubevp_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(cubevp_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${CUBEVP_WERROR}>:-Werror>
  # f32 results must not depend on what the compiler fuses.
  -ffp-contract=off)
if(CUBEVP_SANITIZE)
  target_compile_options(cubevp_options INTERFACE -fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(cubevp_options INTERFACE -fsanitize=address,undefined)
endif()

# cubevp_library(NAME SOURCES... LINK deps...): a static library of the folder it is called in.
function(cubevp_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC cubevp_options ${ARG_LINK})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE cubevp_options ${ARG_LINK})
  endif()
endfunction()

# cubevp_test(NAME SOURCES... LINK deps... [LABELS ...] [TIMEOUT s]): a GoogleTest program whose
# cases run as one process each, since SystemC elaborates once a process.
function(cubevp_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE cubevp_test_support ${ARG_LINK})
  gtest_discover_tests(${name}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
      # SystemC's coroutines change stacks; LeakSanitizer and fake stacks cannot follow them.
      ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0")
endfunction()
