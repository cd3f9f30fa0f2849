// Common part of the eigenpairs of one worker and of several: the check of options and the start vectors.
#pragma once

#include <kasane/sparse/eigenpairs.hpp>

namespace kasane::sparse {

/// @throws InputError for options out of range, and for preconditioners other than multigrid, jacobi and none
void check_eigen_options(const EigenOptions& options, index_t rows);
/// Vectors of the block: those beyond the wanted ones separate these from the rest of the spectrum.
int eigen_block(int count, index_t rows);
/// Entry of a start vector. @param row  of A
double eigen_start(int vector, index_t row);

}  // namespace kasane::sparse
