# Tests that are not one program a room: the command, an installed library, the fuzz targets.

# Parts of the command that can be tested without running it.
file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*_test.cpp)
if(TARGET tilejit_command_objects)
  add_executable(cli_tests ${cli_sources})
  target_link_libraries(cli_tests PRIVATE tilejit_command_objects tilejit_test_support)
  target_include_directories(cli_tests PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  gtest_discover_tests(cli_tests DISCOVERY_TIMEOUT 60 PROPERTIES LABELS cpu TIMEOUT 120)
endif()

# The command as its users meet it: arguments, exit codes, messages, files.
if(TARGET tilejit_command)
  foreach(suite usage bad_input run print catalogue compile worker cache tune bench explain layout layout_batch
      layout_documents layout_page)
    add_test(NAME command.${suite}
      COMMAND ${TILEJIT_PYTHON} -m unittest -v test_${suite}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/cli)
    set_tests_properties(command.${suite} PROPERTIES LABELS cpu TIMEOUT 300
      ENVIRONMENT "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

# A stranger's project that finds the installed library.
if(NOT TILEJIT_SANITIZE)
  add_test(NAME consumer
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DGENERATOR=${CMAKE_GENERATOR}
      -DCOMPILER=${CMAKE_CXX_COMPILER} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/consumer
      -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.cmake)
  set_tests_properties(consumer PROPERTIES LABELS cpu TIMEOUT 300)
endif()

# tests/fuzz/<name>_fuzz.cpp: libFuzzer targets.
if(TILEJIT_BUILD_FUZZERS)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*_fuzz.cpp)
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE tilejit_static tilejit_cache)
    target_include_directories(${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/cache/src ${TILEJIT_CURL_INCLUDE_DIR})
    foreach(room IN LISTS TILEJIT_ROOMS)
      target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${room})
    endforeach()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
  target_sources(metadata_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tools/cache_metadata.cpp)
  target_link_libraries(metadata_fuzz PRIVATE nlohmann_json::nlohmann_json)
endif()
