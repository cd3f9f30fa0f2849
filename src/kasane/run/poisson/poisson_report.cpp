#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/poisson/poisson_report.hpp>
#include <kasane/run/run_directory.hpp>
#include <kasane/run/run_texts.hpp>

namespace fs = std::filesystem;

namespace kasane::run {
namespace {

/// The newest file first, of the checkpoints' names.
std::vector<fs::path> iterates(const fs::path& directory) {
    std::vector<fs::path> all;
    if (std::error_code ignored; fs::is_regular_file(directory / "solution.hdf5", ignored)) all.push_back(directory / "solution.hdf5");
    const auto checkpoints = checkpoints_in(directory);
    all.insert(all.end(), checkpoints.begin(), checkpoints.end());
    return all;
}

}  // namespace

bool holds_poisson_run(const fs::path& directory) {
    return holds_run_of(Problem::poisson, directory, [&](const std::string& record) { poisson_record_from_json(record, directory); });
}

PoissonHistory read_poisson_history(const fs::path& directory) {
    PoissonHistory h;
    h.directory = directory;
    const auto [record, run_file] = run_texts(directory);
    h.run_file = run_file.value_or("");
    if (!run_file) h.notes.emplace_back("The run file run.toml is missing.");
    h.record.status = "unknown";
    try {
        if (record)
            h.record = poisson_record_from_json(*record, directory / "record.json");
        else
            h.notes.emplace_back("The record record.json is missing: the run was killed at its start.");
    } catch (const InputError& error) {
        h.notes.push_back(std::string("The record cannot be read: ") + error.what() + ".");
    }
    for (const auto& path : iterates(directory)) {
        try {
            h.solution = read_solution(path);
            break;
        } catch (const InputError& error) {
            h.notes.push_back(path.filename().string() + " cannot be shown: " + error.problems()[0].message + ".");
        }
    }
    return h;
}

fs::path write_poisson_report(const fs::path& directory) {
    const auto history = read_poisson_history(directory);
    const auto path = directory / "report.html";
    write_atomically(path, poisson_page(history));
    return path;
}

}  // namespace kasane::run
