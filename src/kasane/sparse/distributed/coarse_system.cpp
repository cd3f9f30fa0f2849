#include <kasane/sparse/distributed/coarse_system.hpp>

#include <kasane/core/device/host_copies.hpp>
#include <kasane/sparse/aggregation/dense_inverse.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/distributed/aggregates_of_rows.hpp>
#include <kasane/sparse/distributed/coarse_kernels.hpp>
#include <kasane/sparse/distributed/near_null_of_rows.hpp>
#include <kasane/sparse/distributed/part_operator.hpp>
#include <kasane/sparse/distributed/vector_exchange.hpp>

#include <algorithm>
#include <concepts>
#include <complex>
#include <iterator>
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

/// Numbers of double or complex type, for the communicator.
template <class T>
View<double> as_doubles(std::vector<T>& v) {
    return {reinterpret_cast<double*>(v.data()), std::ssize(v) * static_cast<index_t>(sizeof(T) / sizeof(double))};
}

/// conj(v_i) a v_j with the weights v of complex numbers; a of doubles.
double weighted(const std::vector<double>&, index_t, double a, double) { return a; }
ComplexNumber weighted(const std::vector<ComplexNumber>& weight, index_t i, ComplexNumber a, ComplexNumber of_column) {
    return conjugate_product(weight[at(i)], a * of_column);
}
/// The first part of a number.
double real_part(double x) { return x; }
double real_part(ComplexNumber z) { return z.re; }

/// R A R^T, or R A R^H, [all][all], on every worker. @param weight  [own] of complex numbers
template <class User>
std::vector<Number<User>> coarse_matrix(comm::Worker& worker, const RowPartOf<User>& part, const RowAggregates& aggregates,
                                        const Numbers& numbers, const std::vector<Number<User>>& weight) {
    using T = Number<User>;
    // The aggregates of received rows travel as the numbers of a vector, and so do weights.
    VectorExchange<Cpu, T> exchange(Cpu{1}, worker, part.neighbors, 2 * VectorExchange<Cpu, T>::channels);
    Buffer<T, Cpu> own(Cpu{1}, part.own());
    const auto received = [&] {
        exchange.start(own);
        const auto numbers_of_others = exchange.finish();
        return std::vector<T>(numbers_of_others.begin(), numbers_of_others.end());
    };
    for (index_t i = 0; i < part.own(); ++i) own.data()[i] = real_number<T>(static_cast<double>(numbers.first + aggregates.of[at(i)]));
    const auto aggregate = received();
    std::vector<T> of_column;  // weights, of complex numbers
    if constexpr (!std::same_as<T, double>) {
        std::ranges::copy(weight, own.data());
        of_column = received();
    }

    const auto inner = as_numbers(part.inner.value), outer = as_numbers(part.outer.value);
    std::vector<T> matrix(at(numbers.all * numbers.all), real_number<T>(0));
    const auto row_of = [&](index_t own_row) { return matrix.data() + (numbers.first + aggregates.of[at(own_row)]) * numbers.all; };
    for (index_t i = 0; i < part.own(); ++i)
        for (auto e = part.inner.begin[at(i)]; e < part.inner.begin[at(i) + 1]; ++e) {
            const auto j = at(part.inner.column[at(e)]);
            row_of(i)[numbers.first + aggregates.of[j]] += weighted(weight, i, inner[e], weight.empty() ? T{} : weight[j]);
        }
    for (index_t k = 0; k < part.outer.rows(); ++k)
        for (auto e = part.outer.begin[at(k)]; e < part.outer.begin[at(k) + 1]; ++e) {
            const auto i = part.outer_row[at(k)];
            const auto j = at(part.outer.column[at(e)]);
            row_of(i)[static_cast<index_t>(real_part(aggregate[j]))] +=
                weighted(weight, i, outer[e], of_column.empty() ? T{} : of_column[j]);
        }
    worker.all_reduce(as_doubles(matrix), comm::Reduce::sum);
    return matrix;
}

/// Aggregates of scalar rows, or of blocks: one for each row of a block, so that the displacements of a node's directions, say, have coarse
/// rows of their own.
template <class User>
RowAggregates aggregates_of_part(const MatrixOf<User>& A, int block, index_t most) {
    if constexpr (std::same_as<User, double>) {
        if (block > 1) {
            const auto of_blocks = aggregates_of_rows(blocked_rows(A.view(), block).pattern(), std::max<index_t>(most / block, 1));
            RowAggregates aggregates{{}, of_blocks.count * block};
            for (const auto g : of_blocks.of)
                for (int c = 0; c < block; ++c) aggregates.of.push_back(g * block + c);
            return aggregates;
        }
    }
    return aggregates_of_rows(pattern_of(A), most);
}

}  // namespace

template <Space S, class User>
CoarseSystem<S, User>::CoarseSystem(S on, comm::Worker& worker, const RowPartOf<User>& part, index_t most, int block)
    : on_(on), worker_(worker) {
    constexpr index_t least_rows = 8;  // of an aggregate
    const auto wanted = std::clamp<index_t>(part.own() / least_rows, 1, std::max<index_t>(most / worker.size(), 1));
    const auto aggregates = aggregates_of_part<User>(part.inner, block, wanted);
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

    std::vector<T> weight;
    if constexpr (!std::same_as<User, double>) {
        const auto v = near_null_of_rows(part.inner, part.row_scale, aggregates.of, aggregates.count);
        weight.assign(as_numbers(v).begin(), as_numbers(v).end());
    }
    bool positive = true;
    const auto inverse =
        dense_inverse(coarse_matrix<User>(worker, part, aggregates, numbers, weight), static_cast<int>(numbers.all), &positive);
    usable_ = positive;
    std::vector<T> own(at(numbers.all * aggregates.count));
    for (index_t c = 0; c < numbers.all; ++c)
        for (index_t k = 0; k < aggregates.count; ++k) own[at(c * aggregates.count + k)] = inverse[at((first_ + k) * numbers.all + c)];

    aggregate_ = to_space(on, aggregates.of);
    row_ = to_space(on, rows);
    piece_begin_ = to_space(on, begin);
    first_piece_ = to_space(on, first_piece);
    weight_ = to_space(on, weight);
    inverse_ = to_space(on, own);
    of_pieces_ = Buffer<T, S>(on, pieces);
    own_ = Buffer<T, S>(on, aggregates.count);
    all_ = Buffer<T, S>(on, numbers.all);
    own_on_host_.resize(at(aggregates.count));
    on_host_.resize(at(numbers.all));
}

template <Space S, class User>
void CoarseSystem<S, User>::add_correction(const Buffer<T, S>& r, Buffer<T, S>& x) const {
    const View<const T> none{};
    sum_segments(on_, piece_begin_.view(), row_.view(), weight_.view(), r.view(), of_pieces_.view());
    sum_segments(on_, first_piece_.view(), {}, none, View<const T>(of_pieces_.view()), own_.view());
    copy_to_host(on_, view(own_on_host_), View<const T>(own_.view()));
    std::ranges::fill(on_host_, real_number<T>(0));
    std::ranges::copy(own_on_host_, on_host_.begin() + first_);
    worker_.all_reduce(as_doubles(on_host_), comm::Reduce::sum);
    copy_from_host(on_, all_.view(), View<const T>(view(on_host_)));
    dense_times(on_, inverse_.view(), View<const T>(all_.view()), own_.view());
    add_to_aggregates(on_, aggregate_.view(), weight_.view(), View<const T>(own_.view()), x.view());
}

template <Space S, class User>
std::uint64_t CoarseSystem<S, User>::bytes() const {
    return sizeof(T) * static_cast<std::uint64_t>(weight_.size() + inverse_.size() + of_pieces_.size() + own_.size() + all_.size()) +
           4 * static_cast<std::uint64_t>(aggregate_.size() + row_.size() + piece_begin_.size() + first_piece_.size());
}

template class CoarseSystem<Cpu, double>;
template class CoarseSystem<Cpu, std::complex<double>>;
#if defined(KASANE_CUDA)
template class CoarseSystem<Cuda, double>;
template class CoarseSystem<Cuda, std::complex<double>>;
#endif

}  // namespace kasane::sparse
