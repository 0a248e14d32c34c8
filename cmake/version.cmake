# Run at build time: writes version.cpp anew when the last commit that touched the simulator's code
# changed, or whether there are uncommitted changes to it. Commits to anything else leave results valid.
set(code sim algorithms topologies traces CMakeLists.txt)
execute_process(COMMAND git -C ${SOURCE_DIR} log -1 --abbrev=9 --format=%h -- ${code}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
set(THINWIRE_VERSION ${PROJECT_VERSION})
if(NOT failed AND commit)
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain -- ${code}
                  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(APPEND THINWIRE_VERSION "+g${commit}")
  if(changes)
    string(APPEND THINWIRE_VERSION "-dirty")
  endif()
endif()
configure_file(${SOURCE_DIR}/sim/core/version.cpp.in ${OUTPUT} @ONLY)
