# Every library that is linked, found once. Names of packages: core/setup.sh.
# The installed package reads this file too, so it must not depend on the source tree.

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(popt REQUIRED IMPORTED_TARGET popt)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
find_package(HDF5 REQUIRED COMPONENTS C)

# BLAS: the OpenMP build of OpenBLAS, so that BLAS and our loops share one pool of threads. Debian
# keeps each build in a folder of its own (openblas-openmp), Fedora calls it libopenblaso, Homebrew
# keeps it outside the default paths.
set(gs_brew_openblas /opt/homebrew/opt/openblas /usr/local/opt/openblas)
find_path(OPENBLAS_INCLUDE cblas.h
          HINTS "/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp" ${gs_brew_openblas}
          PATH_SUFFIXES openblas include REQUIRED)
find_library(OPENBLAS_LIBRARY NAMES openblaso openblas
             HINTS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp" ${gs_brew_openblas}
             PATH_SUFFIXES lib REQUIRED)
find_path(LAPACKE_INCLUDE lapacke.h HINTS ${gs_brew_openblas}
          PATH_SUFFIXES openblas include REQUIRED)
find_library(LAPACKE_LIBRARY NAMES lapacke openblaso openblas HINTS ${gs_brew_openblas}
             PATH_SUFFIXES lib REQUIRED)

# The linked folder is written into every program (rpath), and OpenBLAS comes first among the
# libraries even where a program calls only LAPACKE: then the libblas.so.3 and liblapack.so.3 that
# LAPACKE asks for, whichever alternative they are, find this OpenBLAS already loaded and there is
# one pool of threads.
add_library(gs_blas INTERFACE IMPORTED GLOBAL)
target_include_directories(gs_blas SYSTEM INTERFACE "${OPENBLAS_INCLUDE}")
if(APPLE)
  target_link_libraries(gs_blas INTERFACE "${OPENBLAS_LIBRARY}")
else()
  target_link_libraries(gs_blas INTERFACE
    "-Wl,--push-state,--no-as-needed" "${OPENBLAS_LIBRARY}" "-Wl,--pop-state")
endif()
add_library(gs_lapack INTERFACE IMPORTED GLOBAL)
target_include_directories(gs_lapack SYSTEM INTERFACE "${LAPACKE_INCLUDE}")
target_link_libraries(gs_lapack INTERFACE gs_blas "${LAPACKE_LIBRARY}")

# A shared HDF5 brings its own libraries with it; only a static one needs them named here.
add_library(gs_hdf5 INTERFACE IMPORTED GLOBAL)
target_include_directories(gs_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
separate_arguments(gs_hdf5_definitions UNIX_COMMAND "${HDF5_C_DEFINITIONS}")
target_compile_options(gs_hdf5 INTERFACE ${gs_hdf5_definitions})
if(HDF5_C_LIBRARY_hdf5 MATCHES "\\.(so|dylib)$")
  target_link_libraries(gs_hdf5 INTERFACE "${HDF5_C_LIBRARY_hdf5}")
else()
  target_link_libraries(gs_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()
