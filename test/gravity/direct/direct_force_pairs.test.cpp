// Both sides of each pair at once, distributed over workers: one device executes several workers, and the test moves the reactions. The
// results are the bits of one worker, and as near the long double reference as those of DirectSum.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/space.hpp>

#if defined(KASANE_CUDA)
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>

#include <gravity/direct/near_reference.hpp>

#include <limits>

namespace kasane::gravity {

using test::DirectProblem, test::expect_near_reference, test::Layout, test::make;

namespace {

DirectFrame frame_for(const DirectProblem& problem) {
    const auto n = static_cast<index_t>(problem.source.size());
    std::vector<Vec3<double>> sampled;
    for (int k = 0; k < frame_samples; ++k) sampled.push_back(problem.source[static_cast<std::size_t>(frame_sample(k, n))]);
    return make_direct_frame(sampled, *std::max_element(problem.mass.begin(), problem.mass.end()), n);
}

/// Workers with slabs of one system, all on one device.
class PairWorkers {
   public:
    PairWorkers(const Direct& options, const DirectProblem& problem, int workers)
        : slabs_{size(problem), DirectForce<Cuda>(Cuda{}, options, size(problem)).grain(), workers},
          position_(to_space(Cuda{}, problem.source)),
          mass_(to_space(Cuda{}, problem.mass)) {
        for (int m = 0; m < workers; ++m) {
            auto& force = workers_.emplace_back(Cuda{}, options, slabs_.n);
            force.set(frame_for(problem));
            auto& bodies = bodies_.emplace_back(Cuda{}, force.padded(slabs_.count(m)) * static_cast<index_t>(force.body_bytes()));
            const index_t first = slabs_.begin(m), count = slabs_.count(m);
            force.pack(Cuda{}, position_.view().subview(first, count), mass_.view().subview(first, count), bodies.view());
        }
    }

    /// Accelerations of all. @param backward  source blocks and reactions in the opposite order, between two shares of the own pairs
    std::vector<Vec3<double>> accelerations(bool backward = false) {
        const double nan = std::numeric_limits<double>::quiet_NaN();  // shows a result that is not written
        auto acceleration = to_space(Cuda{}, std::vector<Vec3<double>>(static_cast<std::size_t>(slabs_.n), {nan, nan, nan}));
        const int workers = slabs_.workers;
        for (int m = 0; m < workers; ++m) at(m).begin_pairs(Cuda{}, block(m));
        for (int k = 0; k < workers; ++k) {
            const int m = backward ? workers - 1 - k : k;
            at(m).add_pairs(Cuda{}, block(m), {}, backward ? Share::before : Share::all);
            for (int step = 1; step < workers; ++step) {
                const int other = (m + (backward ? workers - step : step)) % workers;
                if (!at(m).has_pairs(slabs_.begin(m), slabs_.end(m), slabs_.begin(other), slabs_.end(other))) continue;
                const auto bytes = static_cast<std::size_t>(slabs_.count(other)) * at(m).reaction_bytes();
                auto reaction = to_space(Cuda{}, std::vector<std::byte>(bytes, std::byte{0x5a}));  // to be overwritten
                at(m).clear(Cuda{}, reaction.view());
                at(m).add_pairs(Cuda{}, block(other), reaction.view());
                at(other).merge(Cuda{}, reaction.view());
                ++messages;
            }
            if (backward) at(m).add_pairs(Cuda{}, block(m), {}, Share::after);
        }
        for (int m = 0; m < workers; ++m) at(m).end_pairs(Cuda{}, acceleration.view().subview(slabs_.begin(m), slabs_.count(m)));
        return to_host(acceleration);
    }

    int messages = 0;

   private:
    static index_t size(const DirectProblem& problem) { return static_cast<index_t>(problem.source.size()); }
    DirectForce<Cuda>& at(int m) { return workers_[static_cast<std::size_t>(m)]; }
    SourceBlock block(int m) const { return {bodies_[static_cast<std::size_t>(m)].view(), slabs_.count(m), slabs_.begin(m)}; }

    comm::Partition slabs_;
    Buffer<Vec3<double>, Cuda> position_;
    Buffer<double, Cuda> mass_;
    std::vector<DirectForce<Cuda>> workers_;
    std::vector<Buffer<std::byte, Cuda>> bodies_;
};

Direct pair_options(Precision precision, double softening, bool deterministic = true) {
    Direct options;
    options.softening = softening;
    options.G = 2.5;
    options.precision = precision;
    options.deterministic = deterministic;
    options.variant = DirectVariant::pair;
    return options;
}

class DirectForcePairs : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

DirectProblem of_equal_masses(DirectProblem problem) {
    // Components are stored one after the other: tiles of equal masses, and one tile with both masses.
    for (std::size_t i = 0; i < problem.mass.size(); ++i) problem.mass[i] = i < problem.mass.size() / 2 ? 0.25 : 3.0;
    return problem;
}

TEST_F(DirectForcePairs, WorkersGiveTheBitsOfOneWorker) {
    for (const index_t n : {1, 300, 4097, 20000})
        for (const double softening : {0.01, 0.0})
            for (const bool equal : {false, true}) {
                auto problem = make({n, n, 0, softening, n == 300 ? Layout::coincident : Layout::sphere});
                if (equal) problem = of_equal_masses(problem);
                for (const auto precision : {Precision::single_, Precision::double_}) {
                    if (n == 20000 && (precision == Precision::double_ || softening == 0)) continue;  // these do not depend on the size
                    SCOPED_TRACE(std::to_string(n) + (equal ? " of two masses" : "") + ", softening " + std::to_string(softening));
                    const auto options = pair_options(precision, softening);
                    const auto one = PairWorkers(options, problem, 1).accelerations();
                    ASSERT_NO_FATAL_FAILURE(expect_near_reference({one, {}}, options, problem));
                    for (const int workers : {1, 2, 3, 4, 7}) {
                        PairWorkers several(options, problem, workers);
                        EXPECT_EQ(several.accelerations(), one) << workers << " workers";
                        EXPECT_EQ(several.accelerations(true), one) << workers << " workers, backward";
                    }
                }
            }
}

// Enough particles for work units of all sizes and for chunks that the counter assigns.
TEST_F(DirectForcePairs, WorkUnitsOfAllSizesGiveTheSameBits) {
    const auto problem = make({65536, 65536, 0, 0.01});
    const auto options = pair_options(Precision::single_, 0.01);
    const auto one = PairWorkers(options, problem, 1).accelerations();
    for (const int workers : {2, 3, 4}) {
        PairWorkers several(options, problem, workers);
        for (const bool backward : {false, true}) EXPECT_EQ(several.accelerations(backward), one) << workers << " workers";
    }
}

TEST_F(DirectForcePairs, FloatSumsAreNearTheReference) {
    for (const double softening : {0.01, 0.0})
        for (const auto precision : {Precision::single_, Precision::double_}) {
            const auto problem = make({4097, 4097, 0, softening});
            const auto options = pair_options(precision, softening, false);
            PairWorkers workers(options, problem, 3);
            for (const bool backward : {false, true})  // sums in memory are in the precision of the pairs
                expect_near_reference({workers.accelerations(backward), {}}, options, problem, true);
        }
}

// A worker has pairs with about half of the other workers: those after it in the circulant order.
TEST_F(DirectForcePairs, AWorkerHasPairsWithHalfOfTheWorkers) {
    const auto problem = make({8 * 2048, 8 * 2048, 0, 0.01});
    for (const int workers : {2, 4, 8}) {
        PairWorkers several(pair_options(Precision::single_, 0.01), problem, workers);
        several.accelerations();
        EXPECT_LE(several.messages, workers * (workers / 2));
        EXPECT_GE(several.messages, workers * (workers - 1) / 2);
    }
}

TEST_F(DirectForcePairs, AllAtOnePlace) {
    const DirectProblem heap{std::vector<Vec3<double>>(67, {3, -4, 5}), std::vector<Vec3<double>>(67, {3, -4, 5}),
                             std::vector<double>(67, 0.5), Self{0}, 0};
    for (const double softening : {0.0, 0.25})
        for (const auto& a : PairWorkers(pair_options(Precision::single_, softening), heap, 2).accelerations())
            EXPECT_EQ(a, (Vec3<double>{0, 0, 0}));
}

// Forms agree to rounding, and `variant` decides between them.
TEST_F(DirectForcePairs, BothSidesFollowTheVariant) {
    auto options = pair_options(Precision::single_, 0.01);
    EXPECT_TRUE(DirectForce<Cuda>(Cuda{}, options, 10).both_sides());
    options.variant = DirectVariant::tile;
    EXPECT_FALSE(DirectForce<Cuda>(Cuda{}, options, 1 << 20).both_sides());
    options.variant = DirectVariant::automatic;
    EXPECT_FALSE(DirectForce<Cuda>(Cuda{}, options, 10).both_sides());
    EXPECT_TRUE(DirectForce<Cuda>(Cuda{}, options, 1 << 20).both_sides());
    EXPECT_TRUE(DirectForce<Cuda>(Cuda{}, options, 1 << 14).both_sides(8)) << "bits do not depend on the number of workers";
    options.deterministic = false;
    EXPECT_TRUE(DirectForce<Cuda>(Cuda{}, options, 1 << 20).both_sides(8));
    EXPECT_FALSE(DirectForce<Cuda>(Cuda{}, options, 1 << 14).both_sides(8));
    options.variant = DirectVariant::simd;
    EXPECT_THROW(DirectForce<Cuda>(Cuda{}, options, 10), InputError);
}

}  // namespace
}  // namespace kasane::gravity
#endif
