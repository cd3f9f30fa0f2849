// SU(3) gauge theory by the plainest of all algorithms, Metropolis's, with products along paths: an oracle for heatbath and overrelaxation
// on a handful of sites. Shares nothing with them but the definition of the action.
#pragma once

#include <reference/paths.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace kasane::reference {

class Metropolis {
   public:
    Metropolis(const lattice::Extents& n, double beta, unsigned seed) : u_(n), beta_(beta), random_(seed) {
        for (auto& link : u_.links)
            for (int i = 0; i < 3; ++i) link.e[i][i] = {1, 0};
    }
    const lattice::GaugeField& field() const { return u_; }

    /// Eight proposals for every link in turn: two of its rows turned by a small element of SU(2), whose inverse is as likely.
    void sweep() {
        index_t site = 0;
        for_each_site(u_.extents, [&](const std::array<int, 4>& x) {
            for (int mu = 1; mu <= 4; ++mu) propose(x, mu, u_.links[static_cast<std::size_t>(4 * site + mu - 1)]);
            ++site;
        });
    }

   private:
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    void propose(std::array<int, 4> x, int mu, lattice::Su3<double>& stored) {
        Matrix u = link(u_, x, mu - 1);
        auto ahead = x;
        ++ahead[static_cast<std::size_t>(mu - 1)];
        Matrix staples{};
        for (int nu = 1; nu <= 4; ++nu)
            if (nu != mu)
                for (const int step : {nu, -nu}) staples = difference(staples, scaled(along(u_, ahead, {step, -mu, -step}), -1));
        for (int proposal = 0; proposal < 8; ++proposal) {
            const double size = 0.4, p = size * (2 * uniform() - 1), q = size * (2 * uniform() - 1), r = size * (2 * uniform() - 1);
            const auto j = static_cast<std::size_t>(1 + (uniform() < 0.5)), i = static_cast<std::size_t>(j == 2 && uniform() < 0.5);
            const double rest = std::sqrt(1 - p * p - q * q - r * r);
            Matrix turned = u;
            for (std::size_t k = 0; k < 3; ++k) {
                turned[i][k] = std::complex(rest, r) * u[i][k] + std::complex(q, p) * u[j][k];
                turned[j][k] = std::complex(rest, -r) * u[j][k] + std::complex(-q, p) * u[i][k];
            }
            const double gain = beta_ / 3 * trace(product(difference(turned, u), staples)).real();
            if (uniform() < std::exp(std::min(0., gain))) u = turned;
        }
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b) stored.e[a][b] = {u[a][b].real(), u[a][b].imag()};
    }

    lattice::GaugeField u_;
    double beta_;
    std::mt19937_64 random_;
};

}  // namespace kasane::reference
