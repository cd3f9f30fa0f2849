// Several right-hand sides at once: hop, algebra, solver. The oracle of a column is the column alone, whose operator and solver are tested
// against the textbook in other files; here the bits must be the same, because columns do not mix and sums keep their order.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/columns.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/one_column.hpp>
#include <kasane/lattice/solve/one_device.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>
#include <kasane/lattice/solve/solver.hpp>
#include <lattice/lattice_space.hpp>
#include <lattice/random_fields.hpp>
#include <reference/wilson.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace kasane::lattice {
namespace {

using test::random_gauge;
using test::random_spinor;

constexpr DiracParameters columns_operator{.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic};
constexpr double columns_roughness = 0.4;

class Columns : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Columns);

template <Space S, Precision P>
FieldColumns<S, P> fields(const std::shared_ptr<const Lattice<S>>& lattice, Parity parity, int columns, std::uint64_t seed) {
    FieldColumns<S, P> made(lattice, columns);
    for (int c = 0; c < columns; ++c) load(random_spinor(lattice->extents(), seed + static_cast<std::uint64_t>(c)), parity, made[c]);
    return made;
}
template <Space S, Precision P>
std::vector<std::complex<double>> values(const Field<S, P>& field, Parity parity) {
    SpinorField there(field.lattice()->extents());
    store(field, parity, there);
    return there.values;
}

/// Every form, with and without x and in place, of 1 to 14 columns: more than a launch, and no multiple of the columns of a thread.
template <Space S, Precision P>
void check_hops(S on, const Extents& n, const LinkStorage& storage, bool with_clover) {
    SCOPED_TRACE(name(P, storage) + " on " + text(n) + (with_clover ? " with" : " without") + " a clover term");
    const auto lattice = std::make_shared<const Lattice<S>>(on, n);
    auto gauge = random_gauge(n, 5, columns_roughness);
    const auto links = links_on(on, gauge);
    std::optional<CloverTerm<S>> A;
    if (with_clover) A = clover_term(links, 0.12);
    const Dirac<S, P> D(lattice, links, A ? &*A : nullptr, Boundary::antiperiodic, storage);
    constexpr int most = 14;
    FieldAlgebra<S, P> algebra(lattice);
    FieldColumns<S, P> out(lattice, most);
    Field<S, P> want(lattice);
    for (const Parity to : {Parity::even, Parity::odd}) {
        const auto in = fields<S, P>(lattice, other(to), most, 10), own = fields<S, P>(lattice, to, most, 30);
        for (const int columns : {1, 2, 5, most}) {
            ColumnSet set;
            for (int c = 0; c < columns; ++c) set.push_back(c);
            for (const bool adjoint : {false, true})
                for (const HopForm form : {HopForm::plain, HopForm::inverse, HopForm::clover})
                    for (const bool with_x : {false, true}) {
                        if (form == HopForm::clover && !with_x) continue;
                        for (const int c : set) algebra.copy(own[c], out[c]);  // in place where there is x
                        const FieldColumns<S, P>& x = out;
                        D.hop(form, to, adjoint, -0.37, in.of(set), with_x ? x.of(set) : std::vector<const Field<S, P>*>{}, out.of(set));
                        for (const int c : set) {
                            D.hop(form, to, adjoint, -0.37, in[c], with_x ? &own[c] : nullptr, want);
                            EXPECT_EQ(values(out[c], to), values(want, to))
                                << "column " << c << " of " << columns << ", form " << static_cast<int>(form) << adjoint << with_x;
                        }
                    }
        }
    }
}

TEST_P(Columns, AHopOfSeveralHasTheBitsOfEach) {
    on_space([](auto on) {
        for (const Extents n : {Extents{{4, 4, 4, 8}}, Extents{{6, 2, 10, 4}}})
            for (const bool with_clover : {false, true}) {
                for (const auto reals : {LinkReals::all, LinkReals::two_rows}) {
                    check_hops<decltype(on), Precision::half>(on, n, {.reals = reals}, with_clover);
                    check_hops<decltype(on), Precision::single>(on, n, {.reals = reals}, with_clover);
                    check_hops<decltype(on), Precision::double_>(on, n, {.reals = reals}, with_clover);
                }
                check_hops<decltype(on), Precision::single>(on, n, {.reals = LinkReals::parameters, .half = true}, with_clover);
            }
    });
}

TEST_P(Columns, AHopRefusesUnequalNumbersOfFields) {
    on_space([]<Space S>(S on) {
        const Extents n{{4, 4, 4, 4}};
        const auto lattice = std::make_shared<const Lattice<S>>(on, n);
        const auto links = links_on(on, random_gauge(n, 5, columns_roughness));
        const Dirac<S, Precision::single> D(lattice, links, nullptr, Boundary::periodic, {});
        const FieldColumns<S, Precision::single> in(lattice, 3);
        FieldColumns<S, Precision::single> out(lattice, 3);
        EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, in.of({0, 1, 2}), {}, out.of({0, 1})), LogicError);
        EXPECT_THROW(D.hop(HopForm::plain, Parity::even, false, 1, in.of({0, 1, 2}), in.of({0}), out.of({0, 1, 2})), LogicError);
    });
}

template <Space S, Precision P>
void check_algebra(S on) {
    SCOPED_TRACE(name(P));
    const Extents n{{6, 2, 10, 4}};
    const auto lattice = std::make_shared<const Lattice<S>>(on, n);
    ColumnAlgebra<S, P> all(lattice);
    FieldAlgebra<S, P> one(lattice);
    constexpr int columns = 15;
    const ColumnSet set{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};  // all but 3
    const auto made = [&](std::uint64_t seed) { return fields<S, P>(lattice, Parity::even, columns, seed); };
    const auto x = made(1), y = made(20), z = made(40);
    std::vector<std::complex<double>> a, b;
    for (const int c : set) a.emplace_back(0.3 * c, 1), b.emplace_back(c == 2 ? 0. : -0.7, c == 2 ? 0. : 0.1 * c);

    const auto norms = all.norm2(set, x);
    const auto dots = all.dot(set, x, y);
    const auto both = all.dot_norm2(set, x, y);
    auto sum = made(60), plus = made(60), way = made(60), u = made(60), r = made(80);
    all.axpby(set, a, x, b, sum);
    const auto plus_norms = all.axpy_norm2(set, a, x, plus);
    all.direction(set, x, a, b, y, way);
    const auto rest = all.finish(set, a, x, b, y, z, u, r);
    const auto was = made(60), was_r = made(80);
    for (std::size_t i = 0; i < set.size(); ++i) {
        const int c = set[i];
        EXPECT_EQ(norms[i], one.norm2(x[c]));
        EXPECT_EQ(dots[i], one.dot(x[c], y[c]));
        EXPECT_EQ(both[i], one.dot_norm2(x[c], y[c]));
        const auto copy = [&](const Field<S, P>& of) {
            auto made_here = one.like(of);
            one.copy(of, made_here);
            return made_here;
        };
        auto want = copy(was[c]);
        one.axpby(a[i], x[c], b[i], want);
        EXPECT_EQ(values(sum[c], Parity::even), values(want, Parity::even));
        want = copy(was[c]);
        EXPECT_EQ(plus_norms[i], one.axpy_norm2(a[i], x[c], want));
        EXPECT_EQ(values(plus[c], Parity::even), values(want, Parity::even));
        want = copy(was[c]);
        one.direction(x[c], a[i], b[i], y[c], want);
        EXPECT_EQ(values(way[c], Parity::even), values(want, Parity::even));
        want = copy(was[c]);
        auto want_r = copy(was_r[c]);
        EXPECT_EQ(rest[i], one.finish(a[i], x[c], b[i], y[c], z[c], want, want_r));
        EXPECT_EQ(values(u[c], Parity::even), values(want, Parity::even));
        EXPECT_EQ(values(r[c], Parity::even), values(want_r, Parity::even));
    }
    EXPECT_EQ(values(sum[3], Parity::even), values(was[3], Parity::even));  // not in the set
    EXPECT_EQ(values(r[3], Parity::even), values(was_r[3], Parity::even));
    EXPECT_TRUE(all.norm2({}, x).empty());
    all.zero({1, 4}, sum);
    EXPECT_EQ(all.norm2({0, 1, 4}, sum)[1], 0);
    all.copy({1}, x, sum);
    EXPECT_EQ(values(sum[1], Parity::even), values(x[1], Parity::even));
}

TEST_P(Columns, TheAlgebraOfSeveralHasTheBitsOfEach) {
    on_space([](auto on) {
        check_algebra<decltype(on), Precision::half>(on);
        check_algebra<decltype(on), Precision::single>(on);
        check_algebra<decltype(on), Precision::double_>(on);
    });
}

/// Twelve sources that need different numbers of iterations: points, Gaussian noise, and a first guess near the solution.
struct Systems {
    std::vector<SpinorField> b, x;
    explicit Systems(const Extents& n, int columns = 12) {
        for (int c = 0; c < columns; ++c) {
            b.push_back(c % 3 == 2 ? random_spinor(n, static_cast<std::uint64_t>(c)) : SpinorField(n));
            if (c % 3 != 2) b.back().at(c % 3, c / 3 % 4, c % 2) = 1;
            x.emplace_back(n);
        }
    }
};

/// Each of twelve columns has the log and the solution of the column alone. @param same_bits  otherwise up to rounding: where the scalars
/// of a column alone are computed on the device
void check_each_column(const AnySpace& space, const Extents& n, const SolverOptions& options, bool same_bits) {
    SCOPED_TRACE(fmt::format("{}, {}, {}", name(options.method), name(options.inner), text(n)));
    const auto u = random_gauge(n, 3, columns_roughness);
    WilsonSolver solver(space, u, columns_operator, options);
    Systems alone(n), together(n);
    std::vector<SolveLog> want;
    for (std::size_t c = 0; c < 12; ++c) want.push_back(solver.solve(alone.b[c], alone.x[c]));
    const auto got = solver.solve(together.b, together.x);
    ASSERT_EQ(got.size(), 12u);
    const reference::WilsonClover D{u, columns_operator.kappa, columns_operator.csw, true};
    for (std::size_t c = 0; c < 12; ++c) {
        SCOPED_TRACE(fmt::format("column {}", c));
        EXPECT_EQ(got[c].end, krylov::Outcome::converged);
        EXPECT_GT(got[c].gflops, 0);
        const auto r = reference::combination(1, together.b[c], -1, D.apply(together.x[c]));
        EXPECT_LE(reference::norm(r), 1.01 * options.rtol * reference::norm(together.b[c]));
        if (!same_bits) {
            EXPECT_NEAR(got[c].iterations, want[c].iterations, 0.1 * want[c].iterations + 2);
            continue;
        }
        EXPECT_EQ(got[c].true_residual, want[c].true_residual);
        EXPECT_EQ(got[c].iterations, want[c].iterations);
        EXPECT_EQ(got[c].inner_iterations, want[c].inner_iterations);
        EXPECT_EQ(got[c].updates, want[c].updates);
        EXPECT_EQ(got[c].restarts, want[c].restarts);
        EXPECT_EQ(got[c].residuals, want[c].residuals);
        EXPECT_EQ(got[c].notes, want[c].notes);
        EXPECT_EQ(together.x[c].values, alone.x[c].values);
    }
}

TEST_P(Columns, EachSolutionHasTheBitsOfTheColumnAlone) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    for (const Extents n : {Extents{{4, 4, 4, 8}}, Extents{{6, 2, 10, 4}}})
        for (const auto inner : {Precision::half, Precision::single, Precision::double_})
            for (const auto schur : {Schur::symmetric, Schur::asymmetric}) {
                check_each_column(space, n, {.schur = schur, .inner = inner, .rtol = 1e-11}, true);
                if (inner == Precision::double_) continue;
                check_each_column(space, n, {.method = Method::bicgstab, .schur = schur, .inner = inner, .rtol = 1e-11},
                                  std::holds_alternative<Cpu>(space));
            }
}

/// On a CPU one right-hand side is solved as a set of one column, so that the test above compares columns with columns there.
template <Precision P>
void check_one_column(const Extents& n, Schur schur, double first_guess) {
    SCOPED_TRACE(fmt::format("{}, {}, first guess {}", name(P), text(n), first_guess));
    const OneDevice<Cpu> domain(Cpu{}, n);
    const auto packed = domain.pack(random_gauge(n, 3, columns_roughness), columns_operator);
    const auto& lattice = domain.lattice();
    const auto make = [&]<Precision Q>() {
        return EvenOdd<Cpu, Q>(domain.dirac<Q>(packed, columns_operator.boundary, {}), lattice, columns_operator, schur, true);
    };
    constexpr auto outer = Precision::double_;
    const auto A = make.template operator()<outer>();
    const auto a = make.template operator()<P>();
    auto high = domain.algebra<outer>();
    auto low = domain.algebra<P>();
    Field<Cpu, outer> b(lattice), x(lattice), again(lattice);
    Field<Cpu, P> y(lattice);
    load(random_spinor(n, 8), Parity::even, b);
    const auto start = [&] {
        high.axpby(first_guess, b, 0, x);
        high.copy(x, again);
    };
    start();
    krylov::BicgstabWorkspace work(high, b, true);
    krylov::BicgstabWorkspace low_work(low, y);
    const krylov::Options how{.rtol = 1e-11};
    constexpr double inside = 1e-4;

    OneColumn<Cpu, outer> outer_set(A);
    OneColumn<Cpu, P> inner_set(a);
    auto right = one_column(b), solution = one_column(again), r = one_column(work.r), z = one_column(*work.z);
    auto correction = one_column(y);
    auto vectors = one_column(work);
    auto low_vectors = one_column(low_work);
    const auto compare = [&](const krylov::SolveLog& want, const krylov::SolveLog& got) {
        EXPECT_EQ(got.end, krylov::Outcome::converged);
        EXPECT_EQ(want.end, krylov::Outcome::converged);
        EXPECT_EQ(got.iterations, want.iterations);
        EXPECT_EQ(got.inner_iterations, want.inner_iterations);
        EXPECT_EQ(got.updates, want.updates);
        EXPECT_EQ(got.residuals, want.residuals);
        EXPECT_EQ(values(again, Parity::even), values(x, Parity::even));
    };
    const auto courses = [&] {
        krylov::ColumnCourses of({});
        of.add(how, std::sqrt(high.norm2(b)));
        return of;
    };

    krylov::InnerBicgstab M(low, a, detail::Convert{}, low_work, y, inside);
    const auto nested = krylov::bicgstab(high, A, M, b, x, work, how);
    EXPECT_GT(nested.inner_iterations, 0);
    auto course = courses();
    krylov::nested_bicgstab_columns(outer_set.algebra, outer_set.A, inner_set.algebra, inner_set.A, ConvertColumns{}, inside, {0}, right,
                                    solution, vectors, z, low_vectors, correction, course);
    compare(nested, course[0].log);

    start();
    const krylov::ReliableWorkspace<decltype(high), decltype(low)> pair{work.r, *work.z, low_work, y};
    const auto reliable = krylov::reliable_bicgstab(high, A, low, a, detail::Convert{}, b, x, pair, how, 0.1);
    EXPECT_GT(reliable.updates, 2);
    auto course_of_updates = courses();
    krylov::reliable_bicgstab_columns(outer_set.algebra, outer_set.A, inner_set.algebra, inner_set.A, ConvertColumns{}, {0}, right,
                                      solution, r, z, low_vectors, correction, course_of_updates, 0.1);
    compare(reliable, course_of_updates[0].log);
}

TEST(OneColumn, HasTheBitsOfBicgstabWithAnInnerSolverOrReliableUpdates) {
    for (const auto schur : {Schur::symmetric, Schur::asymmetric})
        for (const double first_guess : {0., 0.5}) {
            check_one_column<Precision::half>({{4, 4, 4, 8}}, schur, first_guess);
            check_one_column<Precision::single>({{4, 6, 4, 4}}, schur, first_guess);
            check_one_column<Precision::double_>({{4, 4, 4, 8}}, schur, first_guess);
        }
}

TEST_P(Columns, StartFromTheGivenSolutions) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    const auto iterations = [](const SolveLog& log) { return std::max(log.iterations, log.inner_iterations); };
    for (const auto& [method, temporal] :
         {std::pair{Method::nested_bicgstab, false}, {Method::nested_bicgstab, true}, {Method::bicgstab, false}}) {
        SolverOptions options{.method = method, .rtol = 1e-10};
        options.inner_links.temporal_gauge = temporal;
        WilsonSolver solver(space, random_gauge(n, 3, columns_roughness), columns_operator, options);
        Systems systems(n, 3);
        const auto first = solver.solve(systems.b, systems.x);
        systems.x[1].values[40] += 1e-6;
        systems.x[2] = SpinorField(n);
        const auto again = solver.solve(systems.b, systems.x);
        for (const auto& log : again) EXPECT_EQ(log.end, krylov::Outcome::converged);
        EXPECT_LE(iterations(again[0]), 2);
        EXPECT_LT(iterations(again[1]), iterations(first[1]));
        EXPECT_EQ(iterations(again[2]), iterations(first[2]));
    }
}

/// Columns that cannot be solved together: zero, tiny and not finite ones.
TEST_P(Columns, SpecialSourcesAreSolvedAlone) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    WilsonSolver solver(space, random_gauge(n, 3, columns_roughness), columns_operator, {.rtol = 1e-9});
    Systems systems(n, 5);
    systems.b[1] = SpinorField(n);
    systems.x[1] = random_spinor(n, 1);
    for (auto& z : systems.b[2].values) z *= 1e-290;
    systems.b[3].values[7] = std::nan("");
    const auto logs = solver.solve(systems.b, systems.x);
    EXPECT_TRUE(logs[0].converged() && logs[1].converged() && logs[2].converged() && logs[4].converged());
    EXPECT_EQ(systems.x[1].values, SpinorField(n).values);
    EXPECT_EQ(logs[3].end, krylov::Outcome::not_finite);
    EXPECT_EQ(systems.x[3].values, SpinorField(n).values);
    SpinorField alone(n);
    EXPECT_EQ(solver.solve(systems.b[2], alone).inner_iterations, logs[2].inner_iterations);
    EXPECT_EQ(systems.x[2].values, alone.values);
    // 1e-200 and 1e155: their squares are 0 and infinite.
    std::vector<SpinorField> b(3, point_source(n, {{1, 2, 3, 0}}, 1, 2)), x(3, SpinorField(n));
    for (auto& z : b[1].values) z *= 0x1p-664;
    for (auto& z : b[2].values) z *= 0x1p515;
    for (const auto& log : solver.solve(b, x)) EXPECT_TRUE(log.converged() && log.inner_iterations > 0);
    for (const auto& [c, factor] : {std::pair{1u, 0x1p664}, std::pair{2u, 0x1p-515}}) {
        for (auto& z : x[c].values) z *= factor;
        EXPECT_LT(reference::relative_difference(x[c], x[0]), 20 * 2e-9);
    }
}

/// A special source that is not solved does not keep the others from their solves.
TEST_P(Columns, EverySpecialSourceIsTried) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    WilsonSolver solver(space, random_gauge(n, 3, columns_roughness), columns_operator, {.iteration_limit = 3});
    Systems systems(n, 3);
    for (const std::size_t c : {0u, 1u})
        for (auto& z : systems.b[c].values) z *= 1e-290;
    systems.b[2] = SpinorField(n);
    systems.x[2] = random_spinor(n, 1);
    const auto logs = solver.solve(systems.b, systems.x);
    for (const std::size_t c : {0u, 1u}) {
        EXPECT_EQ(logs[c].end, krylov::Outcome::iteration_limit);
        EXPECT_GT(logs[c].inner_iterations, 0);
    }
    EXPECT_TRUE(logs[2].converged());
    EXPECT_EQ(systems.x[2].values, SpinorField(n).values);
}

/// A mass at which half precision fails: each column goes on alone, to the tolerance, by the attempts that follow where it is solved alone.
TEST_P(Columns, AColumnThatFailsGoesOnAlone) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    const auto u = test::unit_gauge(n);
    const DiracParameters light{.kappa = 0.12499999, .boundary = Boundary::periodic};
    const auto raises_precision = [](const std::string& note) { return note.find("precision does not make") != std::string::npos; };
    for (const auto method : {Method::nested_bicgstab, Method::bicgstab}) {
        SCOPED_TRACE(name(method));
        WilsonSolver solver(space, u, light, {.method = method, .rtol = 1e-9});
        Systems systems(n, 3), alone(n, 3);
        const auto logs = solver.solve(systems.b, systems.x);
        bool continued = false;
        for (std::size_t c = 0; c < 3; ++c) {
            EXPECT_EQ(logs[c].end, krylov::Outcome::converged) << c;
            EXPECT_LE(logs[c].true_residual, 1e-9);
            const auto want = solver.solve(alone.b[c], alone.x[c]);
            EXPECT_EQ(std::count_if(want.notes.begin(), want.notes.end(), raises_precision),
                      std::count_if(logs[c].notes.begin(), logs[c].notes.end(), raises_precision));
            if (std::holds_alternative<Cpu>(space)) {
                EXPECT_EQ(systems.x[c].values, alone.x[c].values) << c;
            }
            continued |= std::any_of(logs[c].notes.begin(), logs[c].notes.end(),
                                     [](const auto& note) { return note.find("continues alone") != std::string::npos; });
        }
        EXPECT_TRUE(continued);
    }
}

TEST_P(Columns, StopEndsAllOfThem) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 3, columns_roughness);
    for (const auto method : {Method::nested_bicgstab, Method::bicgstab}) {
        WilsonSolver solver(space, u, columns_operator, {.method = method});
        Systems systems(n, 4);
        int calls = 0;
        double last = 2;
        const auto logs = solver.solve(systems.b, systems.x, [&](int, double residual) {
            last = residual;
            return ++calls > 5;
        });
        ASSERT_EQ(logs.size(), 4u);
        for (const auto& log : logs) EXPECT_EQ(log.end, krylov::Outcome::stopped);
        EXPECT_EQ(calls, 6);
        EXPECT_LT(last, 1);
        for (const auto& log :
             WilsonSolver(space, u, columns_operator, {.method = method, .iteration_limit = 3}).solve(systems.b, systems.x))
            EXPECT_EQ(log.end, krylov::Outcome::iteration_limit);
    }
}

TEST_P(Columns, OtherMethodsSolveOneAfterTheOther) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 3, columns_roughness);
    const SolverOptions options{.method = Method::cg};
    EXPECT_FALSE(solves_columns(options));
    EXPECT_FALSE(solves_columns({.method = Method::nested_bicgstab, .schwarz = {.method = SchwarzMethod::sap}}));
    EXPECT_TRUE(solves_columns({}));
    WilsonSolver solver(space, u, columns_operator, options);
    Systems systems(n, 3), alone(n, 3);
    for (const auto& log : solver.solve(systems.b, systems.x)) EXPECT_TRUE(log.converged());
    for (std::size_t c = 0; c < 3; ++c) {
        solver.solve(alone.b[c], alone.x[c]);
        EXPECT_EQ(systems.x[c].values, alone.x[c].values);
    }
    alone.x.pop_back();
    EXPECT_THROW(solver.solve(alone.b, alone.x), LogicError);
}

TEST_P(Columns, TheAutomaticChoiceMakesReliableUpdates) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    const Extents n{{4, 4, 4, 4}};
    const auto u = random_gauge(n, 3, columns_roughness);
    const auto solved = [&](Method method, int limit) {
        Systems systems(n, 3);
        WilsonSolver solver(space, u, columns_operator, {.method = method, .iteration_limit = limit});
        const auto logs = solver.solve(systems.b, systems.x);
        EXPECT_EQ(logs.size(), 3U);
        return std::pair(std::move(systems.x), logs);
    };
    const auto [x, logs] = solved(Method::automatic, 1000);
    const auto want = solved(Method::bicgstab, 1000).first;
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_TRUE(logs[c].converged());
        EXPECT_GT(logs[c].updates, 2);
        EXPECT_EQ(x[c].values, want[c].values);
    }
    const auto cut_logs = solved(Method::automatic, 3).second;
    for (const auto& log : cut_logs) EXPECT_EQ(log.end, krylov::Outcome::iteration_limit);
    for (const auto method : {Method::automatic, Method::bicgstab}) {
        EXPECT_TRUE(solves_columns({.method = method}));
        EXPECT_FALSE(solves_columns({.method = method, .inner = Precision::double_}));
    }
}

TEST(ColumnMemory, IsCountedAndDividesTheColumns) {
    const Extents n{{16, 16, 16, 32}};
    const DiracParameters parameters{.kappa = 0.12, .csw = 1};
    const double one = memory_per_site(parameters, {}, n).device, twelve = memory_per_site(parameters, {}, n, 12).device;
    // 12 vectors in double and 7 in half with a scale, of one parity; four vectors fewer with reliable updates.
    EXPECT_DOUBLE_EQ(twelve - one, 12 * (12 * 96. + 7 * 26.));
    const SolverOptions reliable{.method = Method::bicgstab};
    EXPECT_DOUBLE_EQ(memory_per_site(parameters, reliable, n, 12).device - memory_per_site(parameters, reliable, n).device,
                     12 * (8 * 96. + 7 * 26.));
    EXPECT_EQ(memory_per_site(parameters, {.method = Method::cg}, n, 12).device,
              memory_per_site(parameters, {.method = Method::cg}, n).device);
    EXPECT_EQ(columns_at_once(Cpu{}, {{4, 4, 4, 4}}, parameters, {}, 12), 1) << "faster one after the other";
}

TEST_P(Columns, AsManyAreSolvedAtOnceAsFitOnADevice) {
    const AnySpace space = on_space([](auto on) -> AnySpace { return on; });
    if (std::holds_alternative<Cpu>(space)) return;
    const Extents n{{16, 16, 16, 32}};
    const DiracParameters parameters{.kappa = 0.12, .csw = 1};
    EXPECT_EQ(columns_at_once(space, {{4, 4, 4, 4}}, parameters, {}, 12), 12);
    EXPECT_EQ(columns_at_once(space, {{4, 4, 4, 4}}, parameters, {.method = Method::gcr}, 12), 1);
    // A lattice of which fewer columns fit: equal parts.
    const double bytes = static_cast<double>(available_memory(space));
    int extent = 8;
    while (memory_per_site(parameters, {}, n, 12).device * 64 * 64 * 64 * extent < 1.2 * bytes) extent += 2;
    const int columns = columns_at_once(space, {{64, 64, 64, extent}}, parameters, {}, 12);
    EXPECT_LT(columns, 12);
    EXPECT_GE(columns, 1);
    EXPECT_EQ(12 % columns, 0);
}

}  // namespace
}  // namespace kasane::lattice
