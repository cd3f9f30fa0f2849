// Ten matrices of different origin, made from formulas and random numbers: the problems of sparse.matrices.
// Invariants: a matrix depends on its name and size alone; columns ascend, without duplicates; six of the ten have no grid.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kasane::bench {

struct TestMatrix {
    std::string name;    ///< "mesh, elasticity"
    std::string origin;  ///< one clause
    bool symmetric = true;
    bool unstructured = false;
    /// @param size  about the number of rows
    std::function<sparse::CsrMatrix(index_t size)> make;
};

/// All ten, in the order of their rows in the record.
std::vector<TestMatrix> test_matrices();

}  // namespace kasane::bench
