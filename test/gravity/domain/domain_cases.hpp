// Forces of the tree code on many workers of one process, with results in the order of the particles.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/domain/domain_force.hpp>

#include <gravity/tree/cases.hpp>
#include <reference/direct.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kasane::test {

using namespace gravity;

struct DomainRequest {
    Tree tree;
    std::vector<std::uint32_t> targets = {};  ///< particles; empty: all
    bool first = true;                        ///< without a last acceleration; else `last`
    std::vector<float> last = {};             ///< |a| of every particle
    int rebuilds = 1;
    std::vector<double> softening = {};  ///< of each particle
    int group = 0;                       ///< largest number of targets in a group; 0: the walk chooses
    std::optional<bool> joins = {};      ///< LETs are walked together with the own tree; empty: as DomainForce chooses
};

struct DomainField {
    std::vector<Vec3<double>> acceleration;  ///< NaN where nothing was written
    std::vector<double> potential;
    std::vector<int> worker;  ///< of each particle
    std::vector<ReceivedTrees> received;
    double interactions = 0;
    std::vector<double> work;  ///< interactions of each worker
};

/// The system of a worker that begins with a slab of the particles, as a run does.
template <Space S>
System<S, Vec3<float>> slab_system(S on, const TreeProblem& all, int worker, int workers, const std::vector<double>& softening = {}) {
    const auto n = static_cast<std::size_t>(all.size()), w = static_cast<std::size_t>(worker), of = static_cast<std::size_t>(workers);
    const std::size_t begin = n * w / of, end = n * (w + 1) / of;
    Particles slab;
    std::vector<std::uint32_t> given;
    for (std::size_t i = begin; i < end; ++i) {
        slab.position.push_back(all.position[i]);
        slab.velocity.push_back({0.5 * static_cast<double>(i), 1, -static_cast<double>(i)});
        slab.mass.push_back(all.mass[i]);
        if (!softening.empty()) slab.softening.push_back(softening[i]);
        given.push_back(static_cast<std::uint32_t>(i));
    }
    System<S, Vec3<float>> system(on, slab, {true, true, true, !softening.empty()}, {});
    copy_from_host(on, system.given.view(), view(given));
    std::vector<Vec3<float>> zero(given.size());
    std::vector<std::uint8_t> level(given.size());
    std::vector<float> size(given.size());
    copy_from_host(on, system.acceleration.view(), view(zero));
    copy_from_host(on, system.level.view(), view(level));
    copy_from_host(on, system.size.view(), view(size));
    return system;
}

/// Calls body(worker, system, force) on each worker, after the trees were built.
template <Space S, class F>
void on_domains(S on, comm::WorkerCommunicator& communicator, const TreeProblem& of, const DomainRequest& request, F body) {
    const int workers = communicator.size();
    communicator.run([&](comm::Worker& worker) {
        auto system = slab_system(on, of, worker.index(), workers, request.softening);
        DomainForce<S> force(on, request.tree, worker);
        force.walk().tuning().group = request.group;
        if (request.joins) force.join_trees(*request.joins);
        const auto place = [&] { force.octree().place(system.position.view(), system.mass.view()); };
        for (int k = 0; k < request.rebuilds; ++k) force.rebuild(system, of.size(), false, place);
        place();
        force.octree().refresh();
        body(worker, system, force);
    });
}

template <Space S, class F>
void on_domains(S on, int workers, const TreeProblem& of, const DomainRequest& request, F body) {
    const auto ranks = comm::alone();
    comm::WorkerCommunicator communicator(*ranks, workers);
    on_domains(on, communicator, of, request, body);
}

/// The field; of ranks: that of this rank's particles, and `worker` is -1 for the others.
template <Space S>
DomainField domain_field(S on, comm::WorkerCommunicator& communicator, const TreeProblem& of, const DomainRequest& request) {
    const auto n = static_cast<std::size_t>(of.size());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    DomainField field;
    field.acceleration.assign(n, {nan, nan, nan});
    field.potential.assign(n, nan);
    field.worker.assign(n, -1);
    field.received.resize(static_cast<std::size_t>(communicator.size()));
    field.work.resize(field.received.size());
    on_domains(on, communicator, of, request, [&](comm::Worker& worker, auto& system, auto& force) {
        const auto given = to_host(system.given);
        std::vector<std::uint32_t> list;
        std::vector<float> last;
        for (std::size_t k = 0; k < given.size(); ++k) {
            if (std::binary_search(request.targets.begin(), request.targets.end(), given[k])) list.push_back(static_cast<std::uint32_t>(k));
            if (!request.last.empty()) last.push_back(request.last[given[k]]);
        }
        const auto index = to_space(on, list);
        const auto size = to_space(on, last);
        std::vector<Vec3<float>> unwritten(given.size(), {NAN, NAN, NAN});
        std::vector<float> no_potential(given.size(), NAN);
        auto a = to_space(on, unwritten);
        auto phi = to_space(on, no_potential);
        if (request.first)
            force.accelerate_first({a.view(), phi.view()});
        else
            force.accelerate({index.view(), request.targets.empty(), size.view()}, {a.view(), phi.view()});
        const auto w = static_cast<std::size_t>(worker.index());
        field.received[w] = force.received();
        field.work[w] = force.counts().interactions();
        const auto acceleration = to_host(a);
        const auto potential = to_host(phi);
        for (std::size_t k = 0; k < given.size(); ++k) {  // every particle has one worker, so no two workers write the same element
            field.worker[given[k]] = worker.index();
            field.acceleration[given[k]] = {acceleration[k].x, acceleration[k].y, acceleration[k].z};
            field.potential[given[k]] = potential[k];
        }
    });
    for (const double work : field.work) field.interactions += work;
    return field;
}

template <Space S>
DomainField domain_field(S on, int workers, const TreeProblem& of, const DomainRequest& request) {
    const auto ranks = comm::alone();
    comm::WorkerCommunicator communicator(*ranks, workers);
    return domain_field(on, communicator, of, request);
}

/// Median, 99th percentile and mean of the relative errors of accelerations, and 99th percentile of those of potentials, of a sample of the
/// particles.
struct ErrorPercentiles {
    double median = 0, p99 = 0, potential = 0, mean = 0;
};

/// The exact field at a sample of the particles.
struct Sampled {
    std::vector<std::size_t> index;
    std::vector<reference::FieldAt> exact;
};
inline Sampled sampled(const TreeProblem& of, double G, std::size_t wanted) {
    Sampled made;
    const auto n = static_cast<std::size_t>(of.size()), number = std::min(n, wanted);
    for (std::size_t k = 0; k < number; ++k) {
        const std::size_t i = k * n / number;
        made.index.push_back(i);
        made.exact.push_back(reference::direct(of.position[i], of.position, of.mass, static_cast<index_t>(i), of.softening, G));
    }
    return made;
}

/// The accelerations by direct summation in double, for many samples of many particles. A target is also a source, which adds none.
inline Sampled sampled_fast(const TreeProblem& of, double G, std::size_t wanted) {
    Sampled made;
    const auto n = static_cast<std::size_t>(of.size());
    std::vector<Vec3<double>> target;
    for (std::size_t k = 0; k < wanted; ++k) {
        made.index.push_back(k * n / wanted);
        target.push_back(of.position[made.index.back()]);
    }
    std::vector<Vec3<double>> found(wanted);
    DirectSum<Cpu> sum(Cpu{}, {.softening = of.softening, .G = G, .precision = Precision::double_});
    sum(view(target), {view(of.position), view(of.mass)}, Self{}, {view(found), {}});
    for (const auto& a : found) made.exact.push_back({a});
    return made;
}

inline ErrorPercentiles errors(const DomainField& field, const Sampled& at) {
    std::vector<double> of_acceleration, of_potential;
    const auto finite = [](double x) { return std::isnan(x) ? std::numeric_limits<double>::infinity() : x; };
    for (std::size_t k = 0; k < at.index.size(); ++k) {
        const auto off = field.acceleration[at.index[k]] - at.exact[k].acceleration;
        const double size = std::sqrt(dot(at.exact[k].acceleration, at.exact[k].acceleration)), error = std::sqrt(dot(off, off));
        of_acceleration.push_back(finite(size > 0 ? error / size : error));
        if (const double phi = at.exact[k].potential; phi != 0) of_potential.push_back(finite(field.potential[at.index[k]] / phi - 1));
    }
    for (double& error : of_potential) error = std::abs(error);
    const auto percentile = [](std::vector<double>& all, std::size_t hundredths) {
        std::sort(all.begin(), all.end());
        return all.empty() ? 0. : all[std::min(all.size() - 1, all.size() * hundredths / 100)];
    };
    double mean = 0;
    for (const double error : of_acceleration) mean += error / static_cast<double>(of_acceleration.size());
    return {percentile(of_acceleration, 50), percentile(of_acceleration, 99), percentile(of_potential, 99), mean};
}

}  // namespace kasane::test
