// gravity.direct: interactions per second of every variant of direct summation, with the bound that the instruction mix sets
// and the largest relative error against a plain sum in double.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/direct/bound.hpp>
#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <bench/benchmarks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr double flops_per_interaction = 26;  // the convention of [MTM13]
constexpr double softening = 0.01;
constexpr index_t audited = 128;
constexpr index_t largest_in_double = 262144;

struct Setting {
    DirectVariant variant;
    Precision precision;
    bool equal_masses;
};

Particles problem(index_t n, bool equal_masses) {
    auto particles = plummer({.count = n, .seed = 1});
    // Numbers that float holds, so that the error is the sum's and not that of rounding the input.
    const auto rounded = [](double x) { return static_cast<double>(static_cast<float>(x)); };
    for (auto& x : particles.position) x = {rounded(x.x), rounded(x.y), rounded(x.z)};
    for (std::size_t i = 0; i < particles.mass.size(); ++i)
        particles.mass[i] = rounded(particles.mass[i] * (equal_masses ? 1.0 : 0.5 + RandomStream(7, i).uniform()));
    return particles;
}

/// Largest |a - a_ref| / |a_ref| over evenly spread targets.
double largest_error(const Particles& particles, const std::vector<Vec3<double>>& acceleration) {
    const auto n = particles.size();
    double largest = 0;
    DirectSum<Cpu> reference(Cpu{}, {.softening = softening, .precision = Precision::double_, .variant = DirectVariant::plain});
    std::vector<index_t> which;
    std::vector<Vec3<double>> at;
    for (index_t k = 0; k < std::min(audited, n); ++k) {
        which.push_back(k * n / std::min(audited, n));
        at.push_back(particles.position[static_cast<std::size_t>(which.back())]);
    }
    std::vector<Vec3<double>> exact(at.size());
    reference(view(at), {view(particles.position), view(particles.mass)}, Self{}, {view(exact), {}});
    for (std::size_t k = 0; k < at.size(); ++k) {
        const auto difference = acceleration[static_cast<std::size_t>(which[k])] - exact[k];
        largest = std::max(largest, std::sqrt(dot(difference, difference) / dot(exact[k], exact[k])));
    }
    return largest;
}

template <Space S>
BenchmarkResult measure(S on, const Setting& setting, const DirectBound& bound, index_t n) {
    const auto particles = problem(n, setting.equal_masses);
    const Direct options{.softening = softening, .precision = setting.precision, .variant = setting.variant};
    const auto position = to_space(on, particles.position);
    const auto mass = to_space(on, particles.mass);
    Buffer<Vec3<double>, S> acceleration(on, n);
    DirectSum<S> sum(on, options);
    const auto call = [&] { sum(position.view(), {position.view(), mass.view()}, Self{0}, {acceleration.view(), {}}); };
    const auto timing = time_calls(on, call);

    BenchmarkResult result;
    result.name = fmt::format("gravity.direct.{}, {}, {} masses", gravity::name(setting.variant),
                              setting.precision == Precision::single_ ? "single" : "double", setting.equal_masses ? "equal" : "unequal");
    result.n = n;
    result.seconds = timing.seconds;
    result.spread = timing.spread;
    result.rate = static_cast<double>(n) * static_cast<double>(n) / timing.seconds;
    result.unit = "interactions/s";
    result.tflops = 1e-12 * flops_per_interaction * result.rate;
    result.bound = bound.rate;
    result.bound_reason = bound.reason;
    result.error = largest_error(particles, to_host(acceleration));
    return result;
}

void run(const BenchmarkContext& context, DirectVariant variant) {
    auto sizes = context.sizes;
    std::visit(
        [&]<Space S>(S on) {
            if (sizes.empty()) {
                sizes = {1024, 2048, 4096, 8192, 16384, 32768, 65536};
                if constexpr (!std::same_as<S, Cpu>) sizes.insert(sizes.end(), {131072, 262144, 524288, 1048576});
            }
            for (const auto precision : {Precision::single_, Precision::double_})
                for (const bool equal : {true, false}) {
                    const Direct options{.softening = softening, .precision = precision, .variant = variant};
                    const auto bound = direct_bound(AnySpace{on}, options, sizes.back(), equal);
                    for (const auto n : sizes)
                        if (precision == Precision::single_ || n <= largest_in_double)
                            context.report(measure(on, {variant, precision, equal}, bound, n));
                }
        },
        context.space);
}

Benchmark benchmark(DirectVariant variant) {
    return {"gravity.direct." + gravity::name(variant),
            fmt::format("Accelerations by direct summation, variant '{}': N particles on themselves, Plummer sphere, softening {}. A call is "
                        "everything from positions in double to accelerations in double. TFLOPS count {} flops per interaction "
                        "[MTM13]. The bound is the instruction mix of the inner loop at the device's issue rate. The error is the "
                        "largest relative one of {} accelerations against a plain sum in double.",
                        gravity::name(variant), softening, flops_per_interaction, audited),
            [variant](const BenchmarkContext& context) {
                const bool on_cpu = std::holds_alternative<Cpu>(context.space);
                if (on_cpu == (variant == DirectVariant::simd)) run(context, variant);
            }};
}

}  // namespace

std::vector<Benchmark> gravity_direct() {
    return {benchmark(DirectVariant::simd), benchmark(DirectVariant::tile), benchmark(DirectVariant::pair)};
}

}  // namespace kasane::bench
