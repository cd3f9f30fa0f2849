// The inverse of a matrix's diagonal as a preconditioner, in the form of krylov.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#include <concepts>
#include <vector>

namespace kasane::sparse {

/// [rows] 1 / a_ii. @param A  in host memory, canonical, with a diagonal
inline std::vector<double> inverse_diagonal(const CsrView& A) {
    std::vector<double> inverse(static_cast<std::size_t>(A.n));
    parallel_for(Cpu{}, A.n, [&](index_t row) {
        for (index_t e = A.begin(row); e < A.end(row); ++e)
            if (A.column(e) == row) inverse[static_cast<std::size_t>(row)] = 1 / A.value[e];
    });
    return inverse;
}

template <Space S>
struct DiagonalInverse {
    S on;
    Buffer<double, S> inverse;
    void apply(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        multiply_entries(on, inverse.view(), in.view(), out.view());
    }
    /// Does the same; returns in.out.
    double apply_dot(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cpu>
    {
        Buffer<VectorSums, S> partial(on, sum_runs_count);
        const double *const d = inverse.data(), *const from = in.data();
        double* const to = out.data();
        const auto entry_and_term = [=](index_t row) {
            to[row] = d[row] * from[row];
            return from[row] * to[row];
        };
        return sum_in_runs(on, in.size(), entry_and_term, partial).first;
    }
};

}  // namespace kasane::sparse
