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
  foreach(suite usage attention cuda help output gallery documents bad_input files run print catalogue compile worker cache generator programs tune warm bench explain layout
      layout_batch layout_documents layout_page)
    add_test(NAME command.${suite}
      COMMAND ${TILEJIT_PYTHON} -m unittest -v test_${suite}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/cli)
    set_tests_properties(command.${suite} PROPERTIES LABELS cpu TIMEOUT 300
      ENVIRONMENT "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # Recorded, warmed, sealed: all but the launches, and that a forgotten kernel is found out.
  foreach(option without-gpu forget)
    add_test(NAME command.sealed_${option}
      COMMAND ${TILEJIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/prove_sealed.py
        --command $<TARGET_FILE:tilejit_command> --without-gpu --${option})
    set_tests_properties(command.sealed_${option} PROPERTIES LABELS cpu TIMEOUT 120)
  endforeach()
  set_tests_properties(command.sealed_forget PROPERTIES
    PASS_REGULAR_EXPRESSION "not proven: tilejit coverage .*1 of 12 kernels")
  add_test(NAME gpu.sealed
    COMMAND ${TILEJIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/prove_sealed.py
      --command $<TARGET_FILE:tilejit_command>)
  set_tests_properties(gpu.sealed PROPERTIES LABELS gpu TIMEOUT 120 SKIP_RETURN_CODE 77)
  add_test(NAME gpu.memcheck_lines
    COMMAND ${TILEJIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/memcheck_lines.py
      --command $<TARGET_FILE:tilejit_command>)
  set_tests_properties(gpu.memcheck_lines PROPERTIES LABELS gpu TIMEOUT 320 SKIP_RETURN_CODE 77)
endif()

# The checks of machine code, on text and on kernels that the command compiles.
if(TARGET tilejit_command AND NOT TILEJIT_SANITIZE)
  add_test(NAME sass.check
    COMMAND ${TILEJIT_PYTHON} -m unittest -v test_check_sass
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/sass)
  set_tests_properties(sass.check PROPERTIES LABELS cpu TIMEOUT 120
    ENVIRONMENT "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
endif()

# A stranger's project that finds the installed library.
if(NOT TILEJIT_SANITIZE)
  add_test(NAME consumer
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DGENERATOR=${CMAKE_GENERATOR}
      -DCOMPILER=${CMAKE_CXX_COMPILER} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/consumer
      -P ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.cmake)
  set_tests_properties(consumer PROPERTIES LABELS cpu TIMEOUT 300)
endif()

# Beside the CUDA runtime API, where its static library is installed.
cmake_path(GET TILEJIT_CUDA_INCLUDE_DIR PARENT_PATH cuda_root)
find_library(TILEJIT_CUDART_STATIC NAMES libcudart_static.a
  HINTS ${cuda_root} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib ${tilejit_toolkit_search})
find_path(TILEJIT_CUDART_INCLUDE_DIR NAMES cuda_runtime_api.h HINTS ${TILEJIT_CUDA_INCLUDE_DIR}
  ${tilejit_toolkit_search})
if(TILEJIT_CUDART_STATIC AND TILEJIT_CUDART_INCLUDE_DIR)
  add_executable(cudart_tests cudart/beside_test.cpp gpu/gpu_fixture.cpp)
  target_include_directories(cudart_tests PRIVATE ${TILEJIT_CUDART_INCLUDE_DIR})
  target_link_libraries(cudart_tests PRIVATE
    tilejit_test_cases ${TILEJIT_CUDART_STATIC} Threads::Threads ${CMAKE_DL_LIBS} rt)
  gtest_discover_tests(cudart_tests DISCOVERY_TIMEOUT 60 PROPERTIES LABELS gpu TIMEOUT 300)
endif()

# Beside PyTorch, where it is installed: tests/torch/run, which says what it needs.
if(NOT TILEJIT_SANITIZE)
  add_custom_target(beside_tests DEPENDS tilejit)
  if(TARGET cudart_tests)
    add_dependencies(beside_tests cudart_tests)
  endif()
  add_test(NAME torch.beside COMMAND ${PROJECT_SOURCE_DIR}/tests/torch/run ${PROJECT_BINARY_DIR})
  set_tests_properties(torch.beside PROPERTIES LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME torch.specs
    COMMAND ${TILEJIT_PYTHON} -m unittest -v test_torch.WithoutAGpu
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/torch)
  set_tests_properties(torch.specs PROPERTIES LABELS cpu TIMEOUT 120
    ENVIRONMENT "TILEJIT_LIBRARY=$<TARGET_FILE:tilejit>;PYTHONDONTWRITEBYTECODE=1")
endif()

# The sweep's cases and its summary; what needs a GPU is not run.
if(TARGET tilejit_command AND NOT TILEJIT_SANITIZE)
  add_test(NAME bench.sweep
    COMMAND ${TILEJIT_PYTHON} -m unittest -v test_sweep test_report test_workers
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/bench)
  set_tests_properties(bench.sweep PROPERTIES LABELS cpu TIMEOUT 120
    ENVIRONMENT "TILEJIT_LIBRARY=$<TARGET_FILE:tilejit>;TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
endif()

# The examples of a page, as one program.
foreach(page launching cuda-kernels)
  add_test(NAME docs.${page}
    COMMAND ${TILEJIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/docs/compile_examples.py
      ${PROJECT_SOURCE_DIR}/docs/${page}.md --compiler ${CMAKE_CXX_COMPILER}
      --include ${PROJECT_SOURCE_DIR}/include --include ${PROJECT_SOURCE_DIR}/cache/include)
  set_tests_properties(docs.${page} PROPERTIES LABELS cpu TIMEOUT 120)
endforeach()

# The console blocks of README and docs print what they show; those of a GPU are run where there is one.
if(TARGET tilejit_command AND TILEJIT_BUILD_EXAMPLES AND NOT TILEJIT_SANITIZE)
  add_test(NAME docs.console
    COMMAND ${TILEJIT_PYTHON} -m unittest -v test_console test_links test_grammar
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/docs)
  set_tests_properties(docs.console PROPERTIES LABELS cpu TIMEOUT 300
    ENVIRONMENT "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
  add_test(NAME docs.coverage
    COMMAND ${TILEJIT_PYTHON} -m unittest -v test_coverage
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/docs)
  set_tests_properties(docs.coverage PROPERTIES LABELS cpu TIMEOUT 300
    ENVIRONMENT "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>;PYTHONDONTWRITEBYTECODE=1")
  add_test(NAME docs.console_gpu
    COMMAND ${TILEJIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/docs/console_blocks.py --gpu
      --command $<TARGET_FILE:tilejit_command>)
  set_tests_properties(docs.console_gpu PROPERTIES LABELS gpu TIMEOUT 300 SKIP_RETURN_CODE 77)
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
  target_sources(plan_fuzz PRIVATE support/axes_case.cpp)
  target_include_directories(plan_fuzz PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_sources(metadata_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tools/cache/cache_metadata.cpp)
  target_link_libraries(metadata_fuzz PRIVATE nlohmann_json::nlohmann_json)
  target_link_libraries(sweep_fuzz PRIVATE nlohmann_json::nlohmann_json)
endif()

# What profilers see, by one that is made for it.
if(TILEJIT_NVTX AND TILEJIT_NVTX_INCLUDE_DIR)
  add_library(recording_tool MODULE profiler/recording_tool.cpp)
  target_include_directories(recording_tool SYSTEM PRIVATE ${TILEJIT_NVTX_INCLUDE_DIR})
  target_link_libraries(recording_tool PRIVATE tilejit_warnings)
  add_executable(profiler_tests profiler/ranges_test.cpp)
  add_dependencies(profiler_tests recording_tool)
  target_link_libraries(profiler_tests PRIVATE tilejit_test_support ${CMAKE_DL_LIBS})
  target_compile_definitions(profiler_tests PRIVATE TILEJIT_RECORDING_TOOL="$<TARGET_FILE:recording_tool>")
  gtest_discover_tests(profiler_tests DISCOVERY_TIMEOUT 60 PROPERTIES LABELS cpu TIMEOUT 60)
endif()
