// Lists of operations: a pendulum shows their order, whatever they are used for.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/integrator.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <vector>

namespace kasane::lattice {

/// The names of cases are the same in every process; without this they contain addresses.
void PrintTo(const NamedIntegrator& integrator, std::ostream* to) { *to << integrator.name; }

namespace {

using Kind = Operation::Kind;

/// H = p^2 / 2 + sum of strength_l (1 - cos q), level l.
struct Pendulum {
    std::vector<double> strength;
    double q = 0.7, p = 0.4;

    double energy() const { return p * p / 2 + std::reduce(strength.begin(), strength.end()) * (1 - std::cos(q)); }
    double force(int level, double at) const { return strength[static_cast<std::size_t>(level)] * std::sin(at); }
    void apply(const Operation& o) {
        if (o.kind == Kind::drift) q += o.step * p;
        if (o.kind == Kind::kick) p -= o.step * force(o.level, q);
        if (o.kind == Kind::gradient_kick) p -= o.step * force(o.level, q - o.shift * force(o.level, q));
    }
    void apply(const std::vector<Operation>& all) {
        for (const auto& o : all) apply(o);
    }
};

double energy_error(const std::vector<Level>& levels, std::vector<double> strength, double length) {
    Pendulum pendulum{std::move(strength)};
    const double before = pendulum.energy();
    pendulum.apply(operations_of(levels, length));
    return std::abs(pendulum.energy() - before);
}

int order_of(Integrator i) { return i == Integrator::omelyan4 || i == Integrator::force_gradient ? 4 : 2; }

class Integrators : public testing::TestWithParam<NamedIntegrator> {};
INSTANTIATE_TEST_SUITE_P(All, Integrators, testing::ValuesIn(integrators), [](const auto& of) { return of.param.name; });

TEST_P(Integrators, HaveTheirOrder) {
    const auto integrator = GetParam().integrator;
    for (const bool nested : {false, true}) {
        const auto error = [&](int steps) {
            if (!nested) return energy_error({{integrator, steps, {0}}}, {1}, 3);
            return energy_error({{integrator, steps, {0}}, {integrator, 2, {1}}}, {0.3, 2}, 3);
        };
        // The next order of the error is the square of the step, 1 / 16^2, times a number of some size.
        EXPECT_NEAR(std::log2(error(16) / error(32)), order_of(integrator), 0.2) << nested;
        EXPECT_NEAR(std::log10(error(12) / error(120)), order_of(integrator), 0.2) << nested;
    }
}

TEST_P(Integrators, AreReversibleAndSymmetric) {
    const auto operations = operations_of({{GetParam().integrator, 3, {0}}, {Integrator::leapfrog, 2, {1}}}, 1.7);
    Pendulum pendulum{{0.5, 1.5}};
    const auto start = pendulum;
    pendulum.apply(operations);
    pendulum.p = -pendulum.p;
    pendulum.apply(operations);
    EXPECT_NEAR(pendulum.q, start.q, 1e-14);
    EXPECT_NEAR(pendulum.p, -start.p, 1e-14);
    // Area: the determinant of the Jacobian by differences of central differences
    const double h = 1e-5;
    const auto end = [&](double dq, double dp) {
        auto moved = start;
        moved.q += dq, moved.p += dp;
        moved.apply(operations);
        return moved;
    };
    const auto a = end(h, 0), b = end(-h, 0), c = end(0, h), d = end(0, -h);
    EXPECT_NEAR(((a.q - b.q) * (c.p - d.p) - (a.p - b.p) * (c.q - d.q)) / (4 * h * h), 1, 1e-9);  // h^2 of the third derivatives
}

TEST_P(Integrators, DriftForTheWholeLengthAndKickAsLong) {
    for (const int steps : {1, 2, 7}) {
        double drift = 0, kick[2] = {0, 0};
        for (const auto& o : operations_of({{GetParam().integrator, steps, {0}}, {Integrator::omelyan2, 3, {1}}}, 0.75))
            (o.kind == Kind::drift ? drift : kick[o.level]) += o.step;
        EXPECT_NEAR(drift, 0.75, 1e-15 * 40);
        EXPECT_NEAR(kick[0], 0.75, 1e-15 * 40);
        EXPECT_NEAR(kick[1], 0.75, 1e-15 * 40);
    }
}

TEST_P(Integrators, JoinKicksThatMeet) {
    const int forces = GetParam().integrator == Integrator::leapfrog   ? 1
                       : GetParam().integrator == Integrator::omelyan2 ? 2
                       : GetParam().integrator == Integrator::omelyan4 ? 5
                                                                       : 2;  // and the one of the shift
    const auto operations = operations_of({{GetParam().integrator, 6, {0}}}, 1);
    int kicks = 0, gradients = 0;
    for (const auto& o : operations) kicks += o.kind != Kind::drift, gradients += o.kind == Kind::gradient_kick;
    EXPECT_EQ(kicks, 6 * forces + 1);
    EXPECT_EQ(gradients, GetParam().integrator == Integrator::force_gradient ? 6 : 0);
    // An inner level of two leapfrog steps for each drift of an outer one: kicks at the joints are one.
    const auto nested = operations_of({{Integrator::leapfrog, 3, {0}}, {Integrator::leapfrog, 2, {1}}}, 1);
    int inner = 0, outer = 0;
    for (const auto& o : nested)
        if (o.kind == Kind::kick) ++(o.level == 1 ? inner : outer);
    EXPECT_EQ(outer, 4);
    EXPECT_EQ(inner, 7);
}

TEST(Operations, OfLeapfrogAreThoseOfTheTextbook) {
    const auto o = operations_of({{Integrator::leapfrog, 2, {0}}}, 1);
    ASSERT_EQ(o.size(), 5u);
    const double steps[] = {0.25, 0.5, 0.5, 0.5, 0.25};
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(o[k].kind, k % 2 == 0 ? Kind::kick : Kind::drift);
        EXPECT_EQ(o[k].step, steps[k]);
    }
}

TEST(Operations, NeedLevelsAndSteps) {
    EXPECT_THROW(operations_of({}, 1), LogicError);
    EXPECT_THROW(operations_of({{Integrator::leapfrog, 0, {0}}}, 1), LogicError);
}

}  // namespace
}  // namespace kasane::lattice
