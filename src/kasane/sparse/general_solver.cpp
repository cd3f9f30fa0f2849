// GeneralSolver: checks the matrix, decides the methods, and makes the system on its space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/general_system.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/matrix/pattern_key.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasane::sparse {

struct GeneralSolver::Parts : GeneralKnown {
    virtual ~Parts() = default;
    virtual SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) = 0;
    /// New values of the canonical A; kind and steps are set.
    virtual void update(const CsrView& A, const double* values) = 0;
    std::uint64_t pattern = 0;  ///< pattern_key() of A
    bool ready = true;          ///< false after an update() that failed
};

namespace {

std::string reason_of(const MatrixKind& kind, bool fill_first) {
    std::string reason = kind.symmetric ? "the matrix is symmetric" : "the matrix is not symmetric: " + kind.asymmetry;
    if (fill_first) reason += "; ilut before ilu0, which would need many iterations";
    return reason;
}

/// Whether the set-up of ilut takes less time than the iterations that it saves. One thread of a Xeon at 2.5 GHz, 100,000 rows, BiCGStab:
/// convection on a box, estimate 170: ilu0 0.44 s with 48 iterations, ilut 0.67 s with 13; convection on a mesh, estimate above 250: ilu0
/// and what follows 5.2 s, ilut 1.3 s with 56 iterations (docs/nonsymmetric.md). On a device the host computes ilut, and each of its many
/// levels is a launch.
bool fill_pays(const AnySpace& on, const CsrView& A, const GeneralKnown& known) {
    constexpr double worth_on_box = 250, worth_on_mesh = 100;
    if (!std::holds_alternative<Cpu>(on) || known.options.method != GeneralMethod::automatic ||
        known.options.precondition != GeneralPrecondition::automatic || known.kind.symmetric)
        return false;
    const auto estimate = iterations_by_rule(A, worth_on_box);
    return estimate.iterations > (estimate.two_colours ? worth_on_box : worth_on_mesh);
}

/// Where the choice is open, ilut keeps more of many rows, whose iterations grow. One thread of a Xeon at 2.5 GHz, "mesh, convection":
/// 200,000 rows 4.6 s with the default (123 iterations), 2.9 s so (44); 50,000 rows 0.35 and 0.38 s.
constexpr index_t many_rows = 100'000;
constexpr int fill_of_many_rows = 20;
constexpr double drop_of_many_rows = 3e-4;

}  // namespace

GeneralSolver::GeneralSolver(const AnySpace& on, const CsrView& A, const GeneralOptions& options) {
    check_general_options(options);
    const Stopwatch watch;
    auto kind = kind_of(A);
    set_up(on, A, std::move(kind), options, watch.seconds());
}

GeneralSolver::GeneralSolver(const AnySpace& on, const CsrView& A, const MatrixKind& kind, const GeneralOptions& options) {
    check_general_options(options);
    require_kind_of(A, kind);
    set_up(on, A, kind, options, 0);
}

void GeneralSolver::set_up(const AnySpace& on, const CsrView& A, MatrixKind kind, const GeneralOptions& options, double check_seconds) {
    const Stopwatch watch;
    GeneralKnown known;
    known.options = options;
    known.kind = std::move(kind);
    CsrMatrix own;
    CsrView given = A;
    if (!known.kind.sorted || known.kind.duplicates) own = canonical(A), given = own.view();
    known.fill_first = fill_pays(on, given, known);
    if (known.fill_first && A.n >= many_rows) {
        known.options.drop_tolerance = std::min(options.drop_tolerance, drop_of_many_rows);
        known.options.fill = std::max(options.fill, fill_of_many_rows);
    }
    known.steps = steps_for(known.kind, options, known.fill_first);
    known.reason = reason_of(known.kind, known.fill_first);
    known.facts.rows = A.n;
    known.facts.nonzeros = given.begin(A.n);
    check_seconds += watch.seconds();
    const Stopwatch after_check;
    GeneralOptions first = known.options;
    if (known.fill_first) first.precondition = GeneralPrecondition::ilut;
    const std::uint64_t needed = memory_estimate(A.n, known.facts.nonzeros, first), there = available_memory(on);
    known.needed_bytes = needed;
    KS_VALIDATE(needed <= there,
                fmt::format("the solver needs about {} MiB for {} unknowns with {} entries; there are {} MiB. Take a smaller "
                            "system, or a device with more memory.",
                            needed >> 20, A.n, known.facts.nonzeros, there >> 20));
    const auto pattern = pattern_key(A);
    parts_ = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> {
            return std::make_unique<GeneralSystem<S, Parts, double>>(space, given, given.value, known);
        },
        on);
    parts_->pattern = pattern;
    parts_->record_setup(check_seconds + after_check.seconds(), check_seconds);
}

void GeneralSolver::update(const CsrView& A) {
    const Stopwatch watch;
    MatrixKind kind = kind_of(A);
    require_pattern(A, parts_->pattern);
    auto steps = steps_for(kind, parts_->options, parts_->fill_first && !kind.symmetric);
    CsrMatrix own;
    CsrView given = A;
    if (!kind.sorted || kind.duplicates) own = canonical(A), given = own.view();
    const double check_seconds = watch.seconds();
    parts_->ready = false;
    parts_->reason = reason_of(kind, parts_->fill_first && !kind.symmetric);
    parts_->kind = std::move(kind);
    parts_->steps = std::move(steps);
    parts_->update(given, given.value);
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
