// kasane forces SNAPSHOT -o FILE.hdf5 --method direct
#include <app/command.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/forces.hpp>
#include <kasane/run/run_file.hpp>

#include <fmt/format.h>

namespace kasane::app {
namespace {

/// One softening for all types: what the snapshot states, if it states one.
double softening_of(const gravity::Snapshot& snapshot, const std::string& file) {
    double stated = -1;
    for (const auto type : snapshot.particles.type) {
        const double here = snapshot.softening[type];
        KS_VALIDATE(stated < 0 || here == stated, "states several softenings, and direct summation takes one: give --softening", {file, 0, 0, ""});
        stated = here;
    }
    if (stated <= 0) log::warning("{} states no softening: none is taken (--softening sets one)", file);
    return std::max(stated, 0.0);
}

}  // namespace

Action add_forces(CLI::App& app, const Common& common) {
    struct Options {
        std::string snapshot, file, method = "direct", variant = "auto", precision = "single", accumulation = "double", softening;
        std::int64_t audit = 0;
        bool force = false;
    };
    auto options = std::make_shared<Options>();
    app.add_option("SNAPSHOT", options->snapshot, "GADGET HDF5, format 1 or 2")->required();
    app.add_option("-o,--output", options->file, "HDF5 file to write: Acceleration, Potential, ParticleIDs")->required();
    app.add_option("--method", options->method, "direct")->check(CLI::IsMember({"direct"}));
    app.add_option("--variant", options->variant, "Kernel")->check(CLI::IsMember({"auto", "plain", "simd", "tile", "pair"}));
    app.add_option("--precision", options->precision, "Of a pair")->check(CLI::IsMember({"single", "double"}));
    app.add_option("--accumulation", options->accumulation, "Of single pairs")->check(CLI::IsMember({"plain", "double"}));
    app.add_option("--softening", options->softening, "In the snapshot's unit of length, or \"50 pc\" (default: as the snapshot states)");
    app.add_option("--audit", options->audit, "Compare so many particles with plain sums in double")->check(CLI::NonNegativeNumber);
    app.add_flag("--force", options->force, "Overwrite the output file if it exists");
    return [options, &common] {
        const auto& o = *options;
        KS_VALIDATE(o.force || !std::filesystem::exists(o.file), "exists already: choose another name, or give --force", {o.file, 0, 0, ""});
        const auto space = space_named(common.device_or_auto(), common.threads_or_all());
        const auto snapshot = gravity::read_snapshot(o.snapshot);
        gravity::Direct direct;
        direct.G = snapshot.units.G;
        direct.precision = o.precision == "double" ? gravity::Precision::double_ : gravity::Precision::single_;
        direct.accumulation = o.accumulation == "plain" ? gravity::Accumulation::plain : gravity::Accumulation::double_;
        direct.variant = o.variant == "auto" ? gravity::DirectVariant::automatic : gravity::direct_variant_named(o.variant);
        try {
            direct.softening = o.softening.empty() ? softening_of(snapshot, o.snapshot)
                                                   : gravity::quantity(o.softening, gravity::Dimension::length, snapshot.units);
        } catch (const InputError& error) {
            if (o.softening.empty()) throw;
            throw InputError(error.what(), {"", 0, 0, "--softening"});
        }
        const auto forces = run::forces(space, snapshot.particles, direct);
        run::write_forces(o.file, snapshot.particles, forces);
        nlohmann::ordered_json object{{"n", snapshot.particles.size()},       {"seconds", forces.seconds},
                                      {"method", o.method},                   {"variant", forces.variant},
                                      {"interactions", forces.interactions},  {"softening", direct.softening},
                                      {"file", o.file},                       {"audit", nullptr}};
        auto text = fmt::format("{} particles by {}, variant {}, in {:.3g} s: {}", snapshot.particles.size(), o.method, forces.variant, forces.seconds, o.file);
        if (o.audit > 0) {
            const auto audit = run::audit(snapshot.particles, forces, direct, o.audit);
            object["audit"] = {{"count", audit.count}, {"median", audit.median}, {"p99", audit.p99}, {"max", audit.max}};
            text += fmt::format("\nrelative errors of {} accelerations: median {:.2e}, 99% below {:.2e}, largest {:.2e}", audit.count,
                                audit.median, audit.p99, audit.max);
        }
        print(common, object, text);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
