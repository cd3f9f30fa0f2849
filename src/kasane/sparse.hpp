// Sparse systems: matrices, files, orderings, the solvers of symmetric positive definite and of general systems, the Poisson problem, and
// replaceable parts of a solve for krylov::conjugate_gradients.
#pragma once

#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/columns.hpp>
#include <kasane/sparse/complex_solver.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/operators.hpp>
#include <kasane/sparse/order/ordering.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/sparse/solver.hpp>

/// Sparse systems.
namespace kasane::sparse {}
