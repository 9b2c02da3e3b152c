# The sources that the build generates: the templates as text, the JSON schema as text, and, for each
# operation, the digest of everything that decides its kernels' source, which is a part of every cache key.
set(generated ${PROJECT_BINARY_DIR}/generated)
file(GLOB kernel_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels_templates/*.cu)
file(GLOB tile_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels_templates/tile/*.cuh)
file(GLOB public_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tilejit/*.hpp)

add_custom_command(
  OUTPUT ${generated}/embedded_templates.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/embedded_templates.cpp -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
    "-DKERNELS=${kernel_files}" "-DTILE_LIBRARY=${tile_files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  DEPENDS ${kernel_files} ${tile_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTemplates.cmake
  VERBATIM)
target_sources(tilejit_room_templates PRIVATE ${generated}/embedded_templates.cpp)

# The digest of the files given and of all that they include, as tilejit::<room>::generator_digest.
function(tilejit_generator room header)
  set(output ${generated}/${room}_generator.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DINCLUDED=${generated}/${room}_generator_files.txt
      -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DHEADER=${header} -DNAMESPACE=tilejit::${room}
      "-DGENERATOR=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/DigestGenerator.cmake
    DEPENDS ${ARGN} ${public_files} ${PROJECT_SOURCE_DIR}/cmake/DigestGenerator.cmake
    VERBATIM)
  target_sources(tilejit_room_${room} PRIVATE ${output})
  # It is generated again after a change in any of the files.
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Formulas: the templates, and the rooms up to the source.
set(generator_files ${kernel_files} ${tile_files})
foreach(room core device layout expr formula plan render)
  get_target_property(room_files tilejit_room_${room} TILEJIT_FILES)
  list(APPEND generator_files ${room_files})
endforeach()
tilejit_generator(render render/render.hpp ${generator_files})

# What callers' own kernels and tile programs share.
set(launch_files "")
foreach(file operation/zeroing.cpp operation/tile_header.cpp spec/launch_reader.cpp)
  list(APPEND launch_files ${PROJECT_SOURCE_DIR}/src/${file})
endforeach()

# Callers' own kernels: the tile library, and what writes plan.cuh.
set(generator_files ${tile_files} ${PROJECT_SOURCE_DIR}/src/expr/program.cpp)
foreach(file plan.cpp plan.hpp source.cpp source.hpp constants.cpp constants.hpp)
  list(APPEND generator_files ${PROJECT_SOURCE_DIR}/src/ops/cuda/${file})
endforeach()
list(APPEND generator_files ${launch_files})
file(GLOB emit_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/layout/emit*.cpp)
tilejit_generator(cuda cuda/source.hpp ${generator_files} ${emit_files})

# Tile programs: the tile library, and the rooms up to the source.
set(generator_files ${tile_files} ${launch_files})
foreach(room core device layout atoms expr program)
  get_target_property(room_files tilejit_room_${room} TILEJIT_FILES)
  list(APPEND generator_files ${room_files})
endforeach()
tilejit_generator(program program/kernel_plan.hpp ${generator_files})

set(schema ${PROJECT_SOURCE_DIR}/docs/spec.schema.json)
add_custom_command(
  OUTPUT ${generated}/embedded_schema.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/embedded_schema.cpp -DSCHEMA=${schema}
    -DHEADER=tilejit/operation.hpp -DNAMESPACE=tilejit -DFUNCTION=spec_schema
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSchema.cmake
  DEPENDS ${schema} ${PROJECT_SOURCE_DIR}/cmake/EmbedSchema.cmake
  VERBATIM)
target_sources(tilejit_room_spec PRIVATE ${generated}/embedded_schema.cpp)
