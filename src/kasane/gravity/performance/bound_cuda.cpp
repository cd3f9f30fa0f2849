#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/performance/bound.hpp>

#if defined(KASANE_CUDA)
#include <fmt/format.h>

#include <algorithm>

namespace kasane::gravity {
namespace {

/// Instructions per interaction of the inner loops, as the SASS for compute capability 9.0 has them (cuobjdump --dump-sass on the
/// objects of tile.cu and pair.cu: FADD, FMUL, FFMA and MUFU between the loop's label and its branch, over the pairs of one pass).
struct Mix {
    double arithmetic;  ///< FADD, FMUL, FFMA (or their double forms)
    double special;     ///< MUFU.RSQ
};

Mix mix_of(DirectVariant variant, Precision precision, bool equal_masses) {
    const bool pair = variant == DirectVariant::pair;
    // Displacement 3, r^2 3, force on the target 3, on the source (pair) 3; weights: rinv^3 2, times a mass 1 per partner.
    const double masses = equal_masses ? 0 : pair ? 2 : 1;
    double arithmetic = (pair ? 14 : 11) + masses;
    if (precision == Precision::double_) arithmetic += 5;  // one third-order step on the estimate of 1/r
    return pair ? Mix{arithmetic / 2, 0.5} : Mix{arithmetic, 1};
}

}  // namespace

DirectBound direct_bound(Cuda on, const Direct& options, index_t n, bool equal_masses) {
    const auto device = device_info(AnySpace{on});
    const DirectSum<Cuda> sum(on, options);
    const auto variant = sum.chosen(n, n, Self{0}, false);
    const auto mix = mix_of(variant, options.precision, equal_masses);
    // Lanes of a multiprocessor per cycle, by compute capability (CUDA C++ Programming Guide, throughput of native arithmetic).
    const bool wide_double = device.capability == "8.0" || device.capability == "9.0" || device.capability == "10.0";
    const double lanes = options.precision == Precision::double_ ? (wide_double ? 64 : 2) : (device.capability == "8.0" ? 64 : 128);
    constexpr double issue = 128;
    const double cycles = std::max(mix.arithmetic / lanes, (mix.arithmetic + mix.special) / issue);
    return {device.units * device.clock_hertz / cycles,
            fmt::format("{:g} {} + {:g} MUFU per interaction; {} multiprocessors, {} lanes, {:.2f} GHz", mix.arithmetic,
                        options.precision == Precision::double_ ? "FP64" : "FP32", mix.special, device.units, lanes,
                        1e-9 * device.clock_hertz)};
}

}  // namespace kasane::gravity
#endif
