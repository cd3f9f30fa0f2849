// gravity.direct: interactions per second of every variant of direct summation, with the bound that the instruction mix sets
// and the largest relative error against a plain sum in double.
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/direct/direct_force.hpp>

#include <bench/benchmarks.hpp>
#include <bench/gravity/direct_problem.hpp>

#include <fmt/format.h>

namespace kasane::bench {
namespace {

using namespace gravity;

constexpr index_t largest_in_double = 262144;

struct DirectSetting {
    DirectVariant variant;
    Precision precision;
    bool equal_masses;
};

template <Space S>
BenchmarkResult measure_direct(S on, const DirectSetting& setting, const DirectBound& bound, index_t n) {
    const auto particles = direct_problem(n, setting.equal_masses);
    const Direct options{.softening = direct_softening, .precision = setting.precision, .variant = setting.variant};
    const auto position = to_space(on, particles.position);
    const auto mass = to_space(on, particles.mass);
    Buffer<Vec3<double>, S> acceleration(on, n);
    DirectForce<S> force(on, options, n);  // the force of the steps of a Simulation
    force.set(direct_frame(particles));
    const auto call = [&] { force.accelerate({position.view(), mass.view()}, acceleration.view()); };
    const auto timing = time_calls(on, call);

    BenchmarkResult result;
    result.name = fmt::format("gravity.direct.{}, {}, {} masses", gravity::name(setting.variant),
                              setting.precision == Precision::single_ ? "single" : "double", setting.equal_masses ? "equal" : "unequal");
    result.n = n;
    result.seconds = timing.seconds;
    result.spread = timing.spread;
    result.rate = static_cast<double>(n) * static_cast<double>(n) / timing.seconds;
    result.unit = "interactions/s";
    result.tflops = 1e-12 * direct_flops * result.rate;
    result.bound = bound.rate;
    result.bound_reason = bound.reason;
    const auto audited = audited_of(n);
    const auto all = to_host(acceleration);
    std::vector<Vec3<double>> sums;
    for (const auto i : audited) sums.push_back(all[static_cast<std::size_t>(i)]);
    result.error = largest_error(sums, exact_accelerations(particles, audited));
    return result;
}

void run_direct(const BenchmarkContext& context, DirectVariant variant) {
    auto sizes = context.sizes;
    std::visit(
        [&]<Space S>(S on) {
            if (sizes.empty()) {
                sizes = {1024, 2048, 4096, 8192, 16384, 32768, 65536};
                if constexpr (!std::same_as<S, Cpu>) sizes.insert(sizes.end(), {131072, 262144, 524288, 1048576});
            }
            for (const auto precision : {Precision::single_, Precision::double_})
                for (const bool equal : {true, false}) {
                    const Direct options{.softening = direct_softening, .precision = precision, .variant = variant};
                    const auto bound = direct_bound(AnySpace{on}, options, sizes.back(), equal);
                    for (const auto n : sizes)
                        if (precision == Precision::single_ || n <= largest_in_double)
                            context.report(measure_direct(on, {variant, precision, equal}, bound, n));
                }
        },
        context.space);
}

Benchmark direct_benchmark(DirectVariant variant) {
    return {
        "gravity.direct." + gravity::name(variant),
        fmt::format("Accelerations by direct summation, variant '{}': N particles on themselves, Plummer sphere, softening {}. A call is "
                    "everything from positions in double to accelerations in double. TFLOPS count {} flops per interaction "
                    "[MTM13]. The bound is the instruction mix of the inner loop at the device's issue rate. The error is the "
                    "largest relative one of {} accelerations against a plain sum in double.",
                    gravity::name(variant), direct_softening, direct_flops, direct_audited),
        [variant](const BenchmarkContext& context) {
            const bool on_cpu = std::holds_alternative<Cpu>(context.space);
            if (on_cpu == (variant == DirectVariant::simd)) run_direct(context, variant);
        }};
}

}  // namespace

std::vector<Benchmark> gravity_direct() {
    return {direct_benchmark(DirectVariant::simd), direct_benchmark(DirectVariant::tile), direct_benchmark(DirectVariant::pair)};
}

}  // namespace kasane::bench
