// The deterministic gauge field and source of the CCS QCD solver benchmark (K.-I. Ishikawa, Y. Kuramashi, A. Ukawa, T. Boku;
// Fiber suite of mini-applications, v0.92), rebuilt from its description, and what it prints for class 1. Its generator gives one number
// after another, so the order of all loops is part of the definition:
//   parity (even, odd), direction, x, y, z: 8 T/2 pairs of numbers; the site with time t has the pairs c + 3 (t/2), c = 0 … 7 (neighbours
//   share pairs: 3 is not 8). P = sum_c sin(2 pi a) sqrt(-2 log b) lambda_c / sqrt 2, U = exp(0.1 i P).
//   parity, x, y, z: 12 T/2 pairs; spin s, colour c: the pair c + 3 s + 12 (t/2), y = sqrt(-log a) exp(2 pi i b), in the Dirac-Pauli basis.
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace kasane::reference {

struct CcsQcd {
    // Class 1: 8^3 x 16, kappa 0.124, c_sw 1, periodic in time.
    static constexpr lattice::Extents extents{{8, 8, 8, 16}};
    static constexpr double kappa = 0.124, csw = 1;
    static constexpr double log_determinant = -57.877906765333961;  ///< of A, both parities
    static constexpr std::complex<double> sum_of_links{96998.090205745393, 54.807048221346015};
    static constexpr std::complex<double> sum_of_source{-121.78644386275644, 265.75256346703713};
    static constexpr double solution_norm2 = 0.587744661711278e5;  ///< |x_e|^2, x_e - kappa^2 A_ee^-1 H_eo A_oo^-1 H_oe x_e = y_e

    lattice::GaugeField links{extents};
    lattice::SpinorField source{extents};  ///< y, Dirac-Pauli basis

    CcsQcd() {
        const double sqrt_half = std::sqrt(0.5);
        for (int parity = 0; parity < 2; ++parity)
            for (int mu = 0; mu < 4; ++mu)
                each_line([&](int x, int y, int z) {
                    const auto pairs = draw(8);
                    for (int t = (x + y + z + parity) % 2; t < extents[3]; t += 2) {
                        double h[8];
                        for (int c = 0; c < 8; ++c) {
                            const auto [angle, size] = pairs[static_cast<std::size_t>(c + 3 * (t / 2))];
                            h[c] = std::sqrt(-2 * std::log(size)) * std::sin(2 * std::numbers::pi * angle) * 0.1 * sqrt_half;
                        }
                        const double eight = h[7] / std::sqrt(3.);
                        lattice::Su3<double> a;  // i times the Hermitian sum of h_c lambda_c
                        a.e[0][0] = {0, h[2] + eight};
                        a.e[1][1] = {0, -h[2] + eight};
                        a.e[2][2] = {0, -2 * eight};
                        a.e[0][1] = {h[1], h[0]}, a.e[1][0] = {-h[1], h[0]};
                        a.e[0][2] = {h[4], h[3]}, a.e[2][0] = {-h[4], h[3]};
                        a.e[1][2] = {h[6], h[5]}, a.e[2][1] = {-h[6], h[5]};
                        links.link(extents.lexicographic({{x, y, z, t}}), mu) = lattice::exponential(a);
                    }
                });
        for (int parity = 0; parity < 2; ++parity)
            each_line([&](int x, int y, int z) {
                const auto pairs = draw(12);
                for (int t = (x + y + z + parity) % 2; t < extents[3]; t += 2)
                    for (int k = 0; k < 12; ++k) {
                        const auto [size, angle] = pairs[static_cast<std::size_t>(k + 12 * (t / 2))];
                        source.at(extents.lexicographic({{x, y, z, t}}), k / 3, k % 3) =
                            std::polar(std::sqrt(-std::log(size)), 2 * std::numbers::pi * angle);
                    }
            });
    }

   private:
    template <class Do>
    static void each_line(const Do& line) {
        for (int x = 0; x < extents[0]; ++x)
            for (int y = 0; y < extents[1]; ++y)
                for (int z = 0; z < extents[2]; ++z) line(x, y, z);
    }
    double next() {
        state_ = (state_ * 48828125u) & 0x7fffffffu;
        return state_ / 2147483647.;
    }
    std::vector<std::pair<double, double>> draw(int numbers) {
        std::vector<std::pair<double, double>> pairs(static_cast<std::size_t>(numbers * extents[3] / 2));
        for (auto& [first, second] : pairs) {
            first = next();
            second = next();
        }
        return pairs;
    }
    std::uint32_t state_ = 12345;
};

}  // namespace kasane::reference
