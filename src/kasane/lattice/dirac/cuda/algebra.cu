// FieldAlgebra<Cuda, P>: every operation is one kernel of whole sites (half computes its scale again), which reads and writes each vector
// once.
#include <kasane/lattice/dirac/cuda/resident_scalars.hpp>
#include <kasane/lattice/dirac/cuda/site_operations.cuda.hpp>

#include <optional>

namespace kasane::lattice {

using namespace device;

template <Space S, Precision P>
struct FieldAlgebra<S, P>::Work {
    SiteKernels<1> kernels;
    std::shared_ptr<const Lattice<S>> lattice;
    std::optional<ResidentBicgstab<P>> bicgstab;  ///< from the first use
    std::optional<ResidentCg<P>> cg;              ///< the same

    template <class Operation>
    void launch(const Operation& operation) {
        kernels.launch(&operation, 1);
    }
    /// Launches, and waits for the sums.
    template <class Operation>
    const SiteSums& sum(const Operation& operation) {
        return kernels.sum(&operation, 1)[0];
    }
};

template <Space S, Precision P>
FieldAlgebra<S, P>::FieldAlgebra(std::shared_ptr<const Lattice<S>> lattice) : work_(new Work{SiteKernels<1>(lattice), lattice, {}, {}}) {}
template <Space S, Precision P>
FieldAlgebra<S, P>::~FieldAlgebra() = default;
template <Space S, Precision P>
FieldAlgebra<S, P>::FieldAlgebra(FieldAlgebra&&) noexcept = default;

template <Space S, Precision P>
Field<S, P> FieldAlgebra<S, P>::like(const Vector& x) const {
    return Vector(x.lattice());
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::copy(const Vector& x, Vector& y) {
    if (&x != &y) convert(x, y);
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::zero(Vector& y) {
    set_zero(y);
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::norm2(const Vector& x) {
    return work_->sum(Norm2<P>{x.view()}).value[0];
}
template <Space S, Precision P>
std::complex<double> FieldAlgebra<S, P>::dot(const Vector& x, const Vector& y) {
    const auto& got = work_->sum(Dot<P>{x.view(), y.view()});
    return {got.value[0], got.value[1]};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
    using V = Real<P>;
    work_->launch(Axpby<P>{factor<V>(a), factor<V>(b), x.view(), y.view(), b != 0.0});
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::axpy_norm2(Scalar a, const Vector& x, Vector& y) {
    return work_->sum(AxpyNorm2<P>{factor<Real<P>>(a), x.view(), y.view()}).value[0];
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::dot_norm2(const Vector& x, const Vector& y) {
    const auto& got = work_->sum(DotNorm2<P>{x.view(), y.view()});
    return {{got.value[0], got.value[1]}, got.value[2]};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpbypz(Scalar a, const Vector& x, Scalar b, const Vector& y, Vector& z) {
    using V = Real<P>;
    work_->launch(Axpbypz<P>{factor<V>(a), factor<V>(b), x.view(), y.view(), z.view()});
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) {
    using V = Real<P>;
    work_->launch(Direction<P>{factor<V>(beta), factor<V>(-omega), r.view(), v.view(), p.view()});
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t,
                                                                   const Vector& shadow, Vector& x, Vector& r) {
    using V = Real<P>;
    const auto& got =
        work_->sum(Finish<P>{factor<V>(alpha), factor<V>(omega), factor<V>(-omega), p.view(), t.view(), shadow.view(), x.view(), r.view()});
    return {{got.value[0], got.value[1]}, got.value[2]};
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    using V = Real<P>;
    return work_->sum(Step<P>{factor<V>(a), factor<V>(-a), p.view(), q.view(), x.view(), r.view()}).value[0];
}

template <Space S, Precision P>
ResidentBicgstab<P>& FieldAlgebra<S, P>::resident_bicgstab()
    requires(!std::same_as<S, Cpu>)
{
    if (!work_->bicgstab) work_->bicgstab.emplace(work_->lattice);
    return *work_->bicgstab;
}
template <Space S, Precision P>
ResidentCg<P>& FieldAlgebra<S, P>::resident_cg()
    requires(!std::same_as<S, Cpu>)
{
    if (!work_->cg) work_->cg.emplace(work_->lattice);
    return *work_->cg;
}

template class FieldAlgebra<Cuda, Precision::half>;
template class FieldAlgebra<Cuda, Precision::single>;
template class FieldAlgebra<Cuda, Precision::double_>;

}  // namespace kasane::lattice
