#include <kasane/run/gravity/gravity_record.hpp>
#include <kasane/run/gravity/method_keys.hpp>
#include <kasane/run/gravity/unit_fields.hpp>

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace kasane::run {
namespace {

/// The key of the parameter of an acceptance criterion.
const char* parameter_key(const std::string& mac) { return mac == "geometric" ? "theta" : mac == "acceleration" ? "delta" : "error"; }

// Which keys [force] and [step] have depends on the method, which is read before them.

template <class Fields, class Choice>
void list_choice(Fields& f, Choice& tuned) {
    auto& walk = tuned.walk;
    f("decided", tuned.decided), f("vector", walk.vector), f("group", walk.group), f("group_extent", walk.group_extent),
        f("list", walk.list);
}

template <class Fields, class R>
void list_force(Fields& f, R& r) {
    auto& force = r.force;
    f("method", force.method), f("variant", force.variant);
    if (force.method == "direct") f("precision", force.precision);
    if (force.method == "tree") {
        f.part("mac", [&](auto& in) { in("name", force.mac), in(parameter_key(force.mac), force.mac_parameter); });
        f("multipole", force.multipole), f("leaf_size", force.leaf_size), f("curve", force.curve);
        if (force.vector > 0) f("vector", force.vector), f("group", force.group);
    }
    f("deterministic", force.deterministic);
    if (force.method == "tree")
        f.part("tuning", [&](auto& in) {
            in.part("many_targets", [&](auto& choice) { list_choice(choice, r.tuning.many); });
            in.part("few_targets", [&](auto& choice) { list_choice(choice, r.tuning.few); });
            in("rebuild_interval", r.tuning.rebuild_interval);
        });
}

template <class Fields, class R>
void list_step(Fields& f, R& r) {
    f("method", r.step.method);
    const bool constant = r.step.method == "leapfrog";
    f(constant ? "dt" : "dt_max", r.dt);
    if (constant) return;
    f("eta", r.step.eta), f("criterion", r.step.criterion), f("deepest", r.step.deepest), f("length", r.step.length);
}

template <class Fields, class R>
void list_gravity_fields(Fields& f, R& r) {
    auto&& later = f.later();  // resuming needs none of these, and the first records lack some
    later("particles", r.particles), later("particles_by_type", r.particles_by_type);
    f.list("objects", r.objects, [](auto& in, auto& object) { in("name", object.name), in("count", object.count); });
    later.list("components", r.components, [](auto& in, auto& c) {
        in("name", c.name), in("model", c.law), in("first_id", c.first_id), in("count", c.count), in("type", c.type);
        in("mass", c.mass), in("seed", c.seed), in("softening", c.softening);
    });
    later.part("units",
               [&](auto& in) { for_each_unit_field(r.units, [&](const char* key, const char*, auto& value) { in(key, value); }); });
    later("softening", r.softening), later("softening_kernel", r.softening_kernel), later("softening_table", r.softening_table);
    later.list("softenings", r.softened,
               [](auto& in, auto& c) { in("name", c.name), in("type", c.type), in("count", c.count), in("softening", c.softening); });
    later("dt", r.dt), later("snapshot_every", r.snapshot_every);
    later.part("force", [&](auto& in) { list_force(in, r); });
    later.part("step", [&](auto& in) { list_step(in, r); });
    f("steps", r.steps), f("time", r.time);
    later.part("step_counts", [&](auto& in) {
        auto& counts = r.step_counts;
        in("block_steps", counts.block_steps), in("updates", counts.updates), in.derived("active_fraction", r.active_fraction());
        in("rebuilds", counts.rebuilds), in("levels", counts.levels);
    });
    later.positive("step_seconds", r.step_seconds), later.positive("predicted_step_seconds", r.predicted_step_seconds);
    f("interactions", r.interactions), later("rate", r.rate);
    later("rank_memory_bytes", r.rank_memory);
    later.list("worker_loads", r.loads, [](auto& in, auto& load) {
        in("particles", load.particles), in("interactions", load.interactions), in("received_bytes", load.received);
    });
    later.part_or_null("bound", r.bound.rate > 0, [&](auto& in) { in("rate", r.bound.rate), in("reason", r.bound.reason); });
    f("initial_energy", r.initial_energy), f("relative_energy_error", r.relative_energy_error);
    f("final_relative_energy_error", r.final_relative_energy_error);
    later.positive("expected_energy_drift", r.expected_energy_drift);
    later.part_or_null("force_error", r.force_error.count > 0, [&](auto& in) {
        auto& error = r.force_error;
        in("count", error.count), in("median", error.median), in("p99", error.p99), in("max", error.max);
    });
    later("warnings", r.warnings);
}

}  // namespace

void GravityRecord::describe(const gravity::Force& options, const gravity::Steps& steps) {
    force = {};
    force.method = name_of(options);
    std::visit([&](const auto& chosen) { force.deterministic = chosen.deterministic; }, options);
    if (const auto* direct = std::get_if<gravity::Direct>(&options)) force.precision = name(direct->precision);
    if (const auto* tree = std::get_if<gravity::Tree>(&options)) {
        force.mac = name_of(tree->mac), force.multipole = name(tree->multipole), force.curve = name(tree->curve);
        force.leaf_size = tree->leaf_size;
        if (const auto* geometric = std::get_if<gravity::GeometricMac>(&tree->mac)) force.mac_parameter = geometric->theta;
        if (const auto* acceleration = std::get_if<gravity::AccelerationMac>(&tree->mac)) force.mac_parameter = acceleration->delta;
        if (const auto* multipole = std::get_if<gravity::MultipoleMac>(&tree->mac)) force.mac_parameter = multipole->error;
        if (tree->walk == gravity::TreeWalk::links) force.vector = tree->vector, force.group = tree->group;
    }
    step = {};
    step.method = name_of(steps);
    if (const auto* control = control_of(steps))
        step = {step.method, name(control->criterion), control->eta, control->length, control->deepest};
}

double GravityRecord::active_fraction() const {
    return step_counts.block_steps > 0 ? step_counts.updates / static_cast<double>(step_counts.block_steps) / static_cast<double>(particles)
                                       : unknown;
}

io::Json part_of(const GravityRecord& r) {
    FieldWriter fields;
    list_gravity_fields(fields, r);
    return fields.object;
}

GravityRecord gravity_record_from_json(const std::string& text, const std::filesystem::path& file) {
    GravityRecord r;
    read_record(text, file, "gravity", [&](const io::Json& object) {
        read_common(object, "step", r);
        FieldReader fields(object);
        list_gravity_fields(fields, r);
    });
    return r;
}

GravityRecord readable_gravity_record(const io::Json& object) {
    GravityRecord r;
    r.status.clear();
    r.softening = r.dt = r.time = r.seconds = r.interactions = r.relative_energy_error = unknown;
    if (!object.is_object()) return r;
    read_common(object, "step", r, Gaps::keep);
    FieldReader fields(object, Gaps::keep);
    list_gravity_fields(fields, r);
    std::int64_t segments = std::ssize(r.segments);
    fields("segments", segments);  // their number is enough
    r.segments.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(segments, 0, 1'000'000)));
    std::erase_if(r.timers, [](const auto& part) { return !(part.second.seconds > 0); });
    return r;
}

KeptKeys kept_keys(const io::Json& r) {
    KeptKeys keys;
    const auto add = [&](const std::string& key, const io::Json& object, const char* name) {
        const auto value = object.find(name);
        if (value != object.end() && value->is_primitive() && !value->is_null())
            keys.emplace_back(key, value->is_string() ? value->get<std::string>() : value->dump());
    };
    const auto add_all = [&](const std::string& table, const io::Json& object, std::initializer_list<const char*> names) {
        for (const char* name : names) add(table + "." + name, object, name);
    };
    const auto part = [](const io::Json& object, const char* name) {
        const auto found = object.find(name);
        return found != object.end() && found->is_object() ? *found : io::Json::object();
    };
    const auto units = part(r, "units"), force = part(r, "force"), mac = part(force, "mac");
    add("run.units", units, "name");
    if (const auto name = units.find("name"); name != units.end() && *name == "user")
        add_all("units", units, {"length_cm", "mass_g", "velocity_cm_s", "G"});
    const bool one = r.value("softening_table", std::string()).empty();
    add("force.softening", r, one ? "softening" : "softening_table");
    add("force.softening_kernel", r, "softening_kernel");
    add_all("force", force, {"method", "precision", "accumulation", "multipole", "leaf_size", "curve"});
    add("force.mac", mac, "name");
    add_all("force", mac, {"theta", "delta", "error"});
    add_all("step", part(r, "step"), {"method", "dt", "dt_max", "eta", "criterion", "deepest", "length"});
    add("output.snapshot_every", r, "snapshot_every");
    return keys;
}

}  // namespace kasane::run
