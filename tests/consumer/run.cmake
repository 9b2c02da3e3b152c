# Installs BUILD into a temporary prefix, then configures, builds and runs the project in SOURCE
# against that prefix alone. The compiled programs run from the prefix's own library folder.
cmake_minimum_required(VERSION 3.25)
set(work ${BUILD}/consumer)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer_tilejit)
run(${work}/build/consumer_tilejit_static)
run(${prefix}/bin/tilejit --version)
foreach(page man/man1/tilejit.1 man/man1/tilejit-run.1 bash-completion/completions/tilejit
    zsh/site-functions/_tilejit fish/vendor_completions.d/tilejit.fish)
  if(NOT EXISTS ${prefix}/share/${page})
    message(FATAL_ERROR "share/${page} was not installed")
  endif()
endforeach()

# Installed, the command has lost the build's run path; it finds a virtual environment's wheels.
function(doctor output program)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=TILEJIT_NVRTC --unset=LD_LIBRARY_PATH
    TILEJIT_NO_TOOLKIT=1 HOME=${work} PYTHONUSERBASE=${work} ${ARGN} ${program} doctor --json
    OUTPUT_VARIABLE report ERROR_QUIET)
  string(JSON path ERROR_VARIABLE none GET "${report}" nvrtc path)
  set(${output} "${path}" PARENT_SCOPE)
endfunction()

doctor(built ${BUILD}/bin/tilejit)
doctor(installed ${prefix}/bin/tilejit)
if(EXISTS "${built}" AND NOT EXISTS "${installed}")
  set(wheel ${work}/venv/lib/python3.11/site-packages/nvidia/cu13)
  file(MAKE_DIRECTORY ${wheel})
  cmake_path(GET built PARENT_PATH folder)
  file(CREATE_LINK ${folder} ${wheel}/lib SYMBOLIC)
  doctor(installed ${prefix}/bin/tilejit VIRTUAL_ENV=${work}/venv)
  cmake_path(IS_PREFIX wheel "${installed}" found)
  if(NOT found)
    message(FATAL_ERROR "NVRTC of the virtual environment was not found: ${installed}")
  endif()
endif()
