#include <kasane/gravity/galaxy/disk/bessel.hpp>
#include <kasane/gravity/galaxy/disk/planar_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {

using std::numbers::pi;

namespace {

constexpr std::size_t speeds = 97;         // speeds at every radius; an odd number, for Simpson's rule
constexpr double reach = 8;                // range of the speeds around the circular speed, in dispersions
constexpr int rounds = 60;                 // limit of the iterations; most disks take 10
constexpr double moment_tolerance = 1e-4;  // relative error of both moments, mean over the mass

constexpr auto quantiles = static_cast<std::size_t>(PlanarDraw::quantiles);

double normal_share(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

PlanarDistribution::PlanarDistribution(const PlanarProblem& problem, Cpu on) : axis_(problem.axis) { solve(problem, on); }

void PlanarDistribution::solve(const PlanarProblem& problem, Cpu on) {
    const int threads = thread_count(on);
    const std::size_t n = axis_.cells;
    const auto count = static_cast<index_t>(n);
    std::vector<double> R(n), dR(n);
    for (std::size_t i = 0; i < n; ++i) {
        R[i] = axis_.centre(i);
        dR[i] = axis_.slope(R[i]);
    }
    const auto force_slope = log_slopes(axis_, problem.force);
    // Psi of the force, integrated inwards from that of a point mass beyond the last centre: fourth order between the centres, power laws
    // next to the axis and at the end.
    std::vector<double> per_index(n), psi(n);
    for (std::size_t i = 0; i < n; ++i) per_index[i] = problem.force[i] * dR[i];
    psi[n - 1] = problem.force[n - 1] * R[n - 1];
    for (std::size_t i = n - 1; i-- > 0;) {
        if (i < 8 || i + 2 >= n) {
            const double x = std::log(R[i + 1] / R[i]), power = std::log(problem.force[i + 1] / problem.force[i]) / x + 1;
            psi[i] = psi[i + 1] + problem.force[i] * R[i] * (std::abs(power) > 1e-9 ? std::expm1(x * power) / power : x);
        } else {
            psi[i] = psi[i + 1] + (13 * (per_index[i] + per_index[i + 1]) - per_index[i - 1] - per_index[i + 2]) / 24;
        }
    }
    // Circular orbits.
    std::vector<double> binding(n), omega(n), gamma(n), momentum(n), binding_slope(n), log_omega(n), log_gamma(n), log_momentum(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double omega2 = problem.force[i] / R[i];
        const double kappa2 = std::max(3 + force_slope[i], 0.01) * omega2;
        omega[i] = std::sqrt(omega2);
        momentum[i] = R[i] * R[i] * omega[i];
        binding[i] = psi[i] - R[i] * problem.force[i] / 2;
        binding_slope[i] = R[i] * kappa2 / 2 * dR[i];  // -d(binding)/du
        log_omega[i] = std::log(omega[i]);
        log_gamma[i] = std::log(2 * omega[i] / std::sqrt(kappa2));
        log_momentum[i] = std::log(momentum[i]);
    }
    // Where the force falls faster than R^-3, as just beyond a sharp edge, circular orbits are unstable and their energy decreases with
    // the radius. No star has such an orbit; the energy is kept almost constant there, so that every energy has one orbit.
    std::vector<double> energy(n);
    for (std::size_t i = 0; i < n; ++i) {
        energy[i] = -binding[i];
        const double least = i > 0 ? energy[i - 1] + 1e-9 * R[i] * problem.force[i] : energy[i];
        if (energy[i] < least) energy[i] = least, binding_slope[i] = binding_slope[i - 1] = 0;
    }
    const UniformHermite energy_of(0.5, 1, energy, binding_slope);
    const RadialTable omega_of(axis_, log_omega), gamma_of(axis_, log_gamma), momentum_of(axis_, log_momentum);

    // Speeds at every radius and the circular orbits of their energies; they do not change with S and s.
    struct Sample {
        double u, v, omega, gamma, momentum;
    };
    std::vector<Sample> sample(n * speeds);
    std::vector<double> step(n);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index_t k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const double circular = R[i] * omega[i], spread = reach * std::sqrt(problem.sigma_R2[i]);
        const double first = std::max(0., circular - spread);
        const double most = std::sqrt(std::max(2 * (psi[i] - binding[n - 1]), 0.));
        const double last = std::max(std::min(circular + spread, most), first + 1e-9 * circular);
        step[i] = (last - first) / (speeds - 1);
        for (std::size_t j = 0; j < speeds; ++j) {
            auto& s = sample[i * speeds + j];
            s.v = first + step[i] * static_cast<double>(j);
            s.u = energy_of.inverse(s.v * s.v / 2 - psi[i]);
            s.omega = std::exp(omega_of(s.u));
            s.gamma = std::exp(gamma_of(s.u));
            s.momentum = std::exp(momentum_of(s.u));
        }
    }

    // ln S and ln s^2. Where the disk has ended, S keeps a negligible positive value.
    double most = 0;
    for (const double s : problem.surface_density) most = std::max(most, s);
    std::vector<double> log_s(n), log_s2(n), wanted(n);
    for (std::size_t i = 0; i < n; ++i) {
        wanted[i] = std::max(problem.surface_density[i], 1e-14 * most);
        log_s[i] = std::log(wanted[i]);
        log_s2[i] = std::log(problem.sigma_R2[i]);
    }
    std::vector<double> density(n), sigma_R2(n), rotation(n), square(n), weight(n * speeds);
    const auto moments = [&] {
        const RadialTable s_of(axis_, log_s), s2_of(axis_, log_s2);
#pragma omp parallel for schedule(static) num_threads(threads)
        for (index_t k = 0; k < count; ++k) {
            const auto i = static_cast<std::size_t>(k);
            double sum = 0, radial = 0, mean = 0, tangential = 0;
            // The largest exponential is factored out, so that they do not all underflow.
            double exponent[speeds], greatest = -std::numeric_limits<double>::infinity();
            for (std::size_t j = 0; j < speeds; ++j) {
                const auto& s = sample[i * speeds + j];
                // L <= L_c(E) must also hold for rounded tables.
                exponent[j] = s_of(s.u) + std::min(s.omega * (R[i] * s.v - s.momentum), 0.) / std::exp(s2_of(s.u));
                greatest = std::max(greatest, exponent[j]);
            }
            for (std::size_t j = 0; j < speeds; ++j) {
                const auto& s = sample[i * speeds + j];
                const double s2 = std::exp(s2_of(s.u)), x = s.omega * R[i] * s.v / s2;
                const auto [i0, i1] = scaled_bessel(x);
                const double bessel = i0 > 0 ? i1 / i0 : 1, across = x > 0 ? bessel / x : 0.5;
                const double w = s.v * s.gamma / s2 * std::exp(exponent[j] - greatest) * i0;
                weight[i * speeds + j] = w;
                const double simpson = (j == 0 || j + 1 == speeds ? 1 : (j % 2 == 1 ? 4 : 2)) * w;
                sum += simpson;
                radial += simpson * s.v * s.v * across;
                mean += simpson * s.v * bessel;
                tangential += simpson * s.v * s.v * (1 - across);
            }
            density[i] = sum * step[i] / 3 * std::exp(greatest);
            sigma_R2[i] = radial / sum;
            rotation[i] = mean / sum;
            square[i] = tangential / sum;
        }
    };
    for (int round = 0;; ++round) {
        moments();
        double mass = 0;
        density_error_ = dispersion_error_ = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double m = R[i] * dR[i] * problem.surface_density[i];
            mass += m;
            density_error_ += m * std::abs(density[i] / wanted[i] - 1);
            dispersion_error_ += m * std::abs(sigma_R2[i] / problem.sigma_R2[i] - 1);
        }
        density_error_ /= mass;
        dispersion_error_ /= mass;
        if (round == rounds || std::max(density_error_, dispersion_error_) < moment_tolerance) break;
        for (std::size_t i = 0; i < n; ++i) {
            // Orbits wider than a sharp edge cannot reproduce it: steps are bounded, so that S does not diverge there.
            log_s[i] += std::clamp(std::log(wanted[i] / density[i]), -0.5, 0.5);
            const double s2 = std::clamp(std::log(problem.sigma_R2[i] / sigma_R2[i]), -0.5, 0.5), base = std::log(problem.sigma_R2[i]);
            log_s2[i] = std::clamp(log_s2[i] + s2, base - 2, base + 4);
        }
    }
    sigma_R2_ = RadialTable(axis_, sigma_R2);
    rotation_ = RadialTable(axis_, rotation);
    square_ = RadialTable(axis_, square);

    const RadialTable s2_of(axis_, log_s2);
    quantile_.resize(n * quantiles);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index_t k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const double* w = &weight[i * speeds];
        std::vector<double> share(speeds), slope(speeds);
        for (std::size_t j = 1; j < speeds; ++j) {
            const double before = j >= 2 ? w[j - 2] : 0, behind = j + 1 < speeds ? w[j + 1] : 0;
            share[j] = share[j - 1] + std::max(13 * (w[j - 1] + w[j]) - before - behind, 0.) / 24;
        }
        const double all = share.back();
        for (std::size_t j = 0; j < speeds; ++j) share[j] /= all, slope[j] = w[j] / all;
        const UniformHermite share_of(0, 1, share, slope);
        for (std::size_t q = 0; q < quantiles; ++q) {
            const double normal = PlanarDraw::normal_first + PlanarDraw::quantile_step * static_cast<double>(q);
            const double v = sample[i * speeds].v + step[i] * share_of.inverse(normal_share(normal));
            const double u = energy_of.inverse(v * v / 2 - psi[i]);
            quantile_[i * quantiles + q] = {v, omega_of(u) - s2_of(u)};
        }
    }
}

PlanarMoments PlanarDistribution::at(double u) const {
    PlanarMoments m{sigma_R2_(u), 0, rotation_(u), square_(u)};
    m.sigma_phi2 = std::max(m.square - m.rotation * m.rotation, 0.);
    return m;
}

}  // namespace kasane::gravity
