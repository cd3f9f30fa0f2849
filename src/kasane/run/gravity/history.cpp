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

namespace {

/// Reads counts and names of [[object]] in the resolved run file (none if one states no count), and what the film shows.
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

double parse_number(const std::string& field) {
    double value = unknown;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), value);
    return result.ec == std::errc{} ? value : unknown;
}

/// Rows with another number of fields than the header (a crash can cut the last one short) are left out and counted.
Table read_energy_table(const std::string& text, std::size_t& left_out) {
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
    std::vector<std::vector<double>*> column;  // null where a name occurs again
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
            if (column[i]) column[i]->push_back(parse_number(fields[i]));
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
    h.record = readable_gravity_record(run.record);
    h.notes.insert(h.notes.end(), h.record.warnings.begin(), h.record.warnings.end());
    if (const auto text = content(h.directory / "energy.csv")) {
        std::size_t left_out = 0;
        h.energy = read_energy_table(*text, left_out);
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
