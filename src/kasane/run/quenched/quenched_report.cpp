#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/quenched/quenched_report.hpp>
#include <kasane/run/run_keys.hpp>

#include <fstream>
#include <iterator>
#include <optional>

namespace fs = std::filesystem;

namespace kasane::run {
namespace {

std::optional<std::string> content(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

bool holds_quenched_run(const fs::path& directory) {
    try {
        if (const auto text = content(directory / "record.json")) return quenched_record_from_json(*text, directory), true;
    } catch (const InputError&) {  // of another problem, or damaged: the run file tells
    }
    try {
        return problem_of(directory / "run.toml") == Problem::quenched;
    } catch (const InputError&) {
        return false;
    }
}

QuenchedHistory read_quenched_history(const fs::path& directory) {
    QuenchedHistory h;
    h.directory = directory;
    const Where here{directory.string(), 0, 0, ""};
    KS_VALIDATE(fs::is_directory(directory), "there is no such directory", here);
    const auto record = content(directory / "record.json"), run_file = content(directory / "run.toml");
    KS_VALIDATE(record || run_file, "is not the directory of a run: it holds neither record.json nor run.toml", here);
    h.run_file = run_file.value_or("");
    if (!run_file) h.notes.emplace_back("The run file run.toml is missing.");
    h.record.status = "unknown";
    try {
        if (record)
            h.record = quenched_record_from_json(*record, directory / "record.json");
        else
            h.notes.emplace_back("The record record.json is missing: the run was killed at its start.");
    } catch (const InputError& error) {
        h.notes.push_back(std::string("The record cannot be read: ") + error.what() + ".");
    }
    try {
        h.measurements = read_measurements(directory / "measurements.csv");
    } catch (const InputError& error) {
        h.notes.push_back("measurements.csv cannot be shown: " + error.problems()[0].message + ".");
    }
    h.record.means = means_of(h.measurements, h.record.thermalisation, h.record.measure_every, h.record.extents);
    return h;
}

fs::path write_quenched_report(const fs::path& directory) {
    const auto history = read_quenched_history(directory);
    const auto path = directory / "report.html";
    write_atomically(path, quenched_page(history));
    return path;
}

}  // namespace kasane::run
