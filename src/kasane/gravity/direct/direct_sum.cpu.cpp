// DirectSum<Cpu>: chooses the variant; `simd` is DirectForce<Cpu> with all sources as one source block.
// Targets are distributed over threads, and the sum of every target has a fixed order: results do not depend on the number of threads.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

/// The frame of all sources and targets; a few far particles increase its extent, but do not move its origin.
DirectFrame frame_of(View<const Vec3<double>> targets, const Sources& sources, int threads) {
    const index_t n = sources.position.n;
    std::vector<Vec3<double>> sampled;
    for (int k = 0; n > 0 && k < frame_samples; ++k) sampled.push_back(sources.position[frame_sample(k, n)]);
    if (n == 0) sampled.push_back(targets[0]);
    double heaviest = 0;
    for (index_t j = 0; j < n; ++j) heaviest = std::max(heaviest, sources.mass[j]);

    auto frame = make_direct_frame(sampled, heaviest, n);
    const auto widen = [&](View<const Vec3<double>> places) {
        const auto origin = frame.origin;
        double x = frame.extent, y = 0, z = 0;
#pragma omp parallel for num_threads(threads) if (places.n > 16384) reduction(max : x, y, z)
        for (index_t i = 0; i < places.n; ++i) {
            x = std::max(x, std::abs(places[i].x - origin.x));
            y = std::max(y, std::abs(places[i].y - origin.y));
            z = std::max(z, std::abs(places[i].z - origin.z));
        }
        frame.extent = std::max({x, y, z});
    };
    widen(sources.position);
    if (targets.ptr != sources.position.ptr || targets.n > n) widen(targets);
    return frame;
}

}  // namespace

void detail::validate_cpu(const Direct& options) {
    validate(options);
    KS_VALIDATE(
        options.variant == DirectVariant::automatic || options.variant == DirectVariant::plain || options.variant == DirectVariant::simd,
        "variant = \"" + name(options.variant) + "\" of direct summation needs a CUDA device; the CPU has auto, plain and simd");
}

template <>
struct DirectSum<Cpu>::State {
    Cpu on;
    Direct options;
    DirectForce<Cpu> force;
    Buffer<std::byte, Cpu> bodies;
    index_t sources = 0;  ///< number of sources that `force` was made for
};

template <>
DirectSum<Cpu>::DirectSum(Cpu on, const Direct& options) {
    state_ = std::make_unique<State>(State{on, options, DirectForce<Cpu>(on, options, 0), {}});
}

template <>
DirectSum<Cpu>::~DirectSum() = default;
template <>
DirectSum<Cpu>::DirectSum(DirectSum&&) noexcept = default;
template <>
DirectSum<Cpu>& DirectSum<Cpu>::operator=(DirectSum&&) noexcept = default;

template <>
DirectVariant DirectSum<Cpu>::chosen(index_t targets, index_t, Self, bool) const {
    if (state_->options.variant != DirectVariant::automatic) return state_->options.variant;
    // Packing the sources takes the time of 2 to 3 targets of the plain loop (1024 and 1e5 sources, one AVX-512 core, 2026-11).
    return targets <= 2 ? DirectVariant::plain : DirectVariant::simd;
}

template <>
void DirectSum<Cpu>::operator()(View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out,
                                View<const double> softening) {
    auto& [on, options, force, bodies, prepared] = *state_;
    const index_t n = sources.position.n;
    if (targets.n == 0) return;
    if (chosen(targets.n, n, self, !out.potential.empty()) == DirectVariant::plain)
        return detail::direct_plain(on, options, targets, sources, self, out, softening);
    if (n != prepared) force = DirectForce<Cpu>(on, options, n);
    prepared = n;
    force.set(frame_of(targets, sources, thread_count(on)));
    bodies.reserve_discarding(force.padded(n) * static_cast<index_t>(force.body_bytes()));
    force.pack(on, sources.position, sources.mass, bodies.view(), sources.softening);
    force.begin(on, targets, self.shift, !out.acceleration.empty(), !out.potential.empty(), softening);
    force.add(on, {bodies.view(), n, 0});
    force.end(on, out);
}

template class DirectSum<Cpu>;

}  // namespace kasane::gravity
