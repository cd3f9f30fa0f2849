// Sparse symmetric positive definite systems: matrices, files, orderings, the solver, the Poisson problem, and replaceable parts of a
// solve for krylov::conjugate_gradients.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/operators.hpp>
#include <kasane/sparse/order/ordering.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/sparse/solver.hpp>

/// Sparse symmetric positive definite systems.
namespace kasane::sparse {}
