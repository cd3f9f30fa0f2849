// Each basis by its own matrices, written out: S g_mu S^+ must equal them.
#include <kasane/lattice/gamma_basis.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kasane::lattice {
namespace {

using reference::I;
using reference::product;
using reference::Spin;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double distance(const Spin& a, const Spin& b) {
    double worst = 0;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) worst = std::max(worst, std::abs(a[i][j] - b[i][j]));
    return worst;
}

struct Basis {
    GammaBasis basis;
    std::array<Spin, 4> gamma;
};

const Spin diagonal_4 = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}};
const Spin crossed_4 = {{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}};
const std::array<Spin, 3> plus = {{{{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}}},  // ((0, i s_k), (-i s_k, 0))
                                   {{{0, 0, 0, 1}, {0, 0, -1, 0}, {0, -1, 0, 0}, {1, 0, 0, 0}}},
                                   {{{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}}}}};
const std::array<Spin, 3> minus = {{{{{0, 0, 0, -I}, {0, 0, -I, 0}, {0, I, 0, 0}, {I, 0, 0, 0}}},  // ((0, -i s_k), (i s_k, 0))
                                    {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
                                    {{{0, 0, -I, 0}, {0, 0, 0, I}, {I, 0, 0, 0}, {0, -I, 0, 0}}}}};
const Basis bases[] = {
    {GammaBasis::degrand_rossi, {reference::gamma[0], reference::gamma[1], reference::gamma[2], reference::gamma[3]}},
    {GammaBasis::ukqcd, {plus[0], plus[1], plus[2], diagonal_4}},
    {GammaBasis::chiral, {minus[0], minus[1], minus[2], crossed_4}},
    {GammaBasis::dirac_pauli, {minus[0], minus[1], minus[2], diagonal_4}},
};

TEST(GammaBasis, RotatesTheMatricesOfDeGrandAndRossi) {
    for (const auto& [basis, gamma] : bases) {
        const Spin s = from_degrand_rossi(basis);
        EXPECT_LT(distance(product(s, reference::dagger(s)), reference::identity<Spin>()), 4 * epsilon) << name(basis);
        for (std::size_t mu = 0; mu < 4; ++mu)
            EXPECT_LT(distance(product(product(s, reference::gamma[mu]), reference::dagger(s)), gamma[mu]), 8 * epsilon)
                << name(basis) << ' ' << mu;
    }
}

TEST(GammaBasis, FieldsAreConvertedAndBack) {
    const auto psi = test::random_spinor({2, 4, 2, 6}, 7);
    for (const auto& [from, gamma_from] : bases)
        for (const auto& [to, gamma_to] : bases) {
            const auto there = rotated(psi, from, to);
            EXPECT_LT(reference::relative_difference(rotated(there, to, from), psi), 8 * epsilon) << name(from) << name(to);
            // g'_1 (S psi) = S (g_1 psi)
            const auto times = [](const Spin& g, const SpinorField& x) {
                SpinorField y(x.extents);
                for (index_t site = 0; site < x.extents.volume(); ++site)
                    for (int i = 0; i < 4; ++i)
                        for (int j = 0; j < 4; ++j)
                            for (int c = 0; c < 3; ++c)
                                y.at(site, i, c) += g[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] * x.at(site, j, c);
                return y;
            };
            EXPECT_LT(reference::relative_difference(times(gamma_to[0], there), rotated(times(gamma_from[0], psi), from, to)), 8 * epsilon);
        }
}

TEST(GammaBasis, PropagatorsAreConvertedOnBothSides) {
    std::vector<SpinorField> columns;  // the matrix g_2 in spin, 1 in colour, at every site
    const Extents extents{2, 2, 2, 2};
    for (int column = 0; column < 12; ++column) {
        columns.emplace_back(extents);
        for (index_t site = 0; site < extents.volume(); ++site)
            for (int spin = 0; spin < 4; ++spin)
                columns.back().at(site, spin, column % 3) =
                    reference::gamma[1][static_cast<std::size_t>(spin)][static_cast<std::size_t>(column / 3)];
    }
    for (const auto& [basis, gamma] : bases) {
        const auto turned = rotated(columns, GammaBasis::degrand_rossi, basis);
        for (int column = 0; column < 12; ++column)
            for (int row = 0; row < 12; ++row) {
                const auto expected =
                    row % 3 == column % 3 ? gamma[1][static_cast<std::size_t>(row / 3)][static_cast<std::size_t>(column / 3)] : 0;
                EXPECT_LT(std::abs(turned[static_cast<std::size_t>(column)].at(5, row / 3, row % 3) - expected), 8 * epsilon)
                    << name(basis);
            }
    }
}

TEST(GammaBasis, RowsOfFilesAreConvertedAsFields) {
    const Extents extents{4, 2, 4, 6};
    for (const int columns : {1, 12})
        for (const auto& [from, gamma_from] : bases)
            for (const auto& [to, gamma_to] : bases) {
                std::vector<SpinorField> fields;
                for (int c = 0; c < columns; ++c) fields.push_back(test::random_spinor(extents, static_cast<std::uint64_t>(c)));
                const auto in_rows = [&] {
                    std::vector<std::complex<double>> rows;
                    for (std::size_t i = 0; i < fields[0].values.size(); ++i)
                        for (const auto& field : fields) rows.push_back(field.values[i]);
                    return rows;
                };
                auto rows = in_rows();
                rotate_rows({rows.data(), std::ssize(rows)}, columns, from, to);
                fields = columns == 12 ? rotated(fields, from, to) : std::vector{rotated(fields[0], from, to)};
                EXPECT_EQ(rows, in_rows()) << name(from) << " to " << name(to) << ", columns " << columns;
            }
}

}  // namespace
}  // namespace kasane::lattice
