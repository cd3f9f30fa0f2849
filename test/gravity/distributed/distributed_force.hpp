// Checks of the sums of a communicator's workers for any number of ranks: the bits of one worker, and the number of messages of [MTM13]
// section 4. Every worker has all particles and compares the results at its own ones.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/distributed/distributed_force.hpp>

#include <gravity/distributed/worker_cases.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace kasane::gravity {

/// Particles for the tests, and the field that one worker of the root rank computes.
template <Space S>
struct SumCase {
    S on;
    Direct options;
    Particles particles;
    DirectFrame frame;
    std::vector<Vec3<double>> acceleration;
    std::vector<double> potential;

    SumCase(comm::Communicator& ranks, S space, const Direct& chosen, index_t n)
        : on(space),
          options(chosen),
          particles(worker_particles(n)),
          acceleration(static_cast<std::size_t>(n)),
          potential(acceleration.size()) {
        std::vector<Vec3<double>> sampled;
        for (int k = 0; k < frame_samples; ++k) sampled.push_back(particles.position[static_cast<std::size_t>(frame_sample(k, n))]);
        frame = make_direct_frame(sampled, *std::max_element(particles.mass.begin(), particles.mass.end()), n);
        if (ranks.rank() == 0) {
            DirectForce<S> alone(on, options, n);
            alone.set(frame);
            const auto x = to_space(on, particles.position);
            const auto m = to_space(on, particles.mass);
            Buffer<Vec3<double>, S> a(on, n);
            Buffer<double, S> phi(on, n);
            alone.accelerate({x.view(), m.view()}, a.view());
            alone.potential({x.view(), m.view()}, phi.view());
            acceleration = to_host(a);
            potential = to_host(phi);
        }
        ranks.broadcast(acceleration.data(), acceleration.size() * sizeof(Vec3<double>), 0);
        ranks.broadcast(potential.data(), potential.size() * sizeof(double), 0);
    }
};

template <class T>
std::vector<T> part(const std::vector<T>& of, index_t first, index_t count) {
    return {of.begin() + first, of.begin() + first + count};
}

/// One worker's share of the test: all forms of the sum, and the messages that they took.
/// @param messages  expected of an evaluation; -1: as planned
template <Space S>
void expect_worker_sums(comm::Worker& worker, S on, const SumCase<S>& of, const Exchange& exchange, int messages) {
    const index_t n = of.particles.size();
    DistributedForce<S> sum(on, of.options, n, exchange, worker);
    sum.connect();
    sum.set(of.frame);
    const index_t first = sum.first(), count = sum.count();
    const auto x = to_space(on, part(of.particles.position, first, count));
    const auto m = to_space(on, part(of.particles.mass, first, count));
    const Sources own{x.view(), m.view()};
    Buffer<Vec3<double>, S> a(on, count);
    Buffer<double, S> phi(on, count);
    if (messages < 0) messages = sum.plan().messages();

    std::int64_t before = sum.messages();
    const double bytes_before = sum.bytes_received();
    sum.potential(own, phi.view());
    EXPECT_EQ(to_host(phi), part(of.potential, first, count)) << "worker " << worker.index() << " of " << worker.size();
    EXPECT_EQ(sum.messages() - before, messages);
    // Every other slab is received once, in whole grains, for any plan of messages.
    const auto& slabs = sum.partition();
    const index_t grains = slabs.grains() - (slabs.first_grain(worker.index() + 1) - slabs.first_grain(worker.index()));
    const double body = of.options.precision == Precision::double_ ? 32 : 16;
    EXPECT_EQ(sum.bytes_received() - bytes_before, body * static_cast<double>(grains * slabs.grain));

    for (int time = 0; time < 3; ++time) {  // buffers are used again
        sum.accelerate(own, a.view());
        EXPECT_EQ(to_host(a), part(of.acceleration, first, count)) << "worker " << worker.index() << " of " << worker.size();
    }

    // Some workers have no targets, the others have a few.
    const index_t wanted = worker.index() % 3 == 1 ? 0 : std::min<index_t>(count, 7);
    before = sum.messages();
    sum.accelerate_at(x.view().subview(0, wanted), own, a.view().subview(0, wanted));
    EXPECT_EQ(sum.messages() - before, messages);
    const auto found = part(to_host(a), 0, wanted);
    if (!sum.both_sides()) {  // else its roundings are another form's
        EXPECT_EQ(found, part(of.acceleration, first, wanted));
    }
}

template <Space S>
void expect_worker_sums(comm::WorkerCommunicator& communicator, S on, const SumCase<S>& of, const Exchange& exchange, int messages = -1) {
    SCOPED_TRACE(testing::Message() << of.particles.size() << " particles, " << communicator.size() << " workers, buffers of "
                                    << exchange.buffer_bytes << " bytes");
    communicator.run([&](comm::Worker& worker) { expect_worker_sums(worker, on, of, exchange, messages); });
}

template <Space S>
void expect_worker_sums(comm::WorkerCommunicator& communicator, S on, const Direct& options, index_t n, const Exchange& exchange,
                        int messages = -1) {
    expect_worker_sums(communicator, on, SumCase<S>(communicator.ranks(), on, options, n), exchange, messages);
}

inline int log2_of(int n) {
    int log = 0;
    while (n > 1) n /= 2, ++log;
    return log;
}

/// Accumulation in one go, transport in a ring, and both: each forced by the size of the buffers, and the messages that [MTM13] says.
template <Space S>
void expect_every_path(comm::WorkerCommunicator& communicator, S on) {
    const int workers = communicator.size();
    const bool power = (workers & (workers - 1)) == 0;
    const Direct options{.softening = 0.02};
    for (const index_t n : {1, 5, 1000, 4097}) {
        const SumCase<S> of(communicator.ranks(), on, options, n);
        Exchange exchange;
        expect_worker_sums(communicator, on, of, exchange, power ? log2_of(workers) : -1);
        exchange.buffer_bytes = 0;
        expect_worker_sums(communicator, on, of, exchange, n == 4097 ? workers - 1 : -1);
    }
    if (workers % 4 != 0) return;
    // Buffers for two slabs and not for four: pairs join, then go round a ring of workers / 2; with four workers that is all the same.
    const index_t grain = DirectForce<S>(on, options, 8192).grain();
    Exchange two;
    two.buffer_bytes = 16.0 * 2 * static_cast<double>((8192 / grain + workers - 1) / workers * grain);
    expect_worker_sums(communicator, on, options, 8192, two, workers == 4 ? 2 : 1 + workers / 2 - 1);
}

}  // namespace kasane::gravity
