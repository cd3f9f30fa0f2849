#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/aggregation/aggregates.hpp>

#include <atomic>
#include <concepts>

namespace kasane::sparse {
namespace {

/// State of a node: root, out, or its priority in this round with its number in the low half, so that no two are equal.
constexpr std::uint64_t root_state = 0, out_state = ~std::uint64_t{0};

KS_FN std::uint64_t priority_of(index_t node, std::uint64_t round) {
    std::uint64_t bits = static_cast<std::uint64_t>(node) * 0x9E3779B97F4A7C15u + (round + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return (bits >> 32 << 32) | (static_cast<std::uint64_t>(node) + 1);
}

struct LowerFlag {
    std::uint32_t* flag;
    KS_FN void operator()(index_t i) const { flag[i] = 0; }
};
/// Sets a flag to 1, which other threads may do too.
KS_FN void raise(std::uint32_t* flag) {
#if defined(__CUDA_ARCH__)
    if (*flag == 0) *flag = 1;  // most threads read it in their cache
#else
    std::atomic_ref<std::uint32_t>(*flag).store(1, std::memory_order_relaxed);
#endif
}

KS_FN bool undecided(std::uint64_t state) { return state != root_state && state != out_state; }

/// The strong entries of a matrix.
template <class V>
struct StrongGraph {
    RowsView<V> A;
    const std::uint8_t* strong;
    template <class Visit>
    KS_FN void each(index_t node, Visit visit) const {
        for (std::uint32_t e = A.begin[node]; e < A.begin[node + 1]; ++e)
            if (strong[e]) visit(A.column[e], A.value[e]);
    }
};

/// The columns of the strong entries of each row, without the others between them: rounds on a CPU read them without a branch.
struct PackedGraph {
    const std::uint32_t *begin, *end;
    const std::int32_t* column;
    template <class Visit>
    void each(index_t node, Visit visit) const {
        for (std::uint32_t e = begin[node]; e < end[node]; ++e) visit(column[e], 0);
    }
};

template <class V>
struct PackRow {
    StrongGraph<V> graph;
    std::uint32_t* end;
    std::int32_t* column;
    void operator()(index_t node) const {
        std::uint32_t to = graph.A.begin[node];
        for (std::uint32_t e = graph.A.begin[node]; e < graph.A.begin[node + 1]; ++e) {
            column[to] = graph.A.column[e];
            to += graph.strong[e];
        }
        end[node] = to;
    }
};

template <class Graph>
struct BeginSearch {
    Graph graph;
    std::uint64_t *state, *least;
    KS_FN void operator()(index_t node) const {
        bool alone = true;
        graph.each(node, [&](index_t, auto) { alone = false; });
        state[node] = alone ? out_state : priority_of(node, 0);
        least[node] = 0;
    }
};

/// The least state within one edge; out where a root is there, for good.
template <class Graph>
struct LeastOfNeighbours {
    Graph graph;
    const std::uint64_t* state;
    std::uint64_t* least;
    KS_FN void operator()(index_t node) const {
        if (least[node] == out_state) return;
        std::uint64_t found = state[node];
        graph.each(node, [&](index_t neighbour, auto) {
            if (state[neighbour] < found) found = state[neighbour];
        });
        least[node] = found == root_state ? out_state : found;
    }
};

/// A node with a root within two edges is out; one that is the least within two edges is a root; others draw the next round's priority.
template <class Graph>
struct Decide {
    Graph graph;
    std::uint64_t round;
    const std::uint64_t* least;
    std::uint64_t* state;
    std::uint32_t* left;  ///< set to 1 where there are others
    KS_FN void operator()(index_t node) const {
        const std::uint64_t own = state[node];
        if (!undecided(own)) return;
        // Without a root beside them, the least states of the node and its neighbours are at most its own.
        std::uint64_t smallest = least[node], largest = smallest;
        graph.each(node, [&](index_t neighbour, auto) {
            const std::uint64_t there = least[neighbour];
            if (there < smallest) smallest = there;
            if (there > largest) largest = there;
        });
        const bool out = largest == out_state, is_least = smallest == own;
        if (out)
            state[node] = out_state;
        else if (is_least)
            state[node] = root_state;
        else
            state[node] = priority_of(node, round + 1), raise(left);
    }
};

struct IsRoot {
    const std::uint64_t* state;
    index_t n;
    std::uint32_t* to;
    KS_FN void operator()(index_t node) const { to[node] = node < n && state[node] == root_state; }
};

struct NoAggregate {
    std::int32_t* of;
    KS_FN void operator()(index_t node) const { of[node] = -1; }
};

/// A root and its neighbours are an aggregate. No two roots share a neighbour, so no node is written twice.
template <class V>
struct FormAggregate {
    StrongGraph<V> graph;
    const std::uint64_t* state;
    const std::uint32_t* number;
    std::int32_t* of;
    KS_FN void operator()(index_t node) const {
        if (state[node] != root_state) return;
        const auto own = static_cast<std::int32_t>(number[node]);
        of[node] = own;
        graph.each(node, [&](index_t neighbour, V) { of[neighbour] = own; });
    }
};

struct CopyAggregate {
    const std::int32_t* from;
    std::int32_t* to;
    KS_FN void operator()(index_t node) const { to[node] = from[node]; }
};

/// A node without an aggregate joins that of the strongest connection; of equal ones that of the smallest number.
template <class V>
struct JoinStrongest {
    StrongGraph<V> graph;
    const std::int32_t* before;
    std::int32_t* of;
    KS_FN void operator()(index_t node) const {
        if (before[node] >= 0) return;
        V strongest = 0;
        std::int32_t best = -1;
        graph.each(node, [&](index_t neighbour, V value) {
            const std::int32_t other = before[neighbour];
            if (other < 0) return;
            const V strength = value < 0 ? -value : value;
            if (best < 0 || strength > strongest || (strength == strongest && other < best)) best = other, strongest = strength;
        });
        of[node] = best;
    }
};

/// State 0 in a maximal set of nodes that are more than two edges apart.
template <class Graph, Space S>
void find_roots(S on, index_t n, const Graph& graph, Buffer<std::uint64_t, S>& state, Buffer<std::uint64_t, S>& least) {
    parallel_for(on, n, BeginSearch<Graph>{graph, state.data(), least.data()});
    // Rounds after the last one change nothing. A device executes the first ones, and then two at a time, before the host asks.
    const bool ahead = !std::same_as<S, Cpu>;
    Buffer<std::uint32_t, S> flag(on, 1);
    std::uint32_t left = 1;
    for (std::uint64_t round = 0; left != 0; ++round) {
        parallel_for(on, 1, LowerFlag{flag.data()});
        parallel_for(on, n, LeastOfNeighbours<Graph>{graph, state.data(), least.data()});
        parallel_for(on, n, Decide<Graph>{graph, round, least.data(), state.data(), flag.data()});
        if (ahead && (round < 5 || round % 2 == 0)) continue;
        copy_to_host(on, View<std::uint32_t>(&left, 1), View<const std::uint32_t>(flag.view()));
    }
}

}  // namespace

template <class V, Space S>
Aggregates<S> aggregated(S on, const RowsView<V>& A, View<const std::uint8_t> strong) {
    const StrongGraph<V> graph{A, strong.ptr};
    const index_t n = A.rows;
    Aggregates<S> result;
    result.of = Buffer<std::int32_t, S>(on, n);
    Buffer<std::int32_t, S> before(on, n);
    Buffer<std::uint64_t, S> state(on, n), least(on, n);
    Buffer<std::uint32_t, S> number(on, n + 1);
    parallel_for(on, n, NoAggregate{result.of.data()});
    if constexpr (std::same_as<S, Cpu>) {
        Buffer<std::uint32_t, S> end(on, n);
        Buffer<std::int32_t, S> column(on, A.entries);
        parallel_for(on, n, PackRow<V>{graph, end.data(), column.data()});
        find_roots(on, n, PackedGraph{A.begin, end.data(), column.data()}, state, least);
    } else {
        find_roots(on, n, graph, state, least);
    }
    parallel_for(on, n + 1, IsRoot{state.data(), n, number.data()});
    result.count = offsets_of_counts(on, number, n);
    parallel_for(on, n, FormAggregate<V>{graph, state.data(), number.data(), result.of.data()});
    parallel_for(on, n, CopyAggregate{result.of.data(), before.data()});
    parallel_for(on, n, JoinStrongest<V>{graph, before.data(), result.of.data()});
    return result;
}

template Aggregates<KS_SPACE> aggregated(KS_SPACE, const RowsView<float>&, View<const std::uint8_t>);
template Aggregates<KS_SPACE> aggregated(KS_SPACE, const RowsView<double>&, View<const std::uint8_t>);

}  // namespace kasane::sparse
