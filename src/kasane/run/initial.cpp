#include <kasane/core/base/log.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/initial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace fs = std::filesystem;

namespace kasane::run {
using gravity::Dimension;
using gravity::ModelKind;

io::ParseQuantity parse(Dimension dimension, const gravity::Units& units) {
    return [dimension, units](const std::string& text) { return gravity::quantity(text, dimension, units); };
}

namespace {

/// The file that a key names: relative to `directory`, or to the working directory when it came from the command line, like every
/// other name there.
fs::path file_of(const io::Section& table, const std::string& key, const std::string& value, const fs::path& directory) {
    const bool from_file = table.where(key).line > 0;
    return fs::absolute(from_file ? directory / value : fs::path(value)).lexically_normal();
}

constexpr std::int64_t most_particles = 1'000'000'000'000;  // so that no count of bytes overflows

bool dimensionless(const gravity::Units& units) { return units.length_cm == 0; }

/// An error in another file, told at the key that names the file.
InputError at_key(const InputError& error) {
    std::string text;
    for (const auto& each : error.problems()) text += (text.empty() ? "" : "; ") + each.text();
    return InputError(text);
}

gravity::Model read_model(io::Section table, const std::string& name, std::uint64_t seed, const InitialContext& context) {
    const auto& units = context.units;
    const bool standard = dimensionless(units);  // only N-body units have values that are everybody's
    gravity::Model model;
    // A point is a cold sphere of one particle: it lies at its centre, at rest.
    const bool known = name == "plummer" || name == "hernquist" || name == "nfw" || name == "uniform" || name == "cold";
    model.kind = known ? gravity::model_kind_named(name) : ModelKind::cold;
    model.G = units.G;
    model.mass = table.number("mass", {.help = "total mass", .unit = units.mass_name,
                                       .fallback = standard ? std::optional(1.0) : std::nullopt, .range = io::above(0),
                                       .parse = parse(Dimension::mass, units)});
    if (name == "point") {
        for (const char* key : {"count", "seed", "scale", "truncation"}) table.unused(key);
        model.count = 1;
    } else {
        model.count = table.integer("count", {.help = "number of particles", .least = 1, .most = most_particles});
        model.seed = static_cast<std::uint64_t>(
            table.integer("seed", {.help = "of the random numbers", .fallback = static_cast<std::int64_t>(seed), .least = 0}));
        const bool virial = standard && model.kind == ModelKind::plummer;
        model.scale = table.number("scale", {.help = "scale radius", .unit = units.length_name,
                                             .fallback = virial ? std::optional(3 * std::numbers::pi / 16) : std::nullopt,
                                             .range = io::above(0), .parse = parse(Dimension::length, units)});
        const bool can_be_cut = model.kind != ModelKind::uniform && model.kind != ModelKind::cold;
        if (!can_be_cut)
            table.unused("truncation");
        else if (table.has("truncation")) {
            auto cut = table.table("truncation");
            const io::NumberKey length{.unit = units.length_name, .range = io::above(0), .parse = parse(Dimension::length, units)};
            auto radius = length, width = length;
            radius.help = "where the density is halved";
            width.help = "over which it goes to zero";
            model.truncation_radius = cut.number("radius", radius);
            model.truncation_width = cut.number("width", width);
        }
    }
    model.type = static_cast<std::uint8_t>(
        table.integer("type", {.help = "0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary", .fallback = 1, .least = 0,
                               .most = gravity::type_count - 1}));
    if (known && model.count > 0 && model.mass > 0 && model.scale > 0) {  // otherwise that is the problem
        try {
            gravity::validate(model);
        } catch (const InputError& error) {
            for (const auto& each : error.problems()) {
                const bool cut = each.where.key.starts_with("truncation");
                table.problem(cut ? "truncation" : each.where.key, cut ? each.where.key + " " + each.message : each.message);
            }
        }
    }
    return model;
}

Source read_source(io::Section table, std::uint64_t seed, const InitialContext& context, bool may_be_file = true);

/// model = "galaxy.toml": the one model of that file; the object may change its count, seed and type.
Source read_model_of_file(io::Section table, const std::string& name, std::uint64_t seed, const InitialContext& context) {
    Source source;
    const auto path = file_of(table, "model", name, context.directory);
    table.text("model", {.help = "model file"});
    table.resolve("model", path.string());
    source.where = table.where("model");
    for (const char* key : {"mass", "scale", "truncation"}) table.unused(key);
    auto& model = source.object.model;
    try {
        io::RunFileReader file(path);
        auto root = file.root();
        root.text("title", {.fallback = ""});
        const auto units = root.text("units", {.fallback = context.units.name});
        KS_VALIDATE(units == context.units.name, fmt::format("is in {} units, and this file in {}", units, context.units.name),
                    root.where("units"));
        model = read_source(root, seed, {context.units, path.parent_path()}, false).object.model;
        file.finish();
    } catch (const InputError& error) {
        table.problem("model", at_key(error));
    }
    model.count = table.integer("count", {.help = "number of particles", .fallback = std::max<index_t>(model.count, 1), .least = 1,
                                          .most = most_particles});
    model.seed = static_cast<std::uint64_t>(
        table.integer("seed", {.help = "of the random numbers", .fallback = static_cast<std::int64_t>(seed), .least = 0}));
    model.type = static_cast<std::uint8_t>(table.integer(
        "type", {.help = "0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary", .fallback = model.type, .least = 0, .most = 5}));
    source.count = model.count;
    return source;
}

Source read_snapshot_source(io::Section table, const InitialContext& context) {
    Source source;
    const auto given = table.text("file", {.help = "snapshot: GADGET HDF5, format 1 or 2"});
    for (const char* key : {"count", "seed", "mass", "scale", "truncation", "type"}) table.unused(key);
    if (table.has("model")) table.problem("model", "stands beside file: take one of the two");
    source.where = table.where("file");
    source.file = file_of(table, "file", given, context.directory);
    table.resolve("file", source.file.string());
    try {
        const auto summary = gravity::inspect_snapshot(source.file);
        source.count = static_cast<index_t>(std::min<std::uint64_t>(summary.total(), INT64_MAX));
        source.object.model.count = source.count;
        KS_VALIDATE(source.count > 0, source.file.string() + ": holds no particles: at least one is needed");
    } catch (const InputError& error) {
        table.problem("file", at_key(error));
    }
    return source;
}

/// model = "plummer" with its keys, model = "galaxy.toml", or file = "snapshot.hdf5".
Source read_source(io::Section table, std::uint64_t seed, const InitialContext& context, bool may_be_file) {
    if (may_be_file) {
        if (table.has("file")) return read_snapshot_source(table, context);
        if (const auto name = table.peek("model"); name && name->ends_with(".toml"))
            return read_model_of_file(table, *name, seed, context);
    }
    Source source;
    const auto name = table.text("model", {.help = "what is sampled", .choices = {"plummer", "hernquist", "nfw", "uniform", "cold", "point"}});
    source.object.model = read_model(table, name, seed, context);
    source.count = source.object.model.count;
    source.where = table.where(name == "point" ? "model" : "count");
    return source;
}

gravity::Orbit read_orbit(io::Section table, const gravity::Units& units) {
    const auto length = [&](const std::string& help) {
        return io::NumberKey{.help = help, .unit = units.length_name, .range = io::above(0), .parse = parse(Dimension::length, units)};
    };
    gravity::Orbit orbit;
    orbit.separation = table.number("separation", length("distance of the centres at the start"));
    orbit.pericentre = table.number("pericentre", length("least distance of the centres, were they points"));
    orbit.eccentricity = table.number("eccentricity", {.help = "1: parabola", .fallback = 1.0, .range = io::at_least(0)});
    return orbit;
}

Source read_object(io::Section table, std::uint64_t seed, bool placed_by_orbit, const InitialContext& context) {
    const auto name = table.text("name", {.help = "for pictures", .fallback = ""});
    auto source = read_source(table, seed, context);
    source.name = name;
    const auto& units = context.units;
    auto& object = source.object;
    if (placed_by_orbit) {
        for (const char* key : {"position", "velocity"})
            if (table.has(key)) table.problem(key, "is given, and [orbit] places the objects: take one of the two");
    } else {
        object.position = table.vector("position", {.help = "of its centre", .unit = units.length_name, .fallback = Vec3<double>{},
                                                    .parse = parse(Dimension::length, units)});
        object.velocity = table.vector("velocity", {.help = "of its centre", .unit = units.velocity_name, .fallback = Vec3<double>{},
                                                    .parse = parse(Dimension::velocity, units)});
    }
    object.spin = table.vector("spin", {.help = "rotation about x, then y, then z", .unit = "deg", .fallback = Vec3<double>{},
                                        .parse = parse(Dimension::angle, units)});
    return source;
}

}  // namespace

gravity::Units read_units(io::Section table, io::Section root, const std::optional<gravity::Units>& stated) {
    const auto choice = table.text("units", {.help = "auto takes the snapshot's own, else galactic",
                                             .fallback = "auto", .choices = {"auto", "galactic", "nbody", "user"}});
    const bool given = choice == "auto" && stated;
    if (choice != "user" && !(given && stated->name == "user")) {
        const auto units = given ? *stated : choice == "nbody" ? gravity::nbody_units() : gravity::galactic_units();
        table.resolve("units", units.name);
        root.unused("units");
        return units;
    }
    table.resolve("units", "user");
    auto scales = root.table("units");
    const auto scale = [&](const char* key, const char* unit, double from_file) {
        return scales.number(key, {.help = "one unit", .unit = unit, .fallback = given ? std::optional(from_file) : std::nullopt,
                                   .range = io::above(0)});
    };
    const auto origin = stated.value_or(gravity::Units{});
    const double length = scale("length_cm", "cm", origin.length_cm), mass = scale("mass_g", "g", origin.mass_g),
                 velocity = scale("velocity_cm_s", "cm/s", origin.velocity_cm_s);
    if (!(length > 0 && mass > 0 && velocity > 0)) return gravity::galactic_units();  // the problems are recorded
    auto units = gravity::user_units(length, mass, velocity);
    if (given) units = *stated;
    units.G = scales.number("G", {.help = "gravitational constant in these units", .fallback = units.G,
                                  .range = io::above(0)});
    const auto name = [&](const char* key, std::string& text) {
        text = scales.text(key, {.help = "for pictures and tables", .fallback = text});
    };
    name("length_name", units.length_name);
    name("mass_name", units.mass_name);
    name("velocity_name", units.velocity_name);
    name("time_name", units.time_name);
    return units;
}

std::optional<gravity::Units> stated_units(io::Section table, const fs::path& directory) {
    const auto file = table.peek("file");
    if (!file) return {};
    try {
        return gravity::inspect_snapshot(file_of(table, "file", *file, directory)).units;
    } catch (const InputError&) {  // told where the file itself is read
        return {};
    }
}

Initial read_initial(io::Section root, io::Section table, const InitialContext& context) {
    Initial initial;
    auto objects = root.tables("object");
    const bool placed_by_orbit = root.has("orbit");
    const bool single = table.has("file") || table.has("model");
    if (objects.empty() || single) {
        if (!objects.empty()) objects.front().problem("", "stands beside a single model or file: take one of the two");
        if (placed_by_orbit) root.problem("orbit", "needs two [[object]] tables");
        if (!single) {
            table.problem("", "says not what to start from: give model = \"...\" or file = \"...\" here, or [[object]] tables");
            return initial;
        }
        initial.sources.push_back(read_source(table, 1, context));
        initial.as_is = !initial.sources[0].file.empty();
    }
    if (placed_by_orbit) {
        initial.orbit = read_orbit(root.table("orbit"), context.units);
        initial.orbit_where = root.where("orbit");
        if (objects.size() != 2) root.problem("orbit", fmt::format("needs two [[object]] tables, and there are {}", objects.size()));
    }
    for (auto& object : objects) initial.sources.push_back(read_object(object, initial.sources.size() + 1, placed_by_orbit, context));
    if (initial.as_is && initial.sources[0].count > 0) initial.time = gravity::inspect_snapshot(initial.sources[0].file).time;
    return initial;
}

index_t Initial::count() const {
    index_t n = 0;
    for (const auto& source : sources) n = source.count > INT64_MAX - n ? INT64_MAX : n + source.count;
    return n;
}

void set_count(Initial& initial, index_t count) {
    const auto before = static_cast<double>(initial.count());
    double share = 0;  // cumulated, so that the parts add up to the whole
    index_t given = 0;
    for (auto& source : initial.sources) {
        KS_VALIDATE(source.file.empty(), "--count is for models: the particles of a snapshot are as many as they are", source.where);
        share += static_cast<double>(source.count);
        const auto upto = static_cast<index_t>(std::llround(share / before * static_cast<double>(count)));
        source.count = source.object.model.count = std::max<index_t>(upto - given, 1);
        given += source.count;
    }
}

void set_seed(Initial& initial, std::uint64_t seed) {
    for (auto& source : initial.sources) source.object.model.seed = seed++;
}

namespace {

void warn_of_other_units(const gravity::Units& stated, const gravity::Units& units, const fs::path& file) {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); };
    if (near(stated.length_cm, units.length_cm) && near(stated.mass_g, units.mass_g) && near(stated.velocity_cm_s, units.velocity_cm_s))
        return;
    log::warning("{} is in {} units as far as it says, and this run in {} units: its numbers are taken as they are", file.string(),
                 stated.name, units.name);
}

gravity::Particles load(const Source& source, const gravity::Units& units, Cpu on) {
    try {
        if (source.file.empty()) return gravity::sample(source.object.model, on);
        auto snapshot = gravity::read_snapshot(source.file);
        warn_of_other_units(snapshot.units, units, source.file);
        return std::move(snapshot.particles);
    } catch (const InputError& error) {
        throw InputError(at_key(error).what(), source.where);
    }
}

}  // namespace

gravity::Particles load(const Initial& initial, const gravity::Units& units, Cpu on) {
    if (initial.as_is) return load(initial.sources.front(), units, on);
    std::vector<gravity::Particles> parts;
    for (const auto& source : initial.sources) parts.push_back(load(source, units, on));
    auto sources = initial.sources;
    if (initial.orbit) {
        const auto mass = [&](std::size_t i) { return std::accumulate(parts[i].mass.begin(), parts[i].mass.end(), 0.0); };
        try {
            const auto bodies = gravity::place_on_orbit(mass(0), mass(1), *initial.orbit, units.G);
            for (std::size_t i = 0; i < 2; ++i) {
                sources[i].object.position = bodies.position[i];
                sources[i].object.velocity = bodies.velocity[i];
            }
        } catch (const InputError& error) {
            throw InputError(at_key(error).what(), initial.orbit_where);
        }
    }
    gravity::Particles all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        gravity::place(parts[i], sources[i].object);
        all.append(parts[i]);
        parts[i] = {};
    }
    std::iota(all.id.begin(), all.id.end(), std::uint64_t{1});
    return all;
}

}  // namespace kasane::run
