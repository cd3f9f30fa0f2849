// ResidentSolver: successive attempts, each by one of krylov's methods on the even sites, until the true residual of the full system
// is small enough or no method is left.
#include <kasane/lattice/solve/resident_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/krylov/inner_bicgstab.hpp>
#include <kasane/krylov/refinement.hpp>
#include <kasane/krylov/reliable.hpp>
#include <kasane/lattice/solve/even_odd.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::lattice {
namespace detail {

/// Operator, algebra and vectors of BiCGStab or conjugate gradients in a low precision.
template <Space S, Precision P>
struct Level {
    using Algebra = FieldAlgebra<S, P>;
    std::optional<EvenOdd<S, P>> own;  ///< empty in double, where A is the outer operator
    const EvenOdd<S, P>& A;
    Algebra algebra;
    Field<S, P> y;
    krylov::BicgstabWorkspace<Algebra> work;

    explicit Level(EvenOdd<S, P>&& low) : own(std::move(low)), A(*own), algebra(A.lattice()), y(A.lattice()), work(algebra, y) {}
    explicit Level(const EvenOdd<S, P>* outer) : A(*outer), algebra(A.lattice()), y(A.lattice()), work(algebra, y) {}
};

struct Attempt {
    Method method;
    Precision precision;
};

}  // namespace detail

namespace {

using detail::Attempt;
using detail::Level;

struct Convert {
    template <class From, class To>
    void operator()(const From& from, To& to) const {
        convert(from, to);
    }
};

/// The next attempt after one that ended in this way; nothing where no method is left. The reason is added to the notes.
/// A failure in a low precision usually comes from rounding, so the precision is raised; one in double comes from the method.
std::optional<Attempt> after(const Attempt& tried, Precision lowest, krylov::Outcome end, double residual,
                             std::vector<std::string>& notes) {
    if (tried.precision != Precision::double_) {
        const auto higher = tried.precision == Precision::half ? Precision::single : Precision::double_;
        notes.push_back(fmt::format("{} precision does not make the residual smaller than {:.1e} ({}): {} continues", name(tried.precision),
                                    residual, krylov::name(end), name(higher)));
        return Attempt{tried.method, higher};
    }
    if (tried.method == Method::cg) return {};
    notes.push_back(fmt::format("{} ended at residual {:.1e} ({}): conjugate gradients on the normal equations continue",
                                name(tried.method), residual, krylov::name(end)));
    return Attempt{Method::cg, lowest};
}

/// Reliable updates are made when the residual has fallen by this factor. In double there are none. An update costs about as much as five
/// iterations in half, and at light masses rare ones cost BiCGStab more: in half on a beta = 6.0 field, 32^3 x 64, kappa = 0.1348, it took
/// 834, 994 and 1054 iterations with 0.3, 0.03 and 0.01 (716 in double; H200, 2026-11).
double update_spacing(Method method, Precision precision) {
    if (precision == Precision::double_) return 0;
    return precision == Precision::half && method == Method::bicgstab ? 0.3 : 0.1;
}

/// Flop per site of one parity and iteration beside the operator: direction 16, dot 8, norm 4 per complex number, and so on; 12 numbers.
constexpr double bicgstab_flops = 12 * (16 + 12 + 12 + 12 + 36), cg_flops = 12 * (4 + 12 + 8);

}  // namespace

template <Space S>
struct ResidentSolver<S>::Parts {
    static constexpr auto outer = Precision::double_;
    using High = FieldAlgebra<S, outer>;
    using Vector = Field<S, outer>;

    S on;
    std::shared_ptr<const Lattice<S>> lattice;
    DiracParameters parameters;
    SolverOptions options;
    GaugeField kept;  ///< links for a change from half to single precision
    std::optional<EvenOdd<S, outer>> A;
    mutable High algebra;
    Vector b_hat, residual;
    std::optional<krylov::BicgstabWorkspace<High>> bicgstab;
    std::optional<krylov::RefinementWorkspace<High>> pair;
    std::optional<krylov::GcrWorkspace<High>> gcr;
    std::optional<krylov::FgmresWorkspace<High>> fgmres;
    std::unique_ptr<detail::Level<S, Precision::half>> half;
    std::unique_ptr<detail::Level<S, Precision::single>> single;
    std::unique_ptr<detail::Level<S, outer>> same;

    Parts(S space, const GaugeField& links, const DiracParameters& given, const SolverOptions& asked)
        : on(space),
          lattice(std::make_shared<const Lattice<S>>(space, links.extents)),
          parameters(given),
          options(asked),
          algebra(lattice),
          b_hat(lattice),
          residual(lattice) {
        {
            const auto packed = links_on(on, links);
            const auto clover = clover_of(packed);
            A.emplace(lattice, packed, pointer(clover), parameters, options.outer_links, options.schur);
            if (options.inner == Precision::half) half = make_level<Precision::half>(packed, pointer(clover));
            if (options.inner == Precision::single) single = make_level<Precision::single>(packed, pointer(clover));
        }
        if (options.inner == Precision::half) kept = links;
        make_room({options.method, options.inner});
    }

    std::optional<CloverTerm<S>> clover_of(const Links<S>& links) const {
        if (parameters.csw == 0) return {};
        std::optional<CloverTerm<S>> clover(clover_term(links, parameters.kappa * parameters.csw));
        try {
            log_determinant(*clover, Parity::even);
            log_determinant(*clover, Parity::odd);
        } catch (const ComputationError&) {
            throw InputError(
                fmt::format("the clover term is not positive definite on some site: kappa csw = {:.4g} is too large for this gauge "
                            "field, which is too rough. Take a smaller csw, or smoothed links",
                            parameters.kappa * parameters.csw));
        }
        return clover;
    }
    static const CloverTerm<S>* pointer(const std::optional<CloverTerm<S>>& clover) { return clover ? &*clover : nullptr; }

    template <Precision P>
    std::unique_ptr<detail::Level<S, P>> make_level(const Links<S>& links, const CloverTerm<S>* clover) const {
        return std::make_unique<Level<S, P>>(EvenOdd<S, P>(lattice, links, clover, parameters, options.inner_links, options.schur));
    }

    /// Allocates vectors and operators that an attempt needs and that do not exist yet.
    void make_room(const Attempt& attempt) {
        const auto& like = b_hat;
        const bool mixed = attempt.precision != outer;
        switch (attempt.method) {
            case Method::nested_bicgstab:
            case Method::bicgstab:
                if (attempt.method == Method::bicgstab && mixed) {
                    if (!pair) pair.emplace(algebra, like);
                } else if (const bool nested = attempt.method == Method::nested_bicgstab; !bicgstab || (nested && !bicgstab->z)) {
                    bicgstab.emplace(algebra, like, nested);
                }
                break;
            case Method::cg:
            case Method::refinement:
                if (!pair) pair.emplace(algebra, like);
                break;
            case Method::gcr:
                if (!gcr) gcr.emplace(algebra, like, options.krylov_length);
                break;
            case Method::fgmres:
                if (!fgmres) fgmres.emplace(algebra, like, options.krylov_length);
                break;
        }
        if (attempt.precision == Precision::single && !single) {
            const auto packed = links_on(on, kept);
            const auto clover = clover_of(packed);
            single = make_level<Precision::single>(packed, pointer(clover));
        }
        if (!mixed && attempt.method != Method::bicgstab && !same) same = std::make_unique<Level<S, outer>>(&*A);
    }

    /// Calls body with the operator, algebra and vectors of that precision.
    template <class Body>
    krylov::SolveLog with_level(Precision precision, const Body& body) {
        switch (precision) {
            case Precision::half: return body(*half);
            case Precision::single: return body(*single);
            case Precision::double_: break;
        }
        return body(*same);
    }

    std::uint64_t take_applications() {
        auto count = A->take_applications();
        if (half) count += half->A.take_applications();
        if (single) count += single->A.take_applications();
        return count;
    }

    /// The right-hand side of the even sites into b_hat, A_oo^-1 b_o into x's odd half; |b_hat|, and |A_ee b_hat| in the symmetric form.
    std::pair<double, double> prepare(const ResidentField<S>& b, double unit, ResidentField<S>& x) {
        algebra.axpby(unit, b.even, 0, b_hat);
        algebra.axpby(unit, b.odd, 0, x.odd);
        A->prepare(b_hat, x.odd);
        const double undivided = std::sqrt(algebra.norm2(b_hat));
        if (options.schur == Schur::asymmetric || !A->has_clover()) return {undivided, undivided};
        A->divide(b_hat);
        return {std::sqrt(algebra.norm2(b_hat)), undivided};
    }

    /// |unit b - D x|
    double full_residual(const ResidentField<S>& b, double unit, const ResidentField<S>& x) {
        double sum = 0;
        for (const auto parity : {Parity::even, Parity::odd}) {
            A->full(parity, false, x.even, x.odd, residual);
            algebra.axpby(unit, parity == Parity::even ? b.even : b.odd, -1, residual);
            sum += algebra.norm2(residual);
        }
        return std::sqrt(sum);
    }
};

template <Space S>
ResidentSolver<S>::ResidentSolver(S on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
    check_solver(links, parameters, options);
    check_memory(on, links.extents, parameters, options);
    parts_ = std::make_unique<Parts>(on, links, parameters, options);
}
template <Space S>
ResidentSolver<S>::~ResidentSolver() = default;
template <Space S>
ResidentSolver<S>::ResidentSolver(ResidentSolver&&) noexcept = default;

template <Space S>
SolveLog ResidentSolver<S>::solve(const ResidentField<S>& b, ResidentField<S>& x, const krylov::StopFunction& stop) {
    Parts& p = *parts_;
    auto& algebra = p.algebra;
    const auto& options = p.options;
    Stopwatch watch;
    SolveLog log;
    p.take_applications();
    const auto finish = [&](krylov::Outcome end) {
        synchronize(p.on);
        log.end = end;
        log.seconds = watch.seconds();
        const double per_parity = static_cast<double>(p.lattice->extents().half());
        const double applied = static_cast<double>(p.take_applications()) * (2 * 1320 + 48 + (p.A->has_clover() ? 2 * 504 : 0));
        const bool cg = options.method == Method::cg;
        const double updates = (log.inner_iterations > 0 ? log.inner_iterations : log.iterations) * (cg ? cg_flops : bicgstab_flops);
        if (log.seconds > 0) log.gflops = (applied + updates) * per_parity / log.seconds * 1e-9;
        return log;
    };

    // The units of the half with the larger numbers.
    const auto even = krylov::unit_of(algebra, b.even, p.residual), odd = krylov::unit_of(algebra, b.odd, p.residual);
    const auto size = [](const krylov::Unit& u) { return std::log2(u.norm) - std::log2(u.unit); };
    const double unit = size(even) >= size(odd) ? even.unit : odd.unit;
    if (!std::isfinite(even.norm) || !std::isfinite(odd.norm)) return finish(krylov::Outcome::not_finite);
    if (even.norm == 0 && odd.norm == 0) {
        algebra.zero(x.even);
        algebra.zero(x.odd);
        log.residuals.push_back(0);
        return finish(krylov::Outcome::converged);
    }
    const double b_norm = std::hypot(even.norm / even.unit * unit, odd.norm / odd.unit * unit);
    const auto [b_hat_norm, undivided] = p.prepare(b, unit, x);
    if (unit != 1) algebra.axpby(0, b.even, unit, x.even);

    // |b - D x| is |A_ee r_hat| in the symmetric form and |r_hat| in the asymmetric one: how much larger is seen on b_hat first.
    double gain = undivided / b_hat_norm;
    if (!(gain > 0)) gain = 1;
    constexpr int most_corrections = 4;
    int corrections = 0;
    Attempt attempt{options.method, options.inner};
    krylov::Outcome end{};
    double relative = 0;
    krylov::Options how;
    // The method of the attempt on the even sites, with operator and vectors of one precision.
    const auto run = [&]<Precision P>(Level<S, P>& level) {
        SolverOptions asked = options;
        asked.inner = P;
        krylov::InnerBicgstab inner(level.algebra, level.A, Convert{}, level.work, level.y, inner_tolerance(asked));
        const auto& A = *p.A;
        const auto updates = [&] {
            return krylov::ReliableWorkspace<typename Parts::High, FieldAlgebra<S, P>>{p.pair->r, p.pair->z, level.work, level.y};
        };
        const double delta = update_spacing(attempt.method, P);
        switch (attempt.method) {
            case Method::nested_bicgstab: return krylov::bicgstab(algebra, A, inner, p.b_hat, x.even, *p.bicgstab, how);
            case Method::gcr: return krylov::gcr(algebra, A, inner, p.b_hat, x.even, *p.gcr, how);
            case Method::fgmres: return krylov::fgmres(algebra, A, inner, p.b_hat, x.even, *p.fgmres, how);
            case Method::refinement: return krylov::refinement(algebra, A, inner, p.b_hat, x.even, *p.pair, how);
            case Method::bicgstab:
                return krylov::reliable_bicgstab(algebra, A, level.algebra, level.A, Convert{}, p.b_hat, x.even, updates(), how, delta);
            case Method::cg: break;
        }
        return krylov::reliable_cg(algebra, A, level.algebra, level.A, Convert{}, p.b_hat, x.even, updates(), how, delta);
    };
    while (true) {
        const double scale = gain * b_hat_norm / b_norm;  // from the even system's relative residual to the full one's
        const int done = std::max(log.iterations, log.inner_iterations);
        how = {};
        how.rtol = scale > 0 ? std::min(0.9 * options.rtol / scale, 1.) : 1;
        how.iteration_limit = options.iteration_limit - done;
        if (has_inner_solver(attempt.method)) how.stagnation_limit = 5;
        if (stop) how.stop = [&](int iteration, double residual_now) { return stop(done + iteration, residual_now * scale); };
        p.make_room(attempt);
        const auto part = attempt.method == Method::bicgstab && attempt.precision == Precision::double_
                              ? krylov::bicgstab(algebra, *p.A, krylov::NoPreconditioner{}, p.b_hat, x.even, *p.bicgstab, how)
                              : p.with_level(attempt.precision, run);
        log.iterations += part.iterations;
        log.inner_iterations += part.inner_iterations;
        log.updates += part.updates;
        log.restarts += part.restarts;
        for (const double r : part.residuals) log.residuals.push_back(r * scale);
        log.notes.insert(log.notes.end(), part.notes.begin(), part.notes.end());

        if (part.end == krylov::Outcome::not_finite && !std::isfinite(algebra.norm2(x.even))) algebra.zero(x.even);
        p.A->reconstruct(x.even, x.odd);
        relative = p.full_residual(b, unit, x) / b_norm;
        end = part.end == krylov::Outcome::breakdown ? krylov::Outcome::diverged : part.end;
        if (relative <= options.rtol) {
            end = krylov::Outcome::converged;
            break;
        }
        if (part.end == krylov::Outcome::iteration_limit || part.end == krylov::Outcome::stopped) break;
        if (part.converged() && corrections < most_corrections) {
            // 1.1: the next ratio will differ a little.
            ++corrections;
            gain = std::max(1.1 * relative * b_norm / (part.true_residual * b_hat_norm), 1.1 * gain);
        } else if (const auto next =
                       after(attempt, options.inner, part.converged() ? krylov::Outcome::stagnated : part.end, relative, log.notes);
                   next) {
            attempt = *next;
            // A residual above that of zero: zero is the better start.
            if (!(relative <= 1)) algebra.zero(x.even);
        } else {
            if (part.converged()) end = krylov::Outcome::stagnated;
            log.notes.push_back(
                fmt::format("no method is left at residual {:.1e}: D is singular or nearly so (kappa = {} at or beyond its "
                            "critical value?), or rtol = {:.1e} is below what double precision holds",
                            relative, p.parameters.kappa, options.rtol));
            break;
        }
        if (log.iterations >= options.iteration_limit || log.inner_iterations >= options.iteration_limit) {
            end = krylov::Outcome::iteration_limit;
            break;
        }
        algebra.axpby(unit, b.odd, 0, x.odd);
        p.A->divide_odd(x.odd);
    }
    log.true_residual = relative;
    if (!log.residuals.empty()) log.residuals.push_back(relative);
    if (unit != 1) {
        algebra.axpby(0, b.even, 1 / unit, x.even);
        algebra.axpby(0, b.odd, 1 / unit, x.odd);
    }
    return finish(end);
}

template <Space S>
const std::shared_ptr<const Lattice<S>>& ResidentSolver<S>::lattice() const {
    return parts_->lattice;
}
template <Space S>
void ResidentSolver<S>::apply(const ResidentField<S>& in, ResidentField<S>& out, bool adjoint) const {
    parts_->A->full(Parity::even, adjoint, in.even, in.odd, out.even);
    parts_->A->full(Parity::odd, adjoint, in.even, in.odd, out.odd);
}
template <Space S>
void ResidentSolver<S>::zero(ResidentField<S>& x) const {
    parts_->algebra.zero(x.even);
    parts_->algebra.zero(x.odd);
}

template class ResidentSolver<Cpu>;
#if defined(KASANE_CUDA)
template class ResidentSolver<Cuda>;
#endif

}  // namespace kasane::lattice
