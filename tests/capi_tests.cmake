# The C interface as its users meet it: the header alone as C99, the exports of the shared library,
# the ctypes module of examples/python.
enable_language(C)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/tilejit.c
  CONTENT "#include \"tilejit/tilejit.h\"\ntypedef int a_file_is_not_empty;\n")
add_library(c_header OBJECT ${CMAKE_CURRENT_BINARY_DIR}/headers/tilejit.c)
target_include_directories(c_header PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(c_header PRIVATE -pedantic -Wall -Wextra -Werror)
set_target_properties(c_header PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)

set(environment
  "TILEJIT_LIBRARY=$<TARGET_FILE:tilejit>"
  "TILEJIT_HEADER=${PROJECT_SOURCE_DIR}/include/tilejit/tilejit.h"
  "TILEJIT_MODULES=${PROJECT_SOURCE_DIR}/examples/python"
  "TILEJIT_NM=${CMAKE_NM}"
  "PYTHONDONTWRITEBYTECODE=1")
if(TARGET tilejit_command)
  list(APPEND environment "TILEJIT_COMMAND=$<TARGET_FILE:tilejit_command>")
endif()
# An interpreter without the sanitizers' libraries cannot load a library that needs them.
if(NOT TILEJIT_SANITIZE)
  foreach(suite exports ctypes numpy)
    add_test(NAME capi.${suite}
      COMMAND ${TILEJIT_PYTHON} -m unittest -v test_${suite}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/capi)
    set_tests_properties(capi.${suite} PROPERTIES
      LABELS cpu TIMEOUT 120 ENVIRONMENT "${environment}")
  endforeach()
endif()
