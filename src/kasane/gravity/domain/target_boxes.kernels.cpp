// Boxes of targets, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <algorithm>
#include <vector>

namespace kasane::gravity {
namespace {

/// Parts of a box that are computed in parallel. A GPU has more threads than there are boxes.
template <Space S>
constexpr index_t parts_of_box = std::same_as<S, Cpu> ? 1 : 64;

/// A cell of at most so many bodies is not divided into boxes. Groups of targets open more nodes than single targets would, and one tree
/// has their accuracy; boxes smaller than groups would lose it: with boxes of single bodies, 20,000 bodies on 7 workers had a 99th
/// percentile of the force errors 9% above that of one worker, and have 1% with this limit, for LETs of 9% more bodies.
constexpr std::uint32_t undivided_bodies = 200;

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

struct MeasureParts {
    const Body* body;
    BodyDrift drift;
    const Body* later;  ///< null: only the present positions
    const float* term;  ///< null: all pairs have one softening
    const std::uint32_t* begin;
    WalkTargets targets;
    double acceleration_unit;  ///< |a| in tree units per |a| of the particles
    index_t parts;
    TargetBox* box;

    /// Number of targets below a body.
    KS_FN index_t targets_below(std::uint32_t bodies) const {
        if (targets.all) return bodies;
        index_t low = 0, high = targets.index.n;
        while (low < high) {
            const index_t half = low + (high - low) / 2;
            if (targets.index[half] < bodies)
                low = half + 1;
            else
                high = half;
        }
        return low;
    }
    /// As a walk reads it, clamped so that d^5 |a| stays finite.
    KS_FN float last_acceleration(std::uint32_t i) const {
        if (targets.acceleration.empty()) return 1;
        const double a = static_cast<double>(targets.acceleration[i]) * acceleration_unit;
        return a < 1e30 ? static_cast<float>(a) : 1e30f;
    }
    KS_FN void operator()(index_t k) const {
        const index_t cell = k / parts, part = k % parts;
        const index_t first = targets_below(begin[cell]), number = targets_below(begin[cell + 1]) - first;
        TargetBox found = no_targets();
        for (index_t t = first + number * part / parts; t < first + number * (part + 1) / parts; ++t) {
            const std::uint32_t i = targets.all ? static_cast<std::uint32_t>(t) : targets.index[t];
            const Body at = drift.at(body, i);
            include_box(found, {at.x, at.y, at.z, last_acceleration(i), at.x, at.y, at.z, term ? term[i] : 0.f});
            if (!later) continue;
            const Body then = later[i];
            include_box(found, {then.x, then.y, then.z, found.acceleration, then.x, then.y, then.z, found.term});
        }
        box[k] = found;
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

}  // namespace

template <Space S>
TargetBoxes<S>::TargetBoxes(S on)
    : on_(on),
      begin_(on, TargetBoxLayout::boxes + 1),
      box_(on, TargetBoxLayout::size),
      part_(on, parts_of_box<S> * TargetBoxLayout::boxes),
      promised_(on, TargetBoxLayout::boxes),
      exceeding_(on, TargetBoxLayout::groups) {}

template <Space S>
void TargetBoxes<S>::choose(const OctreeView& tree) {
    // The first nodes are the uppermost ones. If children are divided only within these, at most `boxes` cells remain: every divided node
    // has eight children or fewer, so that of n nodes at least (n - 1) / 8 are divided.
    constexpr index_t uppermost = (TargetBoxLayout::boxes * 8 - 1) / 7;
    const index_t nodes = std::min(tree.nodes, uppermost);
    std::vector<NodeTest> test(static_cast<std::size_t>(nodes));
    std::vector<NodeLink> link(test.size());
    copy_to_host(on_, view(test), View<const NodeTest>(tree.test, nodes));
    copy_to_host(on_, view(link), View<const NodeLink>(tree.link, nodes));
    std::vector<std::uint32_t> begin, stack;
    if (nodes > 0) stack.push_back(0);
    while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        const bool divided = link[node] != leaf && test[node].count > undivided_bodies &&
                             first_child(link[node]) + child_count(link[node]) <= static_cast<std::uint32_t>(nodes);
        if (!divided) begin.push_back(test[node].begin);
        for (std::uint32_t k = divided ? child_count(link[node]) : 0; k-- > 0;) stack.push_back(first_child(link[node]) + k);
    }
    KS_EXPECT(static_cast<index_t>(begin.size()) <= TargetBoxLayout::boxes);
    begin.resize(static_cast<std::size_t>(TargetBoxLayout::boxes) + 1, static_cast<std::uint32_t>(tree.bodies));
    copy_from_host(on_, begin_.view(), view(begin));
}

template <Space S>
void TargetBoxes<S>::measure_boxes(const OctreeView& tree, const Body* later, const WalkTargets& targets, double G) {
    using Layout = TargetBoxLayout;
    const auto& frame = tree.frame;
    constexpr index_t parts = parts_of_box<S>;
    parallel_for(on_, parts * Layout::boxes,
                 MeasureParts{tree.body, tree.drift, later, tree.body_term, begin_.data(), targets,
                              frame.length / G * (frame.length / frame.mass), parts, part_.data()});
    parallel_for(on_, Layout::boxes, JoinBoxes{part_.data(), parts, box_.data() + Layout::first_box});
}

template <Space S>
void TargetBoxes<S>::join_boxes() {
    using Layout = TargetBoxLayout;
    parallel_for(on_, Layout::groups, JoinBoxes{box_.data() + Layout::first_box, Layout::per_group, box_.data() + Layout::first_group});
    parallel_for(on_, 1, JoinBoxes{box_.data() + Layout::first_group, Layout::groups, box_.data()});
}

template <Space S>
void TargetBoxes<S>::measure(const OctreeView& tree, const WalkTargets& targets, double G) {
    measure_boxes(tree, nullptr, targets, G);
    join_boxes();
}

template <Space S>
void TargetBoxes<S>::promise(const OctreeView& tree, const WalkTargets& targets, View<const Body> later, double G) {
    measure_boxes(tree, later.ptr, targets, G);
    join_boxes();
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
