#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/general/each_row.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

struct SolveRowOfLevel {
    index_t first;
    const std::int32_t* rows;
    const std::int64_t* begin;
    const std::int32_t* column;
    const double *value, *inverse_diagonal, *in;
    double* out;
    KS_FN void operator()(index_t index) const {
        const index_t place = first + index, row = rows[place];
        double sum = in[row];
        for (std::int64_t e = begin[place]; e < begin[place + 1]; ++e) sum -= value[e] * out[column[e]];
        out[row] = sum * inverse_diagonal[row];
    }
};

/// Whether threads would not share the rows of most levels (each_row).
bool few_rows_for_threads(Cpu on, index_t rows, index_t levels) {
    return thread_count(on) == 1 || rows < levels * 2 * least_rows_of_thread;
}
#if defined(__CUDACC__)
bool few_rows_for_threads(Cuda, index_t, index_t) { return false; }
#endif

}  // namespace

template <Space S>
LevelTriangle<S>::LevelTriangle(S on, const HostTriangle& triangle, bool lower) : on_(on) {
    const CsrMatrix& T = triangle.beside;
    const auto n = static_cast<std::size_t>(T.rows());
    std::vector<std::int32_t> level(n, 0);
    std::int32_t levels = n > 0 ? 1 : 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t row = lower ? k : n - 1 - k;
        for (auto e = static_cast<std::size_t>(T.begin[row]); e < static_cast<std::size_t>(T.begin[row + 1]); ++e)
            level[row] = std::max(level[row], level[static_cast<std::size_t>(T.column[e])] + 1);
        levels = std::max(levels, level[row] + 1);
    }
    levels_ = levels;
    in_order_ = few_rows_for_threads(on, T.rows(), levels);
    level_begin_.assign(static_cast<std::size_t>(levels) + 1, 0);
    for (const auto one : level) ++level_begin_[static_cast<std::size_t>(one) + 1];
    for (std::size_t l = 1; l < level_begin_.size(); ++l) level_begin_[l] += level_begin_[l - 1];
    auto next = level_begin_;
    std::vector<std::int32_t> rows(n);
    for (std::size_t row = 0; row < n; ++row)
        rows[in_order_ ? (lower ? row : n - 1 - row) : static_cast<std::size_t>(next[static_cast<std::size_t>(level[row])]++)] =
            static_cast<std::int32_t>(row);
    std::vector<std::int64_t> begin{0};
    std::vector<std::int32_t> column;
    std::vector<double> value;
    column.reserve(T.column.size()), value.reserve(T.value.size()), begin.reserve(n + 1);
    for (const auto row : rows) {
        const auto first = T.begin[static_cast<std::size_t>(row)], end = T.begin[static_cast<std::size_t>(row) + 1];
        column.insert(column.end(), T.column.begin() + first, T.column.begin() + end);
        value.insert(value.end(), T.value.begin() + first, T.value.begin() + end);
        begin.push_back(static_cast<std::int64_t>(column.size()));
    }
    row_ = to_space(on, rows), begin_ = to_space(on, begin), column_ = to_space(on, column), value_ = to_space(on, value);
    inverse_diagonal_ = to_space(on, triangle.inverse_diagonal);
}

template <Space S>
void LevelTriangle<S>::solve(const Buffer<double, S>& in, Buffer<double, S>& out) const {
    const auto solve_from = [&](index_t first) {
        return SolveRowOfLevel{first,     row_.data(), begin_.data(), column_.data(), value_.data(), inverse_diagonal_.data(),
                               in.data(), out.data()};
    };
    if constexpr (std::same_as<S, Cpu>)
        if (in_order_) {
            const auto solve_row = solve_from(0);
            for (index_t place = 0; place < row_.size(); ++place) solve_row(place);
            return;
        }
    for (std::size_t l = 0; l + 1 < level_begin_.size(); ++l)
        each_row(on_, level_begin_[l + 1] - level_begin_[l], solve_from(level_begin_[l]));
}

template <Space S>
std::uint64_t LevelTriangle<S>::bytes() const {
    return static_cast<std::uint64_t>(column_.size()) * 12 + static_cast<std::uint64_t>(row_.size()) * (4 + 8 + 8);
}

template class LevelTriangle<KS_SPACE>;

}  // namespace kasane::sparse
