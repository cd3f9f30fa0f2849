// Direct summation over source blocks, on every space: results are the same bits for any order of the source blocks and any distribution
// of the particles over workers, and as near the long double reference as those of DirectSum.
#include <kasane/core/comm/partition.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/perf/simd.hpp>

#include <gravity/direct/near_reference.hpp>
#include <gravity/space_test.hpp>

#include <limits>
#include <numeric>

namespace kasane::gravity {

using test::DirectProblem, test::DirectResult, test::expect_near_reference, test::Layout, test::make;

namespace {

/// The distribution of the particles over workers, and the order of the source blocks.
struct Dealt {
    int workers = 1;
    bool reversed = false;  ///< the slabs come in falling order, beginning with one's own; otherwise rising
    bool joined = false;    ///< neighbouring slabs come as one source block of two
};
std::ostream& operator<<(std::ostream& to, const Dealt& dealt) {
    return to << dealt.workers << " workers" << (dealt.reversed ? ", reversed" : "") << (dealt.joined ? ", joined" : "");
}

enum class Want { both, acceleration, potential };

DirectFrame frame_of(const DirectProblem& problem) {
    const auto n = static_cast<index_t>(problem.source.size());
    std::vector<Vec3<double>> sampled;
    for (int k = 0; k < frame_samples; ++k) sampled.push_back(problem.source[static_cast<std::size_t>(frame_sample(k, n))]);
    return make_direct_frame(sampled, *std::max_element(problem.mass.begin(), problem.mass.end()), n);
}

/// The workers of a communicator, executed one after the other on one space.
template <Space S>
class Workers {
   public:
    Workers(S on, const Direct& options, const DirectProblem& problem, const DirectFrame& frame, int workers)
        : on_(on),
          force_(on, options, size(problem)),
          partition_{size(problem), force_.grain(), workers},
          position_(to_space(on, problem.source)),
          mass_(to_space(on, problem.mass)),
          bodies_(on, force_.padded(size(problem)) * bytes()) {
        force_.set(frame);
        for (int m = 0; m < workers; ++m) {
            const index_t first = partition_.begin(m), count = partition_.count(m);
            force_.pack(on_, position_.view().subview(first, count), mass_.view().subview(first, count), bodies_of(first, count));
        }
    }

    /// The field at every particle, evaluated by the worker that has the particle.
    DirectResult field(const Dealt& dealt, Want want) {
        const double nan = std::numeric_limits<double>::quiet_NaN();  // shows a result that is not written
        auto acceleration = to_space(on_, std::vector<Vec3<double>>(want == Want::potential ? 0 : all(), {nan, nan, nan}));
        auto potential = to_space(on_, std::vector<double>(want == Want::acceleration ? 0 : all(), nan));
        for (int m = 0; m < partition_.workers; ++m) {
            const index_t first = partition_.begin(m), count = partition_.count(m);
            force_.begin(on_, position_.view().subview(first, count), first, want != Want::potential, want != Want::acceleration);
            add_all(dealt, m);
            Field out;
            if (want != Want::potential) out.acceleration = acceleration.view().subview(first, count);
            if (want != Want::acceleration) out.potential = potential.view().subview(first, count);
            force_.end(on_, out);
        }
        return {to_host(acceleration), to_host(potential)};
    }

    /// Accelerations of some particles, in the order given.
    std::vector<Vec3<double>> accelerations_of(const std::vector<Vec3<double>>& some, const Dealt& dealt) {
        const auto targets = to_space(on_, some);
        Buffer<Vec3<double>, S> acceleration(on_, targets.size());
        force_.begin(on_, targets.view(), Self::none, true, false);
        add_all(dealt, 0);
        force_.end(on_, {acceleration.view(), {}});
        return to_host(acceleration);
    }

   private:
    static index_t size(const DirectProblem& problem) { return static_cast<index_t>(problem.source.size()); }
    index_t all() const { return partition_.n; }
    index_t bytes() const { return static_cast<index_t>(force_.body_bytes()); }
    View<std::byte> bodies_of(index_t first, index_t count) {
        return bodies_.view().subview(first * bytes(), force_.padded(count) * bytes());
    }
    void add_all(const Dealt& dealt, int own) {
        const int workers = partition_.workers, together = dealt.joined ? 2 : 1;
        std::vector<int> slabs;
        for (int m = 0; m < workers; m += together) slabs.push_back(m);
        std::rotate(slabs.begin(), slabs.begin() + own / together, slabs.end());
        if (dealt.reversed) std::reverse(slabs.begin() + 1, slabs.end());
        for (const int m : slabs) {
            const index_t first = partition_.begin(m), count = partition_.count(m, std::min(together, workers - m));
            force_.add(on_, {bodies_of(first, count), count, first});
        }
    }

    S on_;
    DirectForce<S> force_;
    comm::Partition partition_;
    Buffer<Vec3<double>, S> position_;
    Buffer<double, S> mass_;
    Buffer<std::byte, S> bodies_;
};

DirectResult evaluate(const AnySpace& space, const Direct& options, const DirectProblem& problem, const Dealt& dealt, Want want) {
    return std::visit([&]<Space S>(S on) { return Workers<S>(on, options, problem, frame_of(problem), dealt.workers).field(dealt, want); },
                      space);
}

const Dealt deals[] = {{2}, {3, true}, {3, false, true}, {7}, {7, true, true}, {8}};

Direct options_of(Precision precision, double softening, DirectVariant variant = DirectVariant::automatic) {
    Direct options;
    options.softening = softening;
    options.G = 2.5;
    options.precision = precision;
    options.variant = variant;
    return options;
}

class SourceBlocks : public OnEverySpace {};
KS_ON_EVERY_SPACE(SourceBlocks);

TEST_P(SourceBlocks, GrainIsAFunctionOfTheTotal) {
    std::visit(
        [&]<Space S>(S on) {
            for (const auto precision : {Precision::single_, Precision::double_})
                for (const index_t total : {1, 5, 1000, 4097, 100'000}) {
                    const DirectForce<S> force(on, options_of(precision, 0.01), total);
                    EXPECT_GT(force.grain(), 0);
                    EXPECT_EQ(force.body_bytes(), precision == Precision::single_ ? 16 : 32);
                    EXPECT_EQ(force.padded(0), 0);
                    EXPECT_EQ(force.padded(1), force.grain());
                    EXPECT_EQ(force.padded(3 * force.grain()), 3 * force.grain());
                    EXPECT_EQ(force.padded(3 * force.grain() + 1), 4 * force.grain());
                }
        },
        space_);
}

TEST_P(SourceBlocks, DoNotDependOnTheOrderAndTheDistribution) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0})
            for (const index_t n : {1, 5, 1000, 4097}) {
                const auto problem = make({n, n, 0, softening, n == 1000 ? Layout::coincident : Layout::sphere});
                const auto options = options_of(precision, softening);
                for (const auto want : {Want::both, Want::acceleration, Want::potential}) {
                    const auto one = evaluate(space_, options, problem, {}, want);
                    for (const auto& dealt : deals) {
                        const auto got = evaluate(space_, options, problem, dealt, want);
                        ASSERT_EQ(got.acceleration, one.acceleration) << n << " particles, softening " << softening << ", " << dealt;
                        ASSERT_EQ(got.potential, one.potential) << n << " particles, softening " << softening << ", " << dealt;
                    }
                }
            }
}

TEST_P(SourceBlocks, AgreeWithTheReference) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0})
            for (const index_t n : {1, 5, 1000, 4097}) {
                SCOPED_TRACE(testing::Message() << n << " particles, softening " << softening);
                const auto problem = make({n, n, 0, softening, n == 1000 ? Layout::coincident : Layout::sphere});
                const auto options = options_of(precision, softening);
                for (const auto want : {Want::both, Want::acceleration, Want::potential})
                    ASSERT_NO_FATAL_FAILURE(expect_near_reference(evaluate(space_, options, problem, {3}, want), options, problem));
            }
}

TEST_P(SourceBlocks, AccelerationsDoNotDependOnTheSetOfTargets) {
    // Targets of a block step: other targets in the same registers or the same group must not matter.
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0}) {
            const auto problem = make({4097, 4097, 0, softening});
            const auto options = options_of(precision, softening);
            const auto all = evaluate(space_, options, problem, {}, Want::acceleration);
            for (const std::size_t stride : {1, 3, 64, 1000, 4096}) {
                std::vector<Vec3<double>> some, expected;
                for (std::size_t i = problem.target.size() - 1; i < problem.target.size(); i -= stride) {
                    some.push_back(problem.target[i]);
                    expected.push_back(all.acceleration[i]);
                }
                for (const auto& dealt : {Dealt{1}, Dealt{7, true}}) {
                    const auto got = std::visit(
                        [&]<Space S>(S on) {
                            return Workers<S>(on, options, problem, frame_of(problem), dealt.workers).accelerations_of(some, dealt);
                        },
                        space_);
                    ASSERT_EQ(got, expected) << "every particle of " << stride << ", softening " << softening << ", " << dealt;
                }
            }
        }
}

TEST_P(SourceBlocks, WholeEvaluationsHaveTheSameBits) {
    // On a CUDA device few pairs are evaluated in one launch, whose second call finds the sums as the first one has left them.
    const auto check = [&](const Direct& options, const DirectProblem& problem) {
        const auto expected = evaluate(space_, options, problem, {}, Want::acceleration).acceleration;
        std::visit(
            [&]<Space S>(S on) {
                DirectForce<S> force(on, options, static_cast<index_t>(problem.source.size()));
                force.set(frame_of(problem));
                const auto position = to_space(on, problem.source);
                const auto mass = to_space(on, problem.mass);
                const Sources all{position.view(), mass.view(), {}};
                const auto evaluated = [&](const std::vector<Vec3<double>>& targets, const Sources& sources) {
                    const auto target = to_space(on, targets);
                    const double nan = std::numeric_limits<double>::quiet_NaN();
                    auto acceleration = to_space(on, std::vector<Vec3<double>>(targets.size(), {nan, nan, nan}));
                    force.accelerate_at(target.view(), sources, acceleration.view());
                    return to_host(acceleration);
                };
                for (int call = 0; call < 2; ++call) {
                    Buffer<Vec3<double>, S> acceleration(on, position.size());
                    force.accelerate(all, acceleration.view());
                    ASSERT_EQ(to_host(acceleration), expected);
                    for (const std::size_t stride : {2, 100, 4000}) {
                        std::vector<Vec3<double>> some, of_some;
                        for (std::size_t i = 0; i < expected.size(); i += stride)
                            some.push_back(problem.target[i]), of_some.push_back(expected[i]);
                        ASSERT_EQ(evaluated(some, all), of_some) << "every particle of " << stride;
                    }
                }
                EXPECT_EQ(evaluated({{1, 2, 3}}, {}), (std::vector<Vec3<double>>{{0, 0, 0}})) << "no sources";
                // Few sources on all targets, against packed sources, their sums and results one after another.
                const Sources few{position.view().subview(0, std::min<index_t>(position.size(), 1000)),
                                  mass.view().subview(0, std::min<index_t>(mass.size(), 1000)),
                                  {}};
                Buffer<std::byte, S> bodies(on, force.padded(few.position.n) * static_cast<index_t>(force.body_bytes()));
                Buffer<Vec3<double>, S> acceleration(on, position.size());
                force.pack(on, few.position, few.mass, bodies.view(), {});
                force.begin(on, position.view(), Self::none, true, false, {});
                force.add(on, {bodies.view(), few.position.n, 0});
                force.end(on, {acceleration.view(), {}});
                ASSERT_EQ(evaluated(problem.target, few), to_host(acceleration)) << "few sources";
            },
            space_);
    };
    const bool on_cpu = std::holds_alternative<Cpu>(space_);
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0})
            for (const index_t n : {index_t{1}, index_t{5}, index_t{127}, index_t{257}, index_t{4097}, on_cpu ? 3 : index_t{8192},
                                    on_cpu ? 2 : index_t{11'500}}) {
                SCOPED_TRACE(testing::Message() << n << " particles, softening " << softening);
                auto problem = make({n, n, 0, softening, n == 257 ? Layout::coincident : Layout::sphere});
                ASSERT_NO_FATAL_FAILURE(
                    check(options_of(precision, softening, on_cpu ? DirectVariant::automatic : DirectVariant::tile), problem));
                if (n < 300) continue;
                std::fill(problem.mass.begin(), problem.mass.begin() + n / 2, 0.25);  // runs of one mass
                problem.source[600] = problem.target[600] = {1e200, 0, -1e200};       // not one of the sampled particles
                ASSERT_NO_FATAL_FAILURE(
                    check(options_of(precision, softening, on_cpu ? DirectVariant::automatic : DirectVariant::tile), problem));
            }
}

TEST_P(SourceBlocks, ANonFiniteParticleDoesNotAffectOthers) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0})
            for (const double where : {1e200, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
                auto without = make({257, 257, 0, softening});
                without.mass[100] = 0;
                auto problem = without;
                problem.mass[100] = 0.5;  // not one of the sampled particles
                problem.source[100] = problem.target[100] = {where, 0, -where};
                const auto options = options_of(precision, softening);
                auto got = evaluate(space_, options, problem, {2}, Want::both);
                const auto expected = evaluate(space_, options, without, {2}, Want::both);
                // It still attracts with 1 / r^2 from its clamped position, which is below the digits of the sums.
                for (std::size_t i = 0; i < 257; ++i) {
                    if (i == 100) continue;
                    const auto own = static_cast<index_t>(i);
                    const auto exact = reference::direct(without.target[i], without.source, without.mass, own, softening, options.G);
                    const auto allowed = test::bound(options, without, exact);
                    ASSERT_LE(test::distance(got.acceleration[i], expected.acceleration[i]), allowed.acceleration) << i << ", " << where;
                    ASSERT_LE(std::abs(got.potential[i] - expected.potential[i]), allowed.potential) << i << ", " << where;
                }
            }
}

TEST_P(SourceBlocks, AllAtOnePlace) {
    const std::size_t n = 67;
    const std::vector<Vec3<double>> place(n, {3, -4, 5});
    const DirectProblem heap{place, place, std::vector<double>(n, 0.5), Self{0}, 0};
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.0, 0.25}) {
            const auto got = evaluate(space_, options_of(precision, softening), heap, {2}, Want::both);
            for (std::size_t i = 0; i < n; ++i) {
                EXPECT_EQ(got.acceleration[i], (Vec3<double>{0, 0, 0}));
                EXPECT_NEAR(got.potential[i], softening > 0 ? -2.5 * 66 * 0.5 / 0.25 : 0, 330 * 1e-6);
            }
        }
}

TEST(SourceBlocksOnCpu, DoNotDependOnThreads) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const auto variant : {DirectVariant::simd, DirectVariant::plain}) {
            const auto problem = make({4097, 4097, 0, 0.01});
            const auto options = options_of(precision, 0.01, variant);
            const auto one = evaluate(Cpu{1}, options, problem, {3}, Want::both);
            for (const int threads : {2, 5}) {
                const auto several = evaluate(Cpu{threads}, options, problem, {3}, Want::both);
                EXPECT_EQ(one.acceleration, several.acceleration);
                EXPECT_EQ(one.potential, several.potential);
            }
        }
}

TEST(SourceBlocksOnCpu, PlainDoesNotDependOnTheOrder) {
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 0.0}) {
            const auto problem = make({1000, 1000, 0, softening, Layout::coincident});
            const auto options = options_of(precision, softening, DirectVariant::plain);
            const auto one = evaluate(Cpu{1}, options, problem, {}, Want::both);
            expect_near_reference(one, options, problem);
            for (const auto& dealt : deals) {
                const auto got = evaluate(Cpu{1}, options, problem, dealt, Want::both);
                EXPECT_EQ(got.acceleration, one.acceleration) << dealt;
                EXPECT_EQ(got.potential, one.potential) << dealt;
            }
        }
}

TEST(SourceBlocksOnCpu, EverySimdTargetSumsInAnyOrder) {
    for (const auto& target : simd_targets()) {
        select_simd_target(target);
        for (const auto precision : {Precision::single_, Precision::double_})
            for (const double softening : {0.01, 0.0})
                for (const auto want : {Want::both, Want::acceleration}) {
                    const auto problem = make({1000, 1000, 0, softening, Layout::coincident});
                    const auto options = options_of(precision, softening);
                    const auto one = evaluate(Cpu{1}, options, problem, {}, want);
                    const auto four = evaluate(Cpu{1}, options, problem, {4, true}, want);
                    EXPECT_EQ(one.acceleration, four.acceleration) << target;
                    EXPECT_EQ(one.potential, four.potential) << target;
                    expect_near_reference(four, options, problem);
                }
    }
    select_simd_target("");
}

TEST(SourceBlocksOnCpu, ACoarseResolutionDoesNotCostDigits) {
    // The frame of very many equal bodies, or a softening far below their distances: the resolution becomes coarser with both, but no
    // digits are lost.
    for (const auto precision : {Precision::single_, Precision::double_})
        for (const double softening : {0.01, 1e-9, 0.0}) {
            SCOPED_TRACE(softening);
            const auto problem = make({257, 257, 0, softening});
            auto frame = frame_of(problem);
            frame.total = index_t{1} << 26;
            const auto options = options_of(precision, softening);
            ASSERT_NO_FATAL_FAILURE(
                expect_near_reference(Workers<Cpu>(Cpu{1}, options, problem, frame, 1).field({}, Want::both), options, problem));
        }
}

TEST(SourceBlocksOnCpu, AFarParticleInTheFrameDoesNotHideClosePairs) {
    // A step far too long for one of the sampled particles has thrown it away: the frame is 1e15 softenings wide.
    auto problem = make({1000, 1000, 0, 0.01});
    const auto near = problem;
    problem.source[0] = problem.target[0] = {1e13, -1e13, 0};
    problem.mass[0] = 1e-4;
    const auto options = options_of(Precision::single_, 0.01);
    ASSERT_GT(frame_of(problem).extent, 1e13);
    const auto got = evaluate(Cpu{1}, options, problem, {}, Want::acceleration);
    for (std::size_t i = 1; i < near.target.size(); ++i) {
        const auto exact = reference::direct(problem.target[i], problem.source, problem.mass, static_cast<index_t>(i), 0.01, 2.5);
        ASSERT_LE(test::distance(got.acceleration[i], exact.acceleration), test::bound(options, near, exact).acceleration) << i;
    }
    EXPECT_EQ(got.acceleration, evaluate(Cpu{1}, options, problem, {4, true}, Want::acceleration).acceleration);
}

TEST(SourceBlocksOnCpu, RefuseBadOptions) {
    Direct options;
    options.softening = -1;
    EXPECT_THROW((DirectForce<Cpu>{Cpu{}, options, 10}), InputError);
    options = {};
    options.variant = DirectVariant::pair;
    EXPECT_THROW((DirectForce<Cpu>{Cpu{}, options, 10}), InputError);
    EXPECT_FALSE((DirectForce<Cpu>{Cpu{}, {}, 10}).both_sides());
}

}  // namespace
}  // namespace kasane::gravity
