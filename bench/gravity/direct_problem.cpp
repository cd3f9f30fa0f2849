#include <bench/gravity/direct_problem.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

Particles direct_problem(index_t n, bool equal_masses) {
    auto particles = plummer({.count = n, .seed = 1});
    const auto rounded = [](double x) { return static_cast<double>(static_cast<float>(x)); };
    for (auto& x : particles.position) x = {rounded(x.x), rounded(x.y), rounded(x.z)};
    for (std::size_t i = 0; i < particles.mass.size(); ++i)
        particles.mass[i] = rounded(particles.mass[i] * (equal_masses ? 1.0 : 0.5 + RandomStream(7, i).uniform()));
    return particles;
}

DirectFrame direct_frame(const Particles& particles) {
    std::vector<Vec3<double>> sampled;
    for (int k = 0; k < frame_samples; ++k)
        sampled.push_back(particles.position[static_cast<std::size_t>(frame_sample(k, particles.size()))]);
    return make_direct_frame(sampled, *std::max_element(particles.mass.begin(), particles.mass.end()), particles.size());
}

std::vector<index_t> audited_of(index_t n) {
    std::vector<index_t> audited;
    const auto count = std::min(direct_audited, n);
    for (index_t k = 0; k < count; ++k) audited.push_back(k * n / count);
    return audited;
}

std::vector<Vec3<double>> exact_accelerations(const Particles& particles, const std::vector<index_t>& audited) {
    DirectSum<Cpu> reference(Cpu{}, {.softening = direct_softening, .precision = Precision::double_, .variant = DirectVariant::plain});
    std::vector<Vec3<double>> at, exact(audited.size());
    for (const auto i : audited) at.push_back(particles.position[static_cast<std::size_t>(i)]);
    reference(view(at), {view(particles.position), view(particles.mass)}, Self{}, {view(exact), {}});
    return exact;
}

double largest_error(const std::vector<Vec3<double>>& acceleration, const std::vector<Vec3<double>>& exact) {
    double largest = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) {
        const auto difference = acceleration[k] - exact[k];
        const double error = std::sqrt(dot(difference, difference) / dot(exact[k], exact[k]));
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

}  // namespace kasane::bench
