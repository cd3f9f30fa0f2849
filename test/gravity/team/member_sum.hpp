// What holds for the sums of a team's members, of any number of ranks: held to the sum of one member, bit by bit, and to the number of
// messages of [MTM13] section 4. Every member has all the particles and compares what it got at its own.
#pragma once

#include <kasane/core/comm/team.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/team/member_sum.hpp>

#include <gravity/team/team_cases.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace kasane::gravity {

/// The particles where the tests want them, and the field of one member.
template <Space S>
struct SumCase {
    S on;
    Direct options;
    Particles particles;
    DirectFrame frame;
    std::vector<Vec3<double>> acceleration;
    std::vector<double> potential;

    SumCase(S space, const Direct& chosen, index_t n) : on(space), options(chosen), particles(team_particles(n)) {
        std::vector<Vec3<double>> sampled;
        for (int k = 0; k < frame_samples; ++k) sampled.push_back(particles.position[static_cast<std::size_t>(frame_sample(k, n))]);
        frame = make_direct_frame(sampled, *std::max_element(particles.mass.begin(), particles.mass.end()), n);
        MemberSum<S> alone(on, options, n, {}, nullptr);
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
};

template <class T>
std::vector<T> part(const std::vector<T>& of, index_t first, index_t count) {
    return {of.begin() + first, of.begin() + first + count};
}

/// One member's share of the test: all forms of the sum, and the messages that they took.
/// @param messages  expected of an evaluation; -1: as planned
template <Space S>
void expect_member_sums(comm::Member& member, S on, const SumCase<S>& of, const Exchange& exchange, int messages) {
    const index_t n = of.particles.size();
    MemberSum<S> sum(on, of.options, n, exchange, &member);
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
    EXPECT_EQ(to_host(phi), part(of.potential, first, count)) << "member " << member.index() << " of " << member.size();
    EXPECT_EQ(sum.messages() - before, messages);
    // Whoever the senders are, every other slab comes once, in whole grains.
    const auto& slabs = sum.partition();
    const index_t grains = slabs.grains() - (slabs.first_grain(member.index() + 1) - slabs.first_grain(member.index()));
    const double body = of.options.precision == Precision::double_ ? 32 : 16;
    EXPECT_EQ(sum.bytes_received() - bytes_before, body * static_cast<double>(grains * slabs.grain));

    for (int time = 0; time < 3; ++time) {  // buffers are used again
        sum.accelerate(own, a.view());
        EXPECT_EQ(to_host(a), part(of.acceleration, first, count)) << "member " << member.index() << " of " << member.size();
    }

    // Some members want the field nowhere, others at a few places of their own.
    const index_t wanted = member.index() % 3 == 1 ? 0 : std::min<index_t>(count, 7);
    before = sum.messages();
    sum.accelerate_at(x.view().subview(0, wanted), own, a.view().subview(0, wanted));
    EXPECT_EQ(sum.messages() - before, messages);
    const auto found = part(to_host(a), 0, wanted);
    if (!sum.both_sides()) {  // else its roundings are another form's
        EXPECT_EQ(found, part(of.acceleration, first, wanted));
    }
}

template <Space S>
void expect_team_sums(comm::Team& team, S on, const Direct& options, index_t n, const Exchange& exchange, int messages = -1) {
    SCOPED_TRACE(testing::Message() << n << " particles, " << team.size() << " members, buffers of " << exchange.buffer_bytes << " bytes");
    const SumCase<S> of(on, options, n);
    team.run([&](comm::Member& member) { expect_member_sums(member, on, of, exchange, messages); });
}

inline int log2_of(int n) {
    int log = 0;
    while (n > 1) n /= 2, ++log;
    return log;
}

/// Accumulation in one go, transport in a ring, and both: each forced by the size of the buffers, and the messages that [MTM13] says.
template <Space S>
void expect_every_path(comm::Team& team, S on) {
    const int members = team.size();
    const bool power = (members & (members - 1)) == 0;
    const Direct options{.softening = 0.02};
    for (const index_t n : {1, 5, 1000, 4097}) {
        Exchange exchange;
        expect_team_sums(team, on, options, n, exchange, power ? log2_of(members) : -1);
        exchange.buffer_bytes = 0;
        expect_team_sums(team, on, options, n, exchange, n == 4097 ? members - 1 : -1);
    }
    if (members % 4 != 0) return;
    // Buffers for two slabs and not for four: pairs join, then go round a ring of members / 2; with four members that is all the same.
    const index_t grain = DirectPieces<S>(on, options, 8192).grain();
    Exchange two;
    two.buffer_bytes = 16.0 * 2 * static_cast<double>((8192 / grain + members - 1) / members * grain);
    expect_team_sums(team, on, options, 8192, two, members == 4 ? 2 : 1 + members / 2 - 1);
}

}  // namespace kasane::gravity
