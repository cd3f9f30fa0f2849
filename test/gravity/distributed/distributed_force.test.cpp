// Sums of the workers of one rank.
#include <gravity/space_test.hpp>
#include <gravity/distributed/distributed_force.hpp>

#include <set>

namespace kasane::gravity {
namespace {

class DistributedForceOn : public OnEverySpace {
   protected:
    /// Calls body(communicator, space) on this number of workers.
    template <class F>
    void on_workers(int workers, F body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        std::visit([&](auto space) { body(communicator, space); }, space_);
    }
};
KS_ON_EVERY_SPACE(DistributedForceOn);

TEST_P(DistributedForceOn, EveryPathGivesTheSumOfOne) {
    for (const int workers : {1, 2, 3, 4, 7, 8})
        on_workers(workers, [](comm::WorkerCommunicator& communicator, auto on) { expect_every_path(communicator, on); });
}

TEST_P(DistributedForceOn, InDoublePrecisionAndByThePlainLoopToo) {
    on_workers(6, [](comm::WorkerCommunicator& communicator, auto on) {
        expect_worker_sums(communicator, on, {.softening = 0.02, .precision = Precision::double_}, 2000, {});
        expect_worker_sums(communicator, on, {.softening = 0.02, .variant = DirectVariant::plain}, 2000, {});
    });
}

/// Each pair once, on CUDA, with reactions that return: any number of workers, the last ones of few grains without particles.
class DistributedForceOnDevices : public DistributedForceOn {};
KS_ON_CUDA(DistributedForceOnDevices);

TEST_P(DistributedForceOnDevices, BothSidesAtOnceGiveTheSumOfOne) {
    for (const int workers : {1, 2, 3, 4, 7, 8})
        on_workers(workers, [](comm::WorkerCommunicator& communicator, auto on) {
            for (const index_t n : {1, 5, 1000, 4097, 9000})
                expect_worker_sums(communicator, on, {.softening = 0.02, .variant = DirectVariant::pair}, n, {});
            expect_worker_sums(communicator, on, {.softening = 0.02, .precision = Precision::double_, .variant = DirectVariant::pair}, 4097,
                               {});
        });
}

TEST_P(DistributedForceOn, RefusesAFormThatTheSpaceHasNot) {
    on_workers(1, [](comm::WorkerCommunicator& communicator, auto on) {
        Exchange exchange;
        exchange.form = PairForm::both_sides;
        const bool cpu = std::is_same_v<decltype(on), Cpu>;
        const Direct options{.softening = 0.02, .variant = cpu ? DirectVariant::automatic : DirectVariant::tile};
        communicator.run([&](comm::Worker& worker) { EXPECT_THROW(DistributedForce(on, options, 100, exchange, worker), InputError); });
    });
}

TEST_P(DistributedForceOn, KeepsATimeline) {
    on_workers(4, [](comm::WorkerCommunicator& communicator, auto on) {
        using S = decltype(on);
        const auto particles = worker_particles(4097);
        communicator.run([&](comm::Worker& worker) {
            Timeline<S> timeline(on);
            DistributedForce<S> sum(on, {.softening = 0.02}, 4097, {}, worker);
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
            EXPECT_EQ(names.count("message"), 2u) << "four workers accumulate by two messages";
            EXPECT_EQ(names.count("pairs"), 3u) << "own, the partner's, those of the other two";
        });
    });
}

}  // namespace
}  // namespace kasane::gravity
