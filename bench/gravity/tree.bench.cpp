// gravity.tree: times of the parts of the tree code and of its walks, with the errors of the forces against direct summation in double.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/step/permute.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <bench/benchmarks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr index_t audited = 4096;
constexpr double active_share = 0.001;

enum class Problem { cube, plummer };

struct Bodies {
    std::vector<Vec3<double>> position;
    std::vector<double> mass;
};

Bodies make(Problem problem, index_t n) {
    Bodies bodies;
    if (problem == Problem::plummer) {
        auto particles = plummer({.count = n, .seed = 1});
        bodies = {std::move(particles.position), std::move(particles.mass)};
    } else {
        bodies.position.resize(static_cast<std::size_t>(n));
        bodies.mass.assign(static_cast<std::size_t>(n), 1 / static_cast<double>(n));
        for (std::size_t i = 0; i < bodies.position.size(); ++i) {
            RandomStream random(1, i);
            for (double* x : {&bodies.position[i].x, &bodies.position[i].y, &bodies.position[i].z}) *x = 2 * random.uniform() - 1;
        }
    }
    return bodies;
}

std::string name(Problem problem) { return problem == Problem::cube ? "cube" : "plummer"; }
double softening_of(Problem problem) { return problem == Problem::cube ? 0 : 0.01; }

struct TreeSetting {
    std::string name;
    Multipole multipole;
    Mac mac;
};

/// One particle set on a space, with the arrays that its rows need.
template <Space S>
class Stage {
   public:
    Stage(const BenchmarkContext& context, S on, Problem problem, index_t n) : context_(context), on_(on), problem_(problem), n_(n) {
        const auto bodies = make(problem, n);
        given_position_ = to_space(on, bodies.position);
        given_mass_ = to_space(on, bodies.mass);
        position_ = Buffer<Vec3<double>, S>(on, n);
        mass_ = Buffer<double, S>(on, n);
        field_ = Buffer<Vec3<float>, S>(on, n);
        size_ = Buffer<float, S>(on, n);
        bound_ = direct_bound(AnySpace{on}, {.softening = softening_of(problem)}, n, false);

        std::vector<Vec3<double>> at;
        for (index_t k = 0; k < std::min(audited, n); ++k) {
            target_.push_back(k * n / std::min(audited, n));
            at.push_back(bodies.position[static_cast<std::size_t>(target_.back())]);
        }
        DirectSum<S> direct(on, {.softening = softening_of(problem), .precision = Precision::double_});
        const auto targets = to_space(on, at);
        Buffer<Vec3<double>, S> exact(on, static_cast<index_t>(at.size()));
        direct(targets.view(), {given_position_.view(), given_mass_.view()}, Self{}, {exact.view(), {}});
        exact_ = to_host(exact);

        // |a| for the acceleration criterion, in the given order.
        const auto tree = options({"", Multipole::quadrupole, GeometricMac{0.5}});
        auto octree = tree_of(tree);
        Walk<S> walk(on_, tree);
        walk(octree.view(), {}, {field_.view(), {}});
        const auto a = to_host(field_);
        std::vector<float> size(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) size[order_[k]] = std::sqrt(dot(a[k], a[k]));
        given_size_ = to_space(on, size);
    }

    void build_rows() {
        Octree<S> octree(on_, options({"", Multipole::quadrupole, AccelerationMac{}}));
        const auto all = time_calls(AnySpace{on_}, [&] { build(octree); });
        report("keys, sort, tree, moments", all, {{"nodes", static_cast<double>(octree.view().nodes)}});
        report("moments", time_calls(AnySpace{on_}, [&] { octree.refresh(); }), {});
    }

    void walk_rows(const std::vector<TreeSetting>& settings) {
        for (const auto& setting : settings) {
            const auto tree = options(setting);
            auto octree = tree_of(tree);
            Walk<S> walk(on_, tree);
            const WalkTargets all{{}, true, size_.view()};
            const auto call = [&] { walk(octree.view(), all, {field_.view(), {}}); };
            call();
            const auto counts = walk.counts();
            const auto timing = time_calls(AnySpace{on_}, call);
            const auto [median, p99] = errors();
            const double n = static_cast<double>(n_);
            report(setting.name, timing,
                   {{"median_error", median},
                    {"bodies", counts.bodies / n},
                    {"cells", counts.cells / n},
                    {"tests", counts.tests / std::max(1., counts.groups)},
                    {"targets_per_group", n / std::max(1., counts.groups)}},
                   counts.interactions(), p99);

            std::vector<std::uint32_t> some;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i)
                if (RandomStream(3, i).uniform() < active_share) some.push_back(static_cast<std::uint32_t>(i));
            if (some.empty()) continue;
            const auto active = to_space(on_, some);
            const auto few =
                time_calls(AnySpace{on_}, [&] { walk(octree.view(), {active.view(), false, size_.view()}, {field_.view(), {}}); });
            report(fmt::format("{}, 0.1% active", setting.name), few, {{"of_full", few.seconds / timing.seconds}});
        }
    }

   private:
    Tree options(const TreeSetting& setting) const {
        Tree tree;
        tree.mac = setting.mac;
        tree.multipole = setting.multipole;
        tree.softening = softening_of(problem_);
        return tree;
    }

    /// Sorts, builds the tree and computes moments from positions and masses in any order.
    void build(Octree<S>& octree) {
        octree.sort(given_position_.view(), given_mass_.view());
        gather(on_, octree.order(), View<const Vec3<double>>(given_position_.view()), position_.view());
        gather(on_, octree.order(), View<const double>(given_mass_.view()), mass_.view());
        octree.place(position_.view(), mass_.view());
        octree.build();
        octree.refresh();
    }

    Octree<S> tree_of(const Tree& tree) {
        Octree<S> octree(on_, tree);
        build(octree);
        order_.resize(static_cast<std::size_t>(n_));
        copy_to_host(on_, view(order_), octree.order());
        place_.resize(order_.size());
        for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = static_cast<std::uint32_t>(k);
        if (given_size_.size() > 0) gather(on_, octree.order(), View<const float>(given_size_.view()), size_.view());
        return octree;
    }

    /// Median and 99th percentile of |a - a_exact| / |a_exact|.
    std::pair<double, double> errors() const {
        const auto a = to_host(field_);
        std::vector<double> error;
        for (std::size_t k = 0; k < target_.size(); ++k) {
            const auto& b = a[place_[static_cast<std::size_t>(target_[k])]];
            const auto d = Vec3<double>{static_cast<double>(b.x), static_cast<double>(b.y), static_cast<double>(b.z)} - exact_[k];
            error.push_back(std::sqrt(dot(d, d) / dot(exact_[k], exact_[k])));
        }
        std::sort(error.begin(), error.end());
        return {error[error.size() / 2], error[error.size() * 99 / 100]};
    }

    void report(const std::string& what, const Timing& timing, std::vector<std::pair<std::string, double>> more, double interactions = 0,
                double error = std::numeric_limits<double>::quiet_NaN()) {
        BenchmarkResult result;
        result.name = fmt::format("gravity.tree.{}, {}", name(problem_), what);
        result.n = n_;
        result.seconds = timing.seconds;
        result.spread = timing.spread;
        result.unit = interactions > 0 ? "interactions/s" : "particles/s";
        result.rate = (interactions > 0 ? interactions : static_cast<double>(n_)) / timing.seconds;
        if (interactions > 0) result.bound = bound_.rate, result.bound_reason = bound_.reason;
        result.error = error;
        result.more = std::move(more);
        context_.report(result);
    }

    const BenchmarkContext& context_;
    S on_;
    Problem problem_;
    index_t n_;
    Buffer<Vec3<double>, S> given_position_, position_;  ///< in the given order; in the curve order of the last tree
    Buffer<double, S> given_mass_, mass_;
    Buffer<float, S> given_size_, size_;
    Buffer<Vec3<float>, S> field_;
    std::vector<std::uint32_t> order_, place_;  ///< order of the last tree, and its inverse
    std::vector<index_t> target_;
    std::vector<Vec3<double>> exact_;
    DirectBound bound_;
};

void run_tree(const BenchmarkContext& context, Problem problem) {
    std::vector<TreeSetting> settings;
    for (const int k : {7, 9, 10, 11})
        settings.push_back({fmt::format("quadrupole, delta 2^-{}", k), Multipole::quadrupole, AccelerationMac{std::exp2(-k)}});
    settings.push_back({"quadrupole, theta 0.6", Multipole::quadrupole, GeometricMac{0.6}});
    for (const int k : {4, 8, 9, 11})
        settings.push_back({fmt::format("monopole, delta 2^-{}", k), Multipole::monopole, AccelerationMac{std::exp2(-k)}});
    std::visit(
        [&]<Space S>(S on) {
            auto sizes = context.sizes;
            if (sizes.empty()) sizes = std::same_as<S, Cpu> ? std::vector<index_t>{131072} : std::vector<index_t>{131072, 1048576, 8388608};
            for (const auto n : sizes) {
                Stage<S> stage(context, on, problem, n);
                stage.build_rows();
                stage.walk_rows(settings);
            }
        },
        context.space);
}

Benchmark tree_benchmark(Problem problem) {
    return {
        "gravity.tree." + name(problem),
        fmt::format("The tree code on {}, softening {}. Times are of one call each: keys, sort, tree and moments from positions in double; "
                    "the moments alone; a walk for all, accelerations in single precision, its |a| from a geometric walk; a walk for "
                    "0.1% of the particles, chosen at random. The error is the 99th percentile over {} targets against direct "
                    "summation in double, followed by the median. Rates count interactions of bodies and cells with targets; the "
                    "bound is that of direct summation, which cells that are summed once for a whole group can exceed.",
                    problem == Problem::cube ? "a uniform cube" : "a Plummer sphere", softening_of(problem), audited),
        [problem](const BenchmarkContext& context) { run_tree(context, problem); }};
}

}  // namespace

std::vector<Benchmark> gravity_tree() { return {tree_benchmark(Problem::cube), tree_benchmark(Problem::plummer)}; }

}  // namespace kasane::bench
