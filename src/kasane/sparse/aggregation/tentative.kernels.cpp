#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>

#include <cmath>
#include <utility>

namespace kasane::sparse {
namespace {

struct ConstantOfRow {
    int vectors;
    double* to;
    KS_FN void operator()(index_t row) const {
        for (int a = 0; a < vectors; ++a) to[row * vectors + a] = row % vectors == a ? 1 : 0;
    }
};

struct EntriesOfNode {
    const std::int32_t* aggregate;
    std::uint32_t* count;
    KS_FN void operator()(index_t node) const { count[node] = aggregate[node] >= 0; }
};

struct MemberOfAggregate {
    const std::int32_t* aggregate;
    const std::uint32_t* begin;
    std::int32_t* column;
    float* value;
    KS_FN void operator()(index_t node) const {
        if (aggregate[node] < 0) return;
        column[begin[node]] = aggregate[node];
        value[begin[node]] = 1;
    }
};

/// Gram-Schmidt, twice for each vector, over the rows of one aggregate.
struct Orthonormalise {
    RowsView<float> members;  ///< the nodes of each aggregate
    int vectors, rows_per_node;
    double* q;  ///< [rows][vectors] near-null vectors in, orthonormal ones out
    double* r;  ///< [aggregates * vectors][vectors]

    KS_FN double dot(index_t aggregate, int a, int b) const {
        double sum = 0;
        for (std::uint32_t m = members.begin[aggregate]; m < members.begin[aggregate + 1]; ++m)
            for (int row = 0; row < rows_per_node; ++row) {
                const double* const at = q + (static_cast<index_t>(members.column[m]) * rows_per_node + row) * vectors;
                sum += at[a] * at[b];
            }
        return sum;
    }
    /// vector a = by a + other b
    KS_FN void combine(index_t aggregate, int a, double by, int b, double other) const {
        for (std::uint32_t m = members.begin[aggregate]; m < members.begin[aggregate + 1]; ++m)
            for (int row = 0; row < rows_per_node; ++row) {
                double* const at = q + (static_cast<index_t>(members.column[m]) * rows_per_node + row) * vectors;
                at[a] = by == 0 ? 0 : by * at[a] + other * at[b];
            }
    }
    KS_FN void operator()(index_t aggregate) const {
        constexpr double dependent = 1e-10;  // of the squared norm: rounding of the near-null vectors and of the sums
        double* const R = r + aggregate * vectors * vectors;
        for (int a = 0; a < vectors; ++a) {
            const double before = dot(aggregate, a, a);
            for (int b = 0; b < vectors; ++b) R[b * vectors + a] = 0;
            for (int pass = 0; pass < 2; ++pass)
                for (int b = 0; b < a; ++b) {
                    const double part = dot(aggregate, b, a);
                    R[b * vectors + a] += part;
                    combine(aggregate, a, 1, b, -part);
                }
            const double square = dot(aggregate, a, a);
            const bool independent = square > dependent * before;
            R[a * vectors + a] = independent ? std::sqrt(square) : 0;
            combine(aggregate, a, independent ? 1 / std::sqrt(square) : 0, a, 0);
        }
    }
};

struct CopyVectors {
    const double* from;
    double* to;
    KS_FN void operator()(index_t i) const { to[i] = from[i]; }
};

struct CountTentative {
    const std::int32_t* aggregate;
    int vectors, rows_per_node;
    std::uint32_t* count;
    KS_FN void operator()(index_t row) const { count[row] = aggregate[row / rows_per_node] >= 0 ? static_cast<std::uint32_t>(vectors) : 0; }
};

template <class V>
struct FillTentative {
    const std::int32_t* aggregate;
    int vectors, rows_per_node;
    const double* q;
    const std::uint32_t* begin;
    std::int32_t* column;
    V* value;
    KS_FN void operator()(index_t row) const {
        const std::int32_t own = aggregate[row / rows_per_node];
        if (own < 0) return;
        for (int a = 0; a < vectors; ++a) {
            column[begin[row] + static_cast<std::uint32_t>(a)] = own * vectors + a;
            value[begin[row] + static_cast<std::uint32_t>(a)] = static_cast<V>(q[row * vectors + a]);
        }
    }
};

}  // namespace

template <Space S>
Buffer<double, S> constant_vectors(S on, index_t rows, int vectors) {
    Buffer<double, S> constants(on, rows * vectors);
    parallel_for(on, rows, ConstantOfRow{vectors, constants.data()});
    return constants;
}

template <class V, Space S>
Tentative<V, S> tentative_prolongator(S on, const Aggregates<S>& aggregates, View<const double> null, int vectors, int rows_per_node) {
    const index_t nodes = aggregates.of.size(), rows = nodes * rows_per_node;
    Rows<float, S> member;
    member.rows = nodes, member.columns = aggregates.count;
    member.begin = Buffer<std::uint32_t, S>(on, nodes + 1);
    parallel_for(on, nodes, EntriesOfNode{aggregates.of.data(), member.begin.data()});
    const index_t members = offsets_of_counts(on, member.begin, nodes);
    member.column = Buffer<std::int32_t, S>(on, members);
    member.value = Buffer<float, S>(on, members);
    parallel_for(on, nodes, MemberOfAggregate{aggregates.of.data(), member.begin.data(), member.column.data(), member.value.data()});
    const auto of_aggregate = transposed(on, member.view());

    Tentative<V, S> result;
    Buffer<double, S> q(on, null.n);
    result.coarse_null = Buffer<double, S>(on, aggregates.count * vectors * vectors);
    parallel_for(on, null.n, CopyVectors{null.ptr, q.data()});
    parallel_for(on, aggregates.count, Orthonormalise{of_aggregate.view(), vectors, rows_per_node, q.data(), result.coarse_null.data()});

    auto& P = result.P;
    P.rows = rows, P.columns = aggregates.count * vectors;
    if (vectors == 1 && rows_per_node == 1) {
        P.begin = std::move(member.begin), P.column = std::move(member.column);  // an entry for each member
    } else {
        P.begin = Buffer<std::uint32_t, S>(on, rows + 1);
        parallel_for(on, rows, CountTentative{aggregates.of.data(), vectors, rows_per_node, P.begin.data()});
        P.column = Buffer<std::int32_t, S>(on, offsets_of_counts(on, P.begin, rows * vectors));
    }
    P.value = Buffer<V, S>(on, P.column.size());
    parallel_for(on, rows,
                 FillTentative<V>{aggregates.of.data(), vectors, rows_per_node, q.data(), P.begin.data(), P.column.data(), P.value.data()});
    return result;
}

template Buffer<double, KS_SPACE> constant_vectors(KS_SPACE, index_t, int);
template Tentative<float, KS_SPACE> tentative_prolongator(KS_SPACE, const Aggregates<KS_SPACE>&, View<const double>, int, int);
template Tentative<double, KS_SPACE> tentative_prolongator(KS_SPACE, const Aggregates<KS_SPACE>&, View<const double>, int, int);

}  // namespace kasane::sparse
