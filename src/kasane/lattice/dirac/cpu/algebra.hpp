// Arguments of one pass over blocks of fields: the interface of the algebra's kernels.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>

#include <complex>

namespace kasane::lattice {

enum class Operation { norm2, dot, dot_norm2, axpby, axpy_norm2, axpbypz, direction, finish, step };

struct AlgebraJob {
    Operation operation;
    const void* in[4] = {};  ///< groups of the fields that are only read, in the order of the operation's arguments
    void* out[2] = {};       ///< groups of the fields that are written
    std::complex<double> a = 0, b = 0;
    std::uint16_t counts_in_last = 0;  ///< the places of the last block that hold sites
};

/// Sums of a pass, in double.
struct AlgebraSums {
    double re = 0, im = 0, norm2 = 0;
};

/// Blocks [first, last) of `blocks`.
template <Precision P>
AlgebraSums algebra_blocks(const AlgebraJob& job, index_t first, index_t last, index_t blocks);

/// Converts the same numbers to another precision.
template <Precision From, Precision To>
void convert_blocks(const void* from, void* to, index_t first, index_t last);

}  // namespace kasane::lattice
