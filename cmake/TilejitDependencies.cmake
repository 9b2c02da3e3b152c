find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
if(TILEJIT_PORTABLE)
  set(OPENSSL_USE_STATIC_LIBS TRUE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

add_library(tilejit_spdlog INTERFACE)
add_library(tilejit_fmt INTERFACE)
if(TILEJIT_PORTABLE)
  target_link_libraries(tilejit_spdlog INTERFACE spdlog::spdlog_header_only fmt::fmt-header-only)
  target_link_libraries(tilejit_fmt INTERFACE fmt::fmt-header-only)
else()
  target_link_libraries(tilejit_spdlog INTERFACE spdlog::spdlog)
  target_link_libraries(tilejit_fmt INTERFACE fmt::fmt)
endif()

# TILEJIT_NO_TOOLKIT=1 in the environment: CUDA toolkits count as not installed, even those that an
# earlier configuration found.
set(tilejit_toolkits ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda)
set(tilejit_toolkit_search "")
if("$ENV{TILEJIT_NO_TOOLKIT}" STREQUAL "1")
  set(tilejit_toolkits "")
  set(tilejit_toolkit_search NO_DEFAULT_PATH)
  foreach(variable TILEJIT_CUDA_INCLUDE_DIR TILEJIT_NVTX_INCLUDE_DIR TILEJIT_CUDART_STATIC
      TILEJIT_CUDART_INCLUDE_DIR)
    foreach(toolkit /usr/local/cuda "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}")
      string(FIND "${${variable}}" "${toolkit}" at)
      if(toolkit AND at EQUAL 0)
        unset(${variable} CACHE)
      endif()
    endforeach()
  endforeach()
endif()

# cuda.h and nvrtc.h: only their declarations are used; libcuda and NVRTC are loaded at run time.
find_path(TILEJIT_CUDA_INCLUDE_DIR NAMES cuda.h nvrtc.h
  HINTS ${PROJECT_SOURCE_DIR}/.deps/cuda ${tilejit_toolkits} PATH_SUFFIXES include
  DOC "Folder of cuda.h and nvrtc.h" ${tilejit_toolkit_search})
if(NOT TILEJIT_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h was not found: run ./tools/setup, or set TILEJIT_CUDA_INCLUDE_DIR")
endif()

# nvtx3/nvToolsExt.h: all of NVTX is in its headers; an attached profiler brings the rest.
if(TILEJIT_NVTX)
  find_path(TILEJIT_NVTX_INCLUDE_DIR NAMES nvtx3/nvToolsExt.h HINTS ${TILEJIT_CUDA_INCLUDE_DIR}
    PATHS ${PROJECT_SOURCE_DIR}/.deps/cuda/include
    DOC "Folder of nvtx3/nvToolsExt.h" ${tilejit_toolkit_search})
  if(NOT TILEJIT_NVTX_INCLUDE_DIR)
    message(STATUS "nvtx3/nvToolsExt.h was not found: profilers will see no ranges of tilejit's")
    unset(TILEJIT_NVTX_INCLUDE_DIR CACHE)
  endif()
endif()

# curl/curl.h: likewise, only its declarations are used; libcurl is loaded only if there is a remote
# cache.
find_path(TILEJIT_CURL_INCLUDE_DIR NAMES curl/curl.h DOC "Folder of curl/curl.h")
if(NOT TILEJIT_CURL_INCLUDE_DIR)
  message(FATAL_ERROR "curl/curl.h was not found: run ./tools/setup, or set TILEJIT_CURL_INCLUDE_DIR")
endif()

# Programs built here find the NVRTC that ./tools/setup fetched; installing removes this run path.
list(APPEND CMAKE_BUILD_RPATH ${PROJECT_SOURCE_DIR}/.deps/cuda/lib)
