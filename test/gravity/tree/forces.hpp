// Tree forces for tests: particles in any order, on any space, with results in the order given; and the errors of these forces.
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#include <gravity/tree/cases.hpp>
#include <reference/direct.hpp>
#include <reference/tree.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace kasane::test {

using namespace gravity;

/// Arguments of a walk besides its options.
struct WalkRequest {
    std::vector<std::uint32_t> targets = {};  ///< particles; empty: all
    bool shuffled = false;                    ///< targets in random order instead of along the curve
    std::vector<float> last = {};             ///< |a| of every particle; empty: from a walk with theta = 0.5, as for the first force
    bool potential = false;
    WalkTuning tuning = {};
    bool whole_index = false;  ///< all particles, as a list of indices
};

struct Forces {
    std::vector<Vec3<double>> acceleration;  ///< NaN where nothing was written
    std::vector<double> potential;
    WalkCounts counts;
    Frame frame;
    std::vector<std::uint32_t> order;  ///< body k is particle order[k]
};

inline double length(const Vec3<double>& a) { return std::sqrt(dot(a, a)); }
inline Vec3<double> wide(const Vec3<float>& a) { return {a.x, a.y, a.z}; }

template <class T>
std::vector<T> permuted(const std::vector<T>& of, const std::vector<std::uint32_t>& order) {
    std::vector<T> made;
    for (const auto k : order) made.push_back(of[k]);
    return made;
}

/// The slow tree's arrays on a space.
template <Space S>
class TreeOn {
   public:
    TreeOn(S on, const reference::TreeArrays& tree)
        : body_(to_space(on, tree.body)),
          center_(to_space(on, tree.center)),
          test_(to_space(on, tree.test)),
          link_(to_space(on, tree.link)),
          next_(to_space(on, tree.next)),
          quadrupole_(to_space(on, tree.quadrupole)),
          view_(tree.view()) {
        view_.body = body_.data(), view_.center = center_.data(), view_.test = test_.data();
        view_.link = link_.data(), view_.next = next_.data();
        if (view_.quadrupole) view_.quadrupole = quadrupole_.data();
    }
    const OctreeView& view() const { return view_; }

   private:
    Buffer<Body, S> body_, center_;
    Buffer<NodeTest, S> test_;
    Buffer<std::uint32_t, S> link_, next_;
    Buffer<Quadrupole, S> quadrupole_;
    OctreeView view_;
};

template <Space S>
Forces forces_on(S on, const TreeProblem& problem, const Tree& given, const WalkRequest& request) {
    const auto n = problem.size();
    Tree options = given;
    options.softening = problem.softening;
    const bool by_acceleration = std::holds_alternative<AccelerationMac>(options.mac);
    Octree<S> tree(on, options);
    Forces made;
    {
        const auto position = to_space(on, problem.position);
        const auto mass = to_space(on, problem.mass);
        tree.sort(position.view(), mass.view());
        made.order.resize(static_cast<std::size_t>(n));
        copy_to_host(on, view(made.order), tree.order());
    }
    const auto position = to_space(on, permuted(problem.position, made.order));
    const auto mass = to_space(on, permuted(problem.mass, made.order));
    tree.build();
    tree.place(position.view(), mass.view());
    if (by_acceleration && request.last.empty())
        tree.set_mac(GeometricMac{0.5});
    else
        tree.refresh();
    made.frame = tree.view().frame;

    Walk<S> walk(on, options);
    walk.tuning() = request.tuning;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Buffer<float, S> last;
    if (by_acceleration) {
        std::vector<float> sizes;
        if (request.last.empty()) {
            auto first = to_space(on, std::vector<Vec3<float>>(static_cast<std::size_t>(n), {nan, nan, nan}));
            walk(tree.view(), {}, {first.view(), {}});
            for (const auto& a : to_host(first)) sizes.push_back(static_cast<float>(length(wide(a))));
            tree.set_mac(options.mac);
        } else {
            sizes = permuted(request.last, made.order);
        }
        last = to_space(on, sizes);
    }
    std::vector<std::uint32_t> place(static_cast<std::size_t>(n)), index;
    for (std::uint32_t k = 0; k < n; ++k) place[made.order[k]] = k;
    for (const auto i : request.targets) index.push_back(place[i]);
    if (request.whole_index)
        for (std::uint32_t k = 0; k < n; ++k) index.push_back(k);
    std::sort(index.begin(), index.end());
    if (request.shuffled) std::shuffle(index.begin(), index.end(), std::mt19937(1));
    const auto targets = to_space(on, index);
    auto acceleration = to_space(on, std::vector<Vec3<float>>(static_cast<std::size_t>(n), {nan, nan, nan}));
    auto potential = to_space(on, std::vector<float>(static_cast<std::size_t>(request.potential ? n : 0), nan));
    walk.counts();
    walk(tree.view(), {targets.view(), index.empty(), std::as_const(last).view()}, {acceleration.view(), potential.view()});
    made.counts = walk.counts();
    made.acceleration.resize(static_cast<std::size_t>(n));
    const auto a = to_host(acceleration);
    for (std::size_t k = 0; k < a.size(); ++k) made.acceleration[made.order[k]] = wide(a[k]);
    if (request.potential) {
        made.potential.resize(static_cast<std::size_t>(n));
        const auto phi = to_host(potential);
        for (std::size_t k = 0; k < phi.size(); ++k) made.potential[made.order[k]] = static_cast<double>(phi[k]);
    }
    return made;
}

inline Forces forces(const AnySpace& on, const TreeProblem& problem, const Tree& options, const WalkRequest& request = {}) {
    return std::visit([&](auto space) { return forces_on(space, problem, options, request); }, on);
}

/// Direct summation at every `step`-th particle.
struct Exact {
    std::vector<std::size_t> particle;
    std::vector<reference::FieldAt> field;
};

inline Exact exact(const TreeProblem& problem, double G = 1, index_t at_most = 100) {
    Exact made;
    const auto n = static_cast<std::size_t>(problem.size());
    const std::size_t step = std::max<std::size_t>(1, n / static_cast<std::size_t>(at_most));
    for (std::size_t i = 0; i < n; i += step) {
        made.particle.push_back(i);
        const auto own = static_cast<index_t>(i);
        made.field.push_back(reference::direct(problem.position[i], problem.position, problem.mass, own, problem.softening, G));
    }
    return made;
}

/// Bound of the rounding error in float. A pair: 12 roundings and the estimate of 1/r, (15/2) 2^-23; sums of runs below a thousand terms
/// add 3 sqrt(1000) 2^-24, moments as much; the result is rounded once more: together below 2e-5 / 3. Positions of target and sources are
/// rounded by 2^-24 of their distance from the centre of the frame.
inline double rounding(const reference::FieldAt& field, const Vec3<double>& target, const Frame& frame) {
    const auto d = target - frame.center;
    const double place = 4 * std::sqrt(3.0) * 0x1p-24 * std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)});
    return 7e-6 * field.force_sum + place * field.tide_sum;
}

struct Errors {
    double median = 0, p99 = 0, largest = 0;
};

inline Errors spread(std::vector<double> e) {
    std::sort(e.begin(), e.end());
    return {e[e.size() / 2], e[(e.size() - 1) * 99 / 100], e.back()};
}

/// |a - exact| beyond rounding(), in units of scale(k) for the k-th particle of `to`.
template <class Scale>
Errors errors(const Forces& got, const TreeProblem& problem, const Exact& to, Scale scale) {
    std::vector<double> all;
    for (std::size_t k = 0; k < to.particle.size(); ++k) {
        const std::size_t i = to.particle[k];
        const double error = length(got.acceleration[i] - to.field[k].acceleration);
        const double beyond = error - rounding(to.field[k], problem.position[i], got.frame);
        // NaN counts as infinitely wrong.
        all.push_back(!std::isfinite(error) ? INFINITY : beyond > 0 ? beyond / scale(k) : 0);
    }
    return spread(all);
}

}  // namespace kasane::test
