#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr std::pair<DirectVariant, const char*> variant_names[] = {
    {DirectVariant::automatic, "auto"}, {DirectVariant::plain, "plain"}, {DirectVariant::simd, "simd"},
    {DirectVariant::tile, "tile"},      {DirectVariant::pair, "pair"},
};

}  // namespace

DirectVariant direct_variant_named(const std::string& wanted) {
    for (const auto& [variant, text] : variant_names)
        if (wanted == text) return variant;
    throw InputError("no variant of direct summation is called '" + wanted + "'; there are auto, plain, simd (CPU), tile and pair (CUDA)");
}

std::string name(DirectVariant wanted) {
    for (const auto& [variant, text] : variant_names)
        if (wanted == variant) return text;
    return "unknown";
}

void detail::validate(const Direct& options) {
    KS_VALIDATE(std::isfinite(options.softening) && options.softening >= 0,
                fmt::format("softening = {} cannot be used: it must be finite and not negative", options.softening));
    if (own_softening(pair_softening(options)))
        KS_VALIDATE(options.variant != DirectVariant::pair,
                    fmt::format("variant = \"pair\" of direct summation takes one Plummer softening for all particles, and {}: take "
                                "variant = \"auto\" or \"tile\"",
                                options.softening_per_particle ? "these have one each" : "this force has softening_kernel = \"spline\""));
    KS_VALIDATE(std::isfinite(options.G) && options.G >= 0,
                fmt::format("G = {} cannot be used: it must be finite and not negative; take 1, or its value in the units of the particles",
                            options.G));
    // In float, 1/eps^3 must stay finite for the particle's own pair, whose separation is zero.
    KS_VALIDATE(
        options.precision == Precision::double_ || options.softening == 0 || (options.softening > 1e-12 && options.softening < 1e18),
        fmt::format("softening = {} is outside what single precision holds, 1e-12 to 1e18: change the unit of length, or take "
                    "precision = \"double\"",
                    options.softening));
}

}  // namespace kasane::gravity
