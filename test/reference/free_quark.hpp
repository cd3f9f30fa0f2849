// Wilson quarks without gauge field, by sums over momenta:
//   S(p) = [M - i sum_mu g_mu sin p_mu] / [M^2 + sum_mu sin^2 p_mu], M = m + sum_mu (1 - cos p_mu), m = 1 / (2 kappa) - 4,
// p_mu = 2 pi n / N_mu, in an antiperiodic direction 2 pi (n + 1/2) / N_mu. Uses nothing of the lattice module.
#pragma once

#include "reference/wilson.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::reference {

struct FreeQuark {
    std::array<int, 4> extents;
    double kappa;
    bool antiperiodic;

    double momentum(std::size_t mu, int n) const { return 2 * std::numbers::pi * (n + (mu == 3 && antiperiodic ? 0.5 : 0)) / extents[mu]; }
    Spin at_momentum(const std::array<double, 4>& p) const {
        double M = 1 / (2 * kappa) - 4, denominator = 0;
        Spin numerator{};
        for (std::size_t mu = 0; mu < 4; ++mu) {
            M += 1 - std::cos(p[mu]);
            denominator += std::sin(p[mu]) * std::sin(p[mu]);
            numerator = combination(1, numerator, -I * std::sin(p[mu]), gamma[mu]);
        }
        return combination(1 / (denominator + M * M), numerator, M / (denominator + M * M), identity<Spin>());
    }
    /// S(p, t) of every spatial momentum (x fastest) and t: [t][p].
    std::vector<std::vector<Spin>> at_spatial_momenta() const {
        const auto [X, Y, Z, T] = extents;
        std::vector<std::vector<Spin>> s(static_cast<std::size_t>(T), std::vector<Spin>(static_cast<std::size_t>(X * Y * Z)));
        for (int n = 0; n < X * Y * Z; ++n)
            for (int k = 0; k < T; ++k) {
                const std::array<double, 4> p = {momentum(0, n % X), momentum(1, n / X % Y), momentum(2, n / X / Y), momentum(3, k)};
                const Spin of_p = at_momentum(p);
                for (int t = 0; t < T; ++t) {
                    auto& sum = s[static_cast<std::size_t>(t)][static_cast<std::size_t>(n)];
                    sum = combination(1, sum, std::exp(I * p[3] * double(t)) / double(T), of_p);
                }
            }
        return s;
    }
    /// S(x) from the source at the origin, x = (x, y, z, t) in lexicographic order, x fastest.
    std::vector<Spin> in_space() const {
        const auto [X, Y, Z, T] = extents;
        const int slice = X * Y * Z;
        const auto of_p = at_spatial_momenta();
        std::vector<Spin> s(static_cast<std::size_t>(slice * T));
        for (int i = 0; i < slice; ++i)
            for (int n = 0; n < slice; ++n) {
                const double phase =
                    momentum(0, n % X) * (i % X) + momentum(1, n / X % Y) * (i / X % Y) + momentum(2, n / X / Y) * (i / X / Y);
                const Number wave = std::exp(I * phase) / double(slice);
                for (int t = 0; t < T; ++t) {
                    auto& sum = s[static_cast<std::size_t>(t * slice + i)];
                    sum = combination(1, sum, wave, of_p[static_cast<std::size_t>(t)][static_cast<std::size_t>(n)]);
                }
            }
        return s;
    }
    /// sum_x tr [V S(x, t) V^+ S(x, t)^+] over spin and the three colours, in momentum space by Parseval's theorem.
    std::vector<double> correlator(const Spin& vertex) const {
        std::vector<double> c;
        for (const auto& slice : at_spatial_momenta()) {
            double sum = 0;
            for (const auto& s : slice) {
                const Spin m = product(product(vertex, s), product(dagger(vertex), dagger(s)));
                sum += (m[0][0] + m[1][1] + m[2][2] + m[3][3]).real();
            }
            c.push_back(3 * sum / static_cast<double>(slice.size()));
        }
        return c;
    }
};

/// sum_x tr S S^+ of published regression values, to all the digits they have: kappa 0.12.
inline constexpr double pion_4x4x4x8_antiperiodic[] = {8.289214409281e-01, 6.887745579617e-02, 3.206956810448e-02, 2.559682397616e-02,
                                                       2.415883499096e-02};
inline constexpr double pion_8x8x8x16_periodic[] = {8.130992203203e-01, 5.092025869759e-02, 1.121259712819e-02, 5.198106946056e-03};

}  // namespace kasane::reference
