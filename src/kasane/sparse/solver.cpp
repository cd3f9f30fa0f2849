// Solver: checks the matrix, decides the open options, prepares a PreparedSystem, and records the set-up.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/sparse/block/block.hpp>
#include <kasane/sparse/block_system.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/diagonal_system.hpp>
#include <kasane/sparse/multigrid_system.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <kasane/sparse/iterate/entry_loads.hpp>
#include <kasane/sparse/matrix/pattern_key.hpp>
#include <kasane/sparse/order/on_device.hpp>
#include <kasane/sparse/solver.hpp>
#include <kasane/sparse/filled_system.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

namespace kasane::sparse {
/// Labels of the connected components; empty for one component.
struct NullSpace {
    bool singular = false;
    std::vector<std::int32_t> component;
    index_t components = 1;
};

namespace {

template <class... Values>
bool is_one_of(Precondition precondition, Values... values) {
    return ((precondition == values) || ...);
}

void check_options(const SolverOptions& options) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool good, const std::string& message, const char* key) {
        if (!good) problems.push_back({message, {"", 0, 0, key}});
    };
    require(options.rtol > 0 && options.rtol < 1, "rtol must be above 0 and below 1. Try 1e-8.", "rtol");
    require(options.iteration_limit >= 1, "at least one iteration must be allowed. Try 10000.", "iteration_limit");
    require(options.precondition != Precondition::ssor || (options.ssor_omega > 0 && options.ssor_omega < 2),
            "the relaxation of ssor lies between 0 and 2. Try 1.", "ssor_omega");
    require(options.near_null.count >= 1 && options.near_null.count <= 64 && options.near_null.rows_per_node >= 1 &&
                options.near_null.rows_per_node <= 64,
            "near_null.count and near_null.rows_per_node lie between 1 and 64.", "near_null");
    require(options.multigrid.steps >= 1 && options.multigrid.steps <= 10,
            fmt::format("multigrid.steps = {}: a smoother has 1 to 10 steps before and after the coarse level.", options.multigrid.steps),
            "smoother_steps");
    require(options.drop_tolerance >= 0 && options.drop_tolerance < 1,
            fmt::format("drop_tolerance = {}: ict drops entries below this part of their row, so it lies from 0 to below 1. Try 1e-3.",
                        options.drop_tolerance),
            "drop_tolerance");
    require(options.fill >= 0, fmt::format("fill = {}: a row of ict has 0 or more entries beyond those of A. Try 10.", options.fill),
            "fill");
    require(options.level >= 0 && options.level <= 9, fmt::format("level = {}: ick has levels 0 to 9. Try 1.", options.level), "level");
    const bool by_blocks = is_one_of(options.precondition, Precondition::none, Precondition::jacobi, Precondition::ic0);
    require(options.block >= 0 && options.block <= most_block,
            fmt::format("block = {}: blocks have 2 to {} rows; 1: scalar rows, 0: the size that fits.", options.block, most_block),
            "block");
    require(options.block <= 1 || by_blocks, "blocks of rows are for ic0, jacobi and none.", "block");
    require(options.block <= 1 || options.ordering.kind != OrderingKind::block,
            "blocks of rows have no block ordering. Take auto, natural, mc:K, cm, rcm or cm-rcm:K.", "ordering");
    require(options.block <= 1 || !options.single_factor, "blocks of rows have no factor in single precision.", "single_factor");
    if (!problems.empty()) throw InputError(problems);
}

struct RemovedMeans {
    double largest = 0;
    double share = 0;  ///< of x's norm
};

/// Subtracts the mean of each component from x.
RemovedMeans remove_means(const NullSpace& null, View<double> x) {
    std::vector<double> sum(static_cast<std::size_t>(null.components), 0.), count(sum);
    for (index_t i = 0; i < x.n; ++i) {
        sum[null.component[i]] += x[i];
        count[null.component[i]] += 1;
    }
    RemovedMeans removed;
    double largest = 0, norm2 = 0, removed2 = 0;
    for (index_t i = 0; i < x.n; ++i) largest = std::max(largest, std::fabs(x[i]));
    const double unit = largest > 0 ? largest : 1;  // squares neither vanish nor overflow
    for (index_t i = 0; i < x.n; ++i) norm2 += x[i] / unit * (x[i] / unit);
    for (std::size_t c = 0; c < sum.size(); ++c) {
        sum[c] /= std::max(1., count[c]);
        removed.largest = std::fabs(sum[c]) > std::fabs(removed.largest) ? sum[c] : removed.largest;
        removed2 += count[c] * (sum[c] / unit) * (sum[c] / unit);
    }
    removed.share = norm2 > 0 ? std::sqrt(removed2 / norm2) : 0;
    for (index_t i = 0; i < x.n; ++i) x[i] -= sum[null.component[i]];
    return removed;
}

/// A matrix on a space: used in place on the CPU, copied to a device.
class Placed {
   public:
    Placed(Cpu, const CsrView& A) : view_(A) {}
#if defined(KASANE_CUDA)
    Placed(Cuda on, const CsrView& A) {
        const index_t nonzeros = A.begin(A.n);
        value_ = Buffer<double, Cuda>(on, nonzeros);
        copy_from_host(on, value_.view(), View<const double>(A.value, nonzeros));
        view_.n = A.n;
        view_.value = value_.data();
        const auto place = [&](auto& buffer, const auto* from, index_t n, auto*& to) {
            if (!from) return;
            buffer = std::remove_reference_t<decltype(buffer)>(on, n);
            copy_from_host(on, buffer.view(), {from, n});
            to = buffer.data();
        };
        place(begin32_, A.begin32, A.n + 1, view_.begin32);
        place(begin64_, A.begin64, A.n + 1, view_.begin64);
        place(column32_, A.column32, nonzeros, view_.column32);
        place(column64_, A.column64, nonzeros, view_.column64);
    }
#endif
    const CsrView& view() const { return view_; }

   private:
    CsrView view_;
#if defined(KASANE_CUDA)
    Buffer<double, Cuda> value_;
    Buffer<std::int32_t, Cuda> begin32_, column32_;
    Buffer<std::int64_t, Cuda> begin64_, column64_;
#endif
};

template <Space S>
SpaceOrder<S> placed(S on, ColoredOrder order) {
    SpaceOrder<S> placed;
    placed.row = to_space(on, order.row);
    placed.color_begin = std::move(order.color_begin);
    placed.steps = order.steps;
    return placed;
}

#if defined(KASANE_CUDA)
using AnyPrepared = std::variant<PreparedSystem<Cpu>, DiagonalSystem, MultigridSystem<Cpu>, FilledSystem<Cpu>, BlockSystem<Cpu>,
                                 PreparedSystem<Cuda>, MultigridSystem<Cuda>, FilledSystem<Cuda>, BlockSystem<Cuda>>;
#else
using AnyPrepared = std::variant<PreparedSystem<Cpu>, DiagonalSystem, MultigridSystem<Cpu>, FilledSystem<Cpu>, BlockSystem<Cpu>>;
#endif

template <Space S>
S space_of(const PreparedSystem<S>& prepared) {
    return prepared.system.on;
}
Cpu space_of(const DiagonalSystem& prepared) { return prepared.on; }
template <Space S>
S space_of(const MultigridSystem<S>& prepared) {
    return prepared.on;
}
template <Space S>
S space_of(const FilledSystem<S>& prepared) {
    return prepared.on;
}
template <Space S>
S space_of(const BlockSystem<S>& prepared) {
    return prepared.on;
}

}  // namespace

struct Solver::Parts {
    SolverOptions options;
    SetupFacts facts;
    NullSpace null;
    AnyPrepared prepared;
    std::optional<SolveAccount> account;
    std::uint64_t pattern = 0;              ///< pattern_key() of the A of the constructor; 0: it was on a device
    std::vector<std::string> choice_notes;  ///< notes that new values do not change
    bool ready = true;                      ///< false after an update() that failed
};

namespace {

void describe_singular(const MatrixFacts& matrix, SetupFacts& facts) {
    facts.singular = matrix.singular;
    if (facts.singular)
        facts.notes.push_back(
            "The matrix is singular: constants are its null space. A right-hand side must have mean zero; the solution whose mean is zero "
            "is given.");
}

void describe_shift(SetupFacts& facts) {
    if (facts.shift > 0)
        facts.notes.push_back("The factorisation met a pivot that was not positive; it was made with the diagonal raised by " +
                              std::to_string(facts.shift) + " of itself.");
}

/// The part of SetupFacts that is the same for every space.
template <Space S>
void describe(const PreparedSystem<S>& prepared, const AnySpace& on, const MatrixFacts& matrix, SetupFacts& facts,
              std::vector<std::string>& choice_notes) {
    const System<S>& system = prepared.system;
    facts.rows = matrix.rows;
    facts.nonzeros = matrix.nonzeros;
    facts.padded_rows = system.layout.padded;
    facts.stored_entries = system.lower.stored() + system.upper.stored() + system.factor_lower.stored() + system.factor_upper.stored() +
                           system.factor_lower_f.stored() + system.factor_upper_f.stored();
    facts.device = device_info(on).name;
    facts.ordering = prepared.options.ordering.text();
    facts.numbering = name(prepared.options.numbering);
    facts.format = prepared.options.format.text();
    facts.precondition = name(prepared.options.precondition);
    facts.iteration = name(prepared.options.iteration);
    facts.launch = std::same_as<S, Cpu> ? "" : name(prepared.options.launch);
    facts.colors = system.layout.colors;
    facts.shift = prepared.shift;
    facts.own_factor = system.factor == FactorKind::own_values;
    facts.bytes = prepared.bytes();
    facts.peak_bytes = facts.bytes + prepared.scratch_bytes;
    const auto cost = cost_of(system, prepared.options.iteration);
    facts.bytes_per_iteration = cost.bytes;
    facts.barriers_per_iteration = cost.barriers;
    choice_notes = facts.notes;
    describe_shift(facts);
    describe_singular(matrix, facts);
}

void describe(const DiagonalSystem& prepared, const AnySpace& on, const MatrixFacts& matrix, SetupFacts& facts,
              std::vector<std::string>& choice_notes) {
    choice_notes = facts.notes;
    facts.rows = facts.padded_rows = matrix.rows;
    facts.nonzeros = facts.stored_entries = matrix.nonzeros;
    facts.device = device_info(on).name;
    facts.ordering = "natural";
    facts.format = "csr";
    facts.precondition = name(prepared.options.precondition);
    facts.bytes = facts.peak_bytes = prepared.bytes();
    facts.bytes_per_iteration = bytes_per_iteration(prepared);
    facts.decision = {"rule", "for few iterations the rows stay as they are given", 0, 0};
    describe_singular(matrix, facts);
}

template <Space S>
void describe(const MultigridSystem<S>& prepared, const AnySpace& on, const MatrixFacts& matrix, SetupFacts& facts,
              std::vector<std::string>& choice_notes) {
    choice_notes = facts.notes;
    facts.stored_entries = 0;
    facts.rows = facts.padded_rows = matrix.rows;
    facts.nonzeros = matrix.nonzeros;
    facts.device = device_info(on).name;
    facts.precondition = name(prepared.options.precondition);
    facts.bytes = facts.peak_bytes = prepared.bytes();
    facts.bytes_per_iteration = bytes_per_iteration(prepared);
    facts.decision = {"options", "multigrid has no open options", 0, 0};
    std::string rows;
    for (const auto& level : prepared.M->levels()) {
        facts.stored_entries += level.entries;
        rows += fmt::format("{}{}", rows.empty() ? "" : ", ", level.rows);
    }
    if (const auto& how = prepared.options.multigrid; how != MultigridOptions{})
        facts.notes.push_back(fmt::format("smoother {}, steps {}, cycle {}", name(how.smoother), how.steps, name(how.cycle)));
    facts.notes.push_back(fmt::format("levels of {} rows; together they have {:.2f} times the entries of the matrix", rows,
                                      static_cast<double>(facts.stored_entries) / static_cast<double>(matrix.nonzeros)));
    describe_singular(matrix, facts);
}

template <Space S>
void describe(const FilledSystem<S>& prepared, const AnySpace& on, const MatrixFacts& matrix, SetupFacts& facts,
              std::vector<std::string>& choice_notes) {
    choice_notes = facts.notes;
    facts.rows = facts.padded_rows = matrix.rows;
    facts.nonzeros = matrix.nonzeros;
    facts.stored_entries = matrix.nonzeros + prepared.M.entries();
    facts.device = device_info(on).name;
    facts.ordering = "natural";
    facts.precondition = name(prepared.options.precondition);
    facts.own_factor = true;
    facts.shift = prepared.shift;
    facts.bytes = prepared.bytes();
    facts.peak_bytes = memory_estimate(matrix.rows, matrix.nonzeros, prepared.options);
    facts.bytes_per_iteration = bytes_per_iteration(prepared);
    facts.decision = {"options", facts.precondition + " has no open options", 0, 0};
    facts.notes.push_back(fmt::format(
        "{}: the factor has {:.2f} times the entries of a triangle of the matrix; it is solved in {} levels of rows.",
        prepared.options.precondition == Precondition::ick ? fmt::format("ick, k = {}", prepared.options.level) : facts.precondition,
        2. * static_cast<double>(prepared.M.lower.entries() + matrix.rows) / static_cast<double>(matrix.nonzeros + matrix.rows),
        prepared.M.lower.levels()));
    describe_shift(facts);
    describe_singular(matrix, facts);
}

template <Space S>
void describe(const BlockSystem<S>& prepared, const AnySpace& on, const MatrixFacts& matrix, SetupFacts& facts,
              std::vector<std::string>& choice_notes) {
    choice_notes = facts.notes;
    const int block = prepared.rows.block;
    facts.rows = facts.padded_rows = matrix.rows;
    facts.nonzeros = matrix.nonzeros;
    facts.stored_entries = prepared.factors->stored_blocks() * block * block;
    facts.device = device_info(on).name;
    facts.ordering = prepared.ordering;
    facts.format = fmt::format("bsr:{}", block);
    facts.precondition = name(prepared.options.precondition);
    facts.colors = static_cast<int>(prepared.color_begin.size()) - 1;
    facts.color_sizes.clear();
    for (std::size_t c = 0; c + 1 < prepared.color_begin.size(); ++c)
        facts.color_sizes.push_back((prepared.color_begin[c + 1] - prepared.color_begin[c]) * block);
    facts.own_factor = prepared.options.precondition == Precondition::ic0;
    facts.shift = prepared.shift;
    facts.bytes = prepared.bytes();
    facts.peak_bytes = memory_estimate(matrix.rows, matrix.nonzeros, prepared.options);
    facts.bytes_per_iteration = bytes_per_iteration(prepared);
    facts.decision = {"options", "blocks of rows have no open options but the ordering", 0, 0};
    if (!prepared.note.empty()) facts.notes.push_back(prepared.note);
    facts.notes.push_back(fmt::format("rows of {0} x {0} blocks, which hold {1:.2f} times the entries of the matrix", block,
                                      static_cast<double>(facts.stored_entries) / static_cast<double>(matrix.nonzeros)));
    describe_shift(facts);
    describe_singular(matrix, facts);
}

/// The set-up of A in host memory for a space.
template <Space S>
PreparedSystem<S> prepare(S on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, SetupFacts& facts,
                          PartTimes& times, std::optional<SolveAccount>& account) {
    Stopwatch watch;
    const Placed here(on, A);
    if (!std::same_as<S, Cpu>) times.add("copy", watch.seconds());
    PartTimes trials;  // seconds of their parts are not this set-up's: together they are "tune"
    const auto attempt = [&](const SolverOptions& decided, ColoredOrder order) {
        return prepare_system(on, here.view(), placed(on, std::move(order)), decided, trials);
    };
    Choice choice = choose<S>(on, A, matrix, options, attempt, times);
    if (options.check_stop) options.check_stop();
    for (const auto& note : choice.notes) facts.notes.push_back(note);
    facts.decision = choice.decision;
    account = std::move(choice.account);
    if (!choice.order.note.empty()) facts.notes.push_back(choice.order.note);
    facts.color_sizes = color_sizes(choice.order);
    return prepare_system(on, here.view(), placed(on, std::move(choice.order)), choice.options, times);
}

template <Space S>
MultigridSystem<S> prepare_timed_multigrid(S on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options,
                                           PartTimes& times) {
    Stopwatch watch;
    const Placed here(on, A);
    if (!std::same_as<S, Cpu>) times.add("copy", watch.seconds());
    watch.restart();
    auto prepared = prepare_multigrid(on, here.view(), matrix.nonzeros, options, matrix.singular && matrix.components == 1);
    times.add("multigrid", watch.seconds());
    return prepared;
}

DiagonalSystem prepare_timed_diagonal(Cpu on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, PartTimes& times) {
    Stopwatch watch;
    auto prepared = prepare_diagonal(on, A, matrix.nonzeros, options);
    times.add("copy", watch.seconds());
    return prepared;
}

template <Space S>
FilledSystem<S> prepare_timed_filled(S on, const CsrView& A, const SolverOptions& options, PartTimes& times) {
    Stopwatch watch;
    const Placed there(on, A);
    if (!std::same_as<S, Cpu>) times.add("copy", watch.seconds());
    watch.restart();
    auto prepared = prepare_filled(on, A, there.view(), options);
    times.add("factor", watch.seconds());
    return prepared;
}

template <Space S>
BlockSystem<S> prepare_timed_blocks(S on, const CsrView& A, int block, const SolverOptions& options, PartTimes& times) {
    Stopwatch watch;
    auto prepared = prepare_blocks(on, A, block, options);
    times.add("order and factor", watch.seconds());
    return prepared;
}

/// The size of blocks that was asked for, or that fits; 1: scalar rows. On a device scalar rows are the faster ones with jacobi and none,
/// where the whole iteration is one launch (kasane bench sparse.blocks).
/// @throws InputError: the rows are not a multiple of it
int block_for(const CsrView& A, const SolverOptions& options, bool device) {
    const bool has_blocks = is_one_of(options.precondition, Precondition::none, Precondition::jacobi, Precondition::ic0);
    if (options.block == 0 && has_blocks) return device && options.precondition != Precondition::ic0 ? 1 : block_that_fits(A);
    KS_VALIDATE(A.n % std::max(options.block, 1) == 0,
                fmt::format("is {}, and the matrix has {} rows, which are not a multiple of it: take a size that divides them, or 1",
                            options.block, A.n),
                {"", 0, 0, "block"});
    return has_blocks ? std::max(options.block, 1) : 1;
}

/// @param A  in host memory
template <Space S>
void update_values(PreparedSystem<S>& prepared, const CsrView& A, const SolverOptions& options, PartTimes& times) {
    const Placed there(prepared.system.on, A);
    update_system(prepared, there.view(), options.iteration, times);
}
void update_values(DiagonalSystem& prepared, const CsrView& A, const SolverOptions&, PartTimes& times) {
    Stopwatch watch;
    prepared = prepare_diagonal(prepared.on, A, A.begin(A.n), prepared.options);
    times.add("copy", watch.seconds());
}
template <Space S>
void update_values(MultigridSystem<S>& prepared, const CsrView& A, const SolverOptions&, PartTimes& times) {
    Stopwatch watch;
    const Placed there(prepared.on, A);
    update_multigrid(prepared, there.view());
    times.add("multigrid", watch.seconds());
}
template <Space S>
void update_values(BlockSystem<S>& prepared, const CsrView& A, const SolverOptions&, PartTimes& times) {
    Stopwatch watch;
    update_blocks(prepared, A);
    times.add("factor", watch.seconds());
}
template <Space S>
void update_values(FilledSystem<S>& prepared, const CsrView& A, const SolverOptions&, PartTimes& times) {
    prepared = prepare_timed_filled(prepared.on, A, prepared.options, times);
}

}  // namespace

Solver::Solver(const AnySpace& on, const CsrView& A, const SolverOptions& options) : parts_(std::make_unique<Parts>()) {
    check_options(options);
    const Stopwatch watch;
    auto matrix = check(A, "the matrix", ComponentsOf::singular);
    set_up(on, A, std::move(matrix), options, watch.seconds());
}

Solver::Solver(const AnySpace& on, const CsrView& A, const MatrixKind& kind, const SolverOptions& options)
    : parts_(std::make_unique<Parts>()) {
    check_options(options);
    require_kind_of(A, kind);
    KS_REQUIRE(kind.positive, "the matrix is not positive definite: make a GeneralSolver.");
    set_up(on, A, kind.facts, options, 0);
}

void Solver::set_up(const AnySpace& on, const CsrView& A, MatrixFacts matrix, const SolverOptions& asked, double check_seconds) {
    SolverOptions options = asked;
    Stopwatch all, watch;
    PartTimes times;
    CsrMatrix own;
    CsrView given = A;
    if (!matrix.sorted || matrix.duplicates > 0) {
        own = canonical(A);
        given = own.view();
        matrix.nonzeros = own.nonzeros();
        if (matrix.duplicates > 0)
            parts_->facts.notes.push_back(std::to_string(matrix.duplicates) + " entries were given for a place that had one, and summed.");
    }
    times.add("check", check_seconds + watch.seconds());
    if (options.check_stop) options.check_stop();
    bool keep_rows = false;
    if (options.precondition == Precondition::automatic) {
        watch.restart();
        auto choice = precondition_by_rule(given, !std::holds_alternative<Cpu>(on));
        options.precondition = choice.kind;
        keep_rows = choice.few_iterations && rows_can_stay(options, matrix);
        if (options.near_null.vectors.empty() && options.near_null.rows_per_node == 1)
            options.near_null.rows_per_node = choice.rows_per_node;
        parts_->facts.notes.push_back(std::move(choice.reason));
        times.add("choose", watch.seconds());
    }
    const std::uint64_t needed = memory_estimate(matrix.rows, matrix.nonzeros, options), there = available_memory(on);
    KS_VALIDATE(needed <= there, "the solver needs about " + std::to_string(needed >> 20) + " MiB for " + std::to_string(matrix.rows) +
                                     " unknowns with " + std::to_string(matrix.nonzeros) + " entries; there are " +
                                     std::to_string(there >> 20) + " MiB. Take a smaller system, or a device with more memory.");
    parts_->options = asked;
    const int block = block_for(given, options, !std::holds_alternative<Cpu>(on));
    std::visit(
        [&]<Space S>(S space) {
            if constexpr (std::same_as<S, Cpu>)
                if (keep_rows && block == 1) {
                    parts_->prepared = prepare_timed_diagonal(space, given, matrix, options, times);
                    return;
                }
            if (block > 1)
                parts_->prepared = prepare_timed_blocks(space, given, block, options, times);
            else if (options.precondition == Precondition::multigrid)
                parts_->prepared = prepare_timed_multigrid(space, given, matrix, options, times);
            else if (options.precondition == Precondition::ict || options.precondition == Precondition::ick)
                parts_->prepared = prepare_timed_filled(space, given, options, times);
            else
                parts_->prepared = prepare(space, given, matrix, options, parts_->facts, times, parts_->account);
        },
        on);
    std::visit([&](const auto& prepared) { describe(prepared, on, matrix, parts_->facts, parts_->choice_notes); }, parts_->prepared);
    parts_->null = {matrix.singular, std::move(matrix.component), matrix.components};
    parts_->pattern = pattern_key(A);
    parts_->facts.seconds = times.parts();
    parts_->facts.total_seconds = check_seconds + all.seconds();
    if (!parts_->account) return;
    double setup_seconds = 0;
    for (const auto& [part, seconds] : times.parts())
        if (part != "check" && part != "tune") setup_seconds += seconds;
    parts_->account->set_setup_seconds(setup_seconds);
}

#if defined(KASANE_CUDA)
namespace {

/// Copies a matrix from a device to the host.
CsrMatrix fetched(Cuda on, const CsrView& A) {
    CsrMatrix host;
    const auto rows = static_cast<std::size_t>(A.n);
    const auto fetch = [&](auto& to, const auto* from, index_t n) {
        to.resize(static_cast<std::size_t>(n));
        copy_to_host(on, view(to), {from, n});
    };
    const auto fetch_any = [&](auto& to, const std::int32_t* from32, const std::int64_t* from64, index_t n) {
        if (from32) {
            std::vector<std::int32_t> narrow;
            fetch(narrow, from32, n);
            to.assign(narrow.begin(), narrow.end());
        } else {
            std::vector<std::int64_t> wide;
            fetch(wide, from64, n);
            to.resize(wide.size());
            for (std::size_t i = 0; i < wide.size(); ++i)
                to[i] = static_cast<typename std::remove_reference_t<decltype(to)>::value_type>(wide[i]);
        }
    };
    fetch_any(host.begin, A.begin32, A.begin64, A.n + 1);
    fetch_any(host.column, A.column32, A.column64, host.begin[rows]);
    fetch(host.value, A.value, host.begin[rows]);
    return host;
}

/// The orders that the device computes: cm-rcm, and the automatic choice where two colours are enough.
std::optional<SpaceOrder<Cuda>> order_there(Cuda on, const CsrView& A, SolverOptions& options, std::string& note) {
    const bool automatic = options.ordering.kind == OrderingKind::automatic;
    if (options.precondition != Precondition::ic0 && options.precondition != Precondition::ssor) return {};
    if (!automatic && options.ordering.kind != OrderingKind::cm_rcm) return {};
    auto order = cm_rcm_on_device(on, A, automatic ? 2 : options.ordering.colors, note);
    if (order && automatic) {
        if (order->color_begin.size() > 3) return {};
        options.ordering = {OrderingKind::cm_rcm, 2, 0};
    }
    return order;
}

}  // namespace

Solver Solver::on_device(Cuda on, const CsrView& A, const SolverOptions& options) {
    check_options(options);
    Stopwatch all, watch;
    PartTimes times;
    const MatrixFacts matrix = check_on_device(on, A, ComponentsOf::singular);
    times.add("check", watch.seconds());
    const auto through_the_host = [&] {
        const CsrMatrix host = fetched(on, A);
        return Solver(AnySpace(on), host.view(), options);
    };
    if (!matrix.sorted || matrix.duplicates > 0 || (matrix.singular && matrix.components > 1) || options.block != 1)
        return through_the_host();
    const auto finished = [](std::unique_ptr<Parts> done, const MatrixFacts& facts, const PartTimes& parts_of, double seconds) {
        done->null = {facts.singular, {}, 1};
        done->facts.seconds = parts_of.parts();
        done->facts.total_seconds = seconds;
        return Solver(std::move(done));
    };
    auto parts = std::make_unique<Parts>();
    parts->options = options;
    SolverOptions decided = options;
    if (decided.precondition == Precondition::automatic) decided.precondition = Precondition::ic0;
    std::string note;
    watch.restart();
    if (options.precondition == Precondition::multigrid) {
        parts->prepared = prepare_multigrid(on, A, matrix.nonzeros, options, matrix.singular);
        times.add("multigrid", watch.seconds());
        describe(std::get<MultigridSystem<Cuda>>(parts->prepared), AnySpace(on), matrix, parts->facts, parts->choice_notes);
        return finished(std::move(parts), matrix, times, all.seconds());
    }
    auto order = order_there(on, A, decided, note);
    if (!order) return through_the_host();
    times.add("order", watch.seconds());
    if (!note.empty()) parts->facts.notes.push_back(note);
    for (std::size_t c = 0; c + 1 < order->color_begin.size(); ++c)
        parts->facts.color_sizes.push_back(order->color_begin[c + 1] - order->color_begin[c]);
    decide_rest(decided, matrix, static_cast<int>(order->color_begin.size()) - 1, true);
    parts->facts.decision = {"rule", "the matrix is in the memory of the device", 0, 0};
    parts->prepared = prepare_system(on, A, std::move(*order), decided, times);
    describe(std::get<PreparedSystem<Cuda>>(parts->prepared), AnySpace(on), matrix, parts->facts, parts->choice_notes);
    return finished(std::move(parts), matrix, times, all.seconds());
}

SolveLog Solver::solve_on_device(View<const double> b, View<double> x, const StopFunction& stop) {
    const auto space = std::visit([](const auto& prepared) { return AnySpace(space_of(prepared)); }, parts_->prepared);
    KS_REQUIRE(std::holds_alternative<Cuda>(space), "the solver is on the CPU: give it host memory, or make it with Solver::on_device.");
    const Cuda on = std::get<Cuda>(space);
    const index_t n = parts_->facts.rows;
    require_sizes(n, b, View<const double>(x));
    if (parts_->null.singular && parts_->null.components > 1) {
        std::vector<double> b_here(static_cast<std::size_t>(n)), x_here(b_here);
        copy_to_host(on, view(b_here), b);
        copy_to_host(on, view(x_here), View<const double>(x));
        const SolveLog log = solve(View<const double>(view(b_here)), view(x_here), stop);
        copy_from_host(on, x, View<const double>(view(x_here)));
        return log;
    }
    return std::visit([&](auto& prepared) { return solve_prepared(prepared, b, x, parts_->null.singular, Start::anew, stop); },
                      parts_->prepared);
}
#endif

void Solver::update(const CsrView& A) {
    KS_REQUIRE(parts_->pattern != 0, "the solver was made from a matrix in the memory of a device: make another one for new values.");
    Stopwatch all, watch;
    PartTimes times;
    MatrixFacts matrix = check(A, "the matrix", ComponentsOf::singular);
    require_pattern(A, parts_->pattern);
    CsrMatrix own;
    CsrView given = A;
    if (!matrix.sorted || matrix.duplicates > 0) {
        own = canonical(A);
        given = own.view();
        matrix.nonzeros = own.nonzeros();
    }
    times.add("check", watch.seconds());
    SetupFacts& facts = parts_->facts;
    facts.notes = parts_->choice_notes;
    parts_->ready = false;
    std::visit(
        [&](auto& prepared) {
            update_values(prepared, given, parts_->options, times);
            describe(prepared, AnySpace(space_of(prepared)), matrix, facts, parts_->choice_notes);
        },
        parts_->prepared);
    parts_->null = {matrix.singular, std::move(matrix.component), matrix.components};
    facts.seconds = times.parts();
    facts.total_seconds = all.seconds();
    parts_->ready = true;
}

Solver::Solver(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

const SetupFacts& Solver::setup() const { return parts_->facts; }
const SolverOptions& Solver::options() const { return parts_->options; }

void Solver::set_tolerance(double rtol, int iteration_limit) {
    SolverOptions changed = parts_->options;
    changed.rtol = rtol;
    changed.iteration_limit = iteration_limit;
    check_options(changed);
    parts_->options = changed;
    std::visit([&](auto& prepared) { prepared.options.rtol = rtol, prepared.options.iteration_limit = iteration_limit; }, parts_->prepared);
}

SolveLog Solver::solve(View<const double> b, View<double> x, const StopFunction& stop, Start start) {
    require_ready(parts_->ready);
    const index_t n = parts_->facts.rows;
    require_sizes(n, b, View<const double>(x));
    require_finite(b, "the right-hand side");
    require_finite(x, "the first guess");
    const NullSpace& null = parts_->null;
    const bool many = null.singular && null.components > 1;
    std::vector<double> projected;
    RemovedMeans removed;
    Stopwatch watch;
    SolveLog log;
    if (many) {
        projected.assign(b.begin(), b.end());
        removed = remove_means(null, view(projected));
        b = view(projected);
        if (removed.share > parts_->options.rtol) {
            std::fill(x.begin(), x.end(), 0.);
            log = outside_range(removed.share);
            log.mean_removed = removed.largest;
            return log;
        }
    }
    const bool mean_free = null.singular && !many;
    const LoadMeter load;
    std::visit(
        [&](auto& prepared) {
            const auto on = space_of(prepared);
            if constexpr (std::same_as<decltype(space_of(prepared)), Cpu>) {
                log = solve_prepared(prepared, b, x, mean_free, start, stop);
            } else {
                Buffer<double, decltype(space_of(prepared))> b_there(on, n), x_there(on, n);
                copy_from_host(on, b_there.view(), b);
                copy_from_host(on, x_there.view(), View<const double>(x));
                log = solve_prepared(prepared, b_there.view(), x_there.view(), mean_free, start, stop);
                copy_to_host(on, x, View<const double>(x_there.view()));
            }
        },
        parts_->prepared);
    if (many) {
        remove_means(null, x);
        log.mean_removed = removed.largest;
    }
    log.seconds = watch.seconds();
    if (parts_->account)
        if (const auto note = parts_->account->add(log, load.disturbed()); !note.empty()) parts_->facts.notes.push_back(note);
    return log;
}

std::vector<double> Solver::solve(const std::vector<double>& b, SolveLog* log) {
    std::vector<double> x(static_cast<std::size_t>(parts_->facts.rows), 0.);
    const SolveLog done = solve(view(b), view(x));
    if (log) *log = done;
    return x;
}

std::uint64_t memory_estimate(index_t rows, index_t nonzeros, const SolverOptions& options) {
    const auto n = static_cast<double>(rows), off = static_cast<double>(std::max<index_t>(0, nonzeros - rows));
    // Two triangles of 12 bytes an entry, either with a tenth of padding, offsets of chunks and, for up to three quarters of the entries, a
    // second column, or with offsets of rows.
    const bool chunks = options.format.kind != FormatKind::csr;
    const bool by_rows = !chunks || (options.format.kind == FormatKind::automatic && prefetchers_suffice());
    const double triangles = std::max(chunks ? off * (12 * 1.1 + 3.5) + n * 2. : 0., by_rows ? off * 12 + n * 16. : 0.);
    // Six vectors, diagonal, scale, two permutations.
    double bytes = triangles + n * (6 * 8 + 2 * 8 + 2 * 4);
    if (options.single_factor) bytes += off * 8 * 1.1;
    if (options.precondition == Precondition::multigrid || options.precondition == Precondition::automatic) {
        // An entry: A in double, the finest level's value, and of the coarse levels, which have up to 1.3 times as many, 8 bytes;
        // temporary: the strong entries twice and the product A P. A row: near-null vectors, prolongators and vectors.
        const auto& near_null = options.near_null;
        const int vectors = near_null.vectors.empty() ? near_null.rows_per_node : near_null.count;
        bytes = static_cast<double>(nonzeros) * (12 + 4 + 8 * 1.3 + 2 * 8 + 10) + n * (160. + 80. * vectors);
        if (options.multigrid.cycle == Cycle::k) bytes += n * (8. + 2 * 4 * 0.5);  // a residual; two vectors of each coarse level
        if (options.multigrid.smoother == Smoother::gauss_seidel) bytes += n * 4 * 1.5 + n * 4;
    }
    if (options.precondition == Precondition::ict || options.precondition == Precondition::ick) {
        // A; both triangles on the host as they grow, by rows, by levels, and on the space. A level adds to each entry of a row about as
        // many as a row of the triangle has.
        const double more = options.precondition == Precondition::ict ? n * static_cast<double>(options.fill)
                                                                      : options.level * off / 2 * std::max(1., off / 2 / std::max(n, 1.));
        const double factor = std::min(off / 2 + more, n * n / 2);
        bytes = static_cast<double>(nonzeros) * 12 + factor * (12 * 2. + 2 * 12 + 2 * 12 + 2 * 12) + n * (12 + 9 * 8 + 2 * 8 + 100.);
    }
    if (options.block != 1 && is_one_of(options.precondition, Precondition::none, Precondition::jacobi, Precondition::ic0)) {
        // Values and factors, and the values twice on the host; blocks may have a quarter of zeros, and columns are one for a block.
        bytes = std::max(bytes, static_cast<double>(nonzeros) * 1.25 * (4 * 8 + 2 * 4 + 8) + n * (8. * 12 + 8. * most_block));
    }
    // Temporary: pivots and the order of elimination.
    bytes += n * (8 + 4);
    return static_cast<std::uint64_t>(bytes);
}

}  // namespace kasane::sparse
