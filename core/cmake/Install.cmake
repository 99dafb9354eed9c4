# What `cmake --install` puts where: programs to bin, libraries to lib, public headers to
# include/gpnscope under the path they have here, and a CMake package (find_package(gpnscope)).

include(CMakePackageConfigHelpers)
set(gs_package "${CMAKE_INSTALL_LIBDIR}/cmake/gpnscope")

install(TARGETS gs_common gpnscope-core gpnscope-probes gpnscope-analyses gpnscope-reports
        EXPORT gpnscope ARCHIVE LIBRARY)
install(EXPORT gpnscope NAMESPACE gpnscope:: FILE gpnscopeTargets.cmake DESTINATION "${gs_package}")

include(PublicHeaders)
foreach(header ${gs_public_headers})
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gpnscope/${folder}")
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gpnscopeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/gpnscopeConfig.cmake" INSTALL_DESTINATION "${gs_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gpnscopeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gpnscopeConfig.cmake"
              "${PROJECT_BINARY_DIR}/gpnscopeConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake"
        DESTINATION "${gs_package}")
