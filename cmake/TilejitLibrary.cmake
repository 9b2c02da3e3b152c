# tilejit::tilejit (shared) and tilejit::tilejit_static, from the same objects, and their installation.
set(objects $<TARGET_OBJECTS:tilejit_cache_objects>)
foreach(room IN LISTS TILEJIT_ROOMS)
  list(APPEND objects $<TARGET_OBJECTS:tilejit_room_${room}>)
endforeach()

add_library(tilejit SHARED ${objects})
add_library(tilejit_static STATIC ${objects})
if(TILEJIT_PORTABLE)
  # Otherwise libcurl, which is loaded later, would find half of its OpenSSL in ours.
  target_link_options(tilejit PRIVATE LINKER:--exclude-libs,ALL)
endif()
target_link_options(tilejit PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(tilejit PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(tilejit PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
set_target_properties(tilejit_static PROPERTIES OUTPUT_NAME tilejit)
foreach(library tilejit tilejit_static)
  add_library(tilejit::${library} ALIAS ${library})
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/cache/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Header-only dependencies were compiled in; only libraries that have to be linked are named.
  target_link_libraries(${library} PRIVATE OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
  if(NOT TILEJIT_PORTABLE)
    target_link_libraries(${library} PRIVATE spdlog::spdlog fmt::fmt)
  endif()
endforeach()

include(CMakePackageConfigHelpers)
install(TARGETS tilejit tilejit_static EXPORT tilejitTargets)
install(DIRECTORY include/tilejit cache/include/tilejit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilejitTargets NAMESPACE tilejit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilejit)
configure_package_config_file(cmake/tilejitConfig.cmake.in ${PROJECT_BINARY_DIR}/tilejitConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilejit)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilejitConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilejitConfig.cmake ${PROJECT_BINARY_DIR}/tilejitConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilejit)
