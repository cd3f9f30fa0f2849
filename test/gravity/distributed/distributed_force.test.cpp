// Sums of the workers of one rank.
#include <gravity/space_test.hpp>
#include <gravity/distributed/distributed_force.hpp>

#include <set>

#if defined(KASANE_CUDA)
#include <kasane/core/device/stream_cuda.hpp>
#endif

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

#if defined(KASANE_CUDA)
TEST_P(DistributedForceOnDevices, ExchangesByMessagesBetweenWorkersOfOneDevice) {
    on_workers(2, [](comm::WorkerCommunicator& communicator, auto on) {
        communicator.run([&](comm::Worker& worker) {
            DistributedForce sum(on, {.softening = 0.02}, 4096, {}, worker);
            sum.connect();
            EXPECT_FALSE(sum.with_peers());  // two kernels that wait for each other might not be resident at the same time
        });
    });
}

/// Particles of which half the calls have the first positions and half the second ones, so that a late or early source changes a result.
struct TwoProblems {
    Particles particles[2];
    DirectFrame frame[2];
    std::vector<Vec3<double>> expected[2];  ///< accelerations by one device

    TwoProblems(const Direct& options, index_t n) {
        for (int k = 0; k < 2; ++k) {
            auto& p = particles[k] = worker_particles(n);
            for (auto& x : p.position) x = (k == 0 ? 1.0 : -0.75) * x;
            frame[k] = make_direct_frame(p.position, *std::max_element(p.mass.begin(), p.mass.end()), n);
            const Cuda on{};
            DirectForce<Cuda> alone(on, options, n);
            alone.set(frame[k]);
            const auto x = to_space(on, p.position);
            const auto m = to_space(on, p.mass);
            Buffer<Vec3<double>, Cuda> a(on, n);
            alone.accelerate({x.view(), m.view()}, a.view());
            expected[k] = to_host(a);
        }
    }
};

/// Many calls in a row on two devices, one of which is late before some calls.
void expect_sums_with_peers(comm::Worker& worker, const TwoProblems& of, const Direct& options) {
    constexpr int calls = 60;
    const index_t n = of.particles[0].size();
    const Cuda on{worker.index(), nullptr};
    DistributedForce<Cuda> sum(on, options, n, {}, worker);
    sum.connect();
    ASSERT_TRUE(sum.with_peers());
    EXPECT_EQ(sum.engine(), "peer memory");
    const index_t first = sum.first(), count = sum.count();
    const auto own = [&](int k, const auto& values) { return to_space(on, part(values(of.particles[k]), first, count)); };
    const auto positions = [](const Particles& p) { return p.position; };
    const auto masses = [](const Particles& p) { return p.mass; };
    const Buffer<Vec3<double>, Cuda> x[2] = {own(0, positions), own(1, positions)};
    const auto m = own(0, masses);
    DirectForce<Cuda> other(on, options, 1 << 15);  // takes longer than an evaluation of few particles
    other.set(of.frame[0]);
    const auto far = to_space(on, worker_particles(9000).position);
    Buffer<Vec3<double>, Cuda> unused(on, far.size());
    const auto heavy = to_space(on, worker_particles(9000).mass);
    std::vector<Buffer<Vec3<double>, Cuda>> found;
    for (int call = 0; call < calls; ++call) found.emplace_back(on, count);
    const auto messages = sum.messages();
    for (int call = 0; call < calls; ++call) {
        const int k = call * call % 3 % 2;
        if (call % 7 == worker.index()) other.accelerate({far.view(), heavy.view()}, unused.view());
        sum.set(of.frame[k]);
        sum.accelerate({x[k].view(), m.view()}, found[static_cast<std::size_t>(call)].view());
        if (call == calls / 2) {  // messages between the calls use the memory of others
            Buffer<double, Cuda> phi(on, count);
            sum.potential({x[k].view(), m.view()}, phi.view());
        }
    }
    EXPECT_EQ(sum.messages() - messages, calls + 1);
    for (int call = 0; call < calls; ++call)
        EXPECT_EQ(to_host(found[static_cast<std::size_t>(call)]), part(of.expected[call * call % 3 % 2], first, count)) << "call " << call;
}

TEST(DistributedForceOnTwoDevices, ExchangesFewParticlesInTheKernelThatSums) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    if (cuda::device_count() < 2 || !cuda::enable_peer_access(0, 1) || !cuda::enable_peer_access(1, 0))
        GTEST_SKIP() << "needs two CUDA devices that read and write each other's memory";
    for (const double softening : {0.02, 0.0})
        for (const index_t n : {257, 700, 2048, 4097, 8192}) {
            SCOPED_TRACE(testing::Message() << n << " particles, softening " << softening);
            const Direct options{.softening = softening};
            const TwoProblems of(options, n);
            const auto ranks = comm::alone();
            comm::WorkerCommunicator communicator(*ranks, 2);
            communicator.run([&](comm::Worker& worker) { expect_sums_with_peers(worker, of, options); });
        }
}
#endif

}  // namespace
}  // namespace kasane::gravity
