// ComplexSolver: structure and scales follow from the magnitudes of the entries, so that the set-up is that of a real matrix.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/complex_solver.hpp>
#include <kasane/sparse/general_system.hpp>
#include <kasane/sparse/matrix/examined_complex.hpp>
#include <kasane/sparse/matrix/pattern_key.hpp>

#include <fmt/format.h>

#include <utility>

namespace kasane::sparse {

struct ComplexSolver::Parts : GeneralKnown {
    virtual ~Parts() = default;
    virtual SolveLog solve(View<const Value> b, View<Value> x, const StopFunction& stop) = 0;
    /// New values of the canonical A; kind and steps are set. @param A  the magnitudes
    virtual void update(const CsrView& A, const Value* values) = 0;
    ComplexKind complex_kind;
    std::uint64_t pattern = 0;  ///< pattern_key() of A
    bool ready = true;          ///< false after an update() that failed
};

ComplexSolver::ComplexSolver(const AnySpace& on, const ComplexCsrView& A, const GeneralOptions& options) {
    check_general_options(options);
    const Stopwatch watch;
    const ExaminedComplex examined(A);
    GeneralKnown known;
    known.options = options;
    known.kind = examined.structure;
    known.steps = complex_steps_for(examined.kind, options);
    known.reason = examined.kind.text;
    known.facts.rows = A.pattern.n;
    known.facts.nonzeros = std::ssize(examined.magnitude);
    const double check_seconds = watch.seconds();
    known.needed_bytes = complex_memory_estimate(A.pattern.n, known.facts.nonzeros, options);
    const std::uint64_t there = available_memory(on);
    KS_VALIDATE(
        known.needed_bytes <= there,
        fmt::format("the solver needs about {} MiB for {} complex unknowns with {} entries; there are {} MiB. Take a smaller system, "
                    "or a device with more memory.",
                    known.needed_bytes >> 20, A.pattern.n, known.facts.nonzeros, there >> 20));
    parts_ = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> {
            return std::make_unique<GeneralSystem<S, Parts, Value>>(space, examined.sizes(), examined.given.value, known);
        },
        on);
    parts_->complex_kind = examined.kind;
    parts_->pattern = pattern_key(A.pattern);
    parts_->record_setup(watch.seconds(), check_seconds);
}

void ComplexSolver::update(const ComplexCsrView& A) {
    const Stopwatch watch;
    const ExaminedComplex examined(A);
    require_pattern(A.pattern, parts_->pattern);
    auto steps = complex_steps_for(examined.kind, parts_->options);
    const double check_seconds = watch.seconds();
    parts_->ready = false;
    parts_->kind = examined.structure;
    parts_->complex_kind = examined.kind;
    parts_->reason = examined.kind.text;
    parts_->steps = std::move(steps);
    parts_->update(examined.sizes(), examined.given.value);
    parts_->record_setup(watch.seconds(), check_seconds);
    parts_->ready = true;
}

ComplexSolver::~ComplexSolver() = default;
ComplexSolver::ComplexSolver(ComplexSolver&&) noexcept = default;
ComplexSolver& ComplexSolver::operator=(ComplexSolver&&) noexcept = default;

SolveLog ComplexSolver::solve(View<const Value> b, View<Value> x, const StopFunction& stop) {
    require_ready(parts_->ready);
    KS_REQUIRE(b.n == parts_->facts.rows && x.n == b.n,
               fmt::format("right-hand side and solution have {} and {} rows, the matrix {}.", b.n, x.n, parts_->facts.rows));
    require_finite(b, "the right-hand side");
    require_finite(View<const Value>(x), "the first guess");
    return parts_->solve(b, x, stop);
}

std::vector<ComplexSolver::Value> ComplexSolver::solve(const std::vector<Value>& b, SolveLog* log) {
    std::vector<Value> x(static_cast<std::size_t>(parts_->facts.rows), Value(0));
    const SolveLog done = solve(view(b), view(x));
    if (log) *log = done;
    return x;
}

const SetupFacts& ComplexSolver::setup() const { return parts_->facts; }
const ComplexKind& ComplexSolver::kind() const { return parts_->complex_kind; }

void ComplexSolver::set_tolerance(double rtol, int iteration_limit) {
    GeneralOptions changed = parts_->options;
    changed.rtol = rtol;
    changed.iteration_limit = iteration_limit;
    check_general_options(changed);
    parts_->options = changed;
}

std::uint64_t complex_memory_estimate(index_t rows, index_t nonzeros, const GeneralOptions& options) {
    // Beside a real system: values and factors of twice the size, in place and on their way to the device; magnitudes; vectors twice.
    return memory_estimate(rows, nonzeros, options) + static_cast<std::uint64_t>(nonzeros) * (8 + 8 + 8 + 16) * 11 / 10 +
           static_cast<std::uint64_t>(rows) * 8 * 10;
}

}  // namespace kasane::sparse
