// All of the sparse room: matrices, files, orderings, the solver, the Poisson problem.
#pragma once

#include <kasane/sparse/csr.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/order/ordering.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>
