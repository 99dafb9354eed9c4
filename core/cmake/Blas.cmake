# Which build of OpenBLAS was found, said at configure; a wrong one is a warning.

if(NOT CMAKE_CROSSCOMPILING AND NOT "${GS_BLAS_CHECKED}" STREQUAL "${OPENBLAS_LIBRARY}")
  try_run(gs_blas_ran gs_blas_compiled "${CMAKE_BINARY_DIR}/blas_check"
          "${CMAKE_CURRENT_LIST_DIR}/blas_check.c"
          LINK_LIBRARIES "${OPENBLAS_LIBRARY}"
          RUN_OUTPUT_VARIABLE gs_blas_output)
  if(gs_blas_compiled AND "${gs_blas_ran}" EQUAL 0)
    string(STRIP "${gs_blas_output}" gs_blas_output)
  else()
    set(gs_blas_output "a build that cannot be asked")
  endif()
  set(GS_BLAS_BUILD "${gs_blas_output}" CACHE INTERNAL "what the BLAS says of itself")
  set(GS_BLAS_CHECKED "${OPENBLAS_LIBRARY}" CACHE INTERNAL "the BLAS that was asked")
endif()
message(STATUS "BLAS: ${GS_BLAS_BUILD} (${OPENBLAS_LIBRARY})")
if(GS_BLAS_BUILD AND NOT GS_BLAS_BUILD MATCHES "threading openmp")
  message(WARNING
    "This is not the OpenMP build of OpenBLAS: its threads would fight with ours over the cores "
    "and everything would run several times slower. Install libopenblas-openmp-dev (Debian), "
    "openblas-openmp (Fedora) or openblas (Homebrew), for example by: sh core/setup.sh build. "
    "Then configure again with --fresh, or name the library with -DOPENBLAS_LIBRARY=PATH.")
endif()
