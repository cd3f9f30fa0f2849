// ColumnAlgebra<Cpu, P>: column by column, because nothing that an operation reads is shared by columns.
#include <kasane/lattice/dirac/columns.hpp>

#include <kasane/lattice/dirac/cpu/field.hpp>

namespace kasane::lattice {

template <Space S, Precision P>
struct ColumnAlgebra<S, P>::Work {
    FieldAlgebra<S, P> one;

    /// The results of operation(i, column) in the order of the set.
    template <class Operation>
    auto each(const ColumnSet& set, Operation operation) {
        std::vector<decltype(operation(std::size_t{}, 0))> results;
        for (std::size_t i = 0; i < set.size(); ++i) results.push_back(operation(i, set[i]));
        return results;
    }
};

template <Space S, Precision P>
ColumnAlgebra<S, P>::ColumnAlgebra(std::shared_ptr<const Lattice<S>> lattice) : work_(new Work{FieldAlgebra<S, P>(std::move(lattice))}) {}
template <Space S, Precision P>
ColumnAlgebra<S, P>::~ColumnAlgebra() = default;
template <Space S, Precision P>
ColumnAlgebra<S, P>::ColumnAlgebra(ColumnAlgebra&&) noexcept = default;

template <Space S, Precision P>
void ColumnAlgebra<S, P>::copy(const ColumnSet& set, const Vector& x, Vector& y) {
    for (const int c : set) work_->one.copy(x[c], y[c]);
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::zero(const ColumnSet& set, Vector& y) {
    for (const int c : set) work_->one.zero(y[c]);
}
template <Space S, Precision P>
std::vector<double> ColumnAlgebra<S, P>::norm2(const ColumnSet& set, const Vector& x) {
    return work_->each(set, [&](std::size_t, int c) { return work_->one.norm2(x[c]); });
}
template <Space S, Precision P>
std::vector<std::complex<double>> ColumnAlgebra<S, P>::dot(const ColumnSet& set, const Vector& x, const Vector& y) {
    return work_->each(set, [&](std::size_t, int c) { return work_->one.dot(x[c], y[c]); });
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::axpby(const ColumnSet& set, const Scalars& a, const Vector& x, const Scalars& b, Vector& y) {
    for (std::size_t i = 0; i < set.size(); ++i) work_->one.axpby(a[i], x[set[i]], b[i], y[set[i]]);
}
template <Space S, Precision P>
std::vector<double> ColumnAlgebra<S, P>::axpy_norm2(const ColumnSet& set, const Scalars& a, const Vector& x, Vector& y) {
    return work_->each(set, [&](std::size_t i, int c) { return work_->one.axpy_norm2(a[i], x[c], y[c]); });
}
template <Space S, Precision P>
std::vector<std::pair<std::complex<double>, double>> ColumnAlgebra<S, P>::dot_norm2(const ColumnSet& set, const Vector& x,
                                                                                    const Vector& y) {
    return work_->each(set, [&](std::size_t, int c) { return work_->one.dot_norm2(x[c], y[c]); });
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::direction(const ColumnSet& set, const Vector& r, const Scalars& beta, const Scalars& omega, const Vector& v,
                                    Vector& p) {
    for (std::size_t i = 0; i < set.size(); ++i) work_->one.direction(r[set[i]], beta[i], omega[i], v[set[i]], p[set[i]]);
}
template <Space S, Precision P>
std::vector<std::pair<std::complex<double>, double>> ColumnAlgebra<S, P>::finish(const ColumnSet& set, const Scalars& alpha,
                                                                                 const Vector& p, const Scalars& omega, const Vector& t,
                                                                                 const Vector& shadow, Vector& x, Vector& r) {
    return work_->each(set, [&](std::size_t i, int c) { return work_->one.finish(alpha[i], p[c], omega[i], t[c], shadow[c], x[c], r[c]); });
}

template class ColumnAlgebra<Cpu, Precision::half>;
template class ColumnAlgebra<Cpu, Precision::single>;
template class ColumnAlgebra<Cpu, Precision::double_>;

}  // namespace kasane::lattice
