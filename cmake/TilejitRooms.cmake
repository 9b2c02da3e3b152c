# A room is a folder src/<name>, or src/<FOLDER>, built as an object library. Its headers are included as
# "<name>/header.hpp", through an include folder that holds only this room. An include of a room that is
# not named in USES therefore does not compile. A COLD room runs once per kernel, when its code is not
# yet in any cache of the processor; it is faster if it is smaller (docs/performance.md).
#
# With TILEJIT_UNITY, sources that are compiled together share the parsing of headers and the code of
# templates. The files of a room must therefore not give one name to two things. A room that is APART
# changes often, and is rebuilt file by file.
add_library(tilejit_warnings INTERFACE)
target_compile_options(tilejit_warnings INTERFACE -Wall -Wextra $<$<BOOL:${TILEJIT_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on short std::strings when optimising, e.g. gcc.gnu.org/PR105651.
  target_compile_options(tilejit_warnings INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overread)
endif()
if(TILEJIT_SANITIZE)
  add_compile_options(-fsanitize=${TILEJIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TILEJIT_SANITIZE})
  add_compile_definitions(TILEJIT_SANITIZED)  # for tests
endif()

set(TILEJIT_ROOMS "" CACHE INTERNAL "")

function(tilejit_unity target)
  if(TILEJIT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8 ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes each source of a batch for a header
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

function(tilejit_room name)
  cmake_parse_arguments(ARG "COLD;APART" "FOLDER" "USES" ${ARGN})
  set(include_dir ${PROJECT_BINARY_DIR}/rooms/${name})
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  if(ARG_FOLDER)
    set(folder ${PROJECT_SOURCE_DIR}/src/${ARG_FOLDER})
  endif()
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${folder} ${include_dir}/${name} SYMBOLIC)

  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(target tilejit_room_${name})
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE tilejit_warnings)
  if(NOT ARG_APART)
    tilejit_unity(${target})
  endif()
  if(ARG_COLD)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Os>)
  endif()
  target_include_directories(${target}
    PRIVATE ${PROJECT_SOURCE_DIR}/include
    INTERFACE ${include_dir})
  foreach(used IN LISTS ARG_USES)
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${used})
  endforeach()
  target_include_directories(${target} PRIVATE ${include_dir})
  set(TILEJIT_ROOMS ${TILEJIT_ROOMS} ${name} CACHE INTERNAL "")
endfunction()
