# A room is a folder src/<name>, or src/<FOLDER>, built as an object library. Its headers are included as
# "<name>/header.hpp", through an include folder that holds only this room. An include of a room that is
# not named in USES therefore does not compile. A COLD room runs once per kernel, when its code is not
# yet in any cache of the processor; it is faster if it is smaller (docs/performance.md).
#
# A room may also have a part of folders that it shares with other rooms (PARTS_OF): the files there whose
# names match the regular expression WITH, or do not match WITHOUT. Each such folder appears in the
# room's include folder with the headers of this part only, as "<folder>/header.hpp".
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

# The files of `folder` that are the part of a room.
function(tilejit_part result folder with without)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.hpp)
  set(part "")
  foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    if((NOT with OR name MATCHES "${with}") AND NOT (without AND name MATCHES "${without}"))
      list(APPEND part ${file})
    endif()
  endforeach()
  set(${result} ${part} PARENT_SCOPE)
endfunction()

# The property TILEJIT_FILES of the target has all of the room's sources and headers.
function(tilejit_room name)
  cmake_parse_arguments(ARG "COLD;APART" "FOLDER;WITH;WITHOUT" "USES;PARTS_OF" ${ARGN})
  set(include_dir ${PROJECT_BINARY_DIR}/rooms/${name})
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  if(ARG_FOLDER)
    set(folder ${PROJECT_SOURCE_DIR}/src/${ARG_FOLDER})
  endif()
  file(REMOVE_RECURSE ${include_dir})  # links of headers that have moved
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${folder} ${include_dir}/${name} SYMBOLIC)

  tilejit_part(files ${folder} "" "")
  foreach(shared IN LISTS ARG_PARTS_OF)
    tilejit_part(part ${PROJECT_SOURCE_DIR}/src/${shared} "${ARG_WITH}" "${ARG_WITHOUT}")
    list(APPEND files ${part})
    cmake_path(GET shared FILENAME family)
    file(MAKE_DIRECTORY ${include_dir}/${family})
    list(FILTER part INCLUDE REGEX "\\.hpp$")
    foreach(header IN LISTS part)
      cmake_path(GET header FILENAME header_name)
      file(CREATE_LINK ${header} ${include_dir}/${family}/${header_name} SYMBOLIC)
    endforeach()
  endforeach()

  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(target tilejit_room_${name})
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES TILEJIT_FILES "${files}")
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
