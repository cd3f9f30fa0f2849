// kasane forces SNAPSHOT -o FILE.hdf5 --method direct|tree
#include <app/command.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/forces.hpp>
#include <kasane/run/gravity/gravity_file.hpp>
#include <kasane/run/model/softening.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace kasane::app {
namespace {

struct ForcesOptions {
    std::string snapshot, file, method = "direct", softening, softening_kernel = "plummer", units = "auto";
    std::optional<double> G;
    std::string variant = "auto", precision = "single";  // direct
    gravity::Tree tree;
    double theta = gravity::GeometricMac{}.theta, delta = gravity::AccelerationMac{}.delta, error = 0;
    std::string multipole, walk = "auto", curve;
    std::int64_t audit = 0;
    bool force = false;
};

/// The units of the snapshot: those that it states, otherwise those of the options.
gravity::Units units_of(const gravity::Snapshot& snapshot, const ForcesOptions& o) {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); };
    auto units = snapshot.units;
    bool known = snapshot.states_units;
    if (o.units != "auto") {
        const auto named = gravity::units_named(o.units);
        const bool same =
            near(units.length_cm, named.length_cm) && near(units.mass_g, named.mass_g) && near(units.velocity_cm_s, named.velocity_cm_s);
        KS_VALIDATE(
            !known || same,
            fmt::format("is {}, and {} states {} units{}: leave the option out", o.units, o.snapshot, units.name,
                        units.length_cm > 0 ? fmt::format(" ({} cm, {} g, {} cm/s)", units.length_cm, units.mass_g, units.velocity_cm_s)
                                            : fmt::format(" (G = {}, without a scale)", units.G)),
            {"", 0, 0, "--units"});
        if (!known) units = named;
        known = true;
    }
    if (o.G) {
        const double G = *o.G;
        KS_VALIDATE(std::isfinite(G) && G > 0, fmt::format("is {}: a finite number above 0 is needed", G), {"", 0, 0, "--G"});
        KS_VALIDATE(!known || near(G, units.G),
                    fmt::format("is {}, and G = {} in the {} units {}: leave the option out", G, units.G, units.name,
                                snapshot.states_units ? "that " + o.snapshot + " states" : "of --units"),
                    {"", 0, 0, "--G"});
        if (!known) units = gravity::nbody_units(), units.name = G == 1 ? units.name : "user";
        units.G = G;
        known = true;
    }
    if (!known)
        log::warning("{} states no units: {}, {} and {} with G = {} are assumed (--units and --G set others)", o.snapshot,
                     units.length_name, units.mass_name, units.velocity_name, units.G);
    return units;
}

/// The softening of each particle that the snapshot states for its component or type; empty if it states none.
std::vector<double> softenings_of(const gravity::Snapshot& snapshot, const std::string& file) {
    gravity::SnapshotOutline outline;
    for (const auto type : snapshot.particles.type) ++outline.count[type];
    outline.softening = snapshot.softening;
    outline.components = snapshot.components;
    if (run::carried(outline).empty()) {
        log::warning("{} states no softening: 0 is assumed (--softening sets it)", file);
        return {};
    }
    try {
        return run::softenings(snapshot.particles, run::resolve({}, outline));
    } catch (const InputError&) {
        throw InputError("states the softenings of some types only: give --softening, one for all", {file, 0, 0, ""});
    }
}

/// @throws InputError: a criterion out of range
void check_criterion(const ForcesOptions& o, const CLI::App& app) {
    KS_VALIDATE(
        app.count("--theta") == 0 || (o.theta > 0 && o.theta <= 1),
        fmt::format("is {}: an opening angle is above 0 and at most 1. Take 0.3 to 0.8, or --method direct for exact forces", o.theta),
        {"", 0, 0, "--theta"});
    KS_VALIDATE(app.count("--delta") == 0 || (o.delta > 0 && std::isfinite(o.delta)),
                fmt::format("is {}: the error of a cell as a part of the acceleration is finite and above 0. Take 2^-9 = 0.00195", o.delta),
                {"", 0, 0, "--delta"});
    KS_VALIDATE(app.count("--error") == 0 || (o.error > 0 && std::isfinite(o.error)),
                fmt::format("is {}: the error of a cell is finite and above 0. Take about 1e-4 of a typical acceleration", o.error),
                {"", 0, 0, "--error"});
}

gravity::Direct direct_of(const ForcesOptions& o) {
    gravity::Direct direct;
    direct.precision = o.precision == "double" ? gravity::Precision::double_ : gravity::Precision::single_;
    direct.variant = o.variant == "auto" ? gravity::DirectVariant::automatic : gravity::direct_variant_named(o.variant);
    return direct;
}

gravity::Tree tree_of(const ForcesOptions& o, const CLI::App& app) {
    auto tree = o.tree;
    if (app.count("--theta")) tree.mac = gravity::GeometricMac{o.theta};
    if (app.count("--delta")) tree.mac = gravity::AccelerationMac{o.delta};
    if (app.count("--error")) tree.mac = gravity::MultipoleMac{o.error};
    for (const auto multipole : {gravity::Multipole::monopole, gravity::Multipole::quadrupole})
        if (o.multipole == gravity::name(multipole)) tree.multipole = multipole;
    for (const auto curve : {gravity::Curve::morton, gravity::Curve::hilbert})
        if (o.curve == gravity::name(curve)) tree.curve = curve;
    tree.walk = o.walk == "auto" ? gravity::TreeWalk::automatic : gravity::tree_walk_named(o.walk);
    return tree;
}

/// @throws InputError  for an option that the chosen method does not have
void refuse_options(const CLI::App& app, const std::vector<std::string>& names, const std::string& method) {
    for (const auto& name : names)
        KS_VALIDATE(app.count(name) == 0, "is not an option of --method " + method + ": leave it out, or take the other method",
                    {"", 0, 0, name});
}

/// @throws InputError, with the file, where the precision does not hold the forces of these particles
void check_range(const gravity::Particles& particles, const gravity::Force& force, const AnySpace& on, const std::string& file) {
    try {
        gravity::check_range(particles, force, on);
    } catch (const InputError& error) {
        auto message = error.problems().front().message;
        constexpr std::string_view key = "precision = \"double\"";
        if (const auto at = message.find(key); at != std::string::npos) message.replace(at, key.size(), "--precision double");
        throw InputError(message, {file, 0, 0, ""});
    }
}

int forces(const Common& common, const ForcesOptions& o, const CLI::App& app) {
    keep_inputs("-o", o.file, {o.snapshot});
    keep_existing(o.file, o.force);
    const bool by_tree = o.method == "tree";
    if (by_tree)
        refuse_options(app, {"--variant", "--precision"}, o.method);
    else
        refuse_options(app, {"--delta", "--theta", "--error", "--multipole", "--leaf-size", "--walk", "--vector", "--group", "--curve"},
                       o.method);
    check_criterion(o, app);
    if (o.walk != "links")
        for (const char* option : {"--vector", "--group"})
            KS_VALIDATE(app.count(option) == 0, "has no effect without --walk links: leave it out, or give that too", {"", 0, 0, option});
    gravity::Force force = direct_of(o);
    if (by_tree) force = tree_of(o, app);
    if (by_tree) gravity::validate(std::get<gravity::Tree>(force));
    const auto space = common.space();
    auto snapshot = gravity::read_snapshot(o.snapshot);
    const auto units = units_of(snapshot, o);
    double softening = 0;
    try {
        if (!o.softening.empty()) softening = gravity::quantity(o.softening, gravity::Dimension::length, units);
    } catch (const InputError& error) {
        throw InputError(error.what(), {"", 0, 0, "--softening"});
    }
    KS_VALIDATE(softening >= 0, fmt::format("is {}: it must be 0 or above", o.softening), {"", 0, 0, "--softening"});
    if (o.softening.empty()) snapshot.particles.softening = softenings_of(snapshot, o.snapshot);
    const auto kernel = gravity::softening_kernel_named(o.softening_kernel);
    std::visit([&](auto& chosen) { chosen.softening = softening, chosen.softening_kernel = kernel, chosen.G = units.G; }, force);
    gravity::set_softening(force, snapshot.particles.softening);
    if (by_tree) gravity::validate(std::get<gravity::Tree>(force));
    check_range(snapshot.particles, force, space, o.snapshot);
    const auto forces = run::forces(space, snapshot.particles, force);
    run::write_forces(o.file, snapshot.particles, forces);
    io::Json object{{"n", snapshot.particles.size()},
                    {"seconds", forces.seconds},
                    {"method", o.method},
                    {"variant", forces.variant},
                    {"interactions", forces.interactions},
                    {"softening", gravity::softening(force)},
                    {"softening_kernel", o.softening_kernel},
                    {"units", units.name},
                    {"G", units.G},
                    {"file", o.file},
                    {"audit", nullptr}};
    auto text = fmt::format("{} particles by {}, variant {}, in {:.3g} s: {}", snapshot.particles.size(), o.method, forces.variant,
                            forces.seconds, o.file);
    if (o.audit > 0) {
        const auto audit = run::audit(snapshot.particles, forces, force, o.audit);
        object["audit"] = {{"count", audit.count}, {"median", audit.median}, {"p99", audit.p99}, {"max", audit.max}};
        text += fmt::format("\nrelative errors of {} accelerations: median {:.2e}, 99% below {:.2e}, largest {:.2e}", audit.count,
                            audit.median, audit.p99, audit.max);
    }
    print(common, object, text);
    return success;
}

}  // namespace

Action add_forces(CLI::App& app, const Common& common) {
    auto options = std::make_shared<ForcesOptions>();
    auto& o = *options;
    o.multipole = gravity::name(o.tree.multipole), o.curve = gravity::name(o.tree.curve);
    app.add_option("SNAPSHOT", o.snapshot, "GADGET HDF5, format 1 or 2")->required();
    app.add_option("-o,--output", o.file, "HDF5 file to write: Acceleration, Potential, ParticleIDs")->required();
    app.add_option("--method", o.method, "direct or tree")->check(CLI::IsMember({"direct", "tree"}));
    app.add_option("--softening", o.softening,
                   "In the snapshot's unit of length, or \"50 pc\" (default: as the snapshot states, for each type)");
    app.add_option("--softening-kernel", o.softening_kernel, "Form of a softened pair")->check(CLI::IsMember({"plummer", "spline"}));
    app.add_option("--units", o.units,
                   "Of a snapshot that states none: galactic (kpc, 1e10 Msun, km/s, G = 43007.1) or nbody (G = 1); auto: as the snapshot "
                   "states, else galactic")
        ->check(CLI::IsMember({"auto", "galactic", "nbody"}));
    app.add_option("--G", o.G, "Gravitational constant of a snapshot that states no units; without --units they have no names");
    app.add_option("--audit", o.audit, "Compare this number of particles with plain sums in double precision")
        ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()));
    app.add_flag("--force", o.force, "Overwrite the output file if it exists");
    const std::string direct = "With --method direct", tree = "With --method tree";
    app.add_option("--variant", o.variant, "Kernel")->check(CLI::IsMember({"auto", "plain", "simd", "tile", "pair"}))->group(direct);
    app.add_option("--precision", o.precision, "Precision of a pair")->check(CLI::IsMember({"single", "double"}))->group(direct);
    auto* delta = app.add_option("--delta", o.delta, "Acceleration criterion: error of a cell in parts of the acceleration (the default)");
    auto* theta = app.add_option("--theta", o.theta, "Geometric criterion: opening angle");
    auto* error = app.add_option("--error", o.error, "Multipole criterion: largest error of a cell [acceleration]")->default_str("");
    delta->group(tree)->excludes(theta)->excludes(error);
    theta->group(tree)->excludes(error);
    error->group(tree);
    app.add_option("--multipole", o.multipole, "Expansion of a cell")->check(CLI::IsMember({"monopole", "quadrupole"}))->group(tree);
    app.add_option("--leaf-size", o.tree.leaf_size, "A cell with more particles is divided")->check(whole_number(1, 64))->group(tree);
    app.add_option("--walk", o.walk, "Walk through the tree")->check(CLI::IsMember({"auto", "links", "lists"}))->group(tree);
    app.add_option("--vector", o.tree.vector, "With --walk links: targets of one thread")->check(whole_number(1, 32))->group(tree);
    app.add_option("--group", o.tree.group, "With --walk links: threads that accept or open a cell together")
        ->check(whole_number(1, 32))
        ->group(tree);
    app.add_option("--curve", o.curve, "Order of the particles")->check(CLI::IsMember({"hilbert", "morton"}))->group(tree);
    return [options, &common, &app] { return forces(common, *options, app); };
}

}  // namespace kasane::app
