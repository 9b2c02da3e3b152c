# The sources that the build generates: the templates as text, the JSON schema as text, and the
# digest of everything that decides the generated kernels, which is a part of every cache key:
# templates, the rooms up to the source, and all files that they include.
set(generated ${PROJECT_BINARY_DIR}/generated)
file(GLOB template_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/kernels_templates/*.cu ${PROJECT_SOURCE_DIR}/kernels_templates/tile/*.cuh)
file(GLOB public_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tilejit/*.hpp)
set(generator_files ${template_files})
foreach(room core device layout expr formula plan render)
  get_target_property(room_files tilejit_room_${room} TILEJIT_FILES)
  list(APPEND generator_files ${room_files})
endforeach()

add_custom_command(
  OUTPUT ${generated}/embedded_templates.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/embedded_templates.cpp
    -DINCLUDED=${generated}/generator_files.txt -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
    -DHEADER=render/templates.hpp -DNAMESPACE=tilejit::render
    "-DTEMPLATES=${template_files}" "-DGENERATOR=${generator_files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  DEPENDS ${generator_files} ${public_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  VERBATIM)
target_sources(tilejit_room_render PRIVATE ${generated}/embedded_templates.cpp)
# This file is generated again after a change in any of these rooms.
set_source_files_properties(${generated}/embedded_templates.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The same for callers' own kernels: the tile library, and what writes plan.cuh.
file(GLOB tile_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels_templates/tile/*.cuh)
set(cuda_generator_files ${tile_files})
foreach(file shape.cpp shape.hpp plan.cpp plan.hpp source.cpp source.hpp constants.cpp constants.hpp)
  list(APPEND cuda_generator_files ${PROJECT_SOURCE_DIR}/src/ops/cuda/${file})
endforeach()
file(GLOB emit_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/layout/emit*.cpp)
list(APPEND cuda_generator_files ${emit_files})
add_custom_command(
  OUTPUT ${generated}/embedded_tile_library.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/embedded_tile_library.cpp
    -DINCLUDED=${generated}/cuda_generator_files.txt -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
    -DHEADER=cuda/templates.hpp -DNAMESPACE=tilejit::cuda
    "-DTEMPLATES=${tile_files}" "-DGENERATOR=${cuda_generator_files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  DEPENDS ${cuda_generator_files} ${public_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  VERBATIM)
target_sources(tilejit_room_cuda PRIVATE ${generated}/embedded_tile_library.cpp)
set_source_files_properties(${generated}/embedded_tile_library.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

set(schema ${PROJECT_SOURCE_DIR}/docs/spec.schema.json)
add_custom_command(
  OUTPUT ${generated}/embedded_schema.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/embedded_schema.cpp -DSCHEMA=${schema}
    -DHEADER=tilejit/operation.hpp -DNAMESPACE=tilejit -DFUNCTION=spec_schema
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSchema.cmake
  DEPENDS ${schema} ${PROJECT_SOURCE_DIR}/cmake/EmbedSchema.cmake
  VERBATIM)
target_sources(tilejit_room_spec PRIVATE ${generated}/embedded_schema.cpp)
