// A general system on one space: arranges and factorises the matrix, and runs the methods one after the other until one converges. Common
// part of GeneralSolver and ComplexSolver. Invariants: as theirs.
#pragma once

#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/minres.hpp>
#include <kasane/krylov/operator_ref.hpp>
#include <kasane/sparse/general/arrangement.hpp>
#include <kasane/sparse/general/complex_algebra.hpp>
#include <kasane/sparse/general/steps.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>
#include <kasane/sparse/precondition/sparse_inverse.hpp>
#include <kasane/sparse/precondition/threshold_lu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <utility>

namespace kasane::sparse {

/// Properties of the matrix and choices that precede the choice of the space.
struct GeneralKnown {
    SetupFacts facts;
    MatrixKind kind;
    GeneralOptions options;
    std::vector<GeneralStep> steps;
    bool fill_first = false;         ///< ilut before ilu0, where both are open
    std::string reason;              ///< of the choice of the method, about the matrix
    std::uint64_t needed_bytes = 0;  ///< estimated memory of solver and set-up

    void record_setup(double all_seconds, double check_seconds) {
        facts.total_seconds = all_seconds;
        facts.seconds = {{"check", check_seconds}, {"arrange and factor", all_seconds - check_seconds}};
        facts.decision = {options.method == GeneralMethod::automatic ? "rule" : "options", reason, 0, 0};
    }
};

/// Threads of the host for a set-up there.
inline Cpu host_of(Cpu on) { return on; }
#if defined(KASANE_CUDA)
inline Cpu host_of(Cuda) { return {}; }
#endif

inline bool uses(const std::vector<GeneralStep>& steps, GeneralPrecondition precondition) {
    return std::ranges::any_of(steps, [&](const GeneralStep& step) { return step.precondition == precondition; });
}

/// @tparam Base  derived from GeneralKnown, with virtual solve() and update()   @tparam User  double or std::complex<double>: ilut, spai
/// and minres are for double, cg is for std::complex<double>
template <Space S, class Base, class User>
class GeneralSystem final : public Base {
    using T = Number<User>;
    using Vector = Buffer<T, S>;
    using Algebra = AlgebraOf<S, User>;
    static constexpr bool is_real = std::same_as<User, double>;
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

   public:
    /// @param A       canonical; of a complex matrix the magnitudes   @param values  its entries
    GeneralSystem(S on, const CsrView& A, const User* values, const GeneralKnown& known)
        : on_(on),
          arrangement_(A, known.kind, known.options,
                       std::ranges::any_of(known.steps, [](const auto& step) { return is_lu(step.precondition); }), lanes_of<S>,
                       !std::same_as<S, Cpu>),
          A_(on, arrangement_.pattern),
          algebra_(on),
          rhs_(on, A.n),
          y_(on, A.n),
          best_(on, A.n) {
        static_cast<GeneralKnown&>(*this) = known;
        set_values(values);
        describe();
    }

    SolveLog solve(View<const User> b, View<User> x, const StopFunction& stop) override {
        const Stopwatch whole;
        SolveLog log;
        if (std::ranges::all_of(b, [](const User& one) { return one == User(0); })) {
            std::ranges::fill(x, User(0));
            log.end = krylov::Outcome::converged;
            log.history.push_back({0, unknown, 0});
            return log;
        }
        const auto side = arrangement_.right_side(b);
        copy_from_host(on_, rhs_.view(), view(side.values));
        const auto guess = arrangement_.guess(View<const User>(x), side.exponent);
        copy_from_host(on_, y_.view(), view(guess));
        auto residual = [&] { return true_residual(side.exponent, b); };
        log.true_residual = residual();
        if (!std::isfinite(log.true_residual)) {
            algebra_.zero(y_);
            log.true_residual = residual();
        }
        algebra_.copy(y_, best_);
        const Stopwatch iterations;
        if (log.true_residual <= this->options.rtol) log.end = krylov::Outcome::converged;
        for (std::size_t k = 0; k < this->steps.size() && log.end != krylov::Outcome::converged; ++k) {
            const bool last = k + 1 == this->steps.size();
            if (!has_preconditioner(this->steps[k], log)) continue;
            log.end = run_step(this->steps[k], last, residual, stop, log);
            if (log.end == krylov::Outcome::converged) {  // the next solve begins with this step
                std::ranges::rotate(this->steps, this->steps.begin() + static_cast<std::ptrdiff_t>(k));
                break;
            }
            if (log.end == krylov::Outcome::stopped || log.iterations >= this->options.iteration_limit) break;
            if (!last)
                log.notes.push_back(fmt::format("{} ended after {}: {} at ||b - A x|| / ||b|| = {:.1e}; {} follows", this->steps[k].text(),
                                                counted(log.iterations, "iteration"), krylov::name(log.end), log.true_residual,
                                                this->steps[k + 1].text()));
        }
        synchronize(on_);
        log.iteration_seconds = iterations.seconds();
        log.history.push_back({log.iterations, unknown, log.true_residual});
        std::vector<T> y(static_cast<std::size_t>(x.n));
        copy_to_host(on_, view(y), View<const T>(y_.view()));
        arrangement_.solution(y, side.exponent, x);
        if (log.converged() && !std::ranges::all_of(x, [](const User& one) { return is_finite(one); }))
            log.end = krylov::Outcome::not_finite;  // x itself leaves the range of doubles
        log.seconds = whole.seconds();
        return log;
    }

    void update(const CsrView& A, const User* values) override {
        this->facts.notes.clear(), this->facts.color_sizes.clear();
        arrangement_.rescale(A, this->kind.symmetric, this->options.scale);
        set_values(values);
        describe();
    }

   private:
    void set_values(const User* of_entries) {
        const auto values = arrangement_.values(of_entries);
        A_.set_values(view(values));
        factorise();
        if constexpr (is_real) {
            if (uses(this->steps, GeneralPrecondition::spai)) make_spai(values);
        }
        if (uses(this->steps, GeneralPrecondition::jacobi)) {
            signed_diagonal_.emplace(A_, false);
            if (is_real && this->kind.symmetric) absolute_diagonal_.emplace(A_, true);
        }
    }

    void make_spai(const std::vector<double>& values) {
        const CsrMatrix rows = compressed_rows(arrangement_.pattern, lanes_of<S>, values);
        if (!inverse_) inverse_.emplace(on_, arrangement_.pattern);
        const auto inverse = sliced_values(arrangement_.pattern, lanes_of<S>, sparse_inverse(rows.view(), host_of(on_)));
        inverse_->set_values(view(inverse));
    }

    /// The factors that the first steps need; those of ilut of a later step are made when it begins.
    void factorise() {
        this->facts.shift = 0;
        factors_.reset(), filled_.reset(), ilut_is_unstable_ = false;
        const auto first = this->steps.front().precondition;
        if (!is_lu(first) && !uses(this->steps, GeneralPrecondition::ilu0)) return;
        const bool ilut = first == GeneralPrecondition::ilut;
        const auto shift = ilut ? make_ilut() : make_ilu0();
        if (shift) {
            this->facts.shift = *shift;
            return;
        }
        if (is_lu(this->options.precondition))
            throw PreconditionError("the incomplete LU factors amplify errors beyond use, even with a shifted diagonal. Take jacobi");
        std::erase_if(this->steps, [](const GeneralStep& step) { return is_lu(step.precondition); });
        this->facts.notes.push_back("The incomplete LU factors amplify errors beyond use, even with a shifted diagonal: jacobi was taken.");
    }

    std::optional<double> make_ilu0() {
        return first_stable_shift(factors_, A_.values_on_host(), [&](double shift) {
            factors_.emplace(A_, arrangement_.color_begin, shift);
            replaced_pivots_ = factors_->replaced_pivots();
        });
    }

    std::optional<double> make_ilut() {
        if constexpr (!is_real)
            return {};
        else
            return make_real_ilut();
    }
    std::optional<double> make_real_ilut() {
        const auto values = A_.values_on_host();
        const CsrMatrix rows = compressed_rows(arrangement_.pattern, lanes_of<S>, values);
        return first_stable_shift(filled_, values, [&](double shift) {
            const auto lu = threshold_lu(rows.view(), {this->options.drop_tolerance, this->options.fill}, shift);
            filled_.emplace(LevelFactors<S>{LevelTriangle<S>(on_, lu.lower, true), LevelTriangle<S>(on_, lu.upper, false)});
            replaced_pivots_ = lu.replaced;
        });
    }

    /// Finds the first shift of the diagonal whose factors do not amplify errors too much; empty, without factors, if there is none.
    ///                                                                             [Manteuffel 1980; Chow & Saad 1997 for the estimate]
    /// @param make  makes `factors` with a shift
    std::optional<double> first_stable_shift(auto& factors, const std::vector<T>& values, const auto& make) {
        constexpr double most_growth = 1e12;
        double largest = 0;
        for (const T& value : values) largest = std::max(largest, magnitude(value));
        for (const double shift : {0., 1e-3, 1e-2, 1e-1, 1.}) {
            factors.reset();
            make(shift);
            if (growth(*factors) * largest <= most_growth) return shift;
        }
        factors.reset();
        return {};
    }

    /// Whether the preconditioner of a step can be used; makes the factors of ilut. Otherwise a note has the reason.
    bool has_preconditioner(const GeneralStep& step, SolveLog& log) {
        if (step.precondition != GeneralPrecondition::ilut || filled_) return true;
        auto needed = this->options;
        needed.precondition = GeneralPrecondition::ilut;
        if (memory_estimate(this->facts.rows, this->facts.nonzeros, needed) > available_memory(AnySpace(on_))) {
            log.notes.push_back(step.text() + " was left out: memory does not suffice");
            return false;
        }
        if (!ilut_is_unstable_) ilut_is_unstable_ = !make_ilut();
        if (ilut_is_unstable_) log.notes.push_back(step.text() + " was left out: its factors amplify errors beyond use");
        return !ilut_is_unstable_;
    }

    /// Largest entry of U^-1 L^-1 (1, 1, ...): an estimate of the growth of errors; infinite where a number is not finite.
    double growth(const auto& factors) const {
        const auto ones = to_space(on_, std::vector<T>(static_cast<std::size_t>(A_.rows()), real_number<T>(1)));
        Vector grown(on_, ones.size());
        factors.solve(ones, grown);
        double most = 0;
        for (const T& one : to_host(grown)) {
            if (!is_finite(one)) return std::numeric_limits<double>::infinity();
            most = std::max(most, magnitude(one));
        }
        return most;
    }

    void describe() {
        SetupFacts& facts = this->facts;
        facts.padded_rows = facts.rows;
        facts.stored_entries = A_.stored();
        facts.device = device_info(AnySpace(on_)).name;
        facts.ordering = arrangement_.ordering;
        facts.numbering = name(Numbering::coalesced);
        facts.format = std::same_as<S, Cpu> ? "csr" : fmt::format("sell:{}:1", lanes_of<S>);
        facts.precondition = name(this->steps.front().precondition);
        facts.iteration = name(this->steps.front().method);
        facts.colors = static_cast<int>(arrangement_.color_begin.size()) - 1;
        for (std::size_t c = 0; c + 1 < arrangement_.color_begin.size(); ++c)
            facts.color_sizes.push_back(arrangement_.color_begin[c + 1] - arrangement_.color_begin[c]);
        facts.own_factor = factors_.has_value() || filled_.has_value();
        facts.bytes = A_.bytes() + (factors_ ? factors_->bytes() : 0) + (filled_ ? filled_->bytes() : 0) +
                      (inverse_ ? inverse_->bytes() : 0) + 3 * sizeof(T) * static_cast<std::uint64_t>(facts.rows);
        facts.peak_bytes = this->needed_bytes;
        if (!arrangement_.note.empty()) facts.notes.push_back(arrangement_.note);
        const char* const lu = filled_ ? "ilut" : "ilu0";
        if (arrangement_.scaling.used) facts.notes.push_back(arrangement_.scaling.note());
        if (arrangement_.permuted)
            facts.notes.push_back(
                fmt::format("{} diagonal entries are zero: rows were permuted so that none is.", this->kind.zero_diagonals));
        if (facts.shift > 0)
            facts.notes.push_back(
                fmt::format("The diagonal was shifted by {} of the largest entry of each row for {}, whose factors "
                            "amplify errors beyond use otherwise.",
                            facts.shift, lu));
        if (facts.own_factor && replaced_pivots_ > 0)
            facts.notes.push_back(fmt::format("{} pivots of {} were nearly zero and were replaced.", replaced_pivots_, lu));
        if (filled_) {
            facts.stored_entries += filled_->entries();
            facts.notes.push_back(
                fmt::format("ilut: the factors have {:.2f} times the entries of the matrix; they are solved in {} and {} levels of rows.",
                            static_cast<double>(filled_->entries() + facts.rows) / static_cast<double>(facts.nonzeros),
                            filled_->lower.levels(), filled_->upper.levels()));
        }
    }

    /// True residual of y, in the user's units.
    double true_residual(int exponent, View<const User> b) {
        Vector r(on_, y_.size());
        A_.multiply(y_, r);
        algebra_.axpby(1, rhs_, -1, r);
        return arrangement_.relative(to_host(r), exponent, b);
    }

    /// Runs one method, with a smaller tolerance of the scaled system where the residual in the user's units needs it.
    template <class Residual>
    krylov::Outcome run_step(const GeneralStep& step, bool last, const Residual& residual, const StopFunction& stop, SolveLog& log) {
        const double rtol = this->options.rtol;
        const int left = this->options.iteration_limit - log.iterations, allowed = last ? left : std::max(1, left / 2);
        const int begin = log.iterations;
        krylov::Options how;
        how.rtol = rtol;
        for (int attempt = 0; attempt < 4 && how.rtol >= 1e-17; ++attempt) {
            const int before = log.iterations;
            how.iteration_limit = begin + allowed - before;
            if (stop) how.stop = [&](int iteration, double relative) { return stop(before + iteration, relative); };
            const krylov::SolveLog done = run(step, how, log);
            log.iterations += done.iterations;
            log.updates += done.updates;
            log.restarts += done.restarts;
            log.residual = done.true_residual;
            for (const auto& note : done.notes) log.notes.push_back(note);
            for (std::size_t k = 0; k + 1 < done.residuals.size(); ++k)
                log.history.push_back({before + static_cast<int>(k), unknown, done.residuals[k]});
            const double now = residual();
            if (now <= log.true_residual) {
                log.true_residual = now;
                algebra_.copy(y_, best_);
            } else {
                algebra_.copy(best_, y_);
            }
            if (log.true_residual <= rtol) return krylov::Outcome::converged;
            if (done.end != krylov::Outcome::converged) return done.end;
            how.rtol *= std::min(0.5, 0.5 * rtol / log.true_residual);
        }
        return krylov::Outcome::stagnated;
    }

    krylov::SolveLog run(const GeneralStep& step, const krylov::Options& how, SolveLog& log) {
        switch (step.precondition) {
            case GeneralPrecondition::ilu0: return run(step.method, *factors_, how, log);
            case GeneralPrecondition::ilut:
                if constexpr (is_real) return run(step.method, *filled_, how, log);
                break;
            case GeneralPrecondition::spai:
                if constexpr (is_real) return run(step.method, *inverse_, how, log);
                break;
            case GeneralPrecondition::jacobi:
                return run(step.method, step.method == GeneralMethod::minres ? *absolute_diagonal_ : *signed_diagonal_, how, log);
            default: break;
        }
        return run(step.method, krylov::NoPreconditioner{}, how, log);
    }
    template <class Preconditioner>
    krylov::SolveLog run(GeneralMethod method, const Preconditioner& M, const krylov::Options& how, SolveLog& log) {
        if constexpr (is_real) {
            if (method == GeneralMethod::minres) {
                if (!minres_) minres_.emplace(algebra_, y_);
                return krylov::minres(algebra_, A_, M, rhs_, y_, *minres_, how);
            }
        } else if (method == GeneralMethod::cg) {
            HermitianAlgebra real_products(algebra_);
            if (!cg_) cg_.emplace(krylov::CgWorkspace<Vector>{algebra_.like(y_), algebra_.like(y_), algebra_.like(y_), algebra_.like(y_)});
            const krylov::OperatorRef<HermitianAlgebra<Algebra>> any(M);
            return krylov::conjugate_gradients(real_products, A_, any, rhs_, y_, *cg_, how);
        }
        if (method == GeneralMethod::bicgstab) {
            if (!bicgstab_) bicgstab_.emplace(algebra_, y_, true);
            return krylov::bicgstab(algebra_, A_, M, rhs_, y_, *bicgstab_, how);
        }
        if (!gmres_) gmres_.emplace(algebra_, y_, cycle_that_fits(log));
        return krylov::fgmres(algebra_, A_, M, rhs_, y_, *gmres_, how);
    }

    /// Vectors of gmres take at most half of the free memory.
    int cycle_that_fits(SolveLog& log) const {
        const auto there = static_cast<double>(available_memory(AnySpace(on_)));
        const int most = static_cast<int>(std::clamp(there / (2. * 2. * sizeof(T) * static_cast<double>(y_.size())), 2., 1e6));
        const int length = std::min({this->options.restart, most, static_cast<int>(std::min<index_t>(y_.size(), 1000))});
        if (length == most)
            log.notes.push_back(
                fmt::format("cycles of gmres have {} iterations: memory does not suffice for {}", length, this->options.restart));
        return length;
    }

    S on_;
    Arrangement arrangement_;
    SlicedMatrix<S, T> A_;
    Algebra algebra_;
    Vector rhs_, y_, best_;
    std::optional<IncompleteLu<S, T>> factors_;  // of ilu0
    std::optional<LevelFactors<S>> filled_;      // of ilut
    std::optional<SlicedMatrix<S>> inverse_;     // of spai
    bool ilut_is_unstable_ = false;              // with every shift
    index_t replaced_pivots_ = 0;
    std::optional<DiagonalPreconditioner<S, T>> signed_diagonal_, absolute_diagonal_;
    std::optional<krylov::BicgstabWorkspace<Algebra>> bicgstab_;
    std::optional<krylov::FgmresWorkspace<Algebra>> gmres_;
    std::optional<krylov::CgWorkspace<Vector>> cg_;
    std::optional<krylov::MinresWorkspace<VectorAlgebra<S>>> minres_;
};

}  // namespace kasane::sparse
