#include <kasane/core/base/error.hpp>
#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/model/initial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fs = std::filesystem;

namespace kasane::run {
using gravity::Dimension;

namespace {

// Balls, which are not in equilibrium. A point is a cold ball of one particle, at rest at its centre.
constexpr const char* ball_names[] = {"uniform", "cold", "point"};

bool is_ball(const std::string& name) { return std::find(std::begin(ball_names), std::end(ball_names), name) != std::end(ball_names); }

bool is_table_law(const std::optional<std::string>& name) {
    return name == "table" || name == "surface-density-table" || name == "table-disk";
}

std::uint64_t read_seed(io::Section table, std::uint64_t seed) {
    return static_cast<std::uint64_t>(
        table.integer("seed", {.help = "of the random numbers", .fallback = static_cast<std::int64_t>(seed), .least = 0}));
}

std::uint8_t read_type(io::Section table, std::uint8_t fallback) {
    return static_cast<std::uint8_t>(table.integer("type", {.help = "0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary",
                                                            .fallback = fallback,
                                                            .least = 0,
                                                            .most = gravity::type_count - 1}));
}

gravity::Ball read_ball(io::Section table, const std::string& name, std::uint64_t seed, const InitialContext& context) {
    const auto& units = context.units;
    gravity::Ball ball;
    ball.motion = name == "uniform" ? gravity::Ball::Motion::uniform : gravity::Ball::Motion::cold;
    ball.G = units.G;
    ball.mass = table.number("mass", {.help = "total mass",
                                      .unit = units.mass_name,
                                      .fallback = dimensionless(units) ? std::optional(1.0) : std::nullopt,
                                      .range = io::above(0),
                                      .parse = parse(Dimension::mass, units)});
    table.unused("truncation");
    if (name == "point") {
        for (const char* key : {"count", "seed", "scale"}) table.unused(key);
        ball.count = 1;
    } else {
        ball.count =
            table.integer("count", {.help = "number of particles", .fallback = context.count, .least = 1, .most = gravity::most_particles});
        ball.seed = read_seed(table, seed);
        ball.radius = table.number(
            "scale", {.help = "radius", .unit = units.length_name, .range = io::above(0), .parse = parse(Dimension::length, units)});
    }
    ball.type = read_type(table, 1);
    return ball;
}

/// Records the problems of the galaxy as a whole, except for keys that already have a problem.
void check_galaxy(io::Section table, const gravity::GalaxyModel& model, const ModelPlaces& places) {
    for (auto& problem : places.placed(problems_of(model)))
        if (!table.faulty(problem.where.key)) table.problem("", InputError(std::vector{problem}));
}

/// Particles of all components; 0 when the galaxy has problems.
index_t count_of(const gravity::GalaxyModel& model) {
    if (!problems_of(model).empty()) return 0;
    const auto counts = counts_of(model);
    return std::accumulate(counts.begin(), counts.end(), index_t{0});
}

/// [[component]] tables, or the keys of one component.
Source read_galaxy(io::Section table, std::uint64_t seed, const InitialContext& context) {
    Source source;
    gravity::GalaxyModel model;
    model.G = context.units.G;
    auto& places = source.places;
    places.table = table.where("");
    auto components = table.tables("component");
    const bool several = !components.empty();
    const auto& names = gravity::law_names();
    io::TextKey law{.help = "density law", .choices = {names.begin(), names.end()}};
    if (several) {
        if (table.has("model")) table.problem("model", "is given beside [[component]] tables: take one of the two");
        for (auto& each : components) {
            const auto name = each.text("name", {.help = "for labels; empty: the law's name", .fallback = ""});
            auto& component_places = places.components.emplace_back();
            component_places.keys["name"] = each.where("name");
            component_places.keys["model"] = each.where("model");
            const auto chosen = each.text("model", law);
            model.components.push_back(read_component(each, chosen, ComponentForm::one_of_several, context, component_places));
            model.components.back().name = name;
        }
    } else {
        law.help = "what is sampled";
        law.choices.insert(law.choices.end(), std::begin(ball_names), std::end(ball_names));
        const auto name = table.text("model", law);
        auto& component_places = places.components.emplace_back();
        component_places.keys["model"] = table.where("model");
        model.components.push_back(read_component(table, name, ComponentForm::alone, context, component_places));
    }
    const auto& all = model.components;
    const bool shared = std::any_of(all.begin(), all.end(),
                                    [](const auto& c) { return c.count == 0 && c.particle_mass == 0 && !gravity::is_black_hole(c.law); });
    if (shared)
        model.count = table.integer(
            "count", {.help = several ? "of all components without count or particle_mass, shared by mass" : "number of particles",
                      .fallback = context.count,
                      .least = 1,
                      .most = gravity::most_particles});
    else
        table.unused("count");
    model.seed = read_seed(table, seed);
    source.where = places.count = table.where(table.has("count") ? "count" : several ? "component" : "model");
    if (!several) places.components.front().keys["count"] = source.where;
    check_galaxy(table, model, places);
    source.count = count_of(model);
    source.origin = std::move(model);
    return source;
}

/// Scales the counts of all components to n particles together; black holes stay one particle each. @throws InputError at `where`: too few
void rescale(gravity::GalaxyModel& model, index_t n, const Where& where) {
    auto& all = model.components;
    const auto parts = static_cast<index_t>(all.size());
    KS_VALIDATE(n >= parts, fmt::format("is {}: {} components need at least one particle each", n, parts), where);
    const auto is_hole = [](const gravity::Component& c) { return gravity::is_black_hole(c.law); };
    const auto holes = std::count_if(all.begin(), all.end(), is_hole);
    if (std::all_of(all.begin(), all.end(), [&](const auto& c) { return is_hole(c) || (c.count == 0 && c.particle_mass == 0); })) {
        model.count = n - holes;
        return;
    }
    const auto counts = counts_of(model);
    const auto before = static_cast<double>(std::accumulate(counts.begin(), counts.end(), -holes));
    double share = 0;  // cumulative, so that the parts add up to the whole
    index_t given = 0, left = parts - holes;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_hole(all[i])) continue;
        share += static_cast<double>(counts[i]);
        --left;
        const auto upto = static_cast<index_t>(std::llround(share / before * static_cast<double>(n - holes)));
        all[i].count = std::clamp<index_t>(upto - given, 1, n - holes - given - left);
        all[i].particle_mass = 0;
        given += all[i].count;
    }
    model.count = 0;
}

void set_count(Source& source, index_t n) {
    KS_VALIDATE(!source.file(), "--count is for models: the number of particles of a snapshot cannot change", source.where);
    if (auto* ball = std::get_if<gravity::Ball>(&source.origin)) {
        if (source.point) return;
        ball->count = n;
    } else {
        rescale(std::get<gravity::GalaxyModel>(source.origin), n, source.where);
    }
    source.count = n;
}

Source read_source(io::Section table, std::uint64_t seed, const InitialContext& context, bool may_be_file = true);

/// model = "galaxy.toml": the galaxy of that file; the object may set its count and seed, and the type of a single component.
Source read_model_of_file(io::Section table, const std::string& name, std::uint64_t seed, const InitialContext& context) {
    Source source;
    const auto path = file_of(table, "model", name, context.directory);
    table.text("model", {.help = "model file"});
    table.resolve("model", path.string());
    for (const char* key : {"mass", "scale", "truncation"}) table.unused(key);
    try {
        io::RunFileReader file(path);
        auto root = file.root();
        for (const char* key : {"title", "source"}) root.text(key, {.fallback = ""});
        const auto units = root.text("units", {.fallback = context.units.name});
        KS_VALIDATE(units == context.units.name, fmt::format("is in {} units, and this file in {}", units, context.units.name),
                    root.where("units"));
        // A model without a count gets one that is enough for any number of components; the count below replaces it.
        const auto count = table.has("count") ? std::optional(gravity::most_particles / 2) : context.count;
        source = read_source(root, seed, {context.units, path.parent_path(), count}, false);
        file.finish();
    } catch (const InputError& error) {
        table.problem("model", at_key(error));
    }
    source.where = table.where(table.has("count") ? "count" : "model");
    const auto count = table.integer("count", {.help = "number of particles in all",
                                               .fallback = std::max<index_t>(source.count, 1),
                                               .least = 1,
                                               .most = gravity::most_particles});
    seed = read_seed(table, seed);
    if (table.faulty(table.where("model").key) || table.faulty(table.where("count").key)) return source;
    try {
        if (count != source.count) set_count(source, count);
    } catch (const InputError& error) {
        table.problem("count", error);
    }
    auto* galaxy = std::get_if<gravity::GalaxyModel>(&source.origin);
    auto* ball = std::get_if<gravity::Ball>(&source.origin);
    (galaxy ? galaxy->seed : ball->seed) = seed;
    if (galaxy && galaxy->components.size() > 1) {
        if (table.has("type")) table.problem("type", "is given, and each component of this model has its own: leave it out");
        return source;
    }
    auto& type = galaxy ? galaxy->components.front().type : ball->type;
    type = read_type(table, type);
    return source;
}

Source read_snapshot_source(io::Section table, const InitialContext& context) {
    Source source;
    const auto given = table.text("file", {.help = "snapshot: GADGET HDF5, format 1 or 2"});
    for (const char* key : {"count", "seed", "mass", "scale", "truncation", "type"}) table.unused(key);
    for (const char* key : {"model", "component"})
        if (table.has(key)) table.problem(key, "is given beside file: take one of the two");
    source.where = table.where("file");
    const auto path = file_of(table, "file", given, context.directory);
    source.origin = path;
    table.resolve("file", path.string());
    try {
        const auto summary = gravity::inspect_snapshot(path);
        source.count = static_cast<index_t>(std::min<std::uint64_t>(summary.total(), INT64_MAX));
        KS_VALIDATE(source.count > 0, path.string() + ": holds no particles: at least one is needed");
    } catch (const InputError& error) {
        table.problem("file", at_key(error));
    }
    return source;
}

/// model = "plummer" with its keys, [[component]] tables, model = "galaxy.toml", or file = "snapshot.hdf5".
Source read_source(io::Section table, std::uint64_t seed, const InitialContext& context, bool may_be_file) {
    const auto name = table.peek("model");
    if (may_be_file) {
        if (table.has("file") && !is_table_law(name)) return read_snapshot_source(table, context);
        if (name && name->ends_with(".toml")) return read_model_of_file(table, *name, seed, context);
    }
    if (!name || !is_ball(*name)) return read_galaxy(table, seed, context);
    Source source;
    table.text("model", {.help = "what is sampled"});
    const auto ball = read_ball(table, *name, seed, context);
    source.origin = ball;
    source.point = *name == "point";
    source.count = ball.count;
    source.where = table.where(source.point ? "model" : "count");
    return source;
}

gravity::Orbit read_orbit(io::Section table, const gravity::Units& units) {
    const auto length = [&](const std::string& help) {
        return io::NumberKey{.help = help, .unit = units.length_name, .range = io::above(0), .parse = parse(Dimension::length, units)};
    };
    gravity::Orbit orbit;
    orbit.separation = table.number("separation", length("distance of the centres at the start"));
    orbit.pericentre = table.number("pericentre", length("smallest distance of the centres on the orbit of two points"));
    orbit.eccentricity = table.number("eccentricity", {.help = "1: parabola", .fallback = 1.0, .range = io::at_least(0)});
    return orbit;
}

/// The orientation of an object: by rotations about the axes, or by its angles to the orbit.
void read_spin(io::Section table, bool placed_by_orbit, const gravity::Units& units, Source& source) {
    const bool tilted = table.has("inclination") || table.has("argument");
    const io::NumberKey angle{.unit = "deg", .fallback = 0.0, .parse = parse(Dimension::angle, units)};
    if (!tilted || !placed_by_orbit) {
        for (const char* key : {"inclination", "argument"})
            if (table.has(key)) table.problem(key, "is an angle to an orbit, and there is no [orbit]: turn the object with spin");
        source.placement.spin = table.vector("spin", {.help = "rotation about x, then y, then z",
                                                      .unit = "deg",
                                                      .fallback = Vec3<double>{},
                                                      .parse = parse(Dimension::angle, units)});
        return;
    }
    if (table.has("spin")) table.problem("spin", "is given beside inclination and argument: take one of the two ways");
    auto inclination = angle, argument = angle;
    inclination.help = "of the disk to the orbit: 0 direct, 180 retrograde";
    argument.help = "of the pericentre of the other object, from its ascending node through the disk";
    source.tilt = Tilt{table.number("inclination", inclination), table.number("argument", argument)};
}

Source read_object(io::Section table, std::uint64_t seed, bool placed_by_orbit, const InitialContext& context) {
    const auto name = table.text("name", {.help = "for pictures and labels", .fallback = ""});
    auto source = read_source(table, seed, context);
    source.name = name;
    const auto& units = context.units;
    auto& placement = source.placement;
    if (placed_by_orbit) {
        for (const char* key : {"position", "velocity"})
            if (table.has(key)) table.problem(key, "is given, and [orbit] places the objects: take one of the two");
    } else {
        placement.position = table.vector(
            "position",
            {.help = "of its centre", .unit = units.length_name, .fallback = Vec3<double>{}, .parse = parse(Dimension::length, units)});
        placement.velocity = table.vector(
            "velocity",
            {.help = "of its centre", .unit = units.velocity_name, .fallback = Vec3<double>{}, .parse = parse(Dimension::velocity, units)});
    }
    read_spin(table, placed_by_orbit, units, source);
    return source;
}

}  // namespace

gravity::Units read_units(io::Section table, io::Section root, const std::optional<gravity::Units>& stated) {
    const auto choice = table.text(
        "units",
        {.help = "auto takes the snapshot's own, else galactic", .fallback = "auto", .choices = {"auto", "galactic", "nbody", "user"}});
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
        return scales.number(
            key, {.help = "one unit", .unit = unit, .fallback = given ? std::optional(from_file) : std::nullopt, .range = io::above(0)});
    };
    const auto origin = stated.value_or(gravity::Units{});
    const double length = scale("length_cm", "cm", origin.length_cm), mass = scale("mass_g", "g", origin.mass_g),
                 velocity = scale("velocity_cm_s", "cm/s", origin.velocity_cm_s);
    if (!(length > 0 && mass > 0 && velocity > 0)) return gravity::galactic_units();  // the problems are recorded
    auto units = gravity::user_units(length, mass, velocity);
    if (given) units = *stated;
    units.G = scales.number("G", {.help = "gravitational constant in these units", .fallback = units.G, .range = io::above(0)});
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
    } catch (const InputError&) {  // reported where the file itself is read
        return {};
    }
}

Initial read_initial(io::Section root, io::Section table, const InitialContext& context) {
    Initial initial;
    auto objects = root.tables("object");
    const bool placed_by_orbit = root.has("orbit");
    const bool single = table.has("file") || table.has("model") || table.has("component");
    if (objects.empty() || single) {
        if (!objects.empty()) objects.front().problem("", "is given beside a single model or file: take one of the two");
        if (placed_by_orbit) root.problem("orbit", "needs two [[object]] tables");
        if (!single) {
            table.problem("",
                          "has no initial state: give model = \"...\", [[component]] tables or file = \"...\" here, or "
                          "[[object]] tables");
            return initial;
        }
        initial.sources.push_back(read_source(table, 1, context));
        initial.as_is = initial.sources[0].file() != nullptr;
    }
    if (placed_by_orbit) {
        initial.orbit = read_orbit(root.table("orbit"), context.units);
        initial.orbit_where = root.where("orbit");
        if (objects.size() != 2) root.problem("orbit", fmt::format("needs two [[object]] tables, and there are {}", objects.size()));
    }
    const InitialContext of_objects{context.units, context.directory};
    for (auto& object : objects) initial.sources.push_back(read_object(object, initial.sources.size() + 1, placed_by_orbit, of_objects));
    if (initial.as_is && initial.sources[0].count > 0) initial.time = gravity::inspect_snapshot(*initial.sources[0].file()).time;
    return initial;
}

index_t Initial::count() const {
    index_t n = 0;
    for (const auto& source : sources) n = source.count > INT64_MAX - n ? INT64_MAX : n + source.count;
    return n;
}

void set_count(Initial& initial, index_t count) {
    const auto before = static_cast<double>(initial.count());
    double share = 0;  // cumulative, so that the parts add up to the whole
    index_t given = 0;
    for (auto& source : initial.sources) {
        share += static_cast<double>(source.count);
        const auto upto = static_cast<index_t>(std::llround(share / before * static_cast<double>(count)));
        set_count(source, std::max<index_t>(upto - given, 1));
        given += source.count;
    }
}

void set_seed(Initial& initial, std::uint64_t seed) {
    for (auto& source : initial.sources) {
        if (auto* galaxy = std::get_if<gravity::GalaxyModel>(&source.origin)) galaxy->seed = seed;
        if (auto* ball = std::get_if<gravity::Ball>(&source.origin)) ball->seed = seed;
        ++seed;
    }
}

}  // namespace kasane::run
