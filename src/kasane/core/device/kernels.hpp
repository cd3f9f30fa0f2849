// For *.kernels.cpp: KS_SPACE is the Space that this pass of the compiler instantiates for.
#pragma once

#include <kasane/core/device/parallel.hpp>

#if defined(__CUDACC__)
#define KS_SPACE kasane::Cuda
#else
#define KS_SPACE kasane::Cpu
#endif
