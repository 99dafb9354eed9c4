# Every library that is linked, found once. Names of packages: core/setup.sh.

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(popt REQUIRED IMPORTED_TARGET popt)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
find_package(HDF5 REQUIRED COMPONENTS C)

# BLAS: the OpenMP build of OpenBLAS, so that BLAS and our loops share one pool of threads.
find_path(OPENBLAS_INCLUDE cblas.h
          HINTS /usr/include/x86_64-linux-gnu/openblas-openmp /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
          PATH_SUFFIXES openblas-openmp openblas REQUIRED)
find_library(OPENBLAS_LIBRARY NAMES openblas openblaso
             HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
             PATH_SUFFIXES openblas-openmp REQUIRED)
find_path(LAPACKE_INCLUDE lapacke.h REQUIRED)
find_library(LAPACKE_LIBRARY NAMES lapacke openblas openblaso REQUIRED)

add_library(gs_blas INTERFACE)
target_include_directories(gs_blas SYSTEM INTERFACE ${OPENBLAS_INCLUDE})
target_link_libraries(gs_blas INTERFACE ${OPENBLAS_LIBRARY})
add_library(gs_lapack INTERFACE)
target_include_directories(gs_lapack SYSTEM INTERFACE ${LAPACKE_INCLUDE})
target_link_libraries(gs_lapack INTERFACE ${LAPACKE_LIBRARY} gs_blas)
add_library(gs_hdf5 INTERFACE)
target_include_directories(gs_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_compile_definitions(gs_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
target_link_libraries(gs_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
