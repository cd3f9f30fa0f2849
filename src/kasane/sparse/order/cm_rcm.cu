// Cuthill and McKee's levels on a device, all of them in one kernel, and cyclic colours of them. Same rows in the same order as in
// order_rows(): a row is found by the first row of the level before that is coupled to it, and rows found by one row ascend.
// Invariants: levels are deterministic: the finder of a row is the smallest row coupled to it; a graph in which a row is coupled to its own
// level is left to the host, as is one with more levels than a device can process efficiently.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/grid/grid.cuda.hpp>
#include <kasane/sparse/grid/launch.cuda.hpp>
#include <kasane/sparse/order/components.cuda.hpp>
#include <kasane/sparse/order/on_device.hpp>
#include <kasane/sparse/order/to_value.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace device;

constexpr unsigned block = 256;
constexpr int most_levels = 1 << 14;  ///< 3 barriers each: beyond this number the host is as fast
constexpr std::int32_t not_found = std::numeric_limits<std::int32_t>::max();

__global__ void least_degree(const CsrView A, unsigned long long* least) {
    const index_t row = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (row >= A.n) return;
    const auto key = static_cast<unsigned long long>(A.end(row) - A.begin(row)) << 32 | static_cast<unsigned long long>(row);
    if (key < *least) atomicMin(least, key);
}

/// Rows by their place in Cuthill and McKee's order.
struct Search {
    CsrView A;
    std::int32_t* row = nullptr;          ///< [rows] place -> row; the first `starts` are given
    std::int32_t* finder = nullptr;       ///< [rows] row -> place of the row that found it; -1 for starts, `not_found` before
    std::int32_t* level_begin = nullptr;  ///< [most_levels + 1] first place of each level
    std::int32_t starts = 1;
};

struct Outcome {
    int levels = 0;
    std::int32_t placed = 0;
    int given_up = 0;
};

struct SearchShared {
    BlockSums sums;
    unsigned of_warp[block / 32];
    std::int32_t before, found;
    bool conflict;
};

/// Sum over the threads of the block before this one; `total` is the sum of all.
__device__ unsigned scan_block(SearchShared& shared, unsigned mine, unsigned& total) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = mine;
    for (unsigned step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) shared.of_warp[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
        if (w < warp) before += shared.of_warp[w];
        total += shared.of_warp[w];
    }
    __syncthreads();
    return before + sum - mine;
}

/// Calls f(neighbour) for each row that the row at that place found.
template <class F>
__device__ void each_found(const Search& s, std::int32_t place, const F& f) {
    const std::int32_t row = s.row[place];
    for (index_t e = s.A.begin(row), end = s.A.end(row); e < end; ++e) {
        const auto other = static_cast<std::int32_t>(s.A.column(e));
        if (other != row && s.finder[other] == place) f(other);
    }
}

__global__ void __launch_bounds__(block) search_levels(const Search s, Slot* slots, Outcome* outcome) {
    __shared__ SearchShared shared;
    GridBarrier barrier(slots, shared.sums);
    std::int32_t before = -1, begin = 0, end = s.starts;  // the level before is [before, begin), the present one [begin, end)
    int levels = 0;
    bool given_up = false;
    while (true) {
        if (blockIdx.x == 0 && threadIdx.x == 0) s.level_begin[levels] = begin;
        if (begin == end) break;
        if (++levels > most_levels) {
            given_up = true;
            break;
        }
        const auto blocks = static_cast<std::int32_t>(gridDim.x), threads = static_cast<std::int32_t>(blockDim.x);
        const std::int32_t share = ((end - begin + blocks - 1) / blocks + 31) / 32 * 32;
        const auto first = static_cast<std::int32_t>(min(static_cast<index_t>(end), begin + static_cast<index_t>(blockIdx.x) * share));
        const std::int32_t last = min(end, first + share), thread = static_cast<std::int32_t>(threadIdx.x);

        bool conflict = false;
        for (std::int32_t place = first + thread; place < last; place += threads) {
            const std::int32_t row = s.row[place];
            for (index_t e = s.A.begin(row), row_end = s.A.end(row); e < row_end; ++e) {
                const auto other = static_cast<std::int32_t>(s.A.column(e));
                if (other == row) continue;
                const std::int32_t finder = s.finder[other];
                if (finder > place)
                    atomicMin(s.finder + other, place);
                else if (finder >= before && finder < begin)
                    conflict = true;  // found from my place: it is in my level
            }
        }
        barrier.wait([] {});

        Sums found;
        for (std::int32_t place = first + thread; place < last; place += threads) each_found(s, place, [&](std::int32_t) { found.a += 1; });
        found.b = conflict;
        barrier.scan(found, [&](const Sums& earlier, const Sums& all) {
            shared.before = static_cast<std::int32_t>(earlier.a);
            shared.found = static_cast<std::int32_t>(all.a);
            shared.conflict = all.b != 0;
        });
        given_up = shared.conflict;
        if (given_up) break;

        std::int32_t next = end + shared.before;
        const std::int32_t next_end = end + shared.found;
        for (std::int32_t tile = first; tile < last; tile += threads) {
            const std::int32_t place = tile + thread;
            unsigned mine = 0, of_tile = 0;
            if (place < last) each_found(s, place, [&](std::int32_t) { ++mine; });
            std::int32_t to = next + static_cast<std::int32_t>(scan_block(shared, mine, of_tile));
            if (mine > 0) each_found(s, place, [&](std::int32_t other) { s.row[to++] = other; });
            next += static_cast<std::int32_t>(of_tile);
        }
        barrier.wait([] {});
        before = begin;
        begin = end;
        end = next_end;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *outcome = {levels, end, given_up};
}

/// Moves the places of level l, last first, to the range of its colour.
struct ReverseLevels {
    View<const std::int32_t> level_begin;  ///< [levels + 1]
    View<const std::int32_t> target;       ///< [levels] first position of each
    View<const std::int32_t> from;
    View<std::int32_t> to;
    KS_FN void operator()(index_t place) const {
        index_t low = 0, high = level_begin.n - 1;
        while (high - low > 1) {
            const index_t middle = (low + high) / 2;
            (level_begin[middle] <= place ? low : high) = middle;
        }
        to[target[low] + (level_begin[low + 1] - 1 - place)] = from[place];
    }
};

struct SetAll {
    View<std::int32_t> to;
    std::int32_t value;
    KS_FN void operator()(index_t i) const { to[i] = value; }
};
/// The first row of each component except that of `row`.
struct FlagStarts {
    View<const std::int32_t> first_row;
    std::int32_t row;
    View<std::uint8_t> flag;
    KS_FN void operator()(index_t i) const { flag[i] = first_row[i] == i && first_row[row] != i; }
};
struct PlaceStarts {
    View<const std::uint32_t> start;
    View<std::int32_t> row, finder;
    KS_FN void operator()(index_t i) const {
        row[i + 1] = static_cast<std::int32_t>(start[i]);
        finder[start[i]] = -1;
    }
};

class Levels {
   public:
    Levels(Cuda on, const CsrView& A) : on_(on), A_(A), row_(on, A.n), finder_(on, A.n), level_begin_(on, most_levels + 1) {
        int units = 0;
        KS_CUDA(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, on.device));
        grid_ = static_cast<unsigned>(units);
        slots_ = Buffer<Slot, Cuda>(on, 2 * units);
        outcome_ = Buffer<Outcome, Cuda>(on, 1);
        std::vector<unsigned long long> none{~0ull};
        auto least = to_space(on, none);
        launch(Beside::nothing, static_cast<unsigned>((A.n + block - 1) / block), block, on.stream, least_degree, A, least.data());
        start_ = static_cast<std::int32_t>(to_value<unsigned long long>(on, least.data()) & 0xffffffffu);
    }

    /// Starts with the first row of least degree, and with the first rows of the other components where there are any.
    Outcome search() {
        Outcome outcome = from({});
        if (outcome.given_up || outcome.placed == A_.n) return outcome;
        const auto first_row = first_of_component(on_, A_);
        Buffer<std::uint8_t, Cuda> flag(on_, A_.n);
        Buffer<std::uint32_t, Cuda> others(on_, A_.n), count(on_, 1);
        parallel_for(on_, A_.n, FlagStarts{first_row.view(), start_, flag.view()});
        Workspace<Cuda> work(on_);
        select_flagged(on_, work, flag.view(), others.view(), count.view());
        const auto more = static_cast<index_t>(to_value<std::uint32_t>(on_, count.data()));
        outcome = from(others.view().subview(0, more));
        synchronize(on_);
        return outcome;
    }
    const Buffer<std::int32_t, Cuda>& row() const { return row_; }
    std::vector<std::int32_t> begins(int levels) const {
        std::vector<std::int32_t> begins(static_cast<std::size_t>(levels) + 1);
        copy_to_host(on_, view(begins), level_begin_.view().subview(0, levels + 1));
        return begins;
    }

   private:
    Outcome from(View<const std::uint32_t> others) {
        parallel_for(on_, A_.n, SetAll{finder_.view(), not_found});
        parallel_for(on_, 1, SetAll{row_.view().subview(0, 1), start_});
        parallel_for(on_, 1, SetAll{finder_.view().subview(start_, 1), -1});
        parallel_for(on_, others.n, PlaceStarts{others, row_.view(), finder_.view()});
        KS_CUDA(cudaMemsetAsync(slots_.data(), 0, static_cast<std::size_t>(slots_.size()) * sizeof(Slot), on_.stream));
        const Search search{A_, row_.data(), finder_.data(), level_begin_.data(), static_cast<std::int32_t>(1 + others.n)};
        launch(Beside::all_blocks, grid_, block, on_.stream, search_levels, search, slots_.data(), outcome_.data());
        return to_value<Outcome>(on_, outcome_.data());
    }

    Cuda on_;
    const CsrView& A_;
    Buffer<std::int32_t, Cuda> row_, finder_, level_begin_;
    Buffer<Slot, Cuda> slots_;
    Buffer<Outcome, Cuda> outcome_;
    unsigned grid_ = 0;
    std::int32_t start_ = 0;
};

}  // namespace

std::optional<SpaceOrder<Cuda>> cm_rcm_on_device(Cuda on, const CsrView& A, int k, std::string& note) {
    KS_CUDA(cudaSetDevice(on.device));
    Levels search(on, A);
    const Outcome outcome = search.search();
    if (outcome.given_up) return {};
    const int levels = outcome.levels;
    const auto begin = search.begins(levels);
    // Neighbours are one level apart: any number of colours from two on is valid.
    const int colors = k >= levels ? levels : std::max(k, 2);
    const std::string asked = "cm-rcm:" + std::to_string(k);
    if (k > levels)
        note = asked + " asks for more colours than the " + std::to_string(levels) + " levels: rcm was taken";
    else if (colors > k)
        note = asked + " has conflicts: " + std::to_string(colors) + " colours were taken" + (colors == levels ? ", which is rcm" : "");

    SpaceOrder<Cuda> order;
    std::vector<std::int32_t> target(static_cast<std::size_t>(levels));
    std::int32_t next = 0;
    order.color_begin.push_back(0);
    for (int color = 0; color < colors; ++color) {
        for (int reversed = color; reversed < levels; reversed += colors) {
            const auto level = static_cast<std::size_t>(levels - 1 - reversed);
            target[level] = next;
            next += begin[level + 1] - begin[level];
        }
        order.color_begin.push_back(next);
    }
    order.row = Buffer<std::int32_t, Cuda>(on, A.n);
    const auto begin_there = to_space(on, begin), target_there = to_space(on, target);
    parallel_for(on, A.n, ReverseLevels{begin_there.view(), target_there.view(), search.row().view(), order.row.view()});
    synchronize(on);
    return order;
}

}  // namespace kasane::sparse
