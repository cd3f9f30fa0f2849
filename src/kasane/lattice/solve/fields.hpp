// Lattice and Field of every space of this build. Code that computes with fields includes dirac/dirac.hpp as well.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>

#if defined(KASANE_CUDA)
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/resident_scalars.hpp>
#endif
