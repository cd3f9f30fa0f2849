// The action of one flavour against dense matrices of the textbook operator: value, heat bath, and the determinant that the approximation
// leaves out.
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>

#include "lattice/hmc/dense_quarks.hpp"
#include "lattice/lattice_space.hpp"
#include "lattice/random_fields.hpp"

#include <kasane/core/base/error.hpp>

#include <cmath>

namespace kasane::lattice {
namespace {

using test::DenseBlocks;
using test::DenseMatrix;
using test::half_of;
using test::on_host;

const DiracParameters flavour{0.125, 1.2, Boundary::antiperiodic};
constexpr QuarkTolerances exact_solves{.value = 1e-13, .force = 1e-13};

DenseMatrix dense_schur(const GaugeField& u) { return DenseBlocks(reference::WilsonClover(u, flavour.kappa, flavour.csw, true)).schur(); }

/// R(Q^2) v by one solve after the other.
std::vector<test::Number> times_R(const RationalApproximation& R, const DenseMatrix& schur, std::vector<test::Number> v) {
    for (std::size_t k = 0; k < R.poles.size(); ++k) v = schur.normal(R.zeros[k]).times(schur.normal(R.poles[k]).solve({v}).first[0]);
    for (auto& z : v) z *= R.scale;
    return v;
}
double product_of(const std::vector<test::Number>& v, const std::vector<test::Number>& w) {
    test::Number sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) sum += std::conj(v[i]) * w[i];
    return sum.real();
}

class OneFlavour : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(OneFlavour);

TEST_P(OneFlavour, ValueIsThatOfDenseMatricesAndOfItsHeatBath) {
    const auto u = test::random_gauge(test::smallest, 521, 0.6);
    const auto schur = dense_schur(u);
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        auto D = std::make_shared<QuarkOperator<S>>(on, test::smallest, flavour);
        RationalTerm<S> term(D, 4, inverse_root(0.05, 6, 3), exact_solves);
        for (const int degree : {3, 8, 1, 5}) {  // one term with more poles, then with fewer
            const auto R = inverse_root(0.05, 6, degree);
            term.set(R);
            term.refresh(links, 11, 12);
            const auto phi = on_host(term.field(), test::smallest);
            const double expected = product_of(phi, times_R(R, schur, phi));
            EXPECT_NEAR(term.value(links), expected, 1e-10 * expected) << degree;
            // The heat bath is exact for R, whatever its error: S = eta^+ eta.
            auto eta = D->vector();
            gaussian_field(11, 12, 4, Parity::even, eta);
            EXPECT_NEAR(expected, D->norm2(eta), 1e-10 * expected) << degree;
            EXPECT_GT(term.take_iterations(), 0);
            EXPECT_EQ(term.take_iterations(), 0);
        }
    });
}

// In every inner precision the solutions are those of one system after the other, and the tolerance holds.
TEST_P(OneFlavour, SolvesOfAllPolesAgreeInEveryPrecision) {
    const auto u = test::random_gauge(test::smallest, 528, 0.6);
    const auto schur = dense_schur(u);
    const auto R = inverse_root(0.05, 6, 5);
    on_space([&](auto on) {
        using S = decltype(on);
        for (const auto inner : {Precision::half, Precision::single, Precision::double_}) {
            QuarkOperator<S> D(on, test::smallest, flavour, {.inner = inner});
            D.pack(links_on(on, u));
            auto phi = D.vector();
            gaussian_field(3, 4, 5, Parity::even, phi);
            const auto source = on_host(phi, test::smallest);
            std::vector<Field<S, Precision::double_>> x;
            for (int k = 0; k < R.degree(); ++k) x.push_back(D.vector());
            for (const double rtol : {1e-3, 1e-8, 1e-12}) {
                const auto log = D.solve_shifted(R.poles, phi, x, rtol);
                EXPECT_LE(log.true_residual, 10 * rtol);
                for (std::size_t k = 0; k < x.size(); ++k) {
                    const auto found = on_host(x[k], test::smallest), exact = schur.normal(R.poles[k]).solve({source}).first[0];
                    double apart = 0;
                    for (std::size_t i = 0; i < exact.size(); ++i) apart = std::max(apart, std::abs(found[i] - exact[i]));
                    // |(Q^2 + m^2)^-1| is below 20, |phi| is 10.
                    EXPECT_LT(apart, 10 * rtol * 20 * 10) << name(inner) << " " << rtol << " " << k;
                }
            }
            EXPECT_THROW(D.solve_shifted(R.poles, phi, x, 1e-8, inner == Precision::half ? Precision::single : Precision::half),
                         LogicError);
        }
    });
}

TEST_P(OneFlavour, HeatBathHasTheCovarianceOfItsAction) {
    // <phi phi^+> = R(Q^2)^-1: phi = C eta with C C^+ = R^-1, so <|v.phi|^2> for v = R w is w^+ R w.
    const auto u = test::random_gauge(test::smallest, 522, 0.5);
    const auto R = inverse_root(0.1, 5, 3);
    const auto w = half_of(test::random_spinor(test::smallest, 523), Parity::even);
    const auto v = times_R(R, dense_schur(u), w);
    const double expected = product_of(w, v);
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, u);
        auto D = std::make_shared<QuarkOperator<S>>(on, test::smallest, flavour);
        RationalTerm<S> term(D, 0, R, {.value = 1e-8});
        constexpr int fields = 2000;
        double sum = 0;
        for (int k = 0; k < fields; ++k) {
            term.refresh(links, 5, static_cast<std::uint64_t>(k));
            const auto phi = on_host(term.field(), test::smallest);
            test::Number overlap = 0;
            for (std::size_t i = 0; i < v.size(); ++i) overlap += std::conj(v[i]) * phi[i];
            sum += std::norm(overlap);
        }
        // |v.phi|^2 has an exponential distribution, so its mean has the relative error 1 / sqrt(fields); 4 of them.
        EXPECT_NEAR(sum / fields / expected, 1, 4 / std::sqrt(fields));
    });
}

TEST(OneFlavourWeight, LeavesOutADeterminantWithinTheBound) {
    const auto u = test::random_gauge(test::smallest, 524, 0.6);
    const auto square = dense_schur(u).normal(0);
    const auto log_determinant = [&](double shift) {
        auto m = square;
        for (std::size_t i = 0; i < m.n; ++i) m.at(i, i) += shift;
        return m.solve({}).second;
    };
    // The spectrum of this field is within 0.2 to 5.
    for (const double bound : {1., 1e-2, 1e-5}) {
        const auto R = approximation_for(0.1, 6, test::smallest, bound);
        EXPECT_LE(weight_error(R, test::smallest), bound * (1 + 1e-9));
        double log_R = 96 * std::log(R.scale);
        for (std::size_t k = 0; k < R.poles.size(); ++k) log_R += log_determinant(R.zeros[k]) - log_determinant(R.poles[k]);
        const double left_out = log_determinant(0) / 2 + log_R;  // log det(|Q| R)
        EXPECT_LE(std::abs(left_out), weight_error(R, test::smallest) + 1e-10);
        // Twice one flavour is two flavours: -2 log det R = log det Q^2 up to twice that.
        EXPECT_NEAR(-2 * log_R, log_determinant(0), 2 * weight_error(R, test::smallest) + 1e-10);
        const auto narrow = inverse_root(2, 3, R.degree());
        double outside = 96 * std::log(narrow.scale) + log_determinant(0) / 2;
        for (std::size_t k = 0; k < narrow.poles.size(); ++k)
            outside += log_determinant(narrow.zeros[k]) - log_determinant(narrow.poles[k]);
        EXPECT_GT(std::abs(outside), weight_error(narrow, test::smallest)) << "the bound holds in the range alone";
    }
}

TEST_P(OneFlavour, TermsCountTheCloverDeterminantOnce) {
    on_space([&](auto on) {
        using S = decltype(on);
        const auto links = links_on(on, test::random_gauge(test::smallest, 525));
        auto D = std::make_shared<QuarkOperator<S>>(on, test::smallest, flavour);
        const auto two = quark_action<S>(D, {});
        const auto one = one_flavour_action<S>(D, 1, inverse_root(0.1, 5, 3));
        ASSERT_EQ(one.size(), 2u);
        EXPECT_EQ(one[0]->name(), "quark 2");
        EXPECT_EQ(2 * one[1]->value(links), two[1]->value(links));
        auto plain = std::make_shared<QuarkOperator<S>>(on, test::smallest, DiracParameters{0.125, 0, Boundary::periodic});
        EXPECT_EQ(one_flavour_action<S>(plain, 0, inverse_root(0.1, 5, 3)).size(), 1u);
    });
}

TEST(OneFlavourInput, IsChecked) {
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, test::smallest, flavour);
    auto twisted = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, test::smallest, QuarkParameters(flavour, 0.1));
    EXPECT_THROW(RationalTerm<Cpu>(twisted, 0, inverse_root(0.1, 5, 3)), InputError);
    EXPECT_THROW(RationalTerm<Cpu>(D, 0, inverse_root(0.1, 5, 3), {.value = 1e-17}), InputError);
    EXPECT_THROW(approximation_for(0.1, 5, test::smallest, 1e-15), InputError);
    D->pack(links_on(Cpu{1}, test::random_gauge(test::smallest, 526)));
    std::vector<QuarkOperator<Cpu>::Vector> none;
    EXPECT_THROW(D->solve_shifted({}, D->vector(), none, 1e-8), LogicError);
}

TEST(OneFlavourInput, AFailedSolveIsReported) {
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, test::smallest, flavour, QuarkSolverOptions{.iteration_limit = 3});
    RationalTerm<Cpu> term(D, 0, inverse_root(0.1, 5, 3), exact_solves);
    EXPECT_THROW(term.refresh(links_on(Cpu{1}, test::random_gauge(test::smallest, 527)), 1, 1), ComputationError);
}

}  // namespace
}  // namespace kasane::lattice
