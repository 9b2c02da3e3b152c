# Writes the pages that COMMAND prints about itself into FOLDER, laid out as a system's share/:
# manuals, and completions for three shells.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man/man1)
execute_process(COMMAND ${COMMAND} man --folder ${FOLDER}/man/man1 COMMAND_ERROR_IS_FATAL ANY)
foreach(place bash:bash-completion/completions/tilejit zsh:zsh/site-functions/_tilejit
    fish:fish/vendor_completions.d/tilejit.fish)
  string(REPLACE ":" ";" place ${place})
  list(POP_FRONT place shell file)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${FOLDER}/${folder})
  execute_process(COMMAND ${COMMAND} completion ${shell} OUTPUT_FILE ${FOLDER}/${file}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(TOUCH ${FOLDER}/stamp)
