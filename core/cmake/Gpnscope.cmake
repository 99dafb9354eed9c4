# What every target of the project has in common.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

option(GS_WERROR "Treat warnings as errors" OFF)
# project() has already put empty flags of an unknown build type into the cache, so a plain cache
# entry would change nothing: fill them where they are empty.
if(NOT CMAKE_C_FLAGS_ASAN)
  set(gs_sanitize "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer")
  foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_ASAN "-O1 -g ${gs_sanitize}" CACHE STRING
        "${language} flags of the Asan build type" FORCE)
  endforeach()
  set(CMAKE_EXE_LINKER_FLAGS_ASAN "-fsanitize=address,undefined" CACHE STRING
      "Linker flags of the Asan build type" FORCE)
endif()

# libFuzzer's counters in all of our code; its main() only in the fuzzers (tests/fuzz).
option(GS_FUZZ "Link the fuzzers with libFuzzer (clang, build type Asan)" OFF)
if(GS_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GS_FUZZ needs clang (CC=clang CXX=clang++); without it the fuzzers have a runner of their own")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Warnings and definitions are ours alone; a consumer of the installed package gets the include path.
add_library(gs_common INTERFACE)
target_include_directories(gs_common INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/gpnscope>")
target_compile_definitions(gs_common INTERFACE
  "$<BUILD_INTERFACE:_XOPEN_SOURCE=700;_DEFAULT_SOURCE;_FILE_OFFSET_BITS=64>")
target_compile_options(gs_common INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wconversion;-Wshadow>"
  "$<BUILD_INTERFACE:$<$<BOOL:${GS_WERROR}>:-Werror>>")

# Every program, without the tests: cmake --build build --target programs
add_custom_target(programs)

# gs_add_program(<command> <library> <source>…): the program gpnscope-<command>, found by the
# dispatcher beside itself.
function(gs_add_program command library source)
  add_executable(gpnscope-${command} ${source} ${ARGN})
  target_link_libraries(gpnscope-${command} PRIVATE ${library})
  add_dependencies(programs gpnscope-${command})
  install(TARGETS gpnscope-${command} RUNTIME)
endfunction()

# gs_add_test(<name> LIBRARIES <lib>… SOURCES <file>… [LABELS <label>…] [ARGUMENTS …]): one cmocka
# program, one ctest entry. Exit code 77 means skipped, by name, with the reason printed.
function(gs_add_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;SOURCES;LABELS;ARGUMENTS" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ${arg_LIBRARIES} gs_test_support)
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND test_${name} ${arg_ARGUMENTS})
  # passive: tests run side by side, and threads that spin at barriers would starve each other
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "${arg_LABELS}"
    ENVIRONMENT "OMP_WAIT_POLICY=passive;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0;GS_BIN=${PROJECT_BINARY_DIR}/bin;GS_SOURCE=${PROJECT_SOURCE_DIR};GS_SHARED=${PROJECT_SOURCE_DIR}/../shared")
endfunction()
