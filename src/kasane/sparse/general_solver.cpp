// GeneralSolver: checks the matrix, arranges and factorises it, and runs the methods one after the other until one converges.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/minres.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/general/arrangement.hpp>
#include <kasane/sparse/general/steps.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/matrix/pattern_key.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>
#include <kasane/sparse/precondition/sparse_inverse.hpp>
#include <kasane/sparse/precondition/threshold_lu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace kasane::sparse {

/// What is known before the space is chosen.
struct GeneralKnown {
    SetupFacts facts;
    MatrixKind kind;
    GeneralOptions options;
    std::vector<GeneralStep> steps;
};

struct GeneralSolver::Parts : GeneralKnown {
    virtual ~Parts() = default;
    virtual SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) = 0;
    /// New values of the canonical A; kind and steps are set.
    virtual void update(const CsrView& A) = 0;
    std::uint64_t pattern = 0;  ///< pattern_key() of A
    bool ready = true;          ///< false after an update() that failed

    void record_setup(double all_seconds, double check_seconds) {
        facts.total_seconds = all_seconds;
        facts.seconds = {{"check", check_seconds}, {"arrange and factor", all_seconds - check_seconds}};
        facts.decision = {options.method == GeneralMethod::automatic ? "rule" : "options",
                          kind.symmetric ? "the matrix is symmetric" : "the matrix is not symmetric: " + kind.asymmetry, 0, 0};
    }
};

namespace {

/// Threads of the host for a set-up there.
Cpu host_of(Cpu on) { return on; }
#if defined(KASANE_CUDA)
Cpu host_of(Cuda) { return {}; }
#endif

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool uses(const std::vector<GeneralStep>& steps, GeneralPrecondition precondition) {
    return std::ranges::any_of(steps, [&](const GeneralStep& step) { return step.precondition == precondition; });
}

/// @tparam Base  GeneralSolver::Parts
template <Space S, class Base>
class GeneralSolverOn final : public Base {
   public:
    GeneralSolverOn(S on, const CsrView& A, const GeneralKnown& known)
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
        set_values(A.value);
        describe();
    }

    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) override {
        const Stopwatch whole;
        SolveLog log;
        if (std::ranges::all_of(b, [](double one) { return one == 0; })) {
            std::ranges::fill(x, 0.);
            log.end = krylov::Outcome::converged;
            log.history.push_back({0, unknown, 0});
            return log;
        }
        const auto side = arrangement_.right_side(b);
        copy_from_host(on_, rhs_.view(), view(side.values));
        const auto guess = arrangement_.guess(View<const double>(x), side.exponent);
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
                log.notes.push_back(fmt::format("{} ended after {} iterations: {} at ||b - A x|| / ||b|| = {:.1e}; {} follows",
                                                this->steps[k].text(), log.iterations, krylov::name(log.end), log.true_residual,
                                                this->steps[k + 1].text()));
        }
        synchronize(on_);
        log.iteration_seconds = iterations.seconds();
        log.history.push_back({log.iterations, unknown, log.true_residual});
        std::vector<double> y(static_cast<std::size_t>(x.n));
        copy_to_host(on_, view(y), View<const double>(y_.view()));
        arrangement_.solution(y, side.exponent, x);
        if (log.converged() && !std::ranges::all_of(x, [](double one) { return std::isfinite(one); }))
            log.end = krylov::Outcome::not_finite;  // x itself leaves the range of doubles
        log.seconds = whole.seconds();
        return log;
    }

    void update(const CsrView& A) override {
        this->facts.notes.clear(), this->facts.color_sizes.clear();
        arrangement_.rescale(A, this->kind.symmetric, this->options.scale);
        set_values(A.value);
        describe();
    }

   private:
    void set_values(const double* of_entries) {
        const auto values = arrangement_.values(of_entries);
        A_.set_values(view(values));
        factorise();
        if (uses(this->steps, GeneralPrecondition::spai)) {
            const CsrMatrix rows = compressed_rows(arrangement_.pattern, lanes_of<S>, values);
            if (!inverse_) inverse_.emplace(on_, arrangement_.pattern);
            const auto inverse = sliced_values(arrangement_.pattern, lanes_of<S>, sparse_inverse(rows.view(), host_of(on_)));
            inverse_->set_values(view(inverse));
        }
        if (uses(this->steps, GeneralPrecondition::jacobi)) {
            signed_diagonal_.emplace(A_, false);
            if (this->kind.symmetric) absolute_diagonal_.emplace(A_, true);
        }
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
        const auto values = A_.values_on_host();
        const CsrMatrix rows = compressed_rows(arrangement_.pattern, lanes_of<S>, values);
        return first_stable_shift(filled_, values, [&](double shift) {
            const auto lu = threshold_lu(rows.view(), {this->options.drop_tolerance, this->options.fill}, shift);
            filled_.emplace(LevelFactors<S>{LevelTriangle<S>(on_, lu.lower, true), LevelTriangle<S>(on_, lu.upper, false)});
            replaced_pivots_ = lu.replaced;
        });
    }

    /// The first shift of the diagonal whose factors do not amplify errors beyond use; nothing, and no factors, where there is none.
    ///                                                                             [Manteuffel 1980; Chow & Saad 1997 for the estimate]
    /// @param make  makes `factors` with a shift
    std::optional<double> first_stable_shift(auto& factors, const std::vector<double>& values, const auto& make) {
        constexpr double most_growth = 1e12;
        double largest = 0;
        for (const double value : values) largest = std::max(largest, std::fabs(value));
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
        const auto ones = to_space(on_, std::vector<double>(static_cast<std::size_t>(A_.rows()), 1.));
        Buffer<double, S> grown(on_, ones.size());
        factors.solve(ones, grown);
        double most = 0;
        for (const double one : to_host(grown)) {
            if (!std::isfinite(one)) return std::numeric_limits<double>::infinity();
            most = std::max(most, std::fabs(one));
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
                      (inverse_ ? inverse_->bytes() : 0) + 3 * 8 * static_cast<std::uint64_t>(facts.rows);
        facts.peak_bytes = memory_estimate(facts.rows, facts.nonzeros, this->options);
        if (!arrangement_.note.empty()) facts.notes.push_back(arrangement_.note);
        const char* const lu = filled_ ? "ilut" : "ilu0";
        if (const auto& scaling = arrangement_.scaling; scaling.used)
            facts.notes.push_back(
                fmt::format("The largest entries of rows differ by up to 2^{}, those of columns by up to 2^{}: both were "
                            "scaled by powers of two.",
                            scaling.row_spread, scaling.column_spread));
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

    /// Of y, in the user's units.
    double true_residual(int exponent, View<const double> b) {
        Buffer<double, S> r(on_, y_.size());
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
            case GeneralPrecondition::ilut: return run(step.method, *filled_, how, log);
            case GeneralPrecondition::spai: return run(step.method, *inverse_, how, log);
            case GeneralPrecondition::jacobi:
                return run(step.method, step.method == GeneralMethod::minres ? *absolute_diagonal_ : *signed_diagonal_, how, log);
            default: return run(step.method, krylov::NoPreconditioner{}, how, log);
        }
    }
    template <class Preconditioner>
    krylov::SolveLog run(GeneralMethod method, const Preconditioner& M, const krylov::Options& how, SolveLog& log) {
        if (method == GeneralMethod::minres) {
            if (!minres_) minres_.emplace(algebra_, y_);
            return krylov::minres(algebra_, A_, M, rhs_, y_, *minres_, how);
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
        const int most = static_cast<int>(std::clamp(there / (2. * 16. * static_cast<double>(y_.size())), 2., 1e6));
        const int length = std::min({this->options.restart, most, static_cast<int>(std::min<index_t>(y_.size(), 1000))});
        if (length == most)
            log.notes.push_back(
                fmt::format("cycles of gmres have {} iterations: memory does not suffice for {}", length, this->options.restart));
        return length;
    }

    S on_;
    Arrangement arrangement_;
    SlicedMatrix<S> A_;
    VectorAlgebra<S> algebra_;
    Buffer<double, S> rhs_, y_, best_;
    std::optional<IncompleteLu<S>> factors_;  // of ilu0
    std::optional<LevelFactors<S>> filled_;   // of ilut
    std::optional<SlicedMatrix<S>> inverse_;  // of spai
    bool ilut_is_unstable_ = false;           // with every shift
    index_t replaced_pivots_ = 0;
    std::optional<DiagonalPreconditioner<S>> signed_diagonal_, absolute_diagonal_;
    std::optional<krylov::BicgstabWorkspace<VectorAlgebra<S>>> bicgstab_;
    std::optional<krylov::FgmresWorkspace<VectorAlgebra<S>>> gmres_;
    std::optional<krylov::MinresWorkspace<VectorAlgebra<S>>> minres_;
};

}  // namespace

GeneralSolver::GeneralSolver(const AnySpace& on, const CsrView& A, const GeneralOptions& options) {
    check_general_options(options);
    const Stopwatch watch;
    GeneralKnown known;
    known.options = options;
    known.kind = kind_of(A);
    known.steps = steps_for(known.kind, options);
    CsrMatrix own;
    CsrView given = A;
    if (!known.kind.sorted || known.kind.duplicates) own = canonical(A), given = own.view();
    known.facts.rows = A.n;
    known.facts.nonzeros = given.begin(A.n);
    const double check_seconds = watch.seconds();
    const std::uint64_t needed = memory_estimate(A.n, known.facts.nonzeros, options), there = available_memory(on);
    KS_VALIDATE(needed <= there,
                fmt::format("the solver needs about {} MiB for {} unknowns with {} entries; there are {} MiB. Take a smaller "
                            "system, or a device with more memory.",
                            needed >> 20, A.n, known.facts.nonzeros, there >> 20));
    const auto pattern = pattern_key(A);
    parts_ = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> { return std::make_unique<GeneralSolverOn<S, Parts>>(space, given, known); }, on);
    parts_->pattern = pattern;
    parts_->record_setup(watch.seconds(), check_seconds);
}

void GeneralSolver::update(const CsrView& A) {
    const Stopwatch watch;
    MatrixKind kind = kind_of(A);
    require_pattern(A, parts_->pattern);
    auto steps = steps_for(kind, parts_->options);
    CsrMatrix own;
    CsrView given = A;
    if (!kind.sorted || kind.duplicates) own = canonical(A), given = own.view();
    const double check_seconds = watch.seconds();
    parts_->ready = false;
    parts_->kind = std::move(kind);
    parts_->steps = std::move(steps);
    parts_->update(given);
    parts_->record_setup(watch.seconds(), check_seconds);
    parts_->ready = true;
}

GeneralSolver::~GeneralSolver() = default;
GeneralSolver::GeneralSolver(GeneralSolver&&) noexcept = default;
GeneralSolver& GeneralSolver::operator=(GeneralSolver&&) noexcept = default;

SolveLog GeneralSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) {
    require_ready(parts_->ready);
    require_sizes(parts_->facts.rows, b, View<const double>(x));
    require_finite(b, "the right-hand side");
    require_finite(View<const double>(x), "the first guess");
    return parts_->solve(b, x, stop);
}

std::vector<double> GeneralSolver::solve(const std::vector<double>& b, SolveLog* log) {
    std::vector<double> x(static_cast<std::size_t>(parts_->facts.rows), 0.);
    const SolveLog done = solve(view(b), view(x));
    if (log) *log = done;
    return x;
}

const SetupFacts& GeneralSolver::setup() const { return parts_->facts; }
const MatrixKind& GeneralSolver::kind() const { return parts_->kind; }

void GeneralSolver::set_tolerance(double rtol, int iteration_limit) {
    GeneralOptions changed = parts_->options;
    changed.rtol = rtol;
    changed.iteration_limit = iteration_limit;
    check_general_options(changed);
    parts_->options = changed;
}

std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const GeneralOptions& options) {
    const auto n = static_cast<std::uint64_t>(rows), entries = static_cast<std::uint64_t>(nonzeros);
    // Values, columns, factors; on the host, columns and places of the entries; with a tenth of padding; while the order is found, the
    // pattern of A + A^T.
    const std::uint64_t matrix = entries * (8 + 4 + 8 + 8 + 4) * 11 / 10, graph = entries * (2 * 4 + 2 * 4) + n * 24;
    // Offsets, permutations and scales; vectors of the solver and of bicgstab, or two cycles' worth of gmres that are allocated as memory
    // allows.
    const std::uint64_t vectors = options.method == GeneralMethod::gmres ? 3 + 2 * 2 + 1 : 3 + 7;
    // Factors of ilut and their offsets: on the host twice, and on the space.
    const std::uint64_t filled =
        options.precondition == GeneralPrecondition::ilut
            ? 3 * 12 * std::min(entries + n * 2 * static_cast<std::uint64_t>(options.fill), n * n) + entries * 12 + n * 100
            : 0;
    const std::uint64_t inverse = options.precondition == GeneralPrecondition::spai ? entries * (12 + 12 + 8 + 8) * 11 / 10 : 0;
    return matrix + graph + filled + inverse + n * (8 + 4 * 6 + 8 * vectors);
}

}  // namespace kasane::sparse
