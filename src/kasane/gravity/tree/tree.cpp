#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::gravity {
namespace {

constexpr std::pair<TreeWalk, const char*> walk_names[] = {
    {TreeWalk::automatic, "auto"}, {TreeWalk::links, "links"}, {TreeWalk::lists, "lists"}};

void validate(const GeometricMac& mac) {
    KS_VALIDATE(mac.theta > 0, fmt::format("theta = {} cannot be used: an opening angle of 0 or below accepts no cell; take 0.3 to 0.8, or "
                                           "direct summation for exact forces",
                                           mac.theta));
    KS_VALIDATE(mac.theta <= 1,
                fmt::format("theta = {} is too large: cells would be accepted from inside, where the multipole error has no "
                            "bound; take at most 1, usually 0.6",
                            mac.theta));
}

void validate(const AccelerationMac& mac) {
    KS_VALIDATE(mac.delta > 0 && std::isfinite(mac.delta),
                fmt::format("delta = {} cannot be used: it is the allowed error as a fraction of the acceleration, so it must be above 0; "
                            "take 2^-9 = 0.00195, or less for better forces",
                            mac.delta));
}

void validate(const MultipoleMac& mac) {
    KS_VALIDATE(mac.error > 0 && std::isfinite(mac.error),
                fmt::format("error = {} cannot be used: it is the largest error of one cell's acceleration, so it must be above 0; take "
                            "about 1e-4 of a typical acceleration",
                            mac.error));
}

}  // namespace

void validate(const Tree& options) {
    std::visit([](const auto& mac) { validate(mac); }, options.mac);
    KS_VALIDATE(options.leaf_size >= 1 && options.leaf_size <= 64,
                fmt::format("leaf_size = {} is out of range: a leaf holds 1 to 64 particles; take 32", options.leaf_size));
    KS_VALIDATE(std::isfinite(options.softening) && options.softening >= 0,
                fmt::format("softening = {} cannot be used: it must be finite and not negative; take about the mean distance of particles",
                            options.softening));
    KS_VALIDATE(std::isfinite(options.G) && options.G >= 0,
                fmt::format("G = {} cannot be used: it must be finite and not negative; take 1, or its value in the units of the particles",
                            options.G));
    KS_VALIDATE(!combines_softenings(options) || options.walk != TreeWalk::links,
                fmt::format("walk = \"links\" takes one Plummer softening for all particles, and {}: take walk = \"lists\"",
                            options.softening_per_particle ? "these have one each" : "this force has softening_kernel = \"spline\""));
    KS_VALIDATE(options.vector >= 1 && options.vector <= 32,
                fmt::format("vector = {} is out of range: a thread of the walk `links` takes 1 to 32 targets; take 4", options.vector));
    KS_VALIDATE(options.group >= 1 && options.group <= 32,
                fmt::format("group = {} is out of range: 1 to 32 threads of the walk `links` decide together; take 4", options.group));
}

TreeWalk tree_walk_named(const std::string& wanted) {
    for (const auto& [walk, text] : walk_names)
        if (wanted == text) return walk;
    throw InputError("no walk of the tree is called '" + wanted + "'; there are auto, links and lists");
}

std::string name(TreeWalk wanted) {
    for (const auto& [walk, text] : walk_names)
        if (wanted == walk) return text;
    return "unknown";
}

std::string name(Multipole multipole) { return multipole == Multipole::monopole ? "monopole" : "quadrupole"; }

std::string name(Curve curve) { return curve == Curve::morton ? "morton" : "hilbert"; }

std::uint64_t tree_memory(const AnySpace& on, index_t n, const Tree& options) {
    // Nodes per particle, times the leaf size: 3.9 for a Plummer sphere of any size; for a uniform cube between 2.3 and 5.4, depending
    // on its size: up to 9 bytes per particle more at leaf_size 16.
    const double nodes = std::min(1.5, 4. / options.leaf_size);
    // A node: mass and centre 16, test 16, link and next 8, second moments 24 bytes, and a reserve of 1/16. Where it is kept: centre 16,
    // velocity 12, flag 1 and number 4 bytes, and a reserve of 1/8; on devices its parent and the children for which it waits, 8 bytes,
    // twice.
    const bool on_cpu = std::holds_alternative<Cpu>(on);
    const double node_bytes = 1.125 * (on_cpu ? 33 : 49) + 1.0625 * (40 + (options.multipole == Multipole::quadrupole ? 24 : 0));
    // Body 16, key 8, order and its scratch 8, the key's scratch 8, which later holds 32 bytes a node; sizes of first forces 4.
    const double particle_bytes = 36 + std::max(8., 34 * nodes) + nodes * node_bytes;
    // Softening term 4; of a node, term 4 and moments 16.
    const double softening_bytes = combines_softenings(options) ? 4 + 20 * nodes : 0;
    const double sort_bytes = on_cpu ? 16 : 0.5;
    return static_cast<std::uint64_t>(static_cast<double>(n) * (particle_bytes + softening_bytes + sort_bytes)) + (std::uint64_t{16} << 20);
}

}  // namespace kasane::gravity
