// ColumnAlgebra<Cuda, P>: every operation is one launch for all columns of a set, and the host waits once for all sums.
#include <kasane/lattice/dirac/columns.hpp>
#include <kasane/lattice/dirac/cuda/site_operations.cuda.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int most_columns_of_launch = 12;

}  // namespace

template <Space S, Precision P>
struct ColumnAlgebra<S, P>::Work {
    SiteKernels<most_columns_of_launch> kernels;

    /// Launches make(i, column) for column i of a set; calls use(sums) of each column, in the order of the set, where the operation has
    /// sums.
    template <class Make, class Use>
    void each(const ColumnSet& set, Make make, Use use) {
        using Operation = decltype(make(std::size_t{}, 0));
        for (std::size_t first = 0; first < set.size(); first += most_columns_of_launch) {
            const std::size_t last = std::min(set.size(), first + most_columns_of_launch);
            std::vector<Operation> operations;
            for (std::size_t i = first; i < last; ++i) operations.push_back(make(i, set[i]));
            const int count = static_cast<int>(operations.size());
            if constexpr (Operation::numbers == 0) {
                kernels.launch(operations.data(), count);
            } else {
                const SiteSums* const sums = kernels.sum(operations.data(), count);
                for (int i = 0; i < count; ++i) use(sums[i].value);
            }
        }
    }
    template <class Make>
    void each(const ColumnSet& set, Make make) {
        each(set, make, [](const double*) {});
    }
};

template <Space S, Precision P>
ColumnAlgebra<S, P>::ColumnAlgebra(std::shared_ptr<const Lattice<S>> lattice)
    : work_(new Work{SiteKernels<most_columns_of_launch>(std::move(lattice))}) {}
template <Space S, Precision P>
ColumnAlgebra<S, P>::~ColumnAlgebra() = default;
template <Space S, Precision P>
ColumnAlgebra<S, P>::ColumnAlgebra(ColumnAlgebra&&) noexcept = default;

template <Space S, Precision P>
void ColumnAlgebra<S, P>::copy(const ColumnSet& set, const Vector& x, Vector& y) {
    for (const int c : set)
        if (&x[c] != &y[c]) convert(x[c], y[c]);
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::zero(const ColumnSet& set, Vector& y) {
    for (const int c : set) set_zero(y[c]);
}
template <Space S, Precision P>
std::vector<double> ColumnAlgebra<S, P>::norm2(const ColumnSet& set, const Vector& x) {
    std::vector<double> squares;
    work_->each(set, [&](std::size_t, int c) { return Norm2<P>{x[c].view()}; }, [&](const double* sum) { squares.push_back(sum[0]); });
    return squares;
}
template <Space S, Precision P>
std::vector<std::complex<double>> ColumnAlgebra<S, P>::dot(const ColumnSet& set, const Vector& x, const Vector& y) {
    Scalars products;
    work_->each(
        set, [&](std::size_t, int c) { return Dot<P>{x[c].view(), y[c].view()}; },
        [&](const double* sum) { products.emplace_back(sum[0], sum[1]); });
    return products;
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::axpby(const ColumnSet& set, const Scalars& a, const Vector& x, const Scalars& b, Vector& y) {
    using V = Real<P>;
    work_->each(set,
                [&](std::size_t i, int c) { return Axpby<P>{factor<V>(a[i]), factor<V>(b[i]), x[c].view(), y[c].view(), b[i] != 0.0}; });
}
template <Space S, Precision P>
std::vector<double> ColumnAlgebra<S, P>::axpy_norm2(const ColumnSet& set, const Scalars& a, const Vector& x, Vector& y) {
    std::vector<double> squares;
    work_->each(
        set, [&](std::size_t i, int c) { return AxpyNorm2<P>{factor<Real<P>>(a[i]), x[c].view(), y[c].view()}; },
        [&](const double* sum) { squares.push_back(sum[0]); });
    return squares;
}
template <Space S, Precision P>
std::vector<std::pair<std::complex<double>, double>> ColumnAlgebra<S, P>::dot_norm2(const ColumnSet& set, const Vector& x,
                                                                                    const Vector& y) {
    std::vector<std::pair<Scalar, double>> products;
    work_->each(
        set, [&](std::size_t, int c) { return DotNorm2<P>{x[c].view(), y[c].view()}; },
        [&](const double* sum) { products.emplace_back(Scalar(sum[0], sum[1]), sum[2]); });
    return products;
}
template <Space S, Precision P>
void ColumnAlgebra<S, P>::direction(const ColumnSet& set, const Vector& r, const Scalars& beta, const Scalars& omega, const Vector& v,
                                    Vector& p) {
    using V = Real<P>;
    work_->each(set, [&](std::size_t i, int c) {
        return Direction<P>{factor<V>(beta[i]), factor<V>(-omega[i]), r[c].view(), v[c].view(), p[c].view()};
    });
}
template <Space S, Precision P>
std::vector<std::pair<std::complex<double>, double>> ColumnAlgebra<S, P>::finish(const ColumnSet& set, const Scalars& alpha,
                                                                                 const Vector& p, const Scalars& omega, const Vector& t,
                                                                                 const Vector& shadow, Vector& x, Vector& r) {
    using V = Real<P>;
    std::vector<std::pair<Scalar, double>> rest;
    work_->each(
        set,
        [&](std::size_t i, int c) {
            return Finish<P>{factor<V>(alpha[i]), factor<V>(omega[i]), factor<V>(-omega[i]), p[c].view(),
                             t[c].view(),         shadow[c].view(),    x[c].view(),          r[c].view()};
        },
        [&](const double* sum) { rest.emplace_back(Scalar(sum[0], sum[1]), sum[2]); });
    return rest;
}

template class ColumnAlgebra<Cuda, Precision::half>;
template class ColumnAlgebra<Cuda, Precision::single>;
template class ColumnAlgebra<Cuda, Precision::double_>;

}  // namespace kasane::lattice
