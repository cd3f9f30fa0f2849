// gravity.tree.lets: one worker's LETs for all other workers, on one device, without these workers.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double sphere_softening = 1. / 64;
constexpr index_t most_particles = index_t{1} << 28;      ///< of all domains; more are skipped
constexpr double sphere_radius = 0.58904862254808623221;  // 3 pi / 16: standard N-body units

/// Particles along the curve, and |a| of each in a continuous sphere.
struct SortedSphere {
    std::vector<Vec3<double>> position;
    std::vector<double> mass;
    std::vector<float> size;
    Frame frame;
};

template <Space S>
SortedSphere sorted_sphere(S on, index_t n, const Tree& options) {
    const auto particles = sample(Component{.law = Plummer{}, .mass = 1, .scale = sphere_radius, .count = n}, 1, 1, AnySpace{on});
    SortedSphere all;
    const auto position = to_space(on, particles.position);
    const auto mass = to_space(on, particles.mass);
    Octree<S> octree(on, options);
    octree.sort(position.view(), mass.view());
    all.frame = octree.frame();
    std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
    copy_to_host(on, view(order), octree.order());
    all.position.resize(order.size()), all.mass.resize(order.size()), all.size.resize(order.size());
    parallel_for(Cpu{}, n, [&](index_t i) {
        const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(order[to]);
        const auto& x = particles.position[from];
        const double b2 = sphere_radius * sphere_radius, d2 = dot(x, x) + b2;
        all.position[to] = x;
        all.mass[to] = particles.mass[from];
        all.size[to] = static_cast<float>(std::sqrt(d2 - b2) / (d2 * std::sqrt(d2)));
    });
    return all;
}

/// A domain: an equal share of the particles along the curve.
template <Space S>
struct Domain {
    Octree<S> octree;
    Buffer<float, S> size;

    Domain(S on, const Tree& options, const SortedSphere& of, index_t first, index_t n) : octree(on, options), size(on, n) {
        const auto position = part(of.position, first, n);
        const auto mass = part(of.mass, first, n);
        const auto x = to_space(on, position);
        const auto m = to_space(on, mass);
        octree.use_frame(of.frame, n);
        octree.place(x.view(), m.view());
        octree.sort();
        octree.build();
        octree.place(x.view(), m.view());  // they are in the order of the curve
        octree.refresh();
        copy_from_host(on, size.view(), View<const float>(of.size.data() + first, n));
        synchronize(on);
    }
    template <class T>
    static std::vector<T> part(const std::vector<T>& of, index_t first, index_t n) {
        return {of.begin() + first, of.begin() + first + n};
    }
};

template <Space S>
void measure_lets(const BenchmarkContext& context, S on, index_t own, int domains) {
    const Tree options{.softening = sphere_softening};
    const auto all = sorted_sphere(on, own * domains, options);
    const int me = domains / 2;
    std::vector<Buffer<TargetBox, S>> box;
    for (int k = 0; k < domains; ++k) {
        if (k == me) continue;
        const Domain<S> domain(on, options, all, own * k, own);
        TargetBoxes<S> boxes(on);
        boxes.choose(domain.octree.view(), domain.octree.levels());
        boxes.measure(domain.octree.view(), {{}, true, domain.size.view()}, options.G);
        std::vector<TargetBox> copy(static_cast<std::size_t>(TargetBoxLayout::size));
        copy_to_host(on, view(copy), boxes.boxes());
        box.push_back(to_space(on, copy));
    }
    Domain<S> domain(on, options, all, own * me, own);
    const auto tree = domain.octree.view();
    EssentialTree<S> maker(on);
    std::vector<EssentialPart<S>> part;
    std::vector<EssentialRequest<S>> requests;
    for (std::size_t k = 0; k < box.size(); ++k) part.emplace_back(on);
    for (std::size_t k = 0; k < box.size(); ++k) requests.push_back({std::as_const(box[k]).view(), &part[k]});
    const auto made = time_calls(on, [&] { maker.make(tree, domain.octree.levels(), requests, false); }, 3);

    const EssentialArrays arrays{tree.quadrupole != nullptr, tree.node_term != nullptr};
    std::vector<EssentialSize> sizes;
    std::vector<OctreeView> lets;
    double nodes = 0, bodies = 0, bytes = 0;
    for (const auto& to : part) {
        if (to.size.nodes == 0) continue;
        sizes.push_back(to.size);
        lets.push_back(essential_view(to.message.data(), to.size, arrays, tree.frame));
        nodes += static_cast<double>(to.size.nodes), bodies += static_cast<double>(to.size.bodies);
        bytes += static_cast<double>(essential_bytes(to.size, arrays));
    }
    MergedTree<S> merged(on);
    const auto merging = time_calls(
        on,
        [&] {
            merged.begin(domain.octree, arrays, sizes, false);
            merged.add(lets);
        },
        3);
    BenchmarkResult row;
    row.name = fmt::format("gravity.tree.lets, {} domains", domains);
    row.n = own;
    row.seconds = made.seconds;
    row.spread = made.spread;
    row.rate = nodes / made.seconds;
    row.unit = "nodes/s";
    row.more = {{"members", domains},
                {"seconds_per_other", made.seconds / (domains - 1)},
                {"merge_seconds", merging.seconds},
                {"nodes", nodes},
                {"bodies", bodies},
                {"bytes", bytes},
                {"tree_nodes", static_cast<double>(tree.nodes)}};
    context.report(row);
}

}  // namespace

Benchmark tree_lets() {
    return {
        "gravity.tree.lets",
        fmt::format("Locally essential trees (LETs) of one worker for all others, on one device. A Plummer sphere, softening {}, default "
                    "criterion, is divided into domains of `--n` particles along the curve, and the one in the middle makes the LETs "
                    "for the targets of all the others: selection and packing (`seconds`, also per other worker). `merge_seconds` is "
                    "the merging of LETs of these sizes with the own bodies. `nodes`, `bodies` and `bytes` are those of all LETs.",
                    sphere_softening),
        [](const BenchmarkContext& context) {
            const std::vector<int> domains = context.quick ? std::vector{2, 4, 8} : std::vector{2, 4, 16, 64, 256};
            for (const auto own : sizes_or(context, {1 << 13}, {1 << 18}))
                for (const int number : domains)
                    if (own * number <= most_particles) std::visit([&](auto on) { measure_lets(context, on, own, number); }, context.space);
        }};
}

}  // namespace kasane::bench
