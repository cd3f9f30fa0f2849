// A solver on one space for fields that are there: WilsonSolver without copies. Its solve makes successive attempts, each by one of
// krylov's methods on the even sites, until the true residual of the full system is small enough or no method is left. Domain is the
// lattice: OneDevice, or LocalLattice of one of many workers, whose operators exchange halos and whose algebras reduce sums, so that all of
// them take the same decisions. Invariants: only scalars leave the space during a solve; see solve/solver.hpp for the rest.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/krylov/deflation.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/krylov/inner_bicgstab.hpp>
#include <kasane/krylov/refinement.hpp>
#include <kasane/krylov/reliable.hpp>
#include <kasane/krylov/reliable_columns.hpp>
#include <kasane/lattice/solve/even_odd.hpp>
#include <kasane/lattice/solve/one_column.hpp>
#include <kasane/lattice/solve/one_device.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kasane::lattice {
namespace detail {

/// The automatic choice begins with refinement. Where its first inner solve does not end within this many iterations, BiCGStab with
/// reliable updates continues: it is faster then, and slower where a solve has few iterations, because an update costs about as much as
/// five of them.
inline constexpr int trial_iterations = 24;

/// Operator, algebra and vectors of BiCGStab or conjugate gradients in a low precision, and preconditioners in it.
template <class Domain, Precision P>
struct Level {
    using Algebra = typename Domain::template Algebra<P>;
    using Operator = EvenOdd<typename Domain::On, P, typename Domain::template Operator<P>>;
    std::optional<Operator> own;  ///< empty in double, where A is the outer operator
    const Operator& A;
    Algebra algebra;
    Field<typename Domain::On, P> y;
    krylov::BicgstabWorkspace<Algebra> work;
    std::unique_ptr<typename Domain::template Schwarz<P>> schwarz;     ///< null: none
    std::unique_ptr<typename Domain::template TwoLevel<P>> two_level;  ///< null: none; its smoother is schwarz

    Level(Domain& domain, Operator&& low)
        : own(std::move(low)), A(*own), algebra(domain.template algebra<P>()), y(A.lattice()), work(algebra, y) {}
    Level(Domain& domain, const Operator* outer) : A(*outer), algebra(domain.template algebra<P>()), y(A.lattice()), work(algebra, y) {}
};

struct Attempt {
    Method method;
    Precision precision;
    bool preconditioned;  ///< by Schwarz or inexact deflation in place of the inner solver
};

struct Convert {
    template <class From, class To>
    void operator()(const From& from, To& to) const {
        convert(from, to);
    }
};

inline bool is_preconditioned(const SolverOptions& options) {
    return options.schwarz.method != SchwarzMethod::none || options.coherent.vectors != 0;
}

/// The next attempt after one that ended in this way; nothing where no method is left. The reason is added to the notes.
/// A failure in a low precision usually comes from rounding, so the precision is raised; one in double comes from the method. A breakdown
/// of BiCGStab in a low precision may come from either: on 24^3 x 48 at kappa = 0.1350 half broke down and single converged after 2,685
/// iterations, where conjugate gradients took more than 8,000.
inline std::optional<Attempt> after(const Attempt& tried, const SolverOptions& options, krylov::Outcome end, double residual,
                                    std::vector<std::string>& notes) {
    if (tried.preconditioned) {
        notes.push_back(fmt::format("{} with {} ended at residual {:.1e} ({}): an inner BiCGStab continues", name(tried.method),
                                    options.coherent.vectors != 0 ? "inexact deflation" : "the Schwarz preconditioner", residual,
                                    krylov::name(end)));
        return Attempt{tried.method, tried.precision, false};
    }
    if (tried.precision != Precision::double_) {
        const auto higher = tried.precision == Precision::half ? Precision::single : Precision::double_;
        notes.push_back(fmt::format("{} precision does not make the residual smaller than {:.1e} ({}): {} continues", name(tried.precision),
                                    residual, krylov::name(end), name(higher)));
        return Attempt{tried.method, higher, false};
    }
    if (tried.method == Method::cg) return {};
    notes.push_back(fmt::format("{} ended at residual {:.1e} ({}): conjugate gradients on the normal equations continue",
                                name(tried.method), residual, krylov::name(end)));
    return Attempt{Method::cg, options.inner, false};
}

/// The first reliable update is made when the residual has fallen by these factors. In double there are none. An update costs about as much
/// as five iterations in half. Rare ones cost BiCGStab iterations at light masses: in half on a beta = 6.0 field, 32^3 x 64, kappa =
/// 0.1348, it took 834, 994 and 1054 with 0.3, 0.03 and 0.01 (716 in double; H200, 2026-11); in single on 12^4 at 0.1348 (four sources)
/// 1108, 1175, 1210 and 1216 with 0.1, 0.01, 0.001 and 0.0001. They are therefore rare at first only: 8^4 at kappa = 0.125, which ends
/// after 39 iterations, took 1.24, 1.15 and 1.09 times as long as refinement with 0.01, 0.001 and 0.0001.
inline krylov::UpdateFactors update_factors(Method method, Precision precision) {
    if (precision == Precision::double_) return 0;
    if (method != Method::bicgstab) return 0.1;
    return precision == Precision::half ? krylov::UpdateFactors(0.3) : krylov::UpdateFactors(0.1, 0.0001);
}

/// Flop per site of one parity and iteration beside the operator: direction 16, dot 8, norm 4 per complex number, and so on; 12 numbers.
inline constexpr double bicgstab_flops = 12 * (16 + 12 + 12 + 12 + 36), cg_flops = 12 * (4 + 12 + 8);
inline constexpr double minimal_residual_flops = 12 * (12 + 16);

}  // namespace detail

template <class Domain>
struct ResidentSolver {
    using S = typename Domain::On;
    static constexpr auto outer = Precision::double_;
    template <Precision P>
    using Level = detail::Level<Domain, P>;
    using Attempt = detail::Attempt;
    using High = typename Domain::template Algebra<outer>;
    using Vector = Field<S, outer>;

    Domain domain;
    std::shared_ptr<const Lattice<S>> lattice;
    DiracParameters parameters;
    SolverOptions options;
    GaugeField kept;  ///< links for a change from half to single precision
    std::optional<typename Level<outer>::Operator> A;
    mutable High algebra;
    Vector b_hat, residual;
    std::optional<krylov::BicgstabWorkspace<High>> bicgstab;
    std::optional<krylov::RefinementWorkspace<High>> pair;
    std::optional<krylov::GcrWorkspace<High>> gcr;
    std::optional<krylov::FgmresWorkspace<High>> fgmres;
    std::unique_ptr<Level<Precision::half>> half;
    std::unique_ptr<Level<Precision::single>> single;
    std::unique_ptr<Level<outer>> same;
    krylov::Deflation<High> deflation;  ///< eigenmodes of Dhat^+ Dhat that conjugate gradients deflate; may be empty

    /// The caller has called check_solver and check_memory. @param links  of the domain, in the temporal gauge where options require it
    /// @throws InputError where a clover term is not positive definite; ComputationError where memory or device fail
    ResidentSolver(Domain of, const GaugeField& links, const DiracParameters& given, const SolverOptions& asked)
        : domain(std::move(of)),
          lattice(domain.lattice()),
          parameters(given),
          options(asked),
          algebra(domain.template algebra<outer>()),
          b_hat(lattice),
          residual(lattice) {
        {
            const auto packed = domain.pack(links, parameters);
            A.emplace(make_operator<outer>(packed, options.outer_links));
            if (options.inner == Precision::half) half = make_level<Precision::half>(packed);
            if (options.inner == Precision::single) single = make_level<Precision::single>(packed);
            if (detail::is_preconditioned(options)) add_preconditioners(packed);
        }
        if (options.inner == Precision::half) {
            kept.links.reserve(links.links.size());
            touch_pages(kept.links.data(), links.links.size() * sizeof(Su3<double>));
            kept = links;
        }
        make_room({first_method(), options.inner, detail::is_preconditioned(options)});
    }

    /// The method of the first attempt. In double BiCGStab makes no updates, so the automatic choice has nothing to weigh.
    Method first_method() const {
        if (options.method != Method::automatic) return options.method;
        return options.inner == outer ? Method::bicgstab : Method::refinement;
    }
    template <Precision P>
    typename Level<P>::Operator make_operator(const typename Domain::Packed& from, const LinkStorage& storage) {
        return {domain.template dirac<P>(from, parameters.boundary, storage), lattice, parameters, options.schur, from.clover.has_value()};
    }
    template <Precision P>
    std::unique_ptr<Level<P>> make_level(const typename Domain::Packed& from) {
        return std::make_unique<Level<P>>(domain, make_operator<P>(from, options.inner_links));
    }

    void add_preconditioners(const typename Domain::Packed& from) {
        if (options.inner == outer) same = std::make_unique<Level<outer>>(domain, &*A);
        with_level(options.inner, [&]<Precision P>(Level<P>& level) {
            if (options.schwarz.method != SchwarzMethod::none)
                level.schwarz = domain.template schwarz<P>(
                    level.A, from, parameters, P == outer ? options.outer_links : options.inner_links, options.schur, options.schwarz);
            if (options.coherent.vectors != 0)
                level.two_level =
                    domain.template two_level<P>(level.A, from, parameters, options.schur, options.coherent, level.schwarz.get());
        });
    }
    /// Sizes and costs of the set-up of inexact deflation; all 0 without it.
    CoherentReport coherent_report() {
        CoherentReport report;
        if (options.coherent.vectors != 0) with_level(options.inner, [&](const auto& level) { report = level.two_level->report(); });
        return report;
    }

    /// Allocates vectors and operators that an attempt needs and that do not exist yet.
    void make_room(const Attempt& attempt) {
        const auto& like = b_hat;
        const bool mixed = attempt.precision != outer;
        switch (attempt.method) {
            case Method::automatic: break;  // no attempt has it: first_method()
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
            const auto packed = domain.pack(kept, parameters);
            single = make_level<Precision::single>(packed);
        }
        if (!mixed && attempt.method != Method::bicgstab && !same) same = std::make_unique<Level<outer>>(domain, &*A);
    }

    /// Calls body with the operator, algebra and vectors of that precision.
    template <class Body>
    auto with_level(Precision precision, const Body& body) {
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
    /// Applications of the operators of the Schwarz preconditioner's blocks and residuals, in those of the whole lattice's.
    double take_schwarz_applications() {
        double count = 0;
        if (half && half->schwarz) count += half->schwarz->take_applications();
        if (single && single->schwarz) count += single->schwarz->take_applications();
        if (same && same->schwarz) count += same->schwarz->take_applications();
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

    /// Solves from the x that is given; its odd half is not read. @param from  the first attempt; left out: that of the options
    SolveLog solve(const ResidentField<S>& b, ResidentField<S>& x, const krylov::StopFunction& stop = {},
                   const std::optional<Attempt>& from = {});

    /// out = D in or D^+ in. The fields differ.
    void apply(const ResidentField<S>& in, ResidentField<S>& out, bool adjoint = false) const {
        A->whole(adjoint, in.even, in.odd, out.even, out.odd);
    }
    /// out = Dhat^+ Dhat in; `residual` is work.
    void apply_normal(const Vector& in, Vector& out) {
        A->apply(algebra, in, residual);
        A->apply_adjoint(algebra, residual, out);
    }
    /// Adds a pair to the deflation.
    void take_mode(double value, const SpinorField& mode) {
        deflation.values.push_back(value);
        load(mode, Parity::even, deflation.vectors.emplace_back(lattice));
    }
    /// The largest |Dhat^+ Dhat v - lambda v| / lambda of the deflation's pairs.
    double worst_mode() {
        double worst = 0;
        Vector image(lattice);
        for (std::size_t i = 0; i < deflation.vectors.size(); ++i) {
            apply_normal(deflation.vectors[i], image);
            algebra.axpby(-deflation.values[i], deflation.vectors[i], 1, image);
            const double relative = std::sqrt(algebra.norm2(image)) / deflation.values[i];
            worst = std::max(worst, std::isfinite(relative) ? relative : std::numeric_limits<double>::infinity());
        }
        return worst;
    }
    /// x = 0.
    void zero(ResidentField<S>& x) const {
        algebra.zero(x.even);
        algebra.zero(x.odd);
    }
};

template <class Domain>
SolveLog ResidentSolver<Domain>::solve(const ResidentField<S>& b, ResidentField<S>& x, const krylov::StopFunction& asked_to_stop,
                                       const std::optional<Attempt>& from) {
    const auto stop = domain.agreed(asked_to_stop);
    Stopwatch watch;
    SolveLog log;
    take_applications();
    take_schwarz_applications();
    const auto finish = [&](krylov::Outcome end) {
        synchronize(domain.space());
        log.end = end;
        log.seconds = watch.seconds();
        const double per_parity = static_cast<double>(domain.volume()) / 2;
        const double in_schwarz = take_schwarz_applications();
        const double applied = (static_cast<double>(take_applications()) + in_schwarz) * (2 * 1320 + 48 + (A->has_clover() ? 2 * 504 : 0));
        const bool cg = options.method == Method::cg;
        const int low_iterations = options.method == Method::automatic ? std::max(log.iterations, log.inner_iterations)
                                   : log.inner_iterations > 0          ? log.inner_iterations
                                                                       : log.iterations;
        double updates = low_iterations * (cg ? detail::cg_flops : detail::bicgstab_flops);
        if (in_schwarz > 0) updates = in_schwarz * detail::minimal_residual_flops;
        if (log.seconds > 0) log.gflops = (applied + updates) * per_parity / log.seconds * 1e-9;
        return log;
    };

    // The units of the half with the larger numbers.
    const auto even = krylov::unit_of(algebra, b.even, residual), odd = krylov::unit_of(algebra, b.odd, residual);
    const auto size = [](const krylov::Unit& u) { return std::log2(u.norm) - std::log2(u.unit); };
    const double unit = size(even) >= size(odd) ? even.unit : odd.unit;
    if (!std::isfinite(even.norm) || !std::isfinite(odd.norm)) return finish(krylov::Outcome::not_finite);
    if (even.norm == 0 && odd.norm == 0) {
        algebra.zero(x.even);
        algebra.zero(x.odd);
        log.residuals.push_back(0);
        return finish(krylov::Outcome::converged);
    }
    const double b_norm = std::hypot(even.norm * (unit / even.unit), odd.norm * (unit / odd.unit));
    const auto [b_hat_norm, undivided] = prepare(b, unit, x);
    if (unit != 1) algebra.axpby(0, b.even, unit, x.even);

    // |b - D x| is |A_ee r_hat| in the symmetric form and |r_hat| in the asymmetric one: how much larger is seen on b_hat first.
    double gain = undivided / b_hat_norm;
    if (!(gain > 0)) gain = 1;
    constexpr int most_corrections = 4;
    int corrections = 0;
    Attempt attempt = from.value_or(Attempt{first_method(), options.inner, detail::is_preconditioned(options)});
    bool on_trial = !from && options.method == Method::automatic && options.inner != outer;
    krylov::Outcome end{};
    double relative = 0;
    krylov::Options how;
    const auto flexible = [&](krylov::PreconditionerRef<High> M) {
        switch (attempt.method) {
            case Method::gcr: return krylov::gcr(algebra, *A, M, b_hat, x.even, *gcr, how);
            case Method::fgmres: return krylov::fgmres(algebra, *A, M, b_hat, x.even, *fgmres, how);
            case Method::refinement: return krylov::refinement(algebra, *A, M, b_hat, x.even, *pair, how);
            default: return krylov::bicgstab(algebra, *A, M, b_hat, x.even, *bicgstab, how);
        }
    };
    // The method of the attempt on the even sites, with operator and vectors of one precision.
    const auto run = [&]<Precision P>(Level<P>& level) {
        SolverOptions asked = options;
        asked.inner = P;
        krylov::InnerBicgstab inner(level.algebra, level.A, detail::Convert{}, level.work, level.y, inner_tolerance(asked));
        const auto& A = *this->A;
        const auto updates = [&] {
            return krylov::ReliableWorkspace<High, typename Level<P>::Algebra>{pair->r, pair->z, level.work, level.y};
        };
        const auto factors = detail::update_factors(attempt.method, P);
        if (attempt.preconditioned) return level.two_level ? flexible(*level.two_level) : flexible(*level.schwarz);
        if constexpr (Domain::one_is_a_column) {
            // Columns are not scaled.
            const bool near_one = b_hat_norm > 1e-8 && b_hat_norm < 1e8, nested = attempt.method == Method::nested_bicgstab;
            if (near_one && (nested || attempt.method == Method::bicgstab)) {
                OneColumn<S, outer> high(A);
                OneColumn<S, P> low(level.A);
                auto right = one_column(b_hat), solution = one_column(x.even);
                auto y = one_column(level.y);
                auto z = one_column(nested ? *bicgstab->z : pair->z);
                auto low_work = one_column(level.work);
                krylov::ColumnCourses courses(how.stop);
                courses.add(how, b_hat_norm);
                if (nested) {
                    auto work = one_column(*bicgstab);
                    krylov::nested_bicgstab_columns(high.algebra, high.A, low.algebra, low.A, ConvertColumns{}, inner_tolerance(asked), {0},
                                                    right, solution, work, z, low_work, y, courses);
                } else {
                    auto r = one_column(pair->r);
                    krylov::reliable_bicgstab_columns(high.algebra, high.A, low.algebra, low.A, ConvertColumns{}, {0}, right, solution, r,
                                                      z, low_work, y, courses, factors);
                }
                A.applied(static_cast<int>(high.A.take_applications()));
                level.A.applied(static_cast<int>(low.A.take_applications()));
                return courses[0].log;
            }
        }
        if (has_inner_solver(attempt.method)) return flexible(inner);
        if (attempt.method == Method::bicgstab)
            return krylov::reliable_bicgstab(algebra, A, level.algebra, level.A, detail::Convert{}, b_hat, x.even, updates(), how, factors);
        return krylov::reliable_cg(algebra, A, level.algebra, level.A, detail::Convert{}, b_hat, x.even, updates(), how, factors.factor,
                                   deflation);
    };
    while (true) {
        const double scale = gain * b_hat_norm / b_norm;  // from the even system's relative residual to the full one's
        const int done = std::max(log.iterations, log.inner_iterations);
        how = {};
        how.rtol = scale > 0 ? std::min(0.9 * options.rtol / scale, 1.) : 1;
        how.iteration_limit = options.iteration_limit - done;
        if (has_inner_solver(attempt.method) && !attempt.preconditioned) how.stagnation_limit = 5;
        if (stop) how.stop = [&](int iteration, double residual_now) { return stop(done + iteration, residual_now * scale); };
        bool too_slow = false;
        if (on_trial)
            how.stop = [&, first = 0., least = 0., asked = how.stop](int iteration, double residual_now) mutable {
                if (first == 0) first = least = residual_now;
                least = std::min(least, residual_now);
                too_slow = iteration > detail::trial_iterations && least > inner_tolerance(options) * first;
                return too_slow || (asked && asked(iteration, residual_now));
            };
        on_trial = false;
        make_room(attempt);
        const auto part = attempt.method == Method::bicgstab && attempt.precision == Precision::double_
                              ? flexible(krylov::NoPreconditioner{})
                              : with_level(attempt.precision, run);
        log.iterations += part.iterations;
        log.inner_iterations += part.inner_iterations;
        log.updates += part.updates;
        log.restarts += part.restarts;
        for (const double r : part.residuals) log.residuals.push_back(r * scale);
        log.notes.insert(log.notes.end(), part.notes.begin(), part.notes.end());

        if (part.end == krylov::Outcome::not_finite && !std::isfinite(algebra.norm2(x.even))) algebra.zero(x.even);
        A->reconstruct(x.even, x.odd);
        relative = full_residual(b, unit, x) / b_norm;
        end = part.end == krylov::Outcome::breakdown ? krylov::Outcome::diverged : part.end;
        if (relative <= options.rtol) {
            end = krylov::Outcome::converged;
            break;
        }
        if (part.end == krylov::Outcome::iteration_limit || (part.end == krylov::Outcome::stopped && !too_slow)) break;
        if (too_slow) {
            log.notes.push_back(fmt::format("the first inner solve takes more than {} iterations: BiCGStab with reliable updates continues",
                                            detail::trial_iterations));
            attempt.method = Method::bicgstab;
            if (!(relative <= 1)) algebra.zero(x.even);
        } else if (part.converged() && corrections < most_corrections) {
            // 1.1: the next ratio will differ a little.
            ++corrections;
            gain = std::max(1.1 * relative * b_norm / (part.true_residual * b_hat_norm), 1.1 * gain);
        } else if (const auto next =
                       detail::after(attempt, options, part.converged() ? krylov::Outcome::stagnated : part.end, relative, log.notes);
                   next) {
            attempt = *next;
            // A residual above that of zero: zero is the better start.
            if (!(relative <= 1)) algebra.zero(x.even);
        } else {
            if (part.converged()) end = krylov::Outcome::stagnated;
            log.notes.push_back(
                fmt::format("every method failed at residual {:.1e}: D is singular or nearly so (kappa = {} at or beyond its "
                            "critical value?), or rtol = {:.1e} is below what double precision holds",
                            relative, parameters.kappa, options.rtol));
            break;
        }
        if (log.iterations >= options.iteration_limit || log.inner_iterations >= options.iteration_limit) {
            end = krylov::Outcome::iteration_limit;
            break;
        }
        algebra.axpby(unit, b.odd, 0, x.odd);
        A->divide_odd(x.odd);
    }
    log.true_residual = relative;
    if (!log.residuals.empty()) log.residuals.push_back(relative);
    if (unit != 1) {
        algebra.axpby(0, b.even, 1 / unit, x.even);
        algebra.axpby(0, b.odd, 1 / unit, x.odd);
    }
    return finish(end);
}

extern template struct ResidentSolver<OneDevice<Cpu>>;
#if defined(KASANE_CUDA)
extern template struct ResidentSolver<OneDevice<Cuda>>;
#endif

}  // namespace kasane::lattice
