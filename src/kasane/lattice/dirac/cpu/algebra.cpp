// FieldAlgebra<Cpu, P> and convert(): the fields that an operation reads and writes; parts of fixed bounds, their sums added in order.
#include <kasane/lattice/dirac/cpu/algebra.hpp>

#include <kasane/lattice/dirac/cpu/parts.hpp>
#include <kasane/lattice/dirac/validate.hpp>

#include <cstring>
#include <vector>

namespace kasane::lattice {

template <Space S, Precision P>
struct FieldAlgebra<S, P>::Work {
    std::shared_ptr<const Lattice<Cpu>> lattice;
    std::uint16_t counts_in_last = 0;
    std::vector<AlgebraSums> partial;

    AlgebraSums run(AlgebraJob job) {
        job.counts_in_last = counts_in_last;
        for_parts(*lattice, [&](index_t part, index_t first, index_t last) {
            partial[static_cast<std::size_t>(part)] = algebra_blocks<P>(job, first, last, lattice->blocks());
        });
        AlgebraSums sum;
        for (const auto& p : partial) {
            sum.re += p.re;
            sum.im += p.im;
            sum.norm2 += p.norm2;
        }
        return sum;
    }
};

template <Space S, Precision P>
FieldAlgebra<S, P>::FieldAlgebra(std::shared_ptr<const Lattice<S>> lattice) : work_(std::make_unique<Work>()) {
    for (int l = 0; l < Lattice<Cpu>::lanes; ++l)
        if (lattice->counts(lattice->places() - Lattice<Cpu>::lanes + l))
            work_->counts_in_last = static_cast<std::uint16_t>(work_->counts_in_last | 1u << l);
    work_->partial.resize(static_cast<std::size_t>(part_count(*lattice)));
    work_->lattice = std::move(lattice);
}
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
    const auto per_block = static_cast<index_t>(x.bytes()) / work_->lattice->blocks();
    const auto* const from = reinterpret_cast<const std::byte*>(x.group(0));
    auto* const to = reinterpret_cast<std::byte*>(y.group(0));
    for_parts(*work_->lattice, [&](index_t, index_t first, index_t last) {
        std::memcpy(to + first * per_block, from + first * per_block, static_cast<std::size_t>((last - first) * per_block));
    });
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::zero(Vector& y) {
    const auto per_block = static_cast<index_t>(y.bytes()) / work_->lattice->blocks();
    auto* const to = reinterpret_cast<std::byte*>(y.group(0));
    for_parts(*work_->lattice, [&](index_t, index_t first, index_t last) {
        std::memset(to + first * per_block, 0, static_cast<std::size_t>((last - first) * per_block));
    });
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::norm2(const Vector& x) {
    return work_->run({.operation = Operation::norm2, .in = {x.group(0)}}).norm2;
}
template <Space S, Precision P>
std::complex<double> FieldAlgebra<S, P>::dot(const Vector& x, const Vector& y) {
    const auto sum = work_->run({.operation = Operation::dot, .in = {x.group(0), y.group(0)}});
    return {sum.re, sum.im};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
    work_->run({.operation = Operation::axpby, .in = {x.group(0)}, .out = {y.group(0)}, .a = a, .b = b});
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::axpy_norm2(Scalar a, const Vector& x, Vector& y) {
    return work_->run({.operation = Operation::axpy_norm2, .in = {x.group(0)}, .out = {y.group(0)}, .a = a}).norm2;
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::dot_norm2(const Vector& x, const Vector& y) {
    const auto sum = work_->run({.operation = Operation::dot_norm2, .in = {x.group(0), y.group(0)}});
    return {{sum.re, sum.im}, sum.norm2};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpbypz(Scalar a, const Vector& x, Scalar b, const Vector& y, Vector& z) {
    work_->run({.operation = Operation::axpbypz, .in = {x.group(0), y.group(0)}, .out = {z.group(0)}, .a = a, .b = b});
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) {
    work_->run({.operation = Operation::direction, .in = {r.group(0), v.group(0)}, .out = {p.group(0)}, .a = beta, .b = -beta * omega});
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t,
                                                                   const Vector& shadow, Vector& x, Vector& r) {
    const auto sum = work_->run({.operation = Operation::finish,
                                 .in = {p.group(0), t.group(0), shadow.group(0)},
                                 .out = {x.group(0), r.group(0)},
                                 .a = alpha,
                                 .b = omega});
    return {{sum.re, sum.im}, sum.norm2};
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    return work_->run({.operation = Operation::step, .in = {p.group(0), q.group(0)}, .out = {x.group(0), r.group(0)}, .a = a}).norm2;
}

template class FieldAlgebra<Cpu, Precision::half>;
template class FieldAlgebra<Cpu, Precision::single>;
template class FieldAlgebra<Cpu, Precision::double_>;

template <Space S, Precision From, Precision To>
void convert(const Field<S, From>& from, Field<S, To>& to) {
    require_same_lattice(from, to);
    if constexpr (From == To) {
        std::memcpy(to.group(0), from.group(0), from.bytes());
    } else {
        for_parts(*from.lattice(),
                  [&](index_t, index_t first, index_t last) { convert_blocks<From, To>(from.group(0), to.group(0), first, last); });
    }
}

#define KS_DEFINE(From)                                                             \
    template void convert(const Field<Cpu, From>&, Field<Cpu, Precision::half>&);   \
    template void convert(const Field<Cpu, From>&, Field<Cpu, Precision::single>&); \
    template void convert(const Field<Cpu, From>&, Field<Cpu, Precision::double_>&);
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
