# cmake -D BUILD=… -D SOURCE=… -D WORK=… -D GENERATOR=… -P install.cmake: installs the build into WORK, then configures, builds
# and runs outside programs against it.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
must(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/test/package -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/installed
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/build/outside)
must(${WORK}/build/formula)
must(${WORK}/installed/bin/kasane --version)

# The size of the installed tree, and the files for shells and clusters.
file(GLOB_RECURSE files ${WORK}/installed/*)
set(bytes 0)
foreach(file IN LISTS files)
  file(SIZE ${file} size)
  math(EXPR bytes "${bytes} + ${size}")
endforeach()
message(STATUS "the installed tree has ${bytes} bytes")
if(LIMIT_SIZE AND bytes GREATER 60000000)
  message(FATAL_ERROR "the installed tree has ${bytes} bytes: at most 60,000,000 are allowed")
endif()
foreach(name IN ITEMS share/man/man1/kasane.1 share/bash-completion/completions/kasane share/zsh/site-functions/_kasane
                      share/zsh/vendor-completions/_kasane share/fish/vendor_completions.d/kasane.fish)
  if(NOT EXISTS ${WORK}/installed/${name})
    message(FATAL_ERROR "${name} is not installed")
  endif()
endforeach()
file(GLOB modulefiles ${WORK}/installed/share/kasane/modulefiles/kasane/*)
list(LENGTH modulefiles count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "there is no modulefile in share/kasane/modulefiles/kasane")
endif()

# The programs of examples/cpp.
must(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/examples/cpp -B ${WORK}/examples -D CMAKE_PREFIX_PATH=${WORK}/installed
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/examples)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/examples --output-on-failure)

# The blocks of C++ and CMake of the pages; one of them reads a configuration cfg.lime.
include(${CMAKE_CURRENT_LIST_DIR}/pages.cmake)
pages(${SOURCE} ${WORK}/pages)
must(${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/pages -B ${WORK}/pages/build -D CMAKE_PREFIX_PATH=${WORK}/installed
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/pages/build)
must(${WORK}/installed/bin/kasane run ${SOURCE}/examples/quenched.toml -o ${WORK}/pages/run --quiet --device cpu
     --set lattice.extents=[4,4,4,4] --set update.sweeps=2 --set update.thermalisation=0 --set output.every=0)
file(COPY_FILE ${WORK}/pages/run/conf.lime ${WORK}/pages/build/cfg.lime)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/pages/build --output-on-failure)
