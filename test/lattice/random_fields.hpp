// Random fields for tests, by the seed of the standard library's generator: independent of the library's own starts and sources.
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace kasane::lattice::test {

/// Independent complex Gaussian numbers.
inline SpinorField random_spinor(const Extents& extents, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    SpinorField psi(extents);
    for (auto& value : psi.values) {
        const double re = normal(generator);
        value = {re, normal(generator)};
    }
    return psi;
}

/// An SU(3) matrix, exp(epsilon X) with X anti-Hermitian and Gaussian: near 1 for small epsilon, anywhere for epsilon of 2 and more.
template <class Generator>
Su3<double> random_matrix(Generator& generator, double epsilon) {
    std::normal_distribution<double> normal;
    Su3<double> a{};
    for (auto& row : a.e)
        for (auto& entry : row) {
            const double re = normal(generator);
            entry = {epsilon * re, epsilon * normal(generator)};
        }
    return reunitarised(exponential(traceless_antihermitian(a)));
}

inline GaugeField random_gauge(const Extents& extents, std::uint64_t seed, double epsilon = 2) {
    std::mt19937_64 generator(seed);
    GaugeField u(extents);
    for (auto& link : u.links) link = random_matrix(generator, epsilon);
    return u;
}
inline GaugeField unit_gauge(const Extents& extents) {
    GaugeField u(extents);
    for (auto& link : u.links) link = Su3<double>::unit();
    return u;
}

/// One SU(3) matrix per site.
inline std::vector<Su3<double>> random_transformation(const Extents& extents, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<Su3<double>> g(static_cast<std::size_t>(extents.volume()));
    for (auto& matrix : g) matrix = random_matrix(generator, 2);
    return g;
}
/// U^g_mu(x) = g(x) U_mu(x) g(x + mu)^+
inline GaugeField transformed(const GaugeField& u, const std::vector<Su3<double>>& g) {
    GaugeField v(u.extents);
    for (index_t x = 0; x < u.extents.volume(); ++x)
        for (int mu = 0; mu < 4; ++mu) {
            const index_t ahead = u.extents.lexicographic(u.extents.shifted(u.extents.site(x), mu, 1));
            v.link(x, mu) = times_adjoint(g[static_cast<std::size_t>(x)] * u.link(x, mu), g[static_cast<std::size_t>(ahead)]);
        }
    return v;
}
/// (g psi)(x) = g(x) psi(x)
inline SpinorField transformed(const SpinorField& psi, const std::vector<Su3<double>>& g) {
    SpinorField out(psi.extents);
    for (index_t x = 0; x < psi.extents.volume(); ++x)
        for (int spin = 0; spin < 4; ++spin)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    const auto& entry = g[static_cast<std::size_t>(x)].e[i][j];
                    out.at(x, spin, i) += std::complex<double>(entry.re, entry.im) * psi.at(x, spin, j);
                }
    return out;
}

}  // namespace kasane::lattice::test
