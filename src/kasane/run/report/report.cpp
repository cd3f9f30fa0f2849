#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/poisson/poisson_report.hpp>
#include <kasane/run/quenched/quenched_report.hpp>
#include <kasane/run/report/film.hpp>
#include <kasane/run/report/history.hpp>
#include <kasane/run/report/page.hpp>
#include <kasane/run/report/report.hpp>

namespace kasane::run {

std::filesystem::path write_report(const std::filesystem::path& run_directory) {
    if (holds_poisson_run(run_directory)) return write_poisson_report(run_directory);
    if (holds_quenched_run(run_directory)) return write_quenched_report(run_directory);
    const auto history = report::read_history(run_directory);
    const auto film = report::make_film(history);
    const auto path = run_directory / "report.html";
    write_atomically(path, report::page(history, film));
    return path;
}

}  // namespace kasane::run
