# Language standard, compiler cache, warnings, sanitizers, and whether CUDA is on.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Without -DNDEBUG: contracts are switched by KASANE_DEV alone.
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_EXPORT_COMPILE_COMMANDS)
  # With a shorter search for stores that a load may read (the default is 1000): hop_single.simd.cpp is compiled in nine tenths of the time, and
  # has 3% fewer instructions and 5% fewer accesses to the stack. (Without -ftree-pre it would be compiled in 78% of the time, but on AVX-512
  # its loops have 7% more accesses to the stack.)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " --param=sccvn-max-alias-queries-per-access=100")
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CUDA_FLAGS_RELEASE "-O1")  # of the host code, which launches kernels; code of the device is always optimised fully
# (--Ofast-compile=min takes half of nvcc's time, but on an H200 hops and pairs of particles then take 4 to 7 times as long, ICCG 1.6 times.)

find_program(KASANE_CCACHE ccache)
if(KASANE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KASANE_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${KASANE_CCACHE})
endif()

# Of code that calls kernels and waits for them: for size, and without passes of GCC that take time and gain little in it. The unit of
# src/kasane/gravity is compiled in 17 to 20 s of a core of an Intel Xeon at 2.5 GHz in place of 24 to 29, and is 2% larger; one of these
# passes alone takes at most 2 s. Not where the commands are exported: for clang-tidy and clangd an option that clang does not know is an error.
set(kasane_small_code -Os)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_EXPORT_COMPILE_COMMANDS)
  foreach(pass IN ITEMS tree-pta tree-pre code-hoisting gcse tree-vrp thread-jumps tree-dominator-opts tree-tail-merge ivopts
                        schedule-insns2 ipa-icf ipa-sra ipa-cp ipa-modref)
    list(APPEND kasane_small_code -fno-${pass})
  endforeach()
endif()

add_library(kasane_flags INTERFACE)
set(shadow $<IF:$<BOOL:${KASANE_UNITY}>,-Wshadow=local,-Wshadow>)  # files compiled together see each other's unnamed namespaces
set(warnings -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wno-sign-conversion $<$<BOOL:${KASANE_DEV}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND KASANE_UNITY)
  list(APPEND warnings -Wno-subobject-linkage)  # of types in unnamed namespaces, for which it takes all files but the first for headers
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict)  # GCC 12 sees an overlap in every "literal" + std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT KASANE_DEV)
  list(APPEND warnings -Wno-stringop-overflow)  # at -O3 GCC 12 sees one in fmt's parser of format strings, where it is inlined
endif()
target_compile_options(kasane_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
if(KASANE_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC follows variables through instrumented kernels for minutes: bound.simd.cpp takes 224 s at -O2 with it, 16 s without, and 4 s at -O1.
    list(APPEND sanitizers -O1 -fno-var-tracking)
    list(APPEND sanitizers -Wno-maybe-uninitialized)  # the instrumentation hides initialisations, of std::regex above all
  endif()
  target_compile_options(kasane_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${sanitizers}>")
  add_link_options(${sanitizers})
endif()

if(NOT KASANE_CUDA STREQUAL "OFF")
  find_program(KASANE_NVCC nvcc PATHS /usr/local/cuda/bin)
  set(nvcc_version 0)
  if(KASANE_NVCC)
    execute_process(COMMAND ${KASANE_NVCC} --version OUTPUT_VARIABLE nvcc_says)
    string(REGEX MATCH "release ([0-9.]+)" _ "${nvcc_says}")
    set(nvcc_version ${CMAKE_MATCH_1})
  endif()
  if(nvcc_version VERSION_GREATER_EQUAL 12)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      # The GPU of this machine. Without one, a single architecture keeps the build short: machine code of 9.0 and PTX, which the driver
      # compiles on newer devices. Older devices have no code then; cuda_code.hpp says so, with the option that builds it.
      set(CMAKE_CUDA_ARCHITECTURES 90)
      find_program(KASANE_NVIDIA_SMI nvidia-smi)
      if(KASANE_NVIDIA_SMI)
        execute_process(COMMAND ${KASANE_NVIDIA_SMI} -L OUTPUT_VARIABLE gpus ERROR_QUIET)
        if(gpus MATCHES "GPU 0")
          set(CMAKE_CUDA_ARCHITECTURES native)
        endif()
      endif()
    endif()
    set(CMAKE_CUDA_COMPILER ${KASANE_NVCC})
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr")
    if(KASANE_DEV)
      string(APPEND CMAKE_CUDA_FLAGS " -lineinfo")  # lines of the source in profiles; it doubles the size of the code
    endif()
    execute_process(COMMAND ${KASANE_NVCC} --help OUTPUT_VARIABLE nvcc_help)
    if(nvcc_help MATCHES "--compress-mode")
      string(APPEND CMAKE_CUDA_FLAGS " --compress-mode=size")  # iterate.cu: 0.9 MB instead of 3.1 MB
    endif()
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 13 has this dialect
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(KASANE_HAS_CUDA ON)
    set(KASANE_CUDA_CODE ${CMAKE_CUDA_ARCHITECTURES})
    foreach(set IN ITEMS native all all-major)
      if(CMAKE_CUDA_ARCHITECTURES STREQUAL set)
        string(TOUPPER ${set} set)
        string(REPLACE "-" "_" set ${set})
        set(KASANE_CUDA_CODE ${CMAKE_CUDA_ARCHITECTURES_${set}})
      endif()
    endforeach()
    string(REPLACE ";" "," KASANE_CUDA_CODE "${KASANE_CUDA_CODE}")
    message(STATUS "CUDA: nvcc ${nvcc_version}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(KASANE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "KASANE_CUDA is ON, but no nvcc of CUDA 12 or newer was found (found: ${nvcc_version}). "
                        "Put nvcc on PATH, or take the preset cpu.")
  else()
    message(STATUS "CUDA: off, no nvcc of CUDA 12 or newer was found")
  endif()
endif()
