// Lattice and Field of every space that is built in: for who makes or keeps fields; who computes with them includes dirac/dirac.hpp too.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>

#if defined(KASANE_CUDA)
#include <kasane/lattice/dirac/cuda/field.hpp>
#endif
