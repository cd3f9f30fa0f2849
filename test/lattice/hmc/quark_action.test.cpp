// The action of two flavours against dense matrices of the textbook operator: the Schur complement, its determinant, values and heat
// baths of every pseudofermion field, on the smallest lattice; and what follows from the definitions on others.
#include <kasane/lattice/hmc/links_checksum.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/schur_operator.hpp>

#include "lattice/hmc/dense_quarks.hpp"
#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <kasane/core/base/error.hpp>

#include <cmath>
#include <limits>

namespace kasane::lattice {
namespace {

using test::DenseBlocks;
using test::half_of;
using test::norm2;
using test::Number;
using test::on_host;
using test::smallest;

const DiracParameters quarks{0.125, 1.2, Boundary::antiperiodic};
constexpr QuarkTolerances tight{.value = 1e-13, .force = 1e-13};

class QuarkAction : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(QuarkAction);

TEST_P(QuarkAction, OperatorIsTheSchurComplementOfTheTextbookOperator) {
    for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
        for (const double csw : {0., 1.2})
            for (const double twist : {0., 0.3}) {
                const auto u = test::random_gauge(smallest, 301);
                const DiracParameters p{0.125, csw, boundary};
                const DenseBlocks dense(reference::WilsonClover(u, p.kappa, p.csw, boundary == Boundary::antiperiodic), twist);
                const auto schur = dense.schur();
                on_space([&](auto on) {
                    const auto psi = test::random_spinor(smallest, 302);
                    const auto v = half_of(psi, Parity::even);
                    const auto expected = schur.times(v), expected_adjoint = schur.adjoint().times(v);
                    const auto expect = [&](const auto& found, const auto& right, double tolerance) {
                        for (std::size_t i = 0; i < right.size(); ++i) EXPECT_LT(std::abs(found[i] - right[i]), tolerance) << twist;
                    };
                    QuarkOperator<decltype(on)> D(on, smallest, QuarkParameters(p, twist));
                    const auto links = links_on(on, u);
                    D.pack(links);
                    auto in = D.vector(), out = D.vector();
                    load(psi, Parity::even, in);
                    D.apply(in, out);
                    expect(on_host(out, smallest), expected, 1e-12);
                    D.apply(in, out, true);
                    expect(on_host(out, smallest), expected_adjoint, 1e-12);
                    // det D = det M_oo det Dhat; without a clover term M_oo is a number
                    const double constant = csw == 0 ? 6 * static_cast<double>(smallest.half()) * std::log(1 + twist * twist) : 0;
                    const double odd = constant - D.determinant_action() / 2;
                    EXPECT_NEAR(schur.solve({}).second + odd, dense.whole.solve({}).second, 1e-10);
                    EXPECT_NEAR(odd, dense.oo.solve({}).second, 1e-10);
                });
            }
}

TEST_P(QuarkAction, LowPrecisionsApplyTheSameOperator) {
    const Extents n{{2, 4, 6, 4}};
    const auto u = test::random_gauge(n, 321);
    const auto psi = test::random_spinor(n, 322);
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        const auto lattice = std::make_shared<const Lattice<S>>(on, n);
        for (const double csw : {0., 1.2})
            for (const double twist : {0., 0.3}) {
                const DiracParameters p{0.125, csw, Boundary::antiperiodic};
                const auto A = clover_term(links, p.kappa * p.csw);
                const auto applied = [&]<Precision P>(bool adjoint) {
                    SchurOperator<S, P> D(lattice, links, csw == 0 ? nullptr : &A, p, twist, {});
                    Field<S, P> in(lattice), out(lattice);
                    load(psi, Parity::even, in);
                    D.apply(in, out, adjoint);
                    SpinorField found(n);
                    store(out, Parity::even, found);
                    return half_of(found, Parity::even);
                };
                for (const bool adjoint : {false, true}) {
                    const auto exact = applied.template operator()<Precision::double_>(adjoint);
                    const auto distance = [&](const std::vector<Number>& found) {
                        double sum = 0;
                        for (std::size_t i = 0; i < exact.size(); ++i) sum += std::norm(found[i] - exact[i]);
                        return std::sqrt(sum / norm2(exact));
                    };
                    EXPECT_LT(distance(applied.template operator()<Precision::single>(adjoint)), 1e-6) << csw << " " << twist;
                    // 16 bits under the largest of a site's numbers, a few times
                    EXPECT_LT(distance(applied.template operator()<Precision::half>(adjoint)), 3e-4) << csw << " " << twist;
                }
            }
    });
}

TEST_P(QuarkAction, ValuesAreThoseOfDenseMatrices) {
    const auto u = test::random_gauge(smallest, 303);
    const auto schur = DenseBlocks(reference::WilsonClover(u, quarks.kappa, quarks.csw, true)).schur();
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        for (const auto inner : {Precision::double_, Precision::single, Precision::half}) {
            auto D = std::make_shared<QuarkOperator<S>>(on, smallest, quarks, QuarkSolverOptions{.inner = inner});
            for (const auto& [mu, heavier] : {std::pair<double, std::optional<double>>{0., {}}, {0.3, {}}, {0., 0.5}, {0.2, 0.7}}) {
                PseudofermionTerm<S> term(D, 3, mu, heavier, tight);
                term.refresh(links, 11, 12);
                const auto phi = on_host(term.field(), smallest);
                const auto x = schur.normal(mu * mu).solve({phi}).first[0];
                Number product = 0;
                for (std::size_t i = 0; i < x.size(); ++i) product += std::conj(phi[i]) * x[i];
                double expected = product.real();
                if (heavier) expected = norm2(phi) + (*heavier * *heavier - mu * mu) * expected;
                EXPECT_NEAR(term.value(links), expected, 1e-10 * expected) << mu << " " << heavier.value_or(0) << " " << name(inner);
                // The heat bath: S = eta^+ eta of the Gaussian field that phi was made of.
                auto eta = D->vector();
                gaussian_field(11, 12, 3, Parity::even, eta);
                EXPECT_NEAR(expected, D->norm2(eta), 1e-10 * expected) << mu << " " << heavier.value_or(0);
            }
        }
    });
}

TEST_P(QuarkAction, HeatBathHasTheCovarianceOfItsAction) {
    // <phi phi^+> is the inverse of the action's matrix: (Dhat^+ Dhat + mu^2) (Dhat^+ Dhat + m^2)^-1; one of its quadratic forms, measured.
    const auto u = test::random_gauge(smallest, 304, 0.5);
    const auto schur = DenseBlocks(reference::WilsonClover(u, quarks.kappa, quarks.csw, true)).schur();
    const auto v = half_of(test::random_spinor(smallest, 305), Parity::even);
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        auto D = std::make_shared<QuarkOperator<S>>(on, smallest, quarks, QuarkSolverOptions{.inner = Precision::double_});
        for (const auto& heavier : {std::optional<double>{}, std::optional<double>{0.8}}) {
            constexpr double mu = 0.1;
            const auto right = heavier ? schur.normal(*heavier * *heavier).solve({v}).first[0] : v;
            const auto forms = schur.normal(mu * mu).times(right);
            Number expected = 0;
            for (std::size_t i = 0; i < v.size(); ++i) expected += std::conj(v[i]) * forms[i];
            PseudofermionTerm<S> term(D, 0, mu, heavier);
            constexpr int fields = 2000;
            double sum = 0;
            for (int k = 0; k < fields; ++k) {
                term.refresh(links, 5, static_cast<std::uint64_t>(k));
                const auto phi = on_host(term.field(), smallest);
                Number overlap = 0;
                for (std::size_t i = 0; i < v.size(); ++i) overlap += std::conj(v[i]) * phi[i];
                sum += std::norm(overlap);
            }
            // |v.phi|^2 has an exponential distribution, so its mean has the relative error 1 / sqrt(fields); 4 of them.
            EXPECT_NEAR(sum / fields / expected.real(), 1, 4 / std::sqrt(fields)) << heavier.value_or(0);
        }
    });
}

TEST_P(QuarkAction, GaussianFieldsAreFunctionsOfSiteTrajectoryAndTerm) {
    on_space([&](auto on) {
        const Extents n{{6, 2, 10, 4}};
        using S = decltype(on);
        QuarkOperator<S> D(on, n, quarks);
        const auto drawn = [&](std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity) {
            auto eta = D.vector();
            gaussian_field(seed, trajectory, term, parity, eta);
            SpinorField psi(n);
            store(eta, parity, psi);
            return half_of(psi, parity);
        };
        const auto first = drawn(1, 2, 3, Parity::even);
        EXPECT_EQ(first, drawn(1, 2, 3, Parity::even));
        for (const auto& other_field :
             {drawn(2, 2, 3, Parity::even), drawn(1, 3, 3, Parity::even), drawn(1, 2, 4, Parity::even), drawn(1, 2, 3, Parity::odd)}) {
            Number overlap = 0;
            for (std::size_t i = 0; i < first.size(); ++i) overlap += std::conj(first[i]) * other_field[i];
            EXPECT_LT(std::abs(overlap), 5 * std::sqrt(static_cast<double>(first.size())));
        }
        const double numbers = static_cast<double>(first.size());
        EXPECT_NEAR(norm2(first) / numbers, 1, 5 / std::sqrt(numbers));
        EXPECT_NEAR(D.norm2([&] {
            auto eta = D.vector();
            gaussian_field(1, 2, 3, Parity::even, eta);
            return eta;
        }()),
                    norm2(first), 1e-12 * numbers);
#if defined(KASANE_CUDA)
        if constexpr (std::same_as<S, Cuda>) {  // the same numbers up to the rounding of log, sin and cos
            QuarkOperator<Cpu> host(Cpu{}, n, quarks);
            auto eta = host.vector();
            gaussian_field(1, 2, 3, Parity::even, eta);
            const auto expected = on_host(eta, n);
            for (std::size_t i = 0; i < first.size(); ++i) EXPECT_LT(std::abs(first[i] - expected[i]), 1e-14);
        }
#endif
    });
}

TEST_P(QuarkAction, PackingAgainEqualsANewOperator) {
    const Extents n{{2, 4, 6, 4}};
    on_space([&](auto on) {
        using S = decltype(on);
        const auto first = links_on(on, test::random_gauge(n, 306)), second = links_on(on, test::random_gauge(n, 307));
        for (const auto inner : {Precision::half, Precision::single, Precision::double_}) {
            QuarkOperator<S> again(on, n, quarks, {.inner = inner}), fresh(on, n, quarks, {.inner = inner});
            again.pack(first);
            again.pack(second);
            fresh.pack(second);
            auto phi = again.vector(), x = again.vector(), y = again.vector();
            gaussian_field(1, 2, 3, Parity::even, phi);
            for (auto* const at : {&x, &y}) again.axpby(0, phi, 0, *at);
            again.solve(0, phi, x, 1e-8);
            fresh.solve(0, phi, y, 1e-8);
            EXPECT_EQ(on_host(x, n), on_host(y, n));
            EXPECT_EQ(again.determinant_action(), fresh.determinant_action());
        }
    });
}

TEST_P(QuarkAction, ChecksumsTellLinksApart) {
    const Extents n{{4, 2, 4, 6}};
    const auto u = test::random_gauge(n, 323);
    on_space([&](auto on) {
        const auto own = links_checksum(links_on(on, u));
        EXPECT_EQ(own, links_checksum(links_on(on, u)));
        EXPECT_EQ(own, links_checksum(links_on(Cpu{1}, u)));
        auto bit = u, exchanged = u, negative = u;
        bit.links[100].e[2][1].im = std::nextafter(bit.links[100].e[2][1].im, 2.);
        std::swap(exchanged.links[8], exchanged.links[40]);  // the same direction of two sites
        for (auto& link : negative.links) link *= -1.;
        for (const auto& v : {bit, exchanged, negative}) EXPECT_NE(own, links_checksum(links_on(on, v)));
    });
}

TEST_P(QuarkAction, TermsAreThoseOfTheMasses) {
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, test::random_gauge(smallest, 308));
        auto D = std::make_shared<QuarkOperator<S>>(on, smallest, quarks);
        const auto terms = quark_action<S>(D, {0.1, 0.5});
        ASSERT_EQ(terms.size(), 4u);
        EXPECT_EQ(terms[0]->name(), "quark 1");
        EXPECT_EQ(terms[2]->name(), "quark 3");
        EXPECT_EQ(terms[3]->name(), "clover determinant");
        D->pack(links);
        EXPECT_EQ(terms[3]->value(links), D->determinant_action());
        auto plain = std::make_shared<QuarkOperator<S>>(on, smallest, DiracParameters{0.125, 0, Boundary::periodic});
        EXPECT_EQ(quark_action<S>(plain, {}).size(), 1u);
    });
}

TEST(QuarkActionInput, PackingKeepsTheForm) {
    const auto links = links_on(Cpu{1}, test::random_gauge(smallest, 320));
    const auto A = clover_term(links, 0.1);
    auto lattice = std::make_shared<const Lattice<Cpu>>(Cpu{1}, smallest);
    Dirac<Cpu, Precision::double_> with(lattice, links, &A, Boundary::periodic, {}),
        without(lattice, links, nullptr, Boundary::periodic, {});
    EXPECT_THROW(with.pack(links, nullptr), LogicError);
    EXPECT_THROW(without.pack(links, &A), LogicError);
    EXPECT_THROW(without.pack(links_on(Cpu{1}, test::random_gauge({{2, 2, 2, 4}}, 1)), nullptr), LogicError);
}

TEST(QuarkActionInput, IsChecked) {
    EXPECT_THROW(QuarkOperator<Cpu>(Cpu{1}, smallest, DiracParameters{-1, 0, Boundary::periodic}), InputError);
    EXPECT_THROW(QuarkOperator<Cpu>(Cpu{1}, smallest, QuarkParameters(quarks, std::numeric_limits<double>::infinity())), InputError);
    auto twisted = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, smallest, QuarkParameters(quarks, 0.1));
    EXPECT_THROW(quark_action<Cpu>(twisted, {0.5}), InputError);
    EXPECT_THROW(QuarkOperator<Cpu>(Cpu{1}, Extents{{2, 3, 2, 2}}, quarks), InputError);
    EXPECT_THROW(QuarkOperator<Cpu>(Cpu{1}, smallest, quarks, {.iteration_limit = 0}), InputError);
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, smallest, quarks);
    EXPECT_THROW(PseudofermionTerm<Cpu>(D, 0, -0.1, {}), InputError);
    EXPECT_THROW(quark_action<Cpu>(D, {0.5, 0.1}), InputError);
    EXPECT_THROW(PseudofermionTerm<Cpu>(D, 0, 0, {}, {.value = 1e-17}), InputError);
    EXPECT_THROW(PseudofermionTerm<Cpu>(D, 0, 0, {}, {.force = 1}), InputError);
}

TEST(QuarkActionInput, AFailedSolveIsReportedWithItsCourse) {
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, smallest, quarks, QuarkSolverOptions{.iteration_limit = 3});
    PseudofermionTerm<Cpu> term(D, 0, 0, {});
    const auto links = links_on(Cpu{1}, test::random_gauge(smallest, 309));
    term.refresh(links, 1, 1);
    try {
        term.value(links);
        FAIL() << "three iterations do not solve this system";
    } catch (const ComputationError& error) {
        for (const auto* part : {"kappa = 0.125", "after 3 iterations", "residuals", "Take a smaller kappa"})
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

TEST(QuarkActionInput, ATermThatIsNotPositiveIsReported) {
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, smallest, DiracParameters{0.2, 40, Boundary::periodic});
    D->pack(links_on(Cpu{1}, test::random_gauge(smallest, 310)));
    EXPECT_THROW(D->determinant_action(), ComputationError);
}

}  // namespace
}  // namespace kasane::lattice
