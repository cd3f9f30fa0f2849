# Plugins: parts of core/comm that need a library which a machine may lack; the program loads them on demand (core/comm/plugin.hpp).
#   libkasane_mpi.so    src/kasane/core/comm/mpi/    ranks by MPI, when an MPI launcher started the program
#   libkasane_nccl.so   src/kasane/core/comm/nccl/   messages between the devices of ranks by NCCL
# Invariant: only the plugin links its library, so that everything else starts on machines without it.

# kasane_plugin(NAME LINKS…): libkasane_NAME.so of everything under src/kasane/core/comm/NAME, beside the command; installed in lib/kasane.
function(kasane_plugin name)
  set(target kasane_${name})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kasane/core/comm/${name}/*.cpp)
  if(KASANE_HAS_CUDA)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kasane/core/comm/${name}/*.cu)
  endif()
  add_library(${target} MODULE ${sources} ${cuda_sources} ${KASANE_VERSION_SOURCE})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${target} PRIVATE ${ARGN} kasane_flags)
  target_compile_definitions(${target} PRIVATE $<$<BOOL:${KASANE_DEV}>:KASANE_DEV>)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} INSTALL_RPATH_USE_LINK_PATH ON)
  add_dependencies(kasane_comm ${target})  # a program that can load it has it built
  install(TARGETS ${target} LIBRARY DESTINATION lib/kasane)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_STRIP)
    install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/kasane/$<TARGET_FILE_NAME:${target}>\" COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endfunction()

# The loader of a program that links the installed library finds them.
target_link_options(kasane_comm INTERFACE $<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/lib/kasane>)

set(KASANE_MPIRUN "")  # how the tests start ranks
if(NOT KASANE_MPI STREQUAL "OFF")
  set(MPI_DETERMINE_LIBRARY_VERSION ON)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    string(REGEX MATCH "^[^,\n]*" mpi_name "${MPI_C_LIBRARY_VERSION_STRING}")
    if(mpi_name STREQUAL "")
      set(mpi_name "MPI ${MPI_C_VERSION}")
    endif()
    kasane_plugin(mpi MPI::MPI_C)
    target_compile_definitions(kasane_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # no bindings of MPI-2 for C++
    target_compile_definitions(kasane_comm PRIVATE "KASANE_MPI_BUILT_WITH=\"${mpi_name}\"")
    if(KASANE_SANITIZE)
      # MPI libraries leave memory to the end of the process; the sanitizer's dlopen does not look where the program's RPATH says.
      set(sanitized ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH=${PROJECT_BINARY_DIR})
    endif()
    if(MPIEXEC_EXECUTABLE)
      # More ranks than cores, in a container and as root too; ranks yield the cores and are bound to none of them. Messages stay on this
      # host: the search for networks (other PMLs) takes a quarter of a second of each start of two ranks, which takes 0.4 s with it.
      # hwloc lists no PCI devices: that takes 12 ms of a processor for each rank in a virtual machine. Nor does it load its plugins for
      # graphics, with X11: a start of two ranks takes 117 ms of a processor in place of 128.
      set(KASANE_MPIRUN env OMP_WAIT_POLICY=passive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
          OMPI_MCA_plm=isolated OMPI_MCA_pml=ob1 HWLOC_COMPONENTS=-linuxio,-pci HWLOC_PLUGINS_PATH=/dev/null
          OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
          OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
          PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none ${sanitized}
          ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
    endif()
    message(STATUS "MPI: ${mpi_name}")
  elseif(KASANE_MPI STREQUAL "ON")
    message(FATAL_ERROR "KASANE_MPI is ON, but no MPI was found. Install libopenmpi-dev, or put mpicc on PATH.")
  else()
    message(STATUS "MPI: off, none was found")
  endif()
endif()

file(GLOB nccl_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/kasane/core/comm/nccl/*)
if(KASANE_HAS_CUDA AND nccl_sources)
  find_path(KASANE_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(KASANE_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(KASANE_NCCL_INCLUDE AND KASANE_NCCL_LIBRARY)
    file(STRINGS ${KASANE_NCCL_INCLUDE}/nccl.h nccl_says REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX REPLACE "[^0-9;]+" "" nccl_version "${nccl_says}")
    string(REPLACE ";" "." nccl_version "${nccl_version}")
    kasane_plugin(nccl ${KASANE_NCCL_LIBRARY} CUDA::cudart_static)
    # CMake takes the toolkit's directories for some that every loader knows.
    get_filename_component(nccl_directory ${KASANE_NCCL_LIBRARY} DIRECTORY)
    set_target_properties(kasane_nccl PROPERTIES BUILD_RPATH ${nccl_directory} INSTALL_RPATH ${nccl_directory})
    target_include_directories(kasane_nccl SYSTEM PRIVATE ${KASANE_NCCL_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
    target_compile_definitions(kasane_nccl PRIVATE KASANE_CUDA)
    target_compile_definitions(kasane_comm PRIVATE "KASANE_NCCL_BUILT_WITH=\"NCCL ${nccl_version}\"")
    message(STATUS "NCCL: ${nccl_version}")
  else()
    message(STATUS "NCCL: off, none was found")
  endif()
endif()
