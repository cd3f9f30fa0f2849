#include <kasane/gravity/particles/particles.hpp>
#include <kasane/run/model/component_keys.hpp>
#include <kasane/run/model/table_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace kasane::run {

using gravity::Dimension;

io::ParseQuantity parse(Dimension dimension, const gravity::Units& units) {
    return [dimension, units](const std::string& text) { return gravity::quantity(text, dimension, units); };
}

Where ComponentPlaces::of(const std::string& option) const {
    if (const auto found = keys.find(option); found != keys.end()) return found->second;
    const auto name = option.substr(option.rfind('.') + 1);
    if (const auto found = keys.find(name == "table" ? "file" : name); found != keys.end()) return found->second;
    return table;
}

Where ModelPlaces::of(const std::string& option) const {
    constexpr std::string_view list = "components.";
    if (!option.starts_with(list)) return option == "count" ? count : table;
    const auto rest = option.substr(list.size());
    const auto number = rest.substr(0, rest.find('.'));
    for (std::size_t i = 0; i < components.size(); ++i) {
        if (std::to_string(i) == number) return components[i].of(rest.substr(std::min(rest.size(), number.size() + 1)));
    }
    return table;
}

std::vector<InputProblem> ModelPlaces::placed(std::vector<InputProblem> problems) const {
    for (auto& problem : problems) problem.where = of(problem.where.key);
    return problems;
}

namespace {

/// A key that only some laws have, and those laws.
struct LawKey {
    const char* key;
    std::vector<std::string> laws;
};
const std::vector<LawKey>& law_keys() {
    static const std::vector<LawKey> all{{"w0", {"king"}},
                                         {"alpha", {"einasto"}},
                                         {"n", {"sersic", "sersic-disk"}},
                                         {"inner_slope", {"two-power", "triple-power"}},
                                         {"middle_slope", {"triple-power"}},
                                         {"outer_slope", {"two-power", "triple-power"}},
                                         {"sharpness", {"two-power", "triple-power"}},
                                         {"outer_scale", {"triple-power"}},
                                         {"file", {"table", "surface-density-table", "table-disk"}}};
    return all;
}

class Reader {
   public:
    Reader(io::Section table, std::string law, const InitialContext& context, ComponentPlaces& places)
        : table_(table), name_(std::move(law)), context_(context), places_(places) {
        places_.table = table_.where("");
    }

    gravity::Component read(ComponentForm form) {
        component_.law = gravity::law_named(name_);
        auto& c = component_;
        const auto& units = context_.units;
        const bool hole = gravity::is_black_hole(c.law), disk = gravity::is_disk(c.law), sphere = gravity::is_sphere(c.law);
        const bool standard = dimensionless(units);  // only N-body units have default values
        c.type = hole ? 5 : disk ? 2 : 1;

        c.mass = number("mass", {.help = "total mass, after truncation",
                                 .unit = units.mass_name,
                                 .fallback = standard ? std::optional(1.0) : std::nullopt,
                                 .range = io::above(0),
                                 .parse = parse(Dimension::mass, units)});
        const bool scaled = !hole && name_ != "table" && name_ != "surface-density-table";
        if (scaled) {
            const bool virial = standard && name_ == "plummer";
            c.scale = number("scale", length("scale radius", virial ? std::optional(3 * std::numbers::pi / 16) : std::nullopt));
        } else {
            refuse("scale", hole ? "is a point" : "has the radii of its table");
        }
        std::visit([&](auto& law) { parameters(law); }, c.law);
        for (const auto& [key, laws] : law_keys()) {
            if (std::find(laws.begin(), laws.end(), name_) != laws.end()) continue;
            std::string owners;
            for (const auto& owner : laws) owners += (owners.empty() ? "" : ", ") + owner;
            refuse(key, "has no such parameter, which belongs to " + owners);
        }
        if (hole) {
            refuse("truncation", "is a point");
        } else if (table_.has("truncation")) {
            read_truncation();
        } else {
            places_.keys["truncation.radius"] = places_.keys["truncation.width"] = places_.keys["truncation"] = table_.where("truncation");
        }
        if (sphere) {
            auto schema = length("of Osipkov and Merritt, beta = r^2 / (r^2 + r_a^2); 0: isotropic", 0.0);
            schema.range = io::at_least(0);
            c.anisotropy_radius = number("anisotropy_radius", schema);
        } else {
            refuse("anisotropy_radius", disk ? "has its velocities from toomre_q" : "is a point");
        }
        if (disk) {
            c.disk.height = number("height", length("distance from the plane where the density has fallen by e", std::nullopt));
            c.disk.toomre_q = number("toomre_q", {.help = "Toomre's Q at R = scale", .fallback = c.disk.toomre_q, .range = io::above(0)});
            c.disk.retrograde =
                number("retrograde", {.help = "share that rotates in the other direction", .fallback = 0.0, .range = io::between(0, 1)});
        } else {
            for (const char* key : {"height", "toomre_q", "retrograde"}) refuse(key, "is not a disk");
        }
        read_count(form, hole);
        c.type = static_cast<std::uint8_t>(integer("type", {.help = "0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary, black hole",
                                                            .fallback = c.type,
                                                            .least = 0,
                                                            .most = gravity::type_count - 1}));
        auto softening = length("Plummer-equivalent eps of its type, for runs that state none, and for the snapshot; 0: none", 0.0);
        softening.range = io::at_least(0);
        c.softening = number("softening", softening);
        return c;
    }

   private:
    io::NumberKey length(const std::string& help, std::optional<double> fallback) const {
        return {.help = help,
                .unit = context_.units.length_name,
                .fallback = fallback,
                .range = io::above(0),
                .parse = parse(Dimension::length, context_.units)};
    }
    double number(const std::string& key, const io::NumberKey& schema) {
        places_.keys[key] = table_.where(key);
        return table_.number(key, schema);
    }
    std::int64_t integer(const std::string& key, const io::IntegerKey& schema) {
        places_.keys[key] = table_.where(key);
        return table_.integer(key, schema);
    }
    /// Records a problem where a key without effect is given.
    void refuse(const char* key, const std::string& reason) {
        if (table_.has(key)) table_.problem(key, fmt::format("has no effect with model = \"{}\", which {}", name_, reason));
    }

    template <class Law>
    void parameters(Law&) {}
    void parameters(gravity::King& law) { law.w0 = number("w0", {.help = "Psi(0) / sigma^2", .fallback = law.w0}); }
    void parameters(gravity::Einasto& law) { law.alpha = number("alpha", {.help = "shape", .fallback = law.alpha}); }
    void parameters(gravity::Sersic& law) { law.n = number("n", {.help = "Sersic index", .fallback = law.n}); }
    void parameters(gravity::SersicDisk& law) { law.n = number("n", {.help = "Sersic index", .fallback = law.n}); }
    template <class Law>
    void slopes(Law& law) {
        law.inner_slope = number("inner_slope", {.help = "-d ln rho / d ln r at the centre", .fallback = law.inner_slope});
        law.outer_slope = number("outer_slope", {.help = "-d ln rho / d ln r at large radii", .fallback = law.outer_slope});
        law.sharpness = number("sharpness", {.help = "of the transition", .fallback = law.sharpness});
    }
    void parameters(gravity::TwoPower& law) { slopes(law); }
    void parameters(gravity::TriplePower& law) {
        slopes(law);
        law.middle_slope = number("middle_slope", {.help = "between scale and outer_scale", .fallback = law.middle_slope});
        law.outer_scale = number("outer_scale", length("where the outer slope begins", std::nullopt));
    }
    void parameters(gravity::TabulatedDensity& law) { law.table = read_table_file(); }
    void parameters(gravity::TabulatedSurfaceDensity& law) { law.table = read_table_file(); }
    void parameters(gravity::TabulatedDisk& law) { law.table = read_table_file(); }

    gravity::Table read_table_file() {
        places_.keys["file"] = table_.where("file");
        const auto given = table_.text("file", {.help = "two columns, radius and density"});
        if (given.empty()) return {};
        const auto path = file_of(table_, "file", given, context_.directory);
        table_.resolve("file", path.string());
        try {
            return read_table(path);
        } catch (const InputError& error) {
            table_.problem("file", at_key(error, 3));  // a file of another kind has one problem per line
        }
        return {};
    }

    void read_truncation() {
        auto cut = table_.table("truncation");
        const auto part = [&](const char* key, const char* help) {
            places_.keys[std::string("truncation.") + key] = cut.where(key);
            return cut.number(key, length(help, std::nullopt));
        };
        places_.keys["truncation"] = table_.where("truncation");
        component_.truncation.radius = part("radius", "where the density is halved");
        component_.truncation.width = part("width", "over which it goes to zero");
    }

    void read_count(ComponentForm form, bool hole) {
        if (hole) {
            refuse("count", "is one particle");
            refuse("particle_mass", "is one particle");
            return;
        }
        auto& c = component_;
        const bool by_mass = table_.has("particle_mass"), by_count = form == ComponentForm::one_of_several && table_.has("count");
        if (by_mass && table_.has("count"))
            table_.problem("particle_mass", "is given beside count: take one of the two");
        else if (by_mass)
            c.particle_mass = number("particle_mass", {.help = "of one particle, instead of count",
                                                       .unit = context_.units.mass_name,
                                                       .range = io::above(0),
                                                       .parse = parse(Dimension::mass, context_.units)});
        else if (by_count)
            c.count = integer("count", {.help = "number of particles", .least = 1, .most = gravity::most_particles});
        if (form == ComponentForm::one_of_several && !places_.keys.contains("count")) places_.keys["count"] = table_.where("count");
    }

    io::Section table_;
    std::string name_;
    const InitialContext& context_;
    ComponentPlaces& places_;
    gravity::Component component_;
};

}  // namespace

gravity::Component read_component(io::Section table, const std::string& law, ComponentForm form, const InitialContext& context,
                                  ComponentPlaces& places) {
    const auto& names = gravity::law_names();
    if (std::find(names.begin(), names.end(), law) == names.end()) {
        places.table = table.where("");
        for (const char* key : {"mass", "scale", "truncation", "anisotropy_radius", "height", "toomre_q", "retrograde", "count",
                                "particle_mass", "type", "softening"})
            table.has(key);
        for (const auto& each : law_keys()) table.has(each.key);
        return {};
    }
    return Reader(table, law, context, places).read(form);
}

}  // namespace kasane::run
