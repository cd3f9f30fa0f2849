#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/poisson/poisson_report.hpp>
#include <kasane/run/run_directory.hpp>
#include <kasane/run/run_keys.hpp>

#include <fstream>
#include <iterator>

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
    try {
        if (const auto text = content(directory / "record.json")) return poisson_record_from_json(*text, directory), true;
    } catch (const InputError&) {  // of another problem, or damaged: the run file tells
    }
    try {
        return problem_of(directory / "run.toml") == Problem::poisson;
    } catch (const InputError&) {
        return false;
    }
}

PoissonHistory read_poisson_history(const fs::path& directory) {
    PoissonHistory h;
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
