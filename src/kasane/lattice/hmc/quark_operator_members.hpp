// The members of QuarkOperator, for the files that instantiate it for a kind of lattice: conjugate gradients with reliable updates on the
// packed operators, and the forces of the full-lattice fields X and Y.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/krylov/mixed_multishift.hpp>
#include <kasane/krylov/reliable.hpp>
#include <kasane/lattice/hmc/clover_force.hpp>
#include <kasane/lattice/hmc/quark_operator.hpp>
#include <kasane/lattice/hmc/schur_operator.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <type_traits>

namespace kasane::lattice {
namespace detail {

/// Dhat^+ Dhat + mu^2.
template <Space S, Precision P, class Part>
struct NormalOperator {
    using Algebra = typename Part::template Algebra<P>;

    const SchurOperator<S, P, typename Part::template Operator<P>>& D;
    double mu2;
    Field<S, P>& between;  ///< Dhat in

    void apply(Algebra& algebra, const Field<S, P>& in, Field<S, P>& out) const {
        D.apply(algebra, in, between);
        D.apply_adjoint(algebra, between, out);
        if (mu2 != 0) algebra.axpby(mu2, in, 1, out);
    }
    krylov::Square<Field<S, P>> apply_square(Algebra& algebra, const Field<S, P>& in, Field<S, P>& out) const {
        apply(algebra, in, out);
        return {between, mu2};
    }
    /// in.out = |Dhat in|^2 + mu^2 |in|^2
    double apply_dot(Algebra& algebra, const Field<S, P>& in, Field<S, P>& out) const {
        const double square = algebra.norm2(apply_square(algebra, in, out).image);
        return mu2 != 0 ? square + mu2 * algebra.norm2(in) : square;
    }
};

/// Operator, algebra and vectors of the iteration in a precision.
template <Space S, Precision P, class Part>
struct QuarkLevel {
    using Algebra = typename Part::template Algebra<P>;
    using OuterAlgebra = typename Part::template Algebra<Precision::double_>;

    /// Empty in double, whose operator is the outer one.
    std::optional<SchurOperator<S, P, typename Part::template Operator<P>>> D;
    Algebra algebra;
    krylov::BicgstabWorkspace<Algebra> work;
    Field<S, P> y, between;
    std::optional<krylov::MixedMultishiftWorkspace<OuterAlgebra, Algebra>> shifted;  ///< of the last number of shifts

    explicit QuarkLevel(const Part& part)
        : algebra(part.template algebra<P>()), work(algebra, Field<S, P>(part.lattice())), y(part.lattice()), between(part.lattice()) {}
};

struct QuarkConvert {
    template <class From, class To>
    void operator()(const From& from, To& to) const {
        convert(from, to);
    }
};

}  // namespace detail

template <Space S, class Part>
struct QuarkOperator<S, Part>::Parts {
    static constexpr auto outer = Precision::double_;
    template <Precision P>
    using Algebra = typename Part::template Algebra<P>;
    template <Precision P>
    using Schur = SchurOperator<S, P, typename Part::template Operator<P>>;
    template <Precision P>
    using Level = detail::QuarkLevel<S, P, Part>;
    template <Precision P>
    using Normal = detail::NormalOperator<S, P, Part>;

    Part part;
    std::shared_ptr<const Lattice<S>> lattice;
    QuarkParameters parameters;
    QuarkSolverOptions options;
    std::optional<std::array<double, 2>> packed;  ///< checksum of the packed links
    std::optional<CloverTerm<S>> clover;
    std::optional<CloverWeights<S>> weights;
    std::optional<Schur<outer>> D;
    mutable Algebra<outer> algebra;
    Vector r, z, between;
    ResidentField<S> x, y;                                               ///< of the force
    std::optional<krylov::MultishiftWorkspace<Algebra<outer>>> shifted;  ///< of the last number of shifts
    std::unique_ptr<Level<Precision::half>> half;
    std::unique_ptr<Level<Precision::single>> single;
    std::unique_ptr<Level<outer>> same;
    static constexpr bool can_deflate = !std::is_void_v<typename Part::Deflation>;
    std::optional<std::conditional_t<can_deflate, typename Part::Deflation, char>> deflation;
    std::uint64_t packings = 0;  ///< so far

    Parts(Part of, const QuarkParameters& given, const QuarkSolverOptions& asked)
        : part(std::move(of)),
          lattice(part.lattice()),
          parameters(given),
          options(asked),
          algebra(part.template algebra<outer>()),
          r(lattice),
          z(lattice),
          between(lattice),
          x(lattice),
          y(lattice) {
        const auto on = lattice->space();
        const auto& extents = lattice->extents();
        if (parameters.dirac.csw != 0) {
            clover.emplace(CloverTerm<S>{extents, Buffer<double, S>(on, 72 * extents.volume())});
            weights.emplace(on, extents);
        }
        const auto uses = [&](Precision precision) { return options.inner == precision || options.force == precision; };
        if (uses(Precision::half)) half = std::make_unique<Level<Precision::half>>(part);
        if (uses(Precision::single)) single = std::make_unique<Level<Precision::single>>(part);
        if (uses(Precision::double_)) same = std::make_unique<Level<outer>>(part);
    }

    double kappa_csw() const { return parameters.dirac.kappa * parameters.dirac.csw; }

    template <Precision P>
    void pack(std::optional<Schur<P>>& D_of, const Links<S>& u, const LinkStorage& storage) {
        const CloverTerm<S>* A = clover ? &*clover : nullptr;
        if (D_of)
            D_of->pack(part, u, A);
        else
            D_of.emplace(part.template dirac<P>(u, A, parameters.dirac.boundary, storage), lattice, A, parameters.dirac.kappa,
                         parameters.twisted_mass);
    }

    template <Precision P>
    const Schur<P>& operator_of(const Level<P>& level) const {
        if constexpr (P == outer)
            return *D;
        else
            return *level.D;
    }

    template <Precision P>
    krylov::SolveLog solve(Level<P>& level, double mu, const Vector& phi, Vector& solution, const krylov::Options& how) {
        // Updates in half as in the solver of D x = b (resident_solver.hpp); none in double.
        const double delta = P == outer ? 0 : first_update;
        const Normal<outer> A{*D, mu * mu, between};
        const Normal<P> a{operator_of(level), mu * mu, level.between};
        const krylov::ReliableWorkspace<Algebra<outer>, Algebra<P>> work{r, z, level.work, level.y};
        return krylov::reliable_hermitian_cg(algebra, A, level.algebra, a, detail::QuarkConvert{}, phi, solution, work, how, delta);
    }

    template <Precision P>
    krylov::SolveLog solve_shifted(Level<P>& level, const std::vector<double>& shifts, const Vector& phi, std::vector<Vector>& x,
                                   const krylov::Options& how) {
        if (!level.shifted || level.shifted->y.size() != shifts.size()) {
            level.shifted.reset();  // the memory first
            level.shifted.emplace(algebra, phi, level.algebra, level.y, shifts.size());
        }
        const Normal<outer> A{*D, 0, between};
        const Normal<P> a{operator_of(level), 0, level.between};
        const krylov::ReliableWorkspace<Algebra<outer>, Algebra<P>> work{r, z, level.work, level.y};
        return krylov::mixed_multishift_cg(algebra, A, level.algebra, a, detail::QuarkConvert{}, shifts, phi, x, *level.shifted, work, how,
                                           P == Precision::half ? error_of_half : error_of_single, first_update);
    }

    static constexpr double first_update = 0.1;
    /// Errors of the low precisions in an iteration for many shifts.
    static constexpr double error_of_single = 4e-6, error_of_half = 4e-3;
};

template <Space S, class Part>
QuarkOperator<S, Part>::QuarkOperator(Part part, const QuarkParameters& parameters, const QuarkSolverOptions& options) {
    auto problems = problems_of(parameters.dirac);
    if (!std::isfinite(parameters.twisted_mass))
        problems.push_back({fmt::format("the twisted mass, {}, must be finite; 0 leaves it out", parameters.twisted_mass), {}});
    if (options.iteration_limit < 1)
        problems.push_back({fmt::format("iteration_limit = {} must be at least 1", options.iteration_limit), {}});
    if (options.deflation.vectors != 0 && parameters.twisted_mass != 0)
        problems.push_back({"deflation needs quarks without a twisted mass: leave out one of the two", {}});
    if (options.deflation.vectors != 0 && !Parts::can_deflate)
        problems.push_back({"deflation is for one device, and the lattice is divided among several: leave it out, or take one device", {}});
    if (!problems.empty()) throw InputError(std::move(problems));
    parts_ = std::make_unique<Parts>(std::move(part), parameters, options);
    if constexpr (Parts::can_deflate)
        if (options.deflation.vectors != 0) parts_->deflation.emplace(parts_->lattice, parameters.dirac, options.deflation);
}
template <Space S, class Part>
QuarkOperator<S, Part>::~QuarkOperator() = default;
template <Space S, class Part>
QuarkOperator<S, Part>::QuarkOperator(QuarkOperator&&) noexcept = default;

template <Space S, class Part>
void QuarkOperator<S, Part>::pack(const Links<S>& u) {
    Parts& p = *parts_;
    const auto checksum = p.part.checksum(u);
    p.part.take(u, checksum);
    if (p.packed == checksum) return;
    p.packed.reset();
    if (p.clover) p.part.fill_clover(u, p.kappa_csw(), *p.clover);
    p.pack(p.D, u, {});
    if (p.half) p.pack(p.half->D, u, p.options.inner_links);
    if (p.single) p.pack(p.single->D, u, p.options.inner_links);
    p.packed = checksum;
    ++p.packings;
}

template <Space S, class Part>
const std::shared_ptr<const Lattice<S>>& QuarkOperator<S, Part>::lattice() const {
    return parts_->lattice;
}
template <Space S, class Part>
const QuarkParameters& QuarkOperator<S, Part>::parameters() const {
    return parts_->parameters;
}
template <Space S, class Part>
Field<S, Precision::double_> QuarkOperator<S, Part>::vector() const {
    return Vector(parts_->lattice);
}

template <Space S, class Part>
void QuarkOperator<S, Part>::apply(const Vector& in, Vector& out, bool adjoint) const {
    parts_->D->apply(in, out, adjoint);
}
template <Space S, class Part>
const QuarkSolverOptions& QuarkOperator<S, Part>::options() const {
    return parts_->options;
}
template <Space S, class Part>
void QuarkOperator<S, Part>::apply_normal(double mu, const Vector& in, Vector& out) const {
    detail::NormalOperator<S, Precision::double_, Part>{*parts_->D, mu * mu, parts_->between}.apply(parts_->algebra, in, out);
}
template <Space S, class Part>
void QuarkOperator<S, Part>::axpby(std::complex<double> a, const Vector& x, std::complex<double> b, Vector& y) const {
    parts_->algebra.axpby(a, x, b, y);
}
template <Space S, class Part>
double QuarkOperator<S, Part>::norm2(const Vector& x) const {
    return parts_->algebra.norm2(x);
}
template <Space S, class Part>
double QuarkOperator<S, Part>::dot(const Vector& x, const Vector& y) const {
    return parts_->algebra.dot(x, y).real();
}
template <Space S, class Part>
std::complex<double> QuarkOperator<S, Part>::inner_product(const Vector& x, const Vector& y) const {
    return parts_->algebra.dot(x, y);
}

template <Space S, class Part>
krylov::SolveLog QuarkOperator<S, Part>::try_solve(double mu, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner) {
    Parts& p = *parts_;
    krylov::Options how;
    how.rtol = rtol;
    how.iteration_limit = p.options.iteration_limit;
    const auto precision = inner.value_or(p.options.inner);
    require_level(precision);
    return precision == Precision::half     ? p.solve(*p.half, mu, phi, x, how)
           : precision == Precision::single ? p.solve(*p.single, mu, phi, x, how)
                                            : p.solve(*p.same, mu, phi, x, how);
}

template <Space S, class Part>
void QuarkOperator<S, Part>::require_level(Precision precision) const {
    KS_REQUIRE(precision == parts_->options.inner || precision == parts_->options.force,
               "a solve needs a precision of the operator's options");
}

template <Space S, class Part>
krylov::SolveLog QuarkOperator<S, Part>::solve(double mu, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner) {
    auto log = try_solve(mu, phi, x, rtol, inner);
    require_converged(log, mu, rtol);
    return log;
}

template <Space S, class Part>
krylov::SolveLog QuarkOperator<S, Part>::try_solve_deflated(const Links<S>& u, const Vector& phi, Vector& x, double rtol,
                                                            std::optional<Precision> inner) {
    krylov::SolveLog log;
    if constexpr (Parts::can_deflate) {
        Parts& p = *parts_;
        if (p.deflation && !p.deflation->given_up()) {
            try {
                log = p.deflation->solve(*p.D, u, p.clover ? &*p.clover : nullptr, p.packings, phi, x, rtol, p.options.iteration_limit);
                if (log.converged()) return log;
            } catch (const ComputationError&) {  // near-null vectors that depend on each other, of links that are not those of a field
            }
        }
    }
    const int before = log.iterations;
    log = try_solve(0, phi, x, rtol, inner);
    log.iterations += before;
    return log;
}
template <Space S, class Part>
krylov::SolveLog QuarkOperator<S, Part>::solve_deflated(const Links<S>& u, const Vector& phi, Vector& x, double rtol,
                                                        std::optional<Precision> inner) {
    auto log = try_solve_deflated(u, phi, x, rtol, inner);
    require_converged(log, 0, rtol);
    return log;
}
template <Space S, class Part>
void QuarkOperator<S, Part>::forget_subspace() {
    if constexpr (Parts::can_deflate)
        if (parts_->deflation) parts_->deflation->forget();
}

template <Space S, class Part>
void QuarkOperator<S, Part>::require_converged(const krylov::SolveLog& log, double mu, double rtol) const {
    if (log.converged()) return;
    std::string course;
    for (std::size_t i = 0; i < log.residuals.size(); i += std::max<std::size_t>(1, log.residuals.size() / 8))
        course += fmt::format("{}{:.1e}", course.empty() ? "" : ", ", log.residuals[i]);
    throw ComputationError(fmt::format(
        "the solve of the quark action with mu = {:.4g} ended after {} iterations at residual {:.1e}, not {:.1e} ({}; residuals {}): "
        "kappa = {} is at or beyond its critical value on this field, or the tolerance is below what double precision holds. Take a "
        "smaller kappa, shorter steps, or a larger tolerance",
        mu, log.iterations, log.true_residual, rtol, krylov::name(log.end), course, parts_->parameters.dirac.kappa));
}

template <Space S, class Part>
krylov::SolveLog QuarkOperator<S, Part>::solve_shifted(const std::vector<double>& shifts, const Vector& phi, std::vector<Vector>& x,
                                                       double rtol, std::optional<Precision> inner) {
    KS_REQUIRE(!shifts.empty() && shifts.size() == x.size(),
               fmt::format("{} shifts for {} solutions: give as many, at least one", shifts.size(), x.size()));
    Parts& p = *parts_;
    krylov::Options how;
    how.rtol = rtol;
    how.iteration_limit = p.options.iteration_limit;
    const auto in_double = [&] {
        if (!p.shifted || p.shifted->p.size() != shifts.size()) {
            p.shifted.reset();  // the memory first
            p.shifted.emplace(p.algebra, phi, shifts.size());
        }
        const typename Parts::template Normal<Parts::outer> A{*p.D, 0, p.between};
        return krylov::multishift_cg(p.algebra, A, shifts, phi, x, *p.shifted, how);
    };
    const auto precision = inner.value_or(p.options.inner);
    require_level(precision);
    const auto log = precision == Precision::half     ? p.solve_shifted(*p.half, shifts, phi, x, how)
                     : precision == Precision::single ? p.solve_shifted(*p.single, shifts, phi, x, how)
                                                      : in_double();
    require_converged(log, std::sqrt(shifts.front()), rtol);
    return log;
}

template <Space S, class Part>
void QuarkOperator<S, Part>::add_force_of_hop(const Links<S>& u, const Vector& x, double factor, bool add_weights, Links<S>& force) {
    Parts& p = *parts_;
    const double kappa = p.parameters.dirac.kappa;
    p.algebra.copy(x, p.x.even);
    apply(x, p.y.even);
    p.D->to_odd(p.x.even, false, kappa, p.x.odd);
    p.D->to_odd(p.y.even, true, kappa, p.y.odd);
    p.part.add_hop_force(p.D->dirac(), u, kappa, p.parameters.dirac.boundary, p.x, p.y, factor, force);
    if (p.clover) weights_of_product(p.x, p.y, factor, add_weights, *p.weights);
}

template <Space S, class Part>
void QuarkOperator<S, Part>::add_force(const Links<S>& u, const Vector& x, double factor, Links<S>& force) {
    Parts& p = *parts_;
    add_force_of_hop(u, x, factor, false, force);
    if (p.clover) p.part.add_clover_force(u, p.kappa_csw(), *p.weights, 1, force);
}

template <Space S, class Part>
void QuarkOperator<S, Part>::add_force(const Links<S>& u, const std::vector<Vector>& x, const std::vector<double>& factors,
                                       Links<S>& force) {
    KS_REQUIRE(!x.empty() && x.size() == factors.size(),
               fmt::format("{} fields for {} factors of a force: give as many, at least one", x.size(), factors.size()));
    Parts& p = *parts_;
    for (std::size_t k = 0; k < x.size(); ++k) add_force_of_hop(u, x[k], factors[k], k > 0, force);
    if (p.clover) p.part.add_clover_force(u, p.kappa_csw(), *p.weights, 1, force);
}

template <Space S, class Part>
void QuarkOperator<S, Part>::gaussian(std::uint64_t seed, std::uint64_t trajectory, int term, Vector& eta) const {
    parts_->part.gaussian(seed, trajectory, term, Parity::even, eta);
}

template <Space S, class Part>
double QuarkOperator<S, Part>::determinant_action() const {
    const Parts& p = *parts_;
    if (!p.clover) return 0;
    return -2 * p.part.log_determinant(*p.clover, Parity::odd, p.parameters.twisted_mass);
}
template <Space S, class Part>
void QuarkOperator<S, Part>::add_determinant_force(const Links<S>& u, double factor, Links<S>& force) {
    Parts& p = *parts_;
    if (!p.clover) return;
    weights_of_inverse(*p.clover, Parity::odd, p.parameters.twisted_mass, *p.weights);
    p.part.add_clover_force(u, p.kappa_csw(), *p.weights, factor, force);
}

template <Space S, class Part>
double QuarkOperator<S, Part>::bytes_per_site(const QuarkParameters& parameters, const QuarkSolverOptions& options,
                                              const Extents& lattice) {
    const auto size = [](Precision precision) { return precision == Precision::double_ ? 8. : precision == Precision::single ? 4. : 2.; };
    const auto field = [&](Precision precision) { return (24 * size(precision) + (precision == Precision::half ? 4 : 0)) / 2; };
    const auto packed = [&](Precision precision, const LinkStorage& links) {
        const double number = links.half ? 2 : size(precision);
        return 8 * static_cast<int>(links.reals) * number + (parameters.dirac.csw != 0 ? 72 * size(precision) + 8 : 0);
    };
    // 2 fields of all sites, r, z, D in and the operator's own; an inner iteration's 5 vectors, y, D in and the operator's own
    double bytes = 8 * field(Precision::double_) + packed(Precision::double_, {});
    const auto add_inner = [&](Precision inner) {
        bytes += 8 * field(inner) + (inner == Precision::double_ ? 0 : packed(inner, options.inner_links));
    };
    add_inner(options.inner);
    if (options.force && options.force != options.inner) add_inner(*options.force);
    if (parameters.dirac.csw != 0) bytes += (72 + 54) * 8;
    if constexpr (Parts::can_deflate)
        if (options.deflation.vectors > 0) bytes += Part::Deflation::bytes_per_site(parameters.dirac, options.deflation, lattice);
    return bytes;
}

}  // namespace kasane::lattice
