# Run at build time: writes version.cpp anew when the last commit that touched the simulator's code
# changed, or whether there are uncommitted changes to it. Commits to anything else leave results valid.
# Without git, a tarball of `git archive` says which commit it is of; any other tree has the bare version.
set(code sim algorithms topologies traces CMakeLists.txt)
set(THINWIRE_VERSION ${PROJECT_VERSION})
# A tree that lies in somebody else's repository has not that one's commits.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --show-prefix
                OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
if(NOT failed AND prefix STREQUAL "")
  execute_process(COMMAND git -C ${SOURCE_DIR} log -1 --abbrev=9 --format=%h -- ${code}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain -- ${code}
                  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
else()
  file(STRINGS ${SOURCE_DIR}/cmake/archived_commit.txt archived REGEX "^[0-9a-f]+$")
  string(SUBSTRING "${archived}" 0 9 commit)
endif()
if(commit)
  string(APPEND THINWIRE_VERSION "+g${commit}")
  if(changes)
    string(APPEND THINWIRE_VERSION "-dirty")
  endif()
endif()
configure_file(${SOURCE_DIR}/sim/core/base/version.cpp.in ${OUTPUT} @ONLY)
