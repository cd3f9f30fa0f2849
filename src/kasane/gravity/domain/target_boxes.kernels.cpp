// Boxes of targets, once per Space. On the CPU a thread computes a box; on CUDA a warp reads a run of targets, whatever their boxes are,
// because a few boxes in the middle have most of the targets. The least and the largest of several numbers do not depend on their order.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#if defined(__CUDACC__)
#include <kasane/gravity/tree/warp.cuda.hpp>
#endif

#include <algorithm>
#include <vector>

namespace kasane::gravity {
namespace {

KS_FN TargetBox no_targets() { return {INFINITY, INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY, 0}; }

KS_FN void include_box(TargetBox& to, const TargetBox& box) {
    const auto least = [](float a, float b) { return b < a ? b : a; };
    const auto most = [](float a, float b) { return b > a ? b : a; };
    to = {least(to.low_x, box.low_x),  least(to.low_y, box.low_y),  least(to.low_z, box.low_z),  least(to.acceleration, box.acceleration),
          most(to.high_x, box.high_x), most(to.high_y, box.high_y), most(to.high_z, box.high_z), most(to.term, box.term)};
}

/// Margins of promised boxes, as fractions of the longest side of a box and of |a|. Boxes of few bodies take a quarter of the side of their
/// group instead, because paths that are not straight leave small boxes soon.
constexpr float position_margin = 1.f / 16, acceleration_margin = 0.5f, side_per_group = 0.25f;

/// Reads the box of one target.
struct ReadTarget {
    const Body* body;
    BodyDrift drift;
    const Body* later;  ///< null: only the present positions
    const float* term;  ///< null: all pairs have one softening
    WalkTargets targets;
    double acceleration_unit;  ///< |a| in tree units per |a| of the particles

    KS_FN std::uint32_t body_of(index_t target) const { return targets.all ? static_cast<std::uint32_t>(target) : targets.index[target]; }
    /// As a walk reads it, clamped so that d^5 |a| stays finite.
    KS_FN float last_acceleration(std::uint32_t i) const {
        if (targets.acceleration.empty()) return 1;
        const double a = static_cast<double>(targets.acceleration[i]) * acceleration_unit;
        return a < 1e30 ? static_cast<float>(a) : 1e30f;
    }
    KS_FN void include(TargetBox& to, std::uint32_t i) const {
        const Body at = drift.at(body, i);
        include_box(to, {at.x, at.y, at.z, last_acceleration(i), at.x, at.y, at.z, term ? term[i] : 0.f});
        if (!later) return;
        const Body then = later[i];
        include_box(to, {then.x, then.y, then.z, to.acceleration, then.x, then.y, then.z, to.term});
    }
};

/// to[k] holds from[k width, (k + 1) width).
struct JoinBoxes {
    const TargetBox* from;
    index_t width;
    TargetBox* to;
    KS_FN void operator()(index_t k) const {
        TargetBox found = no_targets();
        for (index_t i = k * width; i < (k + 1) * width; ++i) include_box(found, from[i]);
        to[k] = found;
    }
};

/// to = from with a fraction of the margins.
struct Widen {
    const TargetBox *from, *group;
    float part;
    TargetBox* to;
    KS_FN static float most(float a, float b) { return b > a ? b : a; }
    KS_FN static float side(const TargetBox& box) {
        return most(most(box.high_x - box.low_x, box.high_y - box.low_y), box.high_z - box.low_z);
    }
    KS_FN void operator()(index_t k) const {
        TargetBox box = from[k];
        if (!box.empty()) {
            const float margin = part * position_margin * most(side(box), side_per_group * side(group[k / TargetBoxLayout::per_group]));
            box = {box.low_x - margin,  box.low_y - margin,  box.low_z - margin,  box.acceleration * (1 - part * acceleration_margin),
                   box.high_x + margin, box.high_y + margin, box.high_z + margin, box.term};
        }
        to[k] = box;
    }
};

/// exceeding[g]: a box of group g is not within its promised box.
struct CompareBoxes {
    const TargetBox *box, *promised;
    std::uint32_t* exceeding;
    KS_FN void operator()(index_t g) const {
        bool exceed = false;
        for (index_t k = g * TargetBoxLayout::per_group; k < (g + 1) * TargetBoxLayout::per_group; ++k) {
            const auto &in = box[k], &out = promised[k];
            exceed |= !in.empty() && !(in.low_x >= out.low_x && in.low_y >= out.low_y && in.low_z >= out.low_z && in.high_x <= out.high_x &&
                                       in.high_y <= out.high_y && in.high_z <= out.high_z && in.acceleration >= out.acceleration);
        }
        exceeding[g] = exceed;
    }
};

#if defined(__CUDACC__)
constexpr unsigned box_threads = 1024;  ///< of the block that joins boxes

using detail::all_lanes;
using detail::from_ordered;
using detail::ordered;
using detail::warp_size;

/// The numbers of a TargetBox as integers of the same order, for atomic operations.
struct OrderedBox {
    int low_x, low_y, low_z, acceleration;
    int high_x, high_y, high_z, term;
};
static_assert(sizeof(OrderedBox) == sizeof(TargetBox));

__device__ OrderedBox ordered_box(const TargetBox& b) {
    return {ordered(b.low_x),  ordered(b.low_y),  ordered(b.low_z),  ordered(b.acceleration),
            ordered(b.high_x), ordered(b.high_y), ordered(b.high_z), ordered(b.term)};
}

/// Includes the boxes of all lanes in `to`.
__device__ void include_in(OrderedBox& to, const TargetBox& box, unsigned lane) {
    const auto b = ordered_box(box);
    const OrderedBox all{__reduce_min_sync(all_lanes, b.low_x),  __reduce_min_sync(all_lanes, b.low_y),
                         __reduce_min_sync(all_lanes, b.low_z),  __reduce_min_sync(all_lanes, b.acceleration),
                         __reduce_max_sync(all_lanes, b.high_x), __reduce_max_sync(all_lanes, b.high_y),
                         __reduce_max_sync(all_lanes, b.high_z), __reduce_max_sync(all_lanes, b.term)};
    if (lane != 0) return;
    atomicMin(&to.low_x, all.low_x), atomicMin(&to.low_y, all.low_y), atomicMin(&to.low_z, all.low_z);
    atomicMin(&to.acceleration, all.acceleration);
    atomicMax(&to.high_x, all.high_x), atomicMax(&to.high_y, all.high_y), atomicMax(&to.high_z, all.high_z);
    atomicMax(&to.term, all.term);
}

/// The cell of a body. @param begin  as of TargetBoxes
__device__ unsigned cell_of(const std::uint32_t* begin, std::uint32_t body) {
    unsigned low = 0, high = TargetBoxLayout::boxes;  // begin[low] <= body < begin[high]
    while (high - low > 1) {
        const unsigned half = (low + high) / 2;
        if (begin[half] <= body)
            low = half;
        else
            high = half;
    }
    return low;
}

constexpr int measure_block = 128;
constexpr index_t run_targets = 512;  ///< of a warp: so few that 2^22 targets occupy a GPU

/// One warp for each run of targets. Their bodies ascend, so that it meets each cell once. @param box [boxes]
__global__ void measure_runs(ReadTarget read, index_t targets, const std::uint32_t* begin, OrderedBox* box) {
    const unsigned lane = detail::lane_index();
    const index_t run = (blockIdx.x * static_cast<index_t>(measure_block) + threadIdx.x) / warp_size;
    const index_t first = run * run_targets, end = min(first + run_targets, targets);
    if (first >= end) return;  // uniform in the warp
    unsigned cell = cell_of(begin, read.body_of(first));
    TargetBox found = no_targets();
    for (index_t t = first + lane; t - lane < end; t += warp_size) {
        bool waits = t < end;
        const std::uint32_t i = waits ? read.body_of(t) : 0;
        TargetBox own = no_targets();
        if (waits) read.include(own, i);
        while (true) {
            if (waits && i < begin[cell + 1]) include_box(found, own), waits = false;
            const unsigned left = __ballot_sync(all_lanes, waits);
            if (left == 0) break;
            include_in(box[cell], found, lane);
            found = no_targets();
            cell = cell_of(begin, __shfl_sync(all_lanes, i, __ffs(static_cast<int>(left)) - 1));
        }
    }
    include_in(box[cell], found, lane);
}

/// Writes the boxes, their groups and regions and the box around all; clears `measured` for the next time. One block of box_threads.
__global__ void __launch_bounds__(box_threads) finish_boxes(OrderedBox* measured, TargetBox* box) {
    using Layout = TargetBoxLayout;
    const int t = static_cast<int>(threadIdx.x);
    for (int k = t; k < Layout::boxes; k += box_threads) {
        const OrderedBox m = measured[k];
        measured[k] = ordered_box(no_targets());
        box[Layout::first_box + k] = {from_ordered(m.low_x),  from_ordered(m.low_y),  from_ordered(m.low_z),  from_ordered(m.acceleration),
                                      from_ordered(m.high_x), from_ordered(m.high_y), from_ordered(m.high_z), from_ordered(m.term)};
    }
    __syncthreads();
    if (t < Layout::groups) JoinBoxes{box + Layout::first_box, Layout::per_group, box + Layout::first_group}(t);
    __syncthreads();
    if (t < Layout::regions) JoinBoxes{box + Layout::first_group, Layout::per_group, box + Layout::first_region}(t);
    __syncthreads();
    if (t == 0) JoinBoxes{box + Layout::first_region, Layout::regions, box}(0);
}

struct ClearMeasured {
    OrderedBox* measured;
    __device__ void operator()(index_t k) const { measured[k] = ordered_box(no_targets()); }
};
#else
/// Computes a box by one thread.
struct MeasureBox {
    ReadTarget read;
    const std::uint32_t* begin;
    TargetBox* box;

    /// Number of targets below a body.
    index_t targets_below(std::uint32_t bodies) const {
        const auto& targets = read.targets;
        return targets.all ? bodies : std::lower_bound(targets.index.begin(), targets.index.end(), bodies) - targets.index.begin();
    }
    void operator()(index_t k) const {
        TargetBox found = no_targets();
        const index_t end = targets_below(begin[k + 1]);
        for (index_t t = targets_below(begin[k]); t < end; ++t) read.include(found, read.body_of(t));
        box[k] = found;
    }
};
#endif

}  // namespace

template <Space S>
TargetBoxes<S>::TargetBoxes(S on)
    : on_(on),
      cells_(on, TargetBoxLayout::boxes),
      begin_(on, TargetBoxLayout::boxes + 1),
      box_(on, TargetBoxLayout::size),
      measured_(on, std::same_as<S, Cpu> ? 0 : TargetBoxLayout::boxes),
      promised_(on, TargetBoxLayout::boxes),
      exceeding_(on, TargetBoxLayout::groups) {
#if defined(__CUDACC__)
    parallel_for(on_, TargetBoxLayout::boxes, ClearMeasured{reinterpret_cast<OrderedBox*>(measured_.data())});
#endif
}

template <Space S>
void TargetBoxes<S>::join_boxes() {
    using Layout = TargetBoxLayout;
    parallel_for(on_, Layout::groups, JoinBoxes{box_.data() + Layout::first_box, Layout::per_group, box_.data() + Layout::first_group});
    parallel_for(on_, Layout::regions, JoinBoxes{box_.data() + Layout::first_group, Layout::per_group, box_.data() + Layout::first_region});
    parallel_for(on_, 1, JoinBoxes{box_.data() + Layout::first_region, Layout::regions, box_.data()});
}

template <Space S>
void TargetBoxes<S>::measure_boxes(const OctreeView& tree, const Body* later, const WalkTargets& targets, double G) {
    const auto& frame = tree.frame;
    const ReadTarget read{tree.body, tree.drift, later, tree.body_term, targets, frame.length / G * (frame.length / frame.mass)};
#if defined(__CUDACC__)
    KS_CUDA(cudaSetDevice(on_.device));
    auto* const measured = reinterpret_cast<OrderedBox*>(measured_.data());
    constexpr index_t block_targets = run_targets * (measure_block / warp_size);
    const index_t n = targets.count(tree.bodies);
    if (n > 0)
        measure_runs<<<static_cast<unsigned>((n + block_targets - 1) / block_targets), measure_block, 0, on_.stream>>>(
            read, n, begin_.data(), measured);
    finish_boxes<<<1, box_threads, 0, on_.stream>>>(measured, box_.data());
    KS_CUDA(cudaGetLastError());
#else
    parallel_for(on_, TargetBoxLayout::boxes, MeasureBox{read, begin_.data(), box_.data() + TargetBoxLayout::first_box});
    join_boxes();
#endif
}

template <Space S>
void TargetBoxes<S>::measure(const OctreeView& tree, const WalkTargets& targets, double G) {
    measure_boxes(tree, nullptr, targets, G);
}

template <Space S>
void TargetBoxes<S>::promise(const OctreeView& tree, const WalkTargets& targets, View<const Body> later, double G) {
    measure_boxes(tree, later.ptr, targets, G);
    auto* const box = box_.data() + TargetBoxLayout::first_box;
    const auto* const group = box_.data() + TargetBoxLayout::first_group;
    parallel_for(on_, TargetBoxLayout::boxes, Widen{box, group, 0.5f, promised_.data()});
    parallel_for(on_, TargetBoxLayout::boxes, Widen{box, group, 1, box});
    join_boxes();
}

template <Space S>
bool TargetBoxes<S>::exceed_promise(const OctreeView& tree, const WalkTargets& targets, double G) {
    measure_boxes(tree, nullptr, targets, G);
    parallel_for(on_, TargetBoxLayout::groups, CompareBoxes{box_.data() + TargetBoxLayout::first_box, promised_.data(), exceeding_.data()});
    const auto exceeding = to_host(exceeding_);
    return std::any_of(exceeding.begin(), exceeding.end(), [](std::uint32_t exceeds) { return exceeds != 0; });
}

template class TargetBoxes<KS_SPACE>;

}  // namespace kasane::gravity
