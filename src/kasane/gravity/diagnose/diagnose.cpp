#include <kasane/core/base/error.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/diagnose/totals.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr index_t chunk = 4096;

/// Sums of `count` quantities over n particles: add(i, sums) adds particle i to a chunk's sums. Chunks run on threads and are
/// combined in their order.
template <std::size_t count, class Add>
std::array<double, count> summed(index_t n, Cpu on, Add add) {
    using Sums = std::array<CompensatedSum<double>, count>;
    const index_t chunks = (n + chunk - 1) / chunk;
    std::vector<std::array<double, count>> parts(static_cast<std::size_t>(chunks));
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads) if (chunks > 1)
    for (index_t c = 0; c < chunks; ++c) {
        Sums sums;
        for (index_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) add(static_cast<std::size_t>(i), sums);
        for (std::size_t k = 0; k < count; ++k) parts[static_cast<std::size_t>(c)][k] = sums[k].value();
    }
    Sums sums;
    for (const auto& part : parts) {
        for (std::size_t k = 0; k < count; ++k) sums[k].add(part[k]);
    }
    std::array<double, count> total;
    for (std::size_t k = 0; k < count; ++k) total[k] = sums[k].value();
    return total;
}

void add_vector(CompensatedSum<double>* sum, const Vec3<double>& v) { sum[0].add(v.x), sum[1].add(v.y), sum[2].add(v.z); }

}  // namespace

namespace detail {

void check_total_mass(double mass) {
    KS_VALIDATE(mass > 0, "the particles' total mass is 0: there is no centre of mass. Give at least one particle a mass");
}

Diagnostics diagnostics_of(const Totals& total) {
    const double mass = total[0];
    check_total_mass(mass);
    Diagnostics d;
    d.kinetic = total[1] / 2;
    d.potential = total[2] / 2;
    d.energy = d.kinetic + d.potential;
    d.momentum = {total[3], total[4], total[5]};
    d.angular_momentum = {total[6], total[7], total[8]};
    d.center_of_mass = 1 / mass * Vec3<double>{total[9], total[10], total[11]};
    return d;
}

}  // namespace detail

Diagnostics diagnose(const Particles& p, const std::vector<double>& potential, const std::vector<Vec3<double>>& acceleration, double time,
                     Cpu on) {
    const auto n = p.mass.size();
    KS_VALIDATE(potential.size() == n && acceleration.size() == n,
                fmt::format("diagnostics of {} particles need as many potentials (got {}) and accelerations (got {})", n, potential.size(),
                            acceleration.size()));
    const auto total = summed<12>(p.size(), on, [&](std::size_t i, auto& sums) {
        const double m = p.mass[i];
        sums[0].add(m);
        sums[1].add(m * dot(p.velocity[i], p.velocity[i]));
        sums[2].add(m * potential[i]);
        add_vector(&sums[3], m * p.velocity[i]);
        add_vector(&sums[6], m * cross(p.position[i], p.velocity[i]));
        add_vector(&sums[9], m * p.position[i]);
    });
    auto d = detail::diagnostics_of(total);
    d.time = time;

    // A second pass relative to the centre: shifting W and K afterwards would lose digits for a system that is far away or fast.
    const Vec3<double> drift = 1 / total[0] * d.momentum;
    const auto inner = summed<2>(p.size(), on, [&](std::size_t i, auto& sums) {
        const auto v = p.velocity[i] - drift;
        sums[0].add(p.mass[i] * dot(v, v));
        sums[1].add(p.mass[i] * dot(p.position[i] - d.center_of_mass, acceleration[i]));
    });
    d.virial_ratio = inner[1] != 0 ? inner[0] / std::abs(inner[1]) : 0;
    d.lagrangian_radius = lagrangian_radii(p, d.center_of_mass, {std::begin(lagrangian_fractions), std::end(lagrangian_fractions)});
    return d;
}

Vec3<double> center_of_mass(const Particles& p, Cpu on) {
    const auto total = summed<4>(p.size(), on, [&](std::size_t i, auto& sums) {
        sums[0].add(p.mass[i]);
        add_vector(&sums[1], p.mass[i] * p.position[i]);
    });
    detail::check_total_mass(total[0]);
    return 1 / total[0] * Vec3<double>{total[1], total[2], total[3]};
}

std::vector<double> lagrangian_radii(const Particles& p, const Vec3<double>& center, const std::vector<double>& fractions) {
    const auto n = p.mass.size();
    std::vector<std::pair<double, double>> by_distance(n);  // squared distance, mass
    CompensatedSum<double> sum;
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = p.position[i] - center;
        by_distance[i] = {dot(x, x), p.mass[i]};
        sum.add(p.mass[i]);
    }
    const double total = sum.value();
    detail::check_total_mass(total);
    std::sort(by_distance.begin(), by_distance.end());

    std::vector<std::size_t> ascending(fractions.size());
    std::iota(ascending.begin(), ascending.end(), std::size_t{0});
    std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) { return fractions[a] < fractions[b]; });
    std::vector<double> radii(fractions.size());
    CompensatedSum<double> inside;
    std::size_t next = 0;
    for (const auto k : ascending) {
        const double fraction = fractions[k];
        KS_VALIDATE(fraction >= 0 && fraction <= 1,
                    fmt::format("a Lagrangian radius of the mass fraction {} does not exist: fractions are 0 to 1", fraction));
        // Half of four masses is two of them, although the sums may differ in the last digit.
        const double wanted = fraction * total * (1 - 1e-14);
        while (next < n && inside.value() < wanted) inside.add(by_distance[next++].second);
        radii[k] = next > 0 ? std::sqrt(by_distance[next - 1].first) : 0;
    }
    return radii;
}

}  // namespace kasane::gravity
