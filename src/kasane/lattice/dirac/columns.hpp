// Several right-hand sides ("columns") on a space: their fields, and FieldAlgebra's operations for a set of columns at once.
// Invariants: each column is a separate field, so that every function of one field takes a column; the sums of a column have the same
// bits as FieldAlgebra's; an operation on an empty set has no effect. Declarations only, as dirac.hpp: Field is defined by each space.
#pragma once

#include <kasane/krylov/columns.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

#include <complex>
#include <memory>
#include <utility>
#include <vector>

namespace kasane::lattice {

using krylov::ColumnSet;

/// One field of every column: its own, or the caller's.
template <Space S, Precision P>
class FieldColumns {
   public:
    FieldColumns(const std::shared_ptr<const Lattice<S>>& lattice, int columns) {
        for (int c = 0; c < columns; ++c) own_.emplace_back(lattice);
        for (auto& field : own_) fields_.push_back(&field);
    }
    /// Refers to these fields, which must outlive it.
    explicit FieldColumns(std::vector<Field<S, P>*> fields) : fields_(std::move(fields)) {}
    FieldColumns(FieldColumns&&) noexcept = default;

    int size() const { return static_cast<int>(fields_.size()); }
    Field<S, P>& operator[](int c) { return *fields_[static_cast<std::size_t>(c)]; }
    const Field<S, P>& operator[](int c) const { return *fields_[static_cast<std::size_t>(c)]; }
    /// The fields of a set, in its order.
    std::vector<Field<S, P>*> of(const ColumnSet& set) { return pick<Field<S, P>>(set); }
    std::vector<const Field<S, P>*> of(const ColumnSet& set) const { return pick<const Field<S, P>>(set); }

   private:
    template <class F>
    std::vector<F*> pick(const ColumnSet& set) const {
        std::vector<F*> picked;
        for (const int c : set) picked.push_back(fields_[static_cast<std::size_t>(c)]);
        return picked;
    }

    std::vector<Field<S, P>> own_;
    std::vector<Field<S, P>*> fields_;
};

/// The algebra of columns that krylov/bicgstab_columns.hpp requires. Scalars and results are in the order of the set.
template <Space S, Precision P>
class ColumnAlgebra {
   public:
    using Vector = FieldColumns<S, P>;
    using Scalar = std::complex<double>;
    using Scalars = std::vector<Scalar>;

    explicit ColumnAlgebra(std::shared_ptr<const Lattice<S>> lattice);
    ~ColumnAlgebra();
    ColumnAlgebra(ColumnAlgebra&&) noexcept;

    void copy(const ColumnSet& set, const Vector& x, Vector& y);
    void zero(const ColumnSet& set, Vector& y);
    std::vector<double> norm2(const ColumnSet& set, const Vector& x);
    Scalars dot(const ColumnSet& set, const Vector& x, const Vector& y);
    void axpby(const ColumnSet& set, const Scalars& a, const Vector& x, const Scalars& b, Vector& y);
    std::vector<double> axpy_norm2(const ColumnSet& set, const Scalars& a, const Vector& x, Vector& y);
    std::vector<std::pair<Scalar, double>> dot_norm2(const ColumnSet& set, const Vector& x, const Vector& y);
    void direction(const ColumnSet& set, const Vector& r, const Scalars& beta, const Scalars& omega, const Vector& v, Vector& p);
    std::vector<std::pair<Scalar, double>> finish(const ColumnSet& set, const Scalars& alpha, const Vector& p, const Scalars& omega,
                                                  const Vector& t, const Vector& shadow, Vector& x, Vector& r);

   private:
    struct Work;
    std::unique_ptr<Work> work_;
};

/// Converts the columns of a set to another precision.
struct ConvertColumns {
    template <Space S, Precision From, Precision To>
    void operator()(const ColumnSet& set, const FieldColumns<S, From>& from, FieldColumns<S, To>& to) const {
        for (const int c : set) convert(from[c], to[c]);
    }
};

}  // namespace kasane::lattice
