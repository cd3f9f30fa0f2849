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

# The programs of examples/cpp.
must(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/examples/cpp -B ${WORK}/examples -D CMAKE_PREFIX_PATH=${WORK}/installed
     -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${FLAGS})
must(${CMAKE_COMMAND} --build ${WORK}/examples)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/examples --output-on-failure)
