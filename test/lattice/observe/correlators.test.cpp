// Correlators against sums with whole matrices, against the free quark in momentum space, and against published numbers.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/observe/correlators.hpp>

#include "lattice/random_fields.hpp"
#include "reference/free_quark.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kasane::lattice {
namespace {

using reference::FreeQuark;

/// The free propagator from a source at time t0 of the origin, with the sign that an antiperiodic boundary gives.
Propagator free_propagator(const FreeQuark& quark, int t0) {
    const auto& n = quark.extents;
    const Extents extents{n[0], n[1], n[2], n[3]};
    const auto s = quark.in_space();
    Propagator propagator{t0, std::vector<SpinorField>(12, SpinorField(extents))};
    const index_t slice = extents.volume() / n[3];
    for (index_t site = 0; site < extents.volume(); ++site) {
        const index_t t = (site / slice + t0) % n[3];
        const double sign = quark.antiperiodic && t < t0 ? -1 : 1;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                for (int c = 0; c < 3; ++c)
                    propagator.columns[static_cast<std::size_t>(3 * j + c)].at(t * slice + site % slice, i, c) =
                        sign * s[static_cast<std::size_t>(site)][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
    return propagator;
}

template <class Expected>
void expect_near(const std::vector<double>& correlator, const Expected& expected, double tolerance) {
    std::size_t t = 0;
    for (const double value : expected) {
        EXPECT_NEAR(correlator[t], value, tolerance * std::abs(value)) << t;
        ++t;
    }
}

TEST(Correlators, PionsOfFreeQuarks) {
    // The published numbers have 13 digits.
    for (const int t0 : {0, 3}) {
        const auto free = free_propagator({{4, 4, 4, 8}, 0.12, true}, t0);
        expect_near(pion_correlator(free), reference::pion_4x4x4x8_antiperiodic, 1e-12);
        EXPECT_NEAR(free.columns[0].at(t0 * 64, 0, 0).real(), 0.233204648486, 1e-12);
    }
    expect_near(FreeQuark{{8, 8, 8, 16}, 0.12, false}.correlator(reference::identity<reference::Spin>()), reference::pion_8x8x8x16_periodic,
                1e-12);
}

TEST(Correlators, VectorMesonsOfFreeQuarks) {
    const FreeQuark quark{{2, 4, 6, 8}, 0.11, true};
    const auto vectors = vector_correlator(free_propagator(quark, 5));
    std::vector<double> expected(8, 0.0);
    for (std::size_t k = 0; k < 3; ++k) {
        const auto one = quark.correlator(reference::product(reference::gamma[4], reference::gamma[k]));
        for (std::size_t t = 0; t < 8; ++t) expected[t] += one[t] / 3;
    }
    // Sums of some thousand terms of either sign: a few digits less than 16 of the largest of them, which is at t = 0.
    for (std::size_t t = 0; t < 8; ++t) EXPECT_NEAR(vectors[t], expected[t], 1e-13 * expected[0]) << t;
    for (std::size_t t = 0; t < 8; ++t) EXPECT_GT(vectors[t], 0) << t;
}

TEST(Correlators, TracesOfWholeMatrices) {
    const Extents extents{2, 4, 2, 4};
    Propagator s{3, {}};
    for (std::uint64_t column = 0; column < 12; ++column) s.columns.push_back(test::random_spinor(extents, column));
    // tr [V S V^+ S^+] with V = g5 Gamma, 12x12
    const auto expected = [&](const reference::Spin& gamma) {
        const auto v = reference::product(reference::gamma[4], gamma), vd = reference::dagger(v);
        std::vector<double> c(4, 0.0);
        const index_t slice = extents.volume() / 4;
        for (index_t site = 0; site < extents.volume(); ++site) {
            reference::Matrix12 m{}, left{}, right{};
            for (std::size_t i = 0; i < 12; ++i)
                for (std::size_t j = 0; j < 12; ++j) {
                    m[i][j] = s.columns[j].at(site, static_cast<int>(i / 3), static_cast<int>(i % 3));
                    if (i % 3 == j % 3) left[i][j] = v[i / 3][j / 3], right[i][j] = vd[i / 3][j / 3];
                }
            const auto whole = reference::product(reference::product(left, m), reference::product(right, reference::dagger(m)));
            for (std::size_t i = 0; i < 12; ++i) c[static_cast<std::size_t>((site / slice + 4 - 3) % 4)] += whole[i][i].real();
        }
        return c;
    };
    const auto pion = pion_correlator(s), vector = vector_correlator(s);
    const auto& scale = pion;
    const auto p = expected(reference::gamma[4]);
    const auto x = expected(reference::gamma[0]), y = expected(reference::gamma[1]), z = expected(reference::gamma[2]);
    for (std::size_t t = 0; t < 4; ++t) {
        EXPECT_NEAR(pion[t], p[t], 1e-13 * scale[t]) << t;
        EXPECT_NEAR(vector[t], (x[t] + y[t] + z[t]) / 3, 1e-13 * scale[t]) << t;
    }
}

TEST(Correlators, PropagatorsInPartsGiveTheSameBits) {
    const Extents extents{4, 6, 8, 4};
    Propagator s{3, {}};
    for (std::uint64_t column = 0; column < 12; ++column) s.columns.push_back(test::random_spinor(extents, column));
    std::vector<std::complex<double>> rows;
    for (index_t i = 0; i < 12 * extents.volume(); ++i)
        for (const auto& column : s.columns) rows.push_back(column.values[static_cast<std::size_t>(i)]);
    for (const index_t sites : {24, 72, 192, 384, 768}) {  // planes, some of a slice; one slice, two, all
        MesonCorrelators mesons(extents, s.source_time);
        for (index_t first = 0; first < extents.volume(); first += sites)
            mesons.add(first, {rows.data() + 144 * first, 144 * std::min(sites, extents.volume() - first)});
        EXPECT_EQ(mesons.pion(), pion_correlator(s)) << sites;
        EXPECT_EQ(mesons.vector(), vector_correlator(s)) << sites;
    }
}

TEST(Correlators, RefuseWhatIsNoPropagator) {
    const Extents extents{2, 4, 2, 4};
    const Propagator good{3, std::vector<SpinorField>(12, SpinorField(extents))};
    EXPECT_EQ(pion_correlator(good).size(), 4u);
    const auto refused = [](const Propagator& s) {
        EXPECT_THROW(pion_correlator(s), LogicError);
        EXPECT_THROW(vector_correlator(s), LogicError);
    };
    for (const int t : {-1, -9, 4, 1 << 30}) {
        auto bad = good;
        bad.source_time = t;
        refused(bad);
        EXPECT_THROW(MesonCorrelators(extents, t), LogicError) << t;
    }
    auto bad = good;
    bad.columns.pop_back();
    refused(bad);
    bad.columns.emplace_back(Extents{2, 4, 4, 2});
    refused(bad);
    bad.columns.back() = good.columns.back();
    bad.columns[5].values.pop_back();
    refused(bad);
    bad.columns.clear();
    refused(bad);
    EXPECT_THROW(MesonCorrelators({2, 4, 2, 0}, 0), LogicError);
    MesonCorrelators mesons(extents, 0);
    const std::vector<std::complex<double>> rows(288);
    EXPECT_THROW(mesons.add(-1, view(rows)), LogicError);
    EXPECT_THROW(mesons.add(extents.volume() - 1, view(rows)), LogicError);
    EXPECT_THROW(mesons.add(0, view(rows).subview(0, 100)), LogicError);
    mesons.add(extents.volume() - 2, view(rows));
}

TEST(Correlators, EffectiveMassOfOneStateIsItsMass) {
    std::vector<double> c;
    for (int t = 0; t < 16; ++t) c.push_back(3.5 * std::cosh(0.37 * (8 - t)));
    for (const double m : effective_mass(c)) EXPECT_NEAR(m, 0.37, 1e-12);
    c[4] = c[3] * 1.01;  // rises: no mass there
    const auto broken = effective_mass(c);
    EXPECT_TRUE(std::isnan(broken[3]));
    EXPECT_FALSE(std::isnan(broken[4]));
    for (const double m : effective_mass({1e-300, 0, 1, 1})) EXPECT_TRUE(std::isnan(m));
    EXPECT_EQ(effective_mass({2, 2}).size(), 1U);
}

}  // namespace
}  // namespace kasane::lattice
