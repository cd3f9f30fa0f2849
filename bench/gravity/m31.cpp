#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/eddington.hpp>
#include <kasane/gravity/galaxy/sphere.hpp>
#include <kasane/gravity/units.hpp>

#include <bench/gravity/m31.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr double halo_mass = 81.1, halo_scale = 7.63;   // [1e10 Msun], [kpc]
constexpr double bulge_mass = 3.24, bulge_scale = 0.61;
constexpr double inner = 1e-7, step = 1. / 128;  // of the grids, in halo scales

template <class Profile>
Sphere component(Cut cut) {
    return Sphere([cut](double r) { return cut(Profile::at(r), r); }, 1e-6, cut.end(), step, true);
}

Vec3<double> isotropic(double length, RandomStream& random) {
    const double z = 2 * random.uniform() - 1, phi = 2 * std::numbers::pi * random.uniform();
    const double s = length * std::sqrt((1 - z) * (1 + z));
    return {s * std::cos(phi), s * std::sin(phi), length * z};
}

}  // namespace

Particles m31_spheres(index_t count, std::uint64_t seed, Cpu on) {
    const Cut halo_cut{250 / halo_scale, 25 / halo_scale}, bulge_cut{10, 1};
    const auto halo = component<NfwProfile>(halo_cut);
    const auto bulge = component<HernquistProfile>(bulge_cut);
    // In units of the halo's scale and the whole mass.
    const double mass = halo_mass + bulge_mass, s = bulge_scale / halo_scale;
    const double of_halo = halo_mass / mass, of_bulge = bulge_mass / mass;
    const Sphere whole(
        [&, s](double r) {
            auto sum = halo.density(r);
            sum.rho *= of_halo, sum.d *= of_halo, sum.dd *= of_halo;
            if (r / s < bulge_cut.end()) {
                const auto b = bulge.density(r / s);
                const double scale = of_bulge / (s * s * s);
                sum.rho += scale * b.rho, sum.d += scale / s * b.d, sum.dd += scale / (s * s) * b.dd;
            }
            return sum;
        },
        inner, halo_cut.end(), step, true);
    const IsolatedDistribution f(whole, on);
    Particles p;
    p.resize(count);
    std::fill(p.mass.begin(), p.mass.end(), mass / static_cast<double>(count));
    std::fill(p.type.begin(), p.type.end(), std::uint8_t{1});
    std::iota(p.id.begin(), p.id.end(), std::uint64_t{1});
    const double speed = std::sqrt(galactic_units().G * mass / halo_scale);
    auto* position = p.position.data();
    auto* velocity = p.velocity.data();
    parallel_for(on, count, [&](index_t i) {
        RandomStream random(seed, static_cast<std::uint64_t>(i));
        const double r = whole.radius(random.uniform());
        const double v = f.speed(r, random);
        position[i] = isotropic(halo_scale * r, random);
        velocity[i] = isotropic(speed * v, random);
    });
    return p;
}

}  // namespace kasane::bench
