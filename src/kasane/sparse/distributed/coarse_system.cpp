#include <kasane/sparse/distributed/coarse_system.hpp>

#include <kasane/core/device/host_copies.hpp>
#include <kasane/sparse/aggregation/dense_inverse.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/distributed/aggregates_of_rows.hpp>
#include <kasane/sparse/distributed/coarse_kernels.hpp>
#include <kasane/sparse/distributed/vector_exchange.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kasane::sparse {
namespace {

constexpr std::int32_t piece_rows = 64;

/// Aggregates of all workers, and the first of this one.
struct Numbers {
    index_t first = 0, all = 0;
};
Numbers numbered(comm::Worker& worker, index_t own) {
    std::vector<double> counts(at(worker.size()), 0.);
    counts[at(worker.index())] = static_cast<double>(own);
    worker.all_reduce(view(counts), comm::Reduce::sum);
    Numbers numbers;
    for (int w = 0; w < worker.size(); ++w) {
        if (w == worker.index()) numbers.first = numbers.all;
        numbers.all += static_cast<index_t>(counts[at(w)]);
    }
    return numbers;
}

/// R A R^T, [all][all], on every worker.
std::vector<double> coarse_matrix(comm::Worker& worker, const RowPart& part, const RowAggregates& aggregates, const Numbers& numbers) {
    // The aggregates of received rows travel as the numbers of a vector.
    VectorExchange<Cpu> exchange(Cpu{1}, worker, part.neighbors, 2 * VectorExchange<Cpu>::channels);
    Buffer<double, Cpu> own(Cpu{1}, part.own());
    for (index_t i = 0; i < part.own(); ++i) own.data()[i] = static_cast<double>(numbers.first + aggregates.of[at(i)]);
    exchange.start(own);
    const auto received = exchange.finish();

    std::vector<double> matrix(at(numbers.all * numbers.all), 0.);
    const auto row_of = [&](index_t own_row) { return matrix.data() + (numbers.first + aggregates.of[at(own_row)]) * numbers.all; };
    for (index_t i = 0; i < part.own(); ++i)
        for (auto e = part.inner.begin[at(i)]; e < part.inner.begin[at(i) + 1]; ++e)
            row_of(i)[numbers.first + aggregates.of[at(part.inner.column[at(e)])]] += part.inner.value[at(e)];
    for (index_t k = 0; k < part.outer.rows(); ++k)
        for (auto e = part.outer.begin[at(k)]; e < part.outer.begin[at(k) + 1]; ++e)
            row_of(part.outer_row[at(k)])[static_cast<index_t>(received[part.outer.column[at(e)]])] += part.outer.value[at(e)];
    worker.all_reduce(view(matrix), comm::Reduce::sum);
    return matrix;
}

/// Aggregates of blocks, one for each row of a block: the displacements of a node's directions, say, have coarse rows of their own.
RowAggregates aggregates_of_blocks(const CsrMatrix& A, int block, index_t most) {
    if (block == 1) return aggregates_of_rows(A, most);
    auto rows = blocked_rows(A.view(), block);
    const auto of_blocks = aggregates_of_rows({std::move(rows.begin), std::move(rows.column), {}}, std::max<index_t>(most / block, 1));
    RowAggregates aggregates{{}, of_blocks.count * block};
    for (const auto g : of_blocks.of)
        for (int c = 0; c < block; ++c) aggregates.of.push_back(g * block + c);
    return aggregates;
}

}  // namespace

template <Space S>
CoarseSystem<S>::CoarseSystem(S on, comm::Worker& worker, const RowPart& part, index_t most, int block) : on_(on), worker_(worker) {
    constexpr index_t least_rows = 8;  // of an aggregate
    const auto wanted = std::clamp<index_t>(part.own() / least_rows, 1, std::max<index_t>(most / worker.size(), 1));
    const auto aggregates = aggregates_of_blocks(part.inner, block, wanted);
    const auto numbers = numbered(worker, aggregates.count);
    first_ = numbers.first;

    std::vector<std::int32_t> rows(at(part.own()));
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(rows, {}, [&](std::int32_t row) { return aggregates.of[at(row)]; });
    std::vector<std::int32_t> begin, first_piece;
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(rows.size()); ++k) {
        const bool new_aggregate = k == 0 || aggregates.of[at(rows[at(k)])] != aggregates.of[at(rows[at(k) - 1])];
        if (new_aggregate) first_piece.push_back(static_cast<std::int32_t>(begin.size()));
        if (new_aggregate || k - begin.back() == piece_rows) begin.push_back(k);
    }
    const auto pieces = static_cast<index_t>(begin.size());
    begin.push_back(static_cast<std::int32_t>(rows.size()));
    first_piece.push_back(static_cast<std::int32_t>(pieces));

    bool positive = true;
    const auto inverse = dense_inverse(coarse_matrix(worker, part, aggregates, numbers), static_cast<int>(numbers.all), &positive);
    usable_ = positive;
    std::vector<double> own(at(numbers.all * aggregates.count));
    for (index_t c = 0; c < numbers.all; ++c)
        for (index_t k = 0; k < aggregates.count; ++k) own[at(c * aggregates.count + k)] = inverse[at(c * numbers.all + first_ + k)];

    aggregate_ = to_space(on, aggregates.of);
    row_ = to_space(on, rows);
    piece_begin_ = to_space(on, begin);
    first_piece_ = to_space(on, first_piece);
    inverse_ = to_space(on, own);
    of_pieces_ = Buffer<double, S>(on, pieces);
    own_ = Buffer<double, S>(on, aggregates.count);
    all_ = Buffer<double, S>(on, numbers.all);
    own_on_host_.resize(at(aggregates.count));
    on_host_.resize(at(numbers.all));
}

template <Space S>
void CoarseSystem<S>::add_correction(const Buffer<double, S>& r, Buffer<double, S>& x) const {
    sum_segments(on_, piece_begin_.view(), row_.view(), r.view(), of_pieces_.view());
    sum_segments(on_, first_piece_.view(), {}, View<const double>(of_pieces_.view()), own_.view());
    copy_to_host(on_, view(own_on_host_), View<const double>(own_.view()));
    std::ranges::fill(on_host_, 0.);
    std::ranges::copy(own_on_host_, on_host_.begin() + first_);
    worker_.all_reduce(view(on_host_), comm::Reduce::sum);
    copy_from_host(on_, all_.view(), View<const double>(view(on_host_)));
    dense_times(on_, inverse_.view(), View<const double>(all_.view()), own_.view());
    add_to_aggregates(on_, aggregate_.view(), View<const double>(own_.view()), x.view());
}

template <Space S>
std::uint64_t CoarseSystem<S>::bytes() const {
    return 8 * static_cast<std::uint64_t>(inverse_.size() + of_pieces_.size() + own_.size() + all_.size()) +
           4 * static_cast<std::uint64_t>(aggregate_.size() + row_.size() + piece_begin_.size() + first_piece_.size());
}

template class CoarseSystem<Cpu>;
#if defined(KASANE_CUDA)
template class CoarseSystem<Cuda>;
#endif

}  // namespace kasane::sparse
