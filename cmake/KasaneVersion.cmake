# KASANE_VERSION: that of the newest tag vX.Y.Z before this commit; of the Python package, which reads the tag itself (pyproject.toml), where it is
# built; without tags (an archive of the sources) the one below.
set(KASANE_VERSION 0.1.0)
if(DEFINED SKBUILD_PROJECT_VERSION)
  set(KASANE_VERSION ${SKBUILD_PROJECT_VERSION})
elseif(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../.git)
  execute_process(COMMAND git describe --tags --abbrev=0 --match v[0-9]*.[0-9]*.[0-9]* WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}
                  OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(tag MATCHES "^v([0-9]+[.][0-9]+[.][0-9]+)$")
    set(KASANE_VERSION ${CMAKE_MATCH_1})
  endif()
endif()
