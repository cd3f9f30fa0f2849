#include <kasane/core/device/parallel.hpp>
#include <kasane/core/device/profile.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/tree/links_divergence.hpp>

#include <bench/gravity/galaxy_models.hpp>
#include <bench/gravity/tree_problem.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

TreeProblem sampled(TreeModel model, index_t n) {
    TreeProblem problem;
    if (model == TreeModel::nfw) {
        problem.particles = sample(Component{.law = Nfw{}, .truncation = {10, 1}, .count = n});
        problem.softening = 1. / 128;
    } else {
        const auto m31 = m31_model(n, false);
        problem.particles = sample(m31, Cpu{});
        problem.softening = m31.components.front().softening;
        problem.G = m31.G;
    }
    problem.stride = std::max<index_t>(1, n / TreeProblems::audited);
    return problem;
}

/// The forces of all particles on the audited particles.
template <Space S>
std::vector<Vec3<double>> exact_forces(S on, const TreeProblem& problem) {
    std::vector<Vec3<double>> at;
    for (index_t i = 0; i < problem.particles.size(); i += problem.stride)
        at.push_back(problem.particles.position[static_cast<std::size_t>(i)]);
    const auto target = to_space(on, at), source = to_space(on, problem.particles.position);
    const auto mass = to_space(on, problem.particles.mass);
    Buffer<Vec3<double>, S> out(on, target.size());
    DirectSum<S> sum(on, {.softening = problem.softening, .G = problem.G, .precision = Precision::double_});
    sum(target.view(), {source.view(), mass.view()}, Self{}, {out.view(), {}});
    return to_host(out);
}

/// values[order[k]] for all k.
template <class T>
std::vector<T> arranged(const std::vector<T>& values, const std::vector<std::uint32_t>& order) {
    std::vector<T> out(values.size());
    parallel_for(Cpu{}, static_cast<index_t>(out.size()),
                 [to = out.data(), from = values.data(), order = order.data()](index_t k) { to[k] = from[order[k]]; });
    return out;
}

}  // namespace

const TreeProblem& TreeProblems::get(const AnySpace& on, TreeModel model, index_t n) {
    std::erase_if(last_, [&](const auto& kept) { return kept->model == model && kept->problem.particles.size() != n; });
    for (const auto& kept : last_)
        if (kept->model == model) return kept->problem;
    last_.push_back(std::make_unique<Kept>(Kept{model, sampled(model, n)}));
    auto& problem = last_.back()->problem;
    problem.exact = std::visit([&](auto space) { return exact_forces(space, problem); }, on);
    return problem;
}

ForceErrors force_errors(const std::vector<Vec3<double>>& exact, const std::vector<Vec3<double>>& found) {
    std::vector<double> error;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const auto difference = found[i] - exact[i];
        const double size = std::sqrt(dot(exact[i], exact[i])), off = std::sqrt(dot(difference, difference));
        error.push_back(off > 0 ? off / size : 0);  // the force on a single particle is 0
    }
    std::sort(error.begin(), error.end());
    const auto quantile = [&](double q) { return error[static_cast<std::size_t>(q * static_cast<double>(error.size() - 1))]; };
    return {quantile(0.5), quantile(0.99), error.back()};
}

template <Space S>
TreeBed<S>::TreeBed(S space, const TreeProblem& of, const Tree& tree)
    : on(space), problem(of), options(tree), force(space, tree), acceleration(space, of.particles.size()) {
    position = to_space(on, of.particles.position);
    mass = to_space(on, of.particles.mass);
    auto& octree = force.octree();
    octree.sort(position.view(), mass.view());
    order.resize(of.particles.mass.size());
    copy_to_host(on, view(order), octree.order());
    position = to_space(on, arranged(of.particles.position, order));
    mass = to_space(on, arranged(of.particles.mass, order));
    octree.build();
    octree.place(position.view(), mass.view());
    octree.refresh();
    sample.resize(of.exact.size());
    const auto stride = static_cast<std::uint32_t>(of.stride);
    for (std::size_t k = 0; k < order.size(); ++k)
        if (order[k] % stride == 0) sample[order[k] / stride] = static_cast<std::uint32_t>(k);
}

template <Space S>
void TreeBed<S>::first_force() {
    force.accelerate_first(field());
    size = to_space(on, sizes());
    force.accelerate(all_targets(), field());
    size = to_space(on, sizes());
}

template <Space S>
std::vector<float> TreeBed<S>::sizes() const {
    const auto a = to_host(acceleration);
    std::vector<float> out(a.size());
    parallel_for(Cpu{}, static_cast<index_t>(out.size()), [to = out.data(), from = a.data()](index_t i) {
        const auto& v = from[i];
        to[i] =
            static_cast<float>(std::sqrt(static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y + static_cast<double>(v.z) * v.z));
    });
    return out;
}

template <Space S>
ForceErrors TreeBed<S>::errors() const {
    const auto a = to_host(acceleration);
    std::vector<Vec3<double>> found;
    for (const auto k : sample) found.push_back({a[k].x, a[k].y, a[k].z});
    return force_errors(problem.exact, found);
}

template <Space S>
BenchmarkResult measure_walk(TreeBed<S>& bed, Walk<S>& walk, const WalkTargets& targets, const std::string& name) {
    const auto call = [&] { walk(bed.force.octree().view(), targets, bed.field()); };
    walk.counts();
    profiled(bed.on, call);
    const auto counts = walk.counts();
    const auto errors = bed.errors();
    const auto timing = time_calls(bed.on, call, 3);
    const auto n = static_cast<double>(targets.all ? bed.count() : targets.index.n);

    BenchmarkResult result;
    result.name = name;
    result.n = bed.count();
    result.seconds = timing.seconds;
    result.spread = timing.spread;
    result.rate = counts.interactions() / timing.seconds;
    result.unit = "interactions/s";
    result.error = errors.p99;
    result.more = {{"median_error", errors.median},
                   {"p99_error", errors.p99},
                   {"interactions", counts.interactions() / n},
                   {"bodies", counts.bodies / n},
                   {"cells", counts.cells / n},
                   {"tests", counts.tests / n},
                   {"targets_per_group", counts.groups > 0 ? n / counts.groups : 0}};
    return result;
}

template <Space S>
void add_divergence([[maybe_unused]] TreeBed<S>& bed, [[maybe_unused]] const Tree& options, [[maybe_unused]] BenchmarkResult& row) {
#if defined(KASANE_CUDA)
    if constexpr (std::same_as<S, Cuda>) {
        const auto counted = links_divergence(bed.on, options, bed.force.octree().view(), bed.size.view());
        row.more.emplace_back("divergence", counted.splits / static_cast<double>(bed.count()));
        row.more.emplace_back("lanes_busy", counted.lanes / (32 * std::max(counted.steps, 1.)));
    }
#endif
}

template struct TreeBed<Cpu>;
template BenchmarkResult measure_walk(TreeBed<Cpu>&, Walk<Cpu>&, const WalkTargets&, const std::string&);
template void add_divergence(TreeBed<Cpu>&, const Tree&, BenchmarkResult&);
#if defined(KASANE_CUDA)
template struct TreeBed<Cuda>;
template BenchmarkResult measure_walk(TreeBed<Cuda>&, Walk<Cuda>&, const WalkTargets&, const std::string&);
template void add_divergence(TreeBed<Cuda>&, const Tree&, BenchmarkResult&);
#endif

}  // namespace kasane::bench
