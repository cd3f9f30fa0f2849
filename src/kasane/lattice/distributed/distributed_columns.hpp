// ColumnAlgebra of fields whose parts belong to the workers of a grid. Invariants: as DistributedAlgebra; one reduction for an operation on
// a set, however many columns it has.
#pragma once

#include <kasane/lattice/dirac/columns.hpp>
#include <kasane/lattice/distributed/reduced.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace kasane::lattice {

template <Space S, Precision P>
class DistributedColumnAlgebra {
   public:
    using Vector = FieldColumns<S, P>;
    using Scalar = std::complex<double>;
    using Scalars = std::vector<Scalar>;

    /// @param worker  must outlive it
    DistributedColumnAlgebra(std::shared_ptr<const Lattice<S>> lattice, comm::Worker& worker)
        : local_(std::move(lattice)), worker_(&worker) {}

    void copy(const ColumnSet& set, const Vector& x, Vector& y) { local_.copy(set, x, y); }
    void zero(const ColumnSet& set, Vector& y) { local_.zero(set, y); }
    std::vector<double> norm2(const ColumnSet& set, const Vector& x) { return reduced(*worker_, local_.norm2(set, x)); }
    Scalars dot(const ColumnSet& set, const Vector& x, const Vector& y) { return reduced(*worker_, local_.dot(set, x, y)); }
    void axpby(const ColumnSet& set, const Scalars& a, const Vector& x, const Scalars& b, Vector& y) { local_.axpby(set, a, x, b, y); }
    std::vector<double> axpy_norm2(const ColumnSet& set, const Scalars& a, const Vector& x, Vector& y) {
        return reduced(*worker_, local_.axpy_norm2(set, a, x, y));
    }
    std::vector<std::pair<Scalar, double>> dot_norm2(const ColumnSet& set, const Vector& x, const Vector& y) {
        return reduced(*worker_, local_.dot_norm2(set, x, y));
    }
    void direction(const ColumnSet& set, const Vector& r, const Scalars& beta, const Scalars& omega, const Vector& v, Vector& p) {
        local_.direction(set, r, beta, omega, v, p);
    }
    std::vector<std::pair<Scalar, double>> finish(const ColumnSet& set, const Scalars& alpha, const Vector& p, const Scalars& omega,
                                                  const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
        return reduced(*worker_, local_.finish(set, alpha, p, omega, t, shadow, x, r));
    }

   private:
    ColumnAlgebra<S, P> local_;
    comm::Worker* worker_;
};

}  // namespace kasane::lattice
