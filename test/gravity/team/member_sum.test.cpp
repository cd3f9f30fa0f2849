// Sums of the members of one rank.
#include <gravity/space_test.hpp>
#include <gravity/team/member_sum.hpp>

#include <set>

namespace kasane::gravity {
namespace {

class MemberSumOn : public OnEverySpace {
   protected:
    /// body(team, space) with so many members.
    template <class F>
    void on_members(int members, F body) {
        const auto ranks = comm::alone();
        comm::Team team(*ranks, members);
        std::visit([&](auto space) { body(team, space); }, space_);
    }
};
KS_ON_EVERY_SPACE(MemberSumOn);

TEST_P(MemberSumOn, EveryPathGivesTheSumOfOne) {
    for (const int members : {1, 2, 3, 4, 7, 8}) on_members(members, [](comm::Team& team, auto on) { expect_every_path(team, on); });
}

TEST_P(MemberSumOn, InDoublePrecisionAndByThePlainLoopToo) {
    on_members(6, [](comm::Team& team, auto on) {
        expect_team_sums(team, on, {.softening = 0.02, .precision = Precision::double_}, 2000, {});
        expect_team_sums(team, on, {.softening = 0.02, .variant = DirectVariant::plain}, 2000, {});
    });
}

/// Each pair once, on CUDA, with reactions that come home: any number of members, the last ones of few grains without particles.
class MemberSumOnDevices : public MemberSumOn {};
KS_ON_CUDA(MemberSumOnDevices);

TEST_P(MemberSumOnDevices, BothSidesAtOnceGiveTheSumOfOne) {
    for (const int members : {1, 2, 3, 4, 7, 8})
        on_members(members, [](comm::Team& team, auto on) {
            for (const index_t n : {1, 5, 1000, 4097, 9000})
                expect_team_sums(team, on, {.softening = 0.02, .variant = DirectVariant::pair}, n, {});
            expect_team_sums(team, on, {.softening = 0.02, .precision = Precision::double_, .variant = DirectVariant::pair}, 4097, {});
        });
}

TEST_P(MemberSumOn, RefusesAFormThatTheSpaceHasNot) {
    on_members(1, [](comm::Team&, auto on) {
        Exchange exchange;
        exchange.form = PairForm::both_sides;
        const bool cpu = std::is_same_v<decltype(on), Cpu>;
        const Direct options{.softening = 0.02, .variant = cpu ? DirectVariant::automatic : DirectVariant::tile};
        EXPECT_THROW(MemberSum(on, options, 100, exchange, nullptr), InputError);
    });
}

TEST_P(MemberSumOn, KeepsATimeline) {
    on_members(4, [](comm::Team& team, auto on) {
        using S = decltype(on);
        const auto particles = team_particles(4097);
        team.run([&](comm::Member& member) {
            Timeline<S> timeline(on);
            MemberSum<S> sum(on, {.softening = 0.02}, 4097, {}, &member);
            sum.connect();
            sum.set(make_direct_frame(particles.position, 1, 4097));
            const auto x = to_space(on, part(particles.position, sum.first(), sum.count()));
            const auto m = to_space(on, part(particles.mass, sum.first(), sum.count()));
            Buffer<double, S> phi(on, sum.count());
            sum.potential({x.view(), m.view()}, phi.view());
            sum.keep(&timeline);
            sum.potential({x.view(), m.view()}, phi.view());
            sum.keep(nullptr);
            sum.potential({x.view(), m.view()}, phi.view());
            std::multiset<std::string> names;
            for (const auto& span : timeline.take()) {
                names.insert(span.name);
                EXPECT_LE(span.begin, span.end);
            }
            EXPECT_EQ(names.count("message"), 2u) << "four members accumulate by two messages";
            EXPECT_EQ(names.count("pairs"), 3u) << "own, the partner's, those of the other two";
        });
    });
}

}  // namespace
}  // namespace kasane::gravity
