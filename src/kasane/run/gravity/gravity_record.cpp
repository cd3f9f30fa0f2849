#include <kasane/run/gravity/method_keys.hpp>
#include <kasane/run/gravity/gravity_record.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <initializer_list>

namespace kasane::run {
namespace {

using json = nlohmann::ordered_json;

json of_mac(const gravity::Mac& mac) {
    json object{{"name", name_of(mac)}};
    if (const auto* geometric = std::get_if<gravity::GeometricMac>(&mac)) object["theta"] = geometric->theta;
    if (const auto* acceleration = std::get_if<gravity::AccelerationMac>(&mac)) object["delta"] = acceleration->delta;
    if (const auto* multipole = std::get_if<gravity::MultipoleMac>(&mac)) object["error"] = multipole->error;
    return object;
}

json of_tuning(const gravity::TreeTuning& t) {
    return {{"group", t.walk.group},
            {"group_extent", t.walk.group_extent},
            {"lanes", t.walk.lanes},
            {"list", t.walk.list},
            {"rebuild_interval", t.rebuild_interval}};
}

json of_force(const GravityRecord& r) {
    json object{{"method", name_of(r.force)}, {"variant", r.variant}};
    if (const auto* direct = std::get_if<gravity::Direct>(&r.force)) {
        object["precision"] = name(direct->precision);
        object["deterministic"] = direct->deterministic;
    }
    if (const auto* tree = std::get_if<gravity::Tree>(&r.force)) {
        object["mac"] = of_mac(tree->mac);
        object["multipole"] = name(tree->multipole);
        object["leaf_size"] = tree->leaf_size;
        object["curve"] = name(tree->curve);
        if (tree->walk == gravity::TreeWalk::links) object["vector"] = tree->vector, object["group"] = tree->group;
        object["deterministic"] = tree->deterministic;
        object["tuning"] = of_tuning(r.tuning);
    }
    return object;
}

json of_steps(const gravity::Steps& steps) {
    json object{{"method", name_of(steps)}, {step_key(steps), gravity::macro_step(steps)}};
    if (const auto* control = control_of(steps)) {
        object["eta"] = control->eta;
        object["criterion"] = name(control->criterion);
        object["deepest"] = control->deepest;
        object["length"] = control->length;
    }
    return object;
}

}  // namespace

double active_fraction(const gravity::StepCounts& counts, std::int64_t particles) {
    return counts.block_steps > 0 ? counts.updates / static_cast<double>(counts.block_steps) / static_cast<double>(particles)
                                  : std::nan("");
}

json part_of(const GravityRecord& r) {
    double force_seconds = 0;  // of direct summation, or of a tree's walks
    for (const char* part : {"force", "walk"})
        if (const auto found = r.timers.find(part); found != r.timers.end()) force_seconds += found->second.seconds;
    json objects = json::array();
    for (const auto& object : r.objects) objects.push_back({{"name", object.name}, {"count", object.count}});
    json components = json::array();
    for (const auto& c : r.components)
        components.push_back({{"name", c.name},
                              {"model", c.law},
                              {"first_id", c.first_id},
                              {"count", c.count},
                              {"type", c.type},
                              {"mass", c.mass},
                              {"seed", c.seed}});
    const json bound = r.bound.rate > 0 ? json{{"rate", r.bound.rate}, {"reason", r.bound.reason}} : json(nullptr);
    return {
        {"particles", r.particles},
        {"particles_by_type", r.particles_by_type},
        {"objects", objects},
        {"components", components},
        {"units",
         {{"name", r.units.name},
          {"length_cm", r.units.length_cm},
          {"mass_g", r.units.mass_g},
          {"velocity_cm_s", r.units.velocity_cm_s},
          {"G", r.units.G},
          {"length_name", r.units.length_name},
          {"mass_name", r.units.mass_name},
          {"velocity_name", r.units.velocity_name},
          {"time_name", r.units.time_name}}},
        {"softening", r.softening},
        {"dt", r.dt},
        {"snapshot_every", r.snapshot_every},
        {"force", of_force(r)},
        {"step", of_steps(r.step_method)},
        {"steps", r.steps},
        {"time", r.time},
        {"step_counts",
         {{"block_steps", r.step_counts.block_steps},
          {"updates", r.step_counts.updates},
          {"active_fraction", active_fraction(r.step_counts, r.particles)},
          {"rebuilds", r.step_counts.rebuilds},
          {"levels", r.step_counts.levels}}},
        {"step_seconds", positive_or_null(r.step_seconds)},
        {"predicted_step_seconds", positive_or_null(r.predicted_step_seconds)},
        {"interactions", r.interactions},
        {"rate", force_seconds > 0 ? json(r.interactions / force_seconds) : json(nullptr)},
        {"bound", bound},
        {"initial_energy", r.initial_energy},
        {"relative_energy_error", r.relative_energy_error},
        {"final_relative_energy_error", r.final_relative_energy_error},
        {"force_error", r.force_error.count > 0 ? json{{"count", r.force_error.count},
                                                       {"median", r.force_error.median},
                                                       {"p99", r.force_error.p99},
                                                       {"max", r.force_error.max}}
                                                : json(nullptr)},
        {"warnings", r.warnings},
    };
}

GravityRecord gravity_record_from_json(const std::string& text, const std::filesystem::path& file) {
    GravityRecord r;
    read_record(text, file, "gravity", [&](const nlohmann::json& j) {
        read_common(j, "step", r);
        r.steps = j.at("steps");
        r.time = number_or_nan(j.at("time"));
        r.interactions = number_or_nan(j.at("interactions"));
        r.initial_energy = number_or_nan(j.at("initial_energy"));
        r.relative_energy_error = number_or_nan(j.at("relative_energy_error"));
        r.final_relative_energy_error = number_or_nan(j.at("final_relative_energy_error"));
        r.warnings = j.value("warnings", r.warnings);                        // older records have none
        if (const auto counts = j.find("step_counts"); counts != j.end()) {  // records of version 0.1 have none
            r.step_counts.block_steps = counts->at("block_steps");
            r.step_counts.updates = number_or_nan(counts->at("updates"));
            r.step_counts.rebuilds = counts->at("rebuilds");
        }
        for (const auto& object : j.at("objects")) r.objects.push_back({object.at("name"), object.at("count")});
        if (const auto components = j.find("components"); components != j.end())  // older records have none
            for (const auto& c : *components)
                r.components.push_back({c.at("name"), c.at("model"), c.at("first_id"), c.at("count"), c.at("type"),
                                        number_or_nan(c.at("mass")), c.at("seed")});
    });
    return r;
}

KeptKeys kept_keys(const nlohmann::json& r) {
    KeptKeys keys;
    const auto add = [&](const std::string& key, const nlohmann::json& object, const char* name) {
        const auto value = object.find(name);
        if (value != object.end() && value->is_primitive() && !value->is_null())
            keys.emplace_back(key, value->is_string() ? value->get<std::string>() : value->dump());
    };
    const auto add_all = [&](const std::string& table, const nlohmann::json& object, std::initializer_list<const char*> names) {
        for (const char* name : names) add(table + "." + name, object, name);
    };
    const auto part = [](const nlohmann::json& object, const char* name) {
        const auto found = object.find(name);
        return found != object.end() && found->is_object() ? *found : nlohmann::json::object();
    };
    const auto units = part(r, "units"), force = part(r, "force"), mac = part(force, "mac");
    add("run.units", units, "name");
    if (const auto name = units.find("name"); name != units.end() && *name == "user")
        add_all("units", units, {"length_cm", "mass_g", "velocity_cm_s", "G"});
    add("force.softening", r, "softening");
    add_all("force", force, {"method", "precision", "accumulation", "multipole", "leaf_size", "curve"});
    add("force.mac", mac, "name");
    add_all("force", mac, {"theta", "delta", "error"});
    add_all("step", part(r, "step"), {"method", "dt", "dt_max", "eta", "criterion", "deepest", "length"});
    add("output.snapshot_every", r, "snapshot_every");
    return keys;
}

}  // namespace kasane::run
