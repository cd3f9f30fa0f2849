#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/quenched/quenched_report.hpp>
#include <kasane/run/run_texts.hpp>

namespace fs = std::filesystem;

namespace kasane::run {

bool holds_quenched_run(const fs::path& directory) {
    return holds_run_of(Problem::quenched, directory, [&](const std::string& record) { quenched_record_from_json(record, directory); });
}

QuenchedHistory read_quenched_history(const fs::path& directory) {
    QuenchedHistory h;
    h.directory = directory;
    const auto [record, run_file] = run_texts(directory);
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
