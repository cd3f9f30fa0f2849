// The walk `links` on the CPU [OMBMN12, sections 2 and 4]: a depth-first walk along More (first child) and Next links, which needs no
// stack. V targets per thread ("vectorisation") and G threads ("grouping") take one decision by their smallest distance. On the CPU one
// thread walks for a whole group of V G consecutive targets; the inner loops run over the targets.
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/gravity/tree/walks.cpu.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace kasane::gravity::detail {
namespace {

/// Targets that take one decision together; V and G are at most 32.
struct LinkTargets {
    static constexpr int most = 32 * 32;
    int count = 0;
    float acceleration = INFINITY;  ///< the smallest |a| of the targets
    std::uint32_t body[most];       ///< ascending
    float x[most], y[most], z[most];
    double ax[most], ay[most], az[most], phi[most];
};

void gather(const WalkJob& job, index_t first, int count, LinkTargets& t) {
    t.count = count;
    t.acceleration = INFINITY;
    for (int i = 0; i < count; ++i) {
        t.body[i] = job.body(first + i);
        const Body b = job.tree.body_at(t.body[i]);
        t.x[i] = b.x, t.y[i] = b.y, t.z[i] = b.z;
        t.ax[i] = t.ay[i] = t.az[i] = t.phi[i] = 0;
        t.acceleration = std::min(t.acceleration, job.last_acceleration(t.body[i]));
    }
}

bool holds_target(const NodeTest& node, const LinkTargets& t) {
    const std::uint32_t* const end = t.body + t.count;
    const std::uint32_t* const at = std::lower_bound(t.body, end, node.begin);
    return at != end && *at < node.begin + node.count;
}

/// d^2 of the nearest target.
float smallest_distance2(const LinkTargets& t, const Body& center) {
    float least = INFINITY;
#pragma omp simd reduction(min : least)
    for (int i = 0; i < t.count; ++i) {
        const float dx = center.x - t.x[i], dy = center.y - t.y[i], dz = center.z - t.z[i];
        least = std::min(least, dx * dx + dy * dy + dz * dz);
    }
    return least;
}

void pull(const WalkJob& job, const Body& source, std::uint32_t own, LinkTargets& t) {
    const float eps2 = job.eps2, mask = job.softened ? 0.f : coincident2;
#pragma omp simd
    for (int i = 0; i < t.count; ++i) {
        const float dx = source.x - t.x[i], dy = source.y - t.y[i], dz = source.z - t.z[i];
        const float r2 = dx * dx + dy * dy + dz * dz + eps2;
        const float over_r = r2 > mask && t.body[i] != own ? 1 / std::sqrt(r2) : 0.f;
        const float m_over_r = source.m * over_r, force = m_over_r * (over_r * over_r);
        t.ax[i] += static_cast<double>(force * dx);
        t.ay[i] += static_cast<double>(force * dy);
        t.az[i] += static_cast<double>(force * dz);
        t.phi[i] += static_cast<double>(m_over_r);
    }
}

/// The terms of a cell's second moments, d from the target to the centre of mass; lists.simd.cpp has the formula.
void pull_second(const WalkJob& job, const Body& center, const Quadrupole& q, LinkTargets& t) {
    const float eps2 = job.eps2, trace = q.xx + q.yy + q.zz;
#pragma omp simd
    for (int i = 0; i < t.count; ++i) {
        const float dx = center.x - t.x[i], dy = center.y - t.y[i], dz = center.z - t.z[i];
        const float over_rho2 = 1 / (dx * dx + dy * dy + dz * dz + eps2), over_rho = std::sqrt(over_rho2);
        const float ux = dx * over_rho, uy = dy * over_rho, uz = dz * over_rho;
        const float qx = q.xx * ux + q.xy * uy + q.xz * uz;
        const float qy = q.xy * ux + q.yy * uy + q.yz * uz;
        const float qz = q.xz * ux + q.yz * uy + q.zz * uz;
        const float uqu = qx * ux + qy * uy + qz * uz;
        const float along = (7.5f * uqu - 1.5f * trace) * over_rho2, across = 3 * over_rho2;
        t.ax[i] += static_cast<double>((along * ux - across * qx) * over_rho2);
        t.ay[i] += static_cast<double>((along * uy - across * qy) * over_rho2);
        t.az[i] += static_cast<double>((along * uz - across * qz) * over_rho2);
        t.phi[i] += static_cast<double>((1.5f * uqu - 0.5f * trace) * over_rho2 * over_rho);
    }
}

void walk(const WalkJob& job, LinkTargets& t, WalkCounts& counts) {
    const OctreeView& tree = job.tree;
    const std::uint32_t no_body = static_cast<std::uint32_t>(tree.bodies);
    double tests = 0, cells = 0, bodies = 0;
    for (std::uint32_t at = 0; at < tree.nodes;) {
        const Body& center = tree.center[at];
        const NodeTest& test = tree.test[at];
        const float d2 = smallest_distance2(t, center);
        const float power = d2 * d2 * (tree.quadrupole ? std::sqrt(d2) : 1.f) * t.acceleration;
        ++tests;
        if (d2 > test.radius2 && power > test.weight && !holds_target(test, t)) {
            pull(job, center, no_body, t);
            if (tree.quadrupole) pull_second(job, center, tree.quadrupole[at], t);
            ++cells;
            at = tree.next[at];
        } else if (tree.link[at] != leaf) {
            at = first_child(tree.link[at]);
        } else {
            for (std::uint32_t j = test.begin; j < test.begin + test.count; ++j) pull(job, tree.body_at(j), j, t);
            bodies += test.count;
            at = tree.next[at];
        }
    }
    counts += {bodies * t.count, cells * t.count, tests, 1};
}

void write(const WalkJob& job, const LinkTargets& t) {
    const auto f = [](double value) { return static_cast<float>(value); };
    for (int i = 0; i < t.count; ++i) {
        if (!job.out.acceleration.empty())
            job.out.acceleration[t.body[i]] = {f(job.per_acceleration * t.ax[i]), f(job.per_acceleration * t.ay[i]),
                                               f(job.per_acceleration * t.az[i])};
        if (!job.out.potential.empty()) job.out.potential[t.body[i]] = f(job.per_potential * t.phi[i]);
    }
}

}  // namespace

void walk_links(Cpu on, const WalkJob& job, int vector, int group, WalkCounts& counts) {
    const index_t most = static_cast<index_t>(vector) * group, groups = (job.targets + most - 1) / most;
    const int threads = thread_count(on);
    struct Worker {
        std::unique_ptr<LinkTargets> targets;
        WalkCounts counts;
    };
    std::vector<Worker> workers(static_cast<std::size_t>(threads));
    constexpr index_t part_groups = 4;
    for_each_part(threads, (groups + part_groups - 1) / part_groups, [&](index_t part, int thread) {
        auto& [targets, mine] = workers[static_cast<std::size_t>(thread)];
        if (!targets) targets = std::make_unique<LinkTargets>();
        for (index_t g = part * part_groups; g < std::min(groups, (part + 1) * part_groups); ++g) {
            gather(job, g * most, static_cast<int>(std::min(most, job.targets - g * most)), *targets);
            walk(job, *targets, mine);
            write(job, *targets);
        }
    });
    double bodies = 0, cells = 0, tests = 0;
    for (const auto& worker : workers) bodies += worker.counts.bodies, cells += worker.counts.cells, tests += worker.counts.tests;
    counts += {bodies, cells, tests, static_cast<double>(groups)};
}

}  // namespace kasane::gravity::detail
