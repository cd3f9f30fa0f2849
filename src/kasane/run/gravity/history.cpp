// Every getter keeps a default where the files say nothing or nonsense.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/run/gravity/film_keys.hpp>
#include <kasane/run/gravity/history.hpp>
#include <kasane/run/driver/run_texts.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace fs = std::filesystem;

namespace kasane::run {

using namespace report;

namespace {

using json = nlohmann::json;

/// Looks into JSON that may lack anything or hold it in another type; the defaults of History then stay.
class Reader {
   public:
    explicit Reader(const json& object) : object_(object) {}

    void text(const char* key, std::string& to) const {
        if (const auto* value = find(key); value && value->is_string()) to = value->get<std::string>();
    }
    void number(const char* key, double& to) const {
        if (const auto* value = find(key); value && value->is_number()) to = value->get<double>();
    }
    void count(const char* key, std::int64_t& to) const {
        if (const auto* value = find(key); value && value->is_number_integer()) to = value->get<std::int64_t>();
    }
    void flag(const char* key, bool& to) const {
        if (const auto* value = find(key); value && value->is_boolean()) to = value->get<bool>();
    }
    void texts(const char* key, std::vector<std::string>& to) const {
        for (const auto& value : list(key))
            if (value.is_string()) to.push_back(value.get<std::string>());
    }
    Reader inside(const char* key) const {
        static const json nothing = json::object();
        const auto* value = find(key);
        return Reader(value && value->is_object() ? *value : nothing);
    }
    const json& list(const char* key) const {
        static const json nothing = json::array();
        const auto* value = find(key);
        return value && value->is_array() ? *value : nothing;
    }
    const json& object() const { return object_; }

   private:
    const json* find(const char* key) const {
        const auto at = object_.find(key);
        return at == object_.end() ? nullptr : &*at;
    }
    const json& object_;
};

void read_fields(const json& object, History& h) {
    const Reader r(object);
    r.text("title", h.title), r.text("problem", h.problem), r.text("status", h.status), r.text("message", h.message);
    r.text("started", h.started), r.text("finished", h.finished);
    r.text("kasane", h.version), r.text("commit", h.commit);
    const auto build = r.inside("build");
    build.text("compiler", h.compiler), build.text("cuda", h.cuda), build.text("mpi", h.mpi);
    const auto device = r.inside("device");
    device.text("name", h.device), device.text("kind", h.device_kind), device.text("capability", h.capability);
    device.number("memory_bytes", h.memory_bytes), device.number("units", h.device_units);
    device.number("clock_hertz", h.clock_hertz);
    r.text("simd", h.simd), r.count("threads", h.threads), r.count("particles", h.particles);
    const auto parallel = r.inside("parallel");
    parallel.count("ranks", h.ranks), parallel.count("members_per_rank", h.members);
    parallel.text("engine", h.engine), parallel.text("form", h.form);
    const auto& types = r.list("particles_by_type");
    for (std::size_t t = 0; t < h.by_type.size() && t < types.size(); ++t)
        if (types[t].is_number_integer()) h.by_type[t] = types[t].get<std::int64_t>();
    const auto units = r.inside("units");
    units.text("name", h.units.name), units.number("length_cm", h.units.length_cm), units.number("mass_g", h.units.mass_g);
    units.number("velocity_cm_s", h.units.velocity_cm_s), units.number("G", h.units.G);
    units.text("length_name", h.units.length_name), units.text("mass_name", h.units.mass_name);
    units.text("velocity_name", h.units.velocity_name), units.text("time_name", h.units.time_name);
    r.number("softening", h.softening), r.number("dt", h.dt);
    const auto force = r.inside("force");
    force.text("method", h.method), force.text("variant", h.variant), force.text("precision", h.precision);
    force.flag("deterministic", h.deterministic);
    const auto mac = force.inside("mac");
    mac.text("name", h.mac), force.text("multipole", h.multipole), force.text("curve", h.curve), force.count("leaf_size", h.leaf_size);
    for (const char* parameter : {"theta", "delta", "error"}) mac.number(parameter, h.mac_parameter);
    const auto step = r.inside("step");
    step.text("method", h.step_method), step.text("criterion", h.criterion), step.number("eta", h.eta);
    const auto counts = r.inside("step_counts");
    counts.count("block_steps", h.block_steps), counts.count("rebuilds", h.rebuilds);
    counts.number("updates", h.updates), counts.number("active_fraction", h.active_fraction);
    for (const auto& level : counts.list("levels"))
        if (level.is_number_integer()) h.levels.push_back(level.get<std::int64_t>());
    r.count("steps", h.steps), r.number("time", h.time), r.number("seconds", h.seconds);
    r.number("step_seconds", h.step_seconds), r.number("predicted_step_seconds", h.predicted_step_seconds);
    const auto timers = r.inside("timers");
    for (const auto& [name, part] : timers.object().items()) {
        double seconds = unknown;
        if (part.is_object()) Reader(part).number("seconds", seconds);
        if (seconds >= 0) h.timers.emplace_back(name, seconds);
    }
    std::stable_sort(h.timers.begin(), h.timers.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    r.number("interactions", h.interactions), r.number("rate", h.rate);
    const auto bound = r.inside("bound");
    bound.number("rate", h.bound), bound.text("reason", h.bound_reason);
    r.number("relative_energy_error", h.energy_error);
    h.segments = static_cast<std::int64_t>(r.list("segments").size());
    r.count("segments", h.segments);  // a bare number of segments is as good
    r.texts("warnings", h.notes), r.texts("unused_keys", h.unused_keys), r.texts("papers", h.papers);
}

/// The counts and names of [[object]] in the resolved run file (none if one does not say its count), and what the film shows.
void read_run_text(const fs::path& path, History& h) {
    std::vector<std::int64_t> counts;
    std::vector<std::string> names;
    try {
        io::RunFileReader file(path);
        auto root = file.root();
        h.film_of_stars = root.table("output").peek(film_key) == film_of_stars;
        h.orbit = root.has("orbit");
        for (auto& object : root.tables("object")) {
            const std::int64_t otherwise = object.peek("model") == "point" ? 1 : 0;
            counts.push_back(object.integer("count", {.fallback = otherwise}));
            names.push_back(object.text("name", {.fallback = ""}));
        }
    } catch (const InputError&) {
        return;  // the page shows the file as it is; only the colours need this
    }
    if (std::count(counts.begin(), counts.end(), 0) > 0) return;
    h.objects = std::move(counts);
    h.object_names = std::move(names);
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
}

double parse(const std::string& field) {
    double value = unknown;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), value);
    return result.ec == std::errc{} ? value : unknown;
}

/// Rows with another number of fields than the header (a crash can cut the last one short) are left out and counted.
Table read_table(const std::string& text, std::size_t& left_out) {
    std::istringstream stream(text);
    std::string line;
    const auto next = [&] {
        if (!std::getline(stream, line)) return false;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return true;
    };
    if (!next()) return {};
    const auto names = split(line);
    Table table;
    std::vector<std::vector<double>*> column;  // none for a name that stands there twice
    for (const auto& name : names) {
        const auto [at, is_new] = table.columns.try_emplace(name);
        column.push_back(is_new ? &at->second : nullptr);
    }
    while (next()) {
        if (line.empty()) continue;
        const auto fields = split(line);
        if (fields.size() != names.size()) {
            ++left_out;
            continue;
        }
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (column[i]) column[i]->push_back(parse(fields[i]));
    }
    return table;
}

/// snapshot_0012.hdf5, or the first file snapshot_0012.0.hdf5 of a set; -1 for other names.
std::int64_t snapshot_number(const std::string& name) {
    const std::string stem = "snapshot_";
    if (!name.starts_with(stem)) return -1;
    std::int64_t number = -1;
    const auto* last = name.data() + name.size();
    const auto result = std::from_chars(name.data() + stem.size(), last, number);
    const std::string rest(result.ptr, last);
    return result.ec == std::errc{} && (rest == ".hdf5" || rest == ".0.hdf5") ? number : -1;
}

std::vector<fs::path> find_snapshots(const fs::path& folder) {
    std::map<std::int64_t, fs::path> found;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(folder, absent))
        if (const auto number = snapshot_number(entry.path().filename().string()); number >= 0) found[number] = entry.path();
    std::vector<fs::path> paths;
    for (const auto& [number, path] : found) paths.push_back(path);
    return paths;
}

}  // namespace

const std::vector<double>& Table::operator[](const std::string& name) const {
    static const std::vector<double> none;
    const auto at = columns.find(name);
    return at == columns.end() ? none : at->second;
}

History read_history(const fs::path& directory) { return read_history(read_run_history(directory)); }

History read_history(const RunHistory& run) {
    History h;
    h.directory = run.directory;
    h.notes = run.notes;
    if (run.record.is_object()) read_fields(run.record, h);
    if (const auto text = content(h.directory / "energy.csv")) {
        std::size_t left_out = 0;
        h.energy = read_table(*text, left_out);
        if (left_out > 0)
            h.notes.push_back("energy.csv has " + std::to_string(left_out) + (left_out == 1 ? " row" : " rows") +
                              " of the wrong length, left out here.");
    }
    h.run_file = run.run_file;
    read_run_text(h.directory / "run.toml", h);
    h.snapshots = find_snapshots(h.directory / "snapshots");
    return h;
}

}  // namespace kasane::run
