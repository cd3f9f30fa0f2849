// Cost of an iteration by count: barriers, and bytes when every array is moved once per phase that touches it. Both are counted by
// running the schedule; entries are counted as stored, padding included, and each triangle once per iteration.
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/schedule.body.hpp>

#include <vector>

namespace kasane::sparse {
namespace {

/// Executes nothing and counts; see schedule.body.hpp.
class CountingExecutor {
   public:
    /// @param color_rows  rows of each colour   @param operand_bytes  bytes of the triangles of each operand, by its number
    CountingExecutor(std::vector<index_t> color_rows, std::vector<std::uint64_t> operand_bytes, bool factored)
        : color_rows_(std::move(color_rows)), operand_bytes_(std::move(operand_bytes)), factored_(factored) {
        for (const index_t rows : color_rows_) all_rows_ += rows;
    }
    int colors() const { return static_cast<int>(color_rows_.size()); }
    bool factored() const { return factored_; }
    bool norm_due() const { return false; }  // not in every iteration

    template <class Phase>
    Phase make() const {
        return Phase::of({}, {});
    }
    template <class Phase>
    void rows(const Phase&, int color) {
        count<Phase>(color_rows_[static_cast<std::size_t>(color)]);
    }
    template <class First, class Second>
    void rows(const First& first, const Second& second, int color) {
        rows(first, color);
        rows(second, color);
    }
    template <class Phase>
    void all(const Phase&) {
        count<Phase>(all_rows_);
    }
    void barrier(Next) { ++barriers_; }
    template <class Phase>
    void decide(const Phase&, Next next) {
        barrier(next);
    }

    int barriers() const { return barriers_; }
    double bytes() const { return static_cast<double>(bytes_); }

   private:
    template <class Phase>
    void count(index_t rows) {
        constexpr auto vector_bytes = static_cast<index_t>(sizeof(double));
        bytes_ += static_cast<std::uint64_t>(vector_bytes * Phase::vectors * rows);
        if (Phase::gathers_elsewhere) bytes_ += static_cast<std::uint64_t>(vector_bytes * (all_rows_ - rows));
        auto& operand = operand_bytes_[static_cast<std::size_t>(Phase::operand)];
        bytes_ += operand;
        operand = 0;
    }

    std::vector<index_t> color_rows_;
    std::vector<std::uint64_t> operand_bytes_;
    bool factored_;
    index_t all_rows_ = 0;
    int barriers_ = 0;
    std::uint64_t bytes_ = 0;
};

template <class Schedule>
void run_once(CountingExecutor& executor) {
    Schedule::update(executor);
    Schedule::direction(executor);
}

}  // namespace

template <Space S>
IterationCost cost_of(const System<S>& system, Iteration iteration) {
    std::vector<index_t> color_rows(static_cast<std::size_t>(system.layout.colors), 0);
    for (int color = 0; color < system.layout.colors; ++color)
        for (int part = 0; part < system.layout.shape.parts; ++part) {
            const Segment s = system.layout.at(color, part);
            color_rows[static_cast<std::size_t>(color)] += s.end - s.begin;
        }
    const std::uint64_t lower = system.lower.bytes_of_product(), upper = system.upper.bytes_of_product();
    std::uint64_t factor_lower = lower, factor_upper = upper;
    if (system.single_factor)
        factor_lower = system.factor_lower_f.bytes_of_product(), factor_upper = system.factor_upper_f.bytes_of_product();
    else if (system.factor == FactorKind::own_values)
        factor_lower = system.factor_lower.bytes_of_product(), factor_upper = system.factor_upper.bytes_of_product();
    const bool factored = system.factor != FactorKind::identity;
    std::vector<std::uint64_t> operand_bytes(static_cast<std::size_t>(Operand::whole) + 1, 0);
    const auto set = [&](Operand operand, std::uint64_t bytes) { operand_bytes[static_cast<std::size_t>(operand)] = bytes; };
    if (factored) set(Operand::factor_lower, factor_lower), set(Operand::factor_upper, factor_upper);
    set(Operand::lower, lower);
    set(Operand::upper, upper);
    set(Operand::whole, lower + upper);

    CountingExecutor executor(std::move(color_rows), std::move(operand_bytes), factored);
    switch (iteration) {
        case Iteration::eisenstat: run_once<EisenstatIteration>(executor); break;
        case Iteration::reduced: run_once<ReducedIteration>(executor); break;
        default: run_once<PlainIteration>(executor);
    }
    return {executor.bytes(), executor.barriers()};
}

template <Space S>
std::uint64_t System<S>::bytes() const {
    std::uint64_t sum =
        lower.bytes() + upper.bytes() + factor_lower.bytes() + factor_upper.bytes() + factor_lower_f.bytes() + factor_upper_f.bytes();
    sum += static_cast<std::uint64_t>(diagonal.size() + scale.size()) * sizeof(double);
    return sum + static_cast<std::uint64_t>(layout.old_row.size() + layout.new_row.size() + layout.rank.size()) * sizeof(std::int32_t);
}

template IterationCost cost_of(const System<Cpu>&, Iteration);
template std::uint64_t System<Cpu>::bytes() const;
#if defined(KASANE_CUDA)
template IterationCost cost_of(const System<Cuda>&, Iteration);
template std::uint64_t System<Cuda>::bytes() const;
#endif

}  // namespace kasane::sparse
