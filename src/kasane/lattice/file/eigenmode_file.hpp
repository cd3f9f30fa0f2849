// Eigenmodes of Dhat^+ Dhat in HDF5.
// Invariants: a file appears complete or not at all; every data set has checksums; modes that are read have finite numbers, ascending
// positive values and orthonormal vectors. Whether the modes belong to a gauge field is checked where they are used
// (WilsonSolver::deflate). Layout:
//   /values, /residuals   (modes)
//   /vectors/0000 ...     (12 half the sites 2): even sites in checkerboard order, spin 4, colour 3, real and imaginary part
//   attributes of /: lattice (4: x, y, z, t), kappa, csw, boundary, plaquette, commit
#pragma once

#include <kasane/lattice/dirac/eigenmodes.hpp>

#include <filesystem>

namespace kasane::lattice {

/// Writes modes as HDF5. @param file  replaced as a whole   @throws InputError or ComputationError where the file cannot be written
void write_eigenmodes(const std::filesystem::path& file, const Eigenmodes& modes);

/// Reads the first `count` modes. @throws InputError: no such file, not of this layout, damaged, or with fewer modes
Eigenmodes read_eigenmodes(const std::filesystem::path& file, int count);

}  // namespace kasane::lattice
