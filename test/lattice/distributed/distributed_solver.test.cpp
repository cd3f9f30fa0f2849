// Solvers of the workers of one process.
#include <lattice/distributed/distributed_solver.hpp>
#include <lattice/lattice_space.hpp>

#include <kasane/core/base/error.hpp>

#include <kasane/lattice/distributed/halo_memory.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <cmath>
#include <limits>
#include <mutex>
#include <random>

namespace kasane::lattice {
namespace {

constexpr DiracParameters distributed_clover{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};

class DistributedSolverOn : public LatticeOnEverySpace {
   protected:
    template <class F>
    void on_workers(int workers, F body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), on_space([](auto on) -> AnySpace { return on; }));
        body(communicator, here);
    }
    void compare(const Extents& n, const GridShape& shape, const DiracParameters& parameters, const SolverOptions& options) {
        on_workers(shape[0] * shape[1] * shape[2] * shape[3],
                   [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
                       expect_solution_of_one_device(communicator, here, n, shape, parameters, options);
                   });
    }
};
KS_ON_LATTICE_SPACES(DistributedSolverOn);

TEST_P(DistributedSolverOn, EveryMethodInEveryPrecision) {
    for (const auto method :
         {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement, Method::automatic})
        for (const auto inner : {Precision::half, Precision::single, Precision::double_})
            compare({{4, 4, 2, 8}}, {2, 1, 1, 2}, distributed_clover, {.method = method, .inner = inner});
}

TEST_P(DistributedSolverOn, EveryNumberOfWorkers) {
    for (const GridShape& shape : {GridShape{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2, 1, 2}, {2, 1, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 4}})
        compare({{4, 4, 4, 8}}, shape, distributed_clover, {});
    compare({{2, 6, 2, 4}}, {1, 3, 1, 1}, distributed_clover, {});
    compare({{2, 2, 2, 32}}, {1, 1, 1, 16}, distributed_clover, {});
}

TEST_P(DistributedSolverOn, EveryFormBoundaryAndGauge) {
    const Extents n{{4, 2, 4, 8}};
    for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
        for (const double csw : {0., 1.2}) compare(n, {1, 1, 2, 2}, {.kappa = 0.11, .csw = csw, .boundary = boundary}, {});
    compare(n, {1, 1, 2, 2}, distributed_clover, {.schur = Schur::asymmetric});
    SolverOptions temporal{.inner = Precision::single};
    temporal.outer_links = {.reals = LinkReals::two_rows, .temporal_gauge = true};
    temporal.inner_links = {.reals = LinkReals::two_rows, .half = true, .temporal_gauge = true};
    for (const GridShape& shape : {GridShape{2, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 4}}) compare(n, shape, distributed_clover, temporal);
}

TEST_P(DistributedSolverOn, DeflatesByLocalCoherence) {
    // One block in a direction of a local lattice, two and three; blocks whose neighbours are of one other worker, and of two.
    for (const GridShape& shape : {GridShape{1, 1, 1, 2}, {2, 1, 2, 2}, {1, 1, 1, 4}})
        compare({{4, 4, 4, 8}}, shape, distributed_clover, small_blocks(Precision::single));
    compare({{2, 6, 2, 4}}, {1, 3, 1, 1}, {.kappa = 0.11, .boundary = Boundary::periodic}, small_blocks(Precision::double_));
    auto smoothed = small_blocks(Precision::half);
    smoothed.schur = Schur::asymmetric;
    smoothed.schwarz = {.method = SchwarzMethod::sap, .block = {2, 2, 2, 2}, .cycles = 1};
    compare({{4, 2, 4, 8}}, {2, 1, 2, 2}, distributed_clover, smoothed);
}

TEST_P(DistributedSolverOn, DeflatesByExactModes) {
    const auto compare_modes = [&](const Extents& n, const GridShape& shape, const DiracParameters& parameters) {
        on_workers(shape[0] * shape[1] * shape[2] * shape[3],
                   [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
                       expect_modes_of_one_device(communicator, here, n, shape, parameters);
                   });
    };
    for (const GridShape& shape : {GridShape{1, 1, 1, 2}, {2, 1, 2, 2}})
        compare_modes({{4, 4, 4, 8}}, shape, {.kappa = 0.125, .csw = 1.2, .boundary = Boundary::antiperiodic});
    compare_modes({{2, 6, 2, 4}}, {1, 3, 1, 1}, {.kappa = 0.13, .boundary = Boundary::periodic});
}

TEST_P(DistributedSolverOn, PreconditionsByBlocks) {
    // Two blocks in a local lattice, and one, where the colours of a worker's blocks follow from its place.
    for (const auto method : {SchwarzMethod::sap, SchwarzMethod::additive}) {
        SolverOptions options{.method = Method::gcr, .inner = Precision::single};
        options.schwarz = {.method = method, .block = {2, 2, 4, 2}, .cycles = 2};
        compare({{4, 4, 4, 8}}, {2, 1, 1, 2}, distributed_clover, options);
    }
}

/// Applies an operator of the little system to coefficients of this worker's blocks, also where it has those of all workers' blocks.
template <class Little, Space S, class Apply>
void with_all_coefficients(const Little& little, const LittleVector<S, double>& in, LittleVector<S, double>& out, const Apply& apply) {
    if constexpr (requires { little.collect(in, out); }) {
        LittleVector<S, double> all(in.data.space(), little.layout()), image(in.data.space(), little.layout());
        little.collect(in, all);
        apply(all, image);
        little.select(image, out);
    } else {
        apply(in, out);
    }
}

/// The little operator that devices take, on a CPU: the product of the divided one, and the same bits on every worker.
void expect_whole_little_operator(comm::Worker& worker, const LocalLattice<Cpu>& local, const LocalLattice<Cpu>::Packed& packed,
                                  const BlockVectors<Cpu, double>& basis, const DiracParameters& parameters,
                                  const LittleVector<Cpu, double>& c, const std::vector<double>& expected) {
    const auto& grid = local.grid();
    HaloExchange<Cpu> exchange(Cpu{}, worker, grid, 96);
    WholeLittleOperator<Cpu, double> all(Cpu{}, basis.layout(), exchange, worker, grid);
    const bool last = grid.place(worker.index())[3] + 1 == grid.shape()[3];
    all.assemble(basis, LittleLinks<Cpu>{packed.links, packed.interior, {1, 1, 1, last ? -1. : 1.}},
                 packed.clover ? &*packed.clover : nullptr, parameters);
    LittleVector<Cpu, double> in(Cpu{}, all.layout()), image(Cpu{}, all.layout()), out(Cpu{}, basis.layout());
    all.collect(c, in);
    all.apply(in, image);
    all.select(image, out);
    const auto got = to_host(out.data), here = to_host(image.data);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-12) << grid.text() << ", worker " << worker.index();
    auto of_first = here;
    worker.broadcast(of_first.data(), of_first.size() * sizeof(double), 0);
    EXPECT_EQ(here, of_first) << grid.text() << ", worker " << worker.index();
}

/// The little operator of every worker, by the textbook operator on the prolonged coefficients of all.
template <Space S>
void expect_little_product(S on, comm::Worker& worker, const RankGrid& grid, const GaugeField& u, const DiracParameters& parameters,
                           const CoherentOptions& options, SpinorField& shared, std::mutex& door) {
    constexpr auto P = Precision::double_;
    LocalLattice<S> local(on, worker, grid);
    const auto packed = local.pack(local_part(grid, worker.index(), u), parameters);
    const EvenOdd<S, P, DistributedDirac<S, P>> whole(local.template dirac<P>(packed, parameters.boundary, {}), local.lattice(), parameters,
                                                      Schur::symmetric, true);
    const auto level = local.template two_level<P>(whole, packed, parameters, Schur::symmetric, options, nullptr);
    const auto& basis = level->basis();
    const auto& layout = basis.layout();
    std::mt19937_64 generator(static_cast<std::uint64_t>(worker.index()));
    std::normal_distribution<double> normal;
    std::vector<double> numbers(static_cast<std::size_t>(layout.coefficients()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (static_cast<int>(i / 16 % static_cast<std::size_t>(layout.packs) * 8 + i % 8) < layout.count) numbers[i] = normal(generator);
    LittleVector<S, double> c(on, layout), out(on, layout), between(on, layout), divided(on, layout);
    copy_from_host(on, c.data.view(), view(numbers));

    SpinorField part(grid.local());
    Field<S, P> field(local.lattice());
    for (const auto parity : {Parity::even, Parity::odd}) {
        basis.prolong(parity, c.data.data(), field);
        store(field, parity, part);
    }
    {
        const std::lock_guard lock(door);
        set_local_part(grid, worker.index(), part, shared);
    }
    worker.barrier();
    const reference::WilsonClover D{u, parameters.kappa, parameters.csw, parameters.boundary == Boundary::antiperiodic};
    const auto image = local_part(grid, worker.index(), D.apply(shared));
    for (const auto parity : {Parity::even, Parity::odd}) {
        load(image, parity, field);
        basis.restrict_to(parity, field, parity == Parity::odd, between.data.data());
    }
    const auto expected = to_host(between.data);
    const auto& little = level->little();
    with_all_coefficients(little, c, out, [&](const auto& in, auto& to) { little.apply(in, to); });
    const auto got = to_host(out.data);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-12) << grid.text() << ", worker " << worker.index();
    // B^-1 c, then P^+ D P of it.
    LittleVector<S, double> between_all(on, little.layout());
    with_all_coefficients(little, c, divided, [&](const auto& in, auto& to) { little.apply_divided(in, between_all, to); });
    with_all_coefficients(little, c, out, [&](const auto&, auto& to) { little.apply(between_all, to); });
    const auto once = to_host(divided.data), twice = to_host(out.data);
    for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(once[i], twice[i], 1e-11) << grid.text();
    if constexpr (std::same_as<S, Cpu>) expect_whole_little_operator(worker, local, packed, basis, parameters, c, expected);
}

TEST_P(DistributedSolverOn, LittleOperatorIsTheProductOfTheThree) {
    struct Case {
        Extents n;
        GridShape shape;
        CoherentOptions options;
    };
    for (const auto& [n, shape, options] : {Case{{{4, 4, 4, 8}}, {1, 1, 1, 2}, {.vectors = 5, .block = {2, 4, 2, 2}}},
                                            Case{{{4, 2, 4, 8}}, {2, 1, 2, 2}, {.vectors = 9, .block = {2, 2, 2, 2}}},
                                            Case{{{2, 6, 2, 8}}, {1, 3, 1, 1}, {.vectors = 3, .block = {2, 2, 2, 4}}}}) {
        const auto u = test::random_gauge(n, 21, rough_links);
        auto all = options;
        all.relaxation_steps = 4, all.rounds = 1, all.smoother_steps = 2;
        on_workers(shape[0] * shape[1] * shape[2] * shape[3],
                   [&, n = n, shape = shape](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
                       const auto grid = RankGrid::given(n, communicator.size(), shape);
                       SpinorField shared(n);
                       std::mutex door;
                       communicator.run([&](comm::Worker& worker) {
                           std::visit([&](auto on) { expect_little_product(on, worker, grid, u, distributed_clover, all, shared, door); },
                                      here[static_cast<std::size_t>(worker.local())]);
                       });
                   });
    }
}

TEST_P(DistributedSolverOn, MemoryOfHalosIsCounted) {
    const auto grid = RankGrid::given({{8, 8, 8, 16}}, 4, {1, 1, 2, 2});
    const auto u = test::random_gauge(grid.lattice(), 22, rough_links);
    for (const double csw : {0., 1.2})
        on_workers(4, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            const DiracParameters parameters{.kappa = 0.11, .csw = csw};
            communicator.run([&](comm::Worker& worker) {
                std::visit(
                    [&]<Space S>(S on) {
                        constexpr auto P = Precision::double_;
                        LocalLattice<S> local(on, worker, grid);
                        const auto packed = local.pack(local_part(grid, worker.index(), u), parameters);
                        const auto divided = local.template dirac<P>(packed, parameters.boundary, {});
                        const Dirac<S, P> alone(local.lattice(), packed.links, packed.clover ? &*packed.clover : nullptr,
                                                parameters.boundary, {});
                        const auto sites = static_cast<double>(grid.face_sites());
                        const double taken = static_cast<double>(divided.bytes() - alone.bytes()) + 2 * 96 * sites;
                        const double around = csw == 0 ? 0 : 1152. * (10 * 6 * 8 * 8 - 4 * 8 * 8 * 8);
                        const double counted = halo_bytes(grid, parameters, {.inner = Precision::double_}, false) - around;
                        EXPECT_GE(counted, 0.99 * taken);
                        if (std::same_as<S, Cpu>) {
                            EXPECT_LE(counted, 1.2 * taken);
                        }
                    },
                    here[static_cast<std::size_t>(worker.local())]);
            });
        });
    SolverOptions coherent{.method = Method::gcr, .inner = Precision::single};
    const double without = halo_bytes(grid, {}, coherent, false);
    coherent.coherent.vectors = 16;
    EXPECT_GT(halo_bytes(grid, {}, coherent, false), without + 2 * 4 * 384 * static_cast<double>(grid.face_sites()));
    // A device has the matrices of all blocks, nine and an inverse, and for a while those of its own twice.
    const double matrices = 4. * 32 * 2 * 32 * static_cast<double>(grid.lattice().volume()) / 256;
    EXPECT_GT(halo_bytes(grid, {}, coherent, true), halo_bytes(grid, {}, coherent, false) + (3. / 4 * 10 + 18. / 4) * matrices);
    EXPECT_THROW(check_memory(Cpu{1}, grid.local(), {}, {}, {.halo = 1e18}), InputError);
    // A lattice that fits once, and not with as many others in the same memory.
    EXPECT_NO_THROW(check_memory(Cpu{1}, {{16, 16, 16, 16}}, {}, {}, {.sharing = 1}));
    EXPECT_THROW(check_memory(Cpu{1}, {{16, 16, 16, 16}}, {}, {}, {.sharing = 1'000'000}), InputError);
}

TEST_P(DistributedSolverOn, AppliesTheOperatorAndItsAdjoint) {
    const Extents n{{4, 4, 2, 8}};
    const auto u = test::random_gauge(n, 9);
    const auto psi = test::random_spinor(n, 1);
    const DiracParameters parameters{.kappa = 0.12, .csw = 0.3};
    const reference::WilsonClover D{u, parameters.kappa, parameters.csw, true};
    for (const bool temporal : {false, true})
        on_workers(4, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
            SolverOptions options{.inner = Precision::double_};
            options.outer_links.temporal_gauge = temporal;
            with_distributed_solver(communicator, here, u, {2, 1, 1, 2}, parameters, options, [&](DistributedSolver& solver) {
                for (const bool adjoint : {false, true}) {
                    SpinorField out;
                    solver.apply(psi, out, adjoint);
                    EXPECT_LT(reference::relative_difference(out, D.apply(psi, adjoint)), 1e-14);
                }
                SpinorField out;
                EXPECT_THROW(solver.apply(SpinorField(Extents{{2, 2, 2, 2}}), out), LogicError);
            });
        });
}

TEST_P(DistributedSolverOn, KeepsTheContractOfOneDevice) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::random_gauge(n, 5, rough_links);
    const auto b = test::random_spinor(n, 6);
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        with_distributed_solver(communicator, here, u, {1, 1, 1, 2}, distributed_clover, {.rtol = 1e-11}, [&](DistributedSolver& solver) {
            // The first guess, which is the solution.
            SpinorField x(n);
            ASSERT_TRUE(solver.solve(b, x).converged());
            const auto again = solver.solve(b, x);
            EXPECT_TRUE(again.converged());
            EXPECT_LE(again.inner_iterations, 2);
            // A source of zeros; numbers that are not finite, which leave x as it was.
            ASSERT_TRUE(solver.solve(SpinorField(n), x).converged());
            EXPECT_EQ(x.values, SpinorField(n).values);
            auto bad = b;
            bad.values.back() = std::numeric_limits<double>::quiet_NaN();
            auto y = test::random_spinor(n, 1);
            const auto before = y.values;
            EXPECT_EQ(solver.solve(bad, y).end, krylov::Outcome::not_finite);
            EXPECT_EQ(y.values, before);
            // A source on one site of the last worker alone, and sources far outside the range of floats.
            SpinorField point(n), z(n);
            point.at(n.volume() - 1, 2, 1) = 1;
            EXPECT_TRUE(solver.solve(point, z).converged());
            EXPECT_LE(textbook_residual(u, distributed_clover, point, z), 1.01e-11);
            auto tiny = b;
            for (auto& value : tiny.values) value *= 0x1p-997;
            SpinorField w(n);
            EXPECT_TRUE(solver.solve(tiny, w).converged());
            for (const double size : {0x1p-664, 0x1p515}) {  // 1e-200 and 1e155: their squares are 0 and infinite
                auto sized = point;
                for (auto& value : sized.values) value *= size;
                SpinorField s(n);
                EXPECT_TRUE(solver.solve(sized, s).converged()) << size;
                for (auto& value : s.values) value *= 1 / size;
                EXPECT_LE(textbook_residual(u, distributed_clover, point, s), 1.01e-11) << size;
            }
            // A stop.
            int asked = 0;
            SpinorField v(n);
            const auto stopped = solver.solve(b, v, [&](int iteration, double) { return ++asked, iteration >= 3; });
            EXPECT_EQ(stopped.end, krylov::Outcome::stopped);
            EXPECT_LE(std::max(stopped.iterations, stopped.inner_iterations), 3 + 8);
            EXPECT_NEAR(stopped.true_residual, textbook_residual(u, distributed_clover, b, v), 1e-13);
        });
    });
}

TEST_P(DistributedSolverOn, PromotesHalfPrecisionThatStagnates) {
    // As on one device: the links are packed again, in single precision.
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::unit_gauge(n);
    const auto b = test::random_spinor(n, 2);
    const DiracParameters light{.kappa = 0.1249999, .boundary = Boundary::periodic};
    on_workers(4, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        with_distributed_solver(communicator, here, u, {1, 1, 2, 2}, light, {.method = Method::bicgstab, .rtol = 1e-9},
                                [&](DistributedSolver& solver) {
                                    SpinorField x(n);
                                    const auto log = solver.solve(b, x);
                                    EXPECT_EQ(log.end, krylov::Outcome::converged);
                                    EXPECT_LE(textbook_residual(u, light, b, x), 1e-9 * (1 + 1e-3));
                                    EXPECT_FALSE(log.notes.empty());
                                });
    });
}

TEST_P(DistributedSolverOn, RefusesBadInputOnce) {
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::random_gauge(n, 5, rough_links);
    SolverOptions eight;
    eight.inner_links.reals = LinkReals::parameters;
    auto damaged = u;
    damaged.links[7].e[0][0].re = std::numeric_limits<double>::infinity();
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
        const auto make = [&](const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
            with_distributed_solver(communicator, here, links, {1, 1, 1, 2}, parameters, options, [](DistributedSolver&) {});
        };
        EXPECT_THROW(make(u, distributed_clover, eight), InputError);
        EXPECT_THROW(make(damaged, distributed_clover, {}), InputError);
        EXPECT_THROW(make(u, {.kappa = -1}, {}), InputError);
        EXPECT_THROW(make(u, {.kappa = 0.2, .csw = 40}, {}), InputError) << "the clover term is not positive definite";
        const auto refused = [&](const SolverOptions& options, const char* remedy) {
            try {
                make(u, distributed_clover, options);
                ADD_FAILURE() << remedy;
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find(remedy), std::string::npos) << error.what();
            }
        };
        SolverOptions blocks{.method = Method::gcr, .coherent = {.vectors = 4, .block = {4, 4, 4, 4}}};
        refused(blocks, "Usable extents of a block are x: 2 4; y: 2 4; z: 2 4; t: 2");
        blocks.coherent = {};
        blocks.schwarz = {.method = SchwarzMethod::sap, .block = {4, 4, 4, 4}};
        refused(blocks, "Usable extents of a block are x: 2 4; y: 2 4; z: 2 4; t: 2");
        with_distributed_solver(communicator, here, u, {1, 1, 1, 2}, distributed_clover, {}, [](DistributedSolver& solver) {
            EXPECT_THROW(solver.deflate(EigenmodeOptions{.count = 2}), InputError) << "not by conjugate gradients";
        });
        blocks.schwarz = {.method = SchwarzMethod::ras, .block = {4, 4, 4, 2}, .overlap = 3};
        refused(blocks, "overlap = 3 must lie between 0 and the smallest extent of a block, 2");
        blocks.schwarz = {.method = SchwarzMethod::multiplicative, .block = {4, 4, 4, 4}};
        refused(blocks, "Usable extents of a block are x: 2 4; y: 2 4; z: 2 4; t: 2");
        EXPECT_NO_THROW(make(u, distributed_clover, {}));
        EXPECT_THROW(DistributedSolver(communicator, here, RankGrid::chosen({{4, 4, 4, 8}}, 2), u, distributed_clover), LogicError);
    });
}

}  // namespace
}  // namespace kasane::lattice
