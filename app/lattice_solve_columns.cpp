#include <app/lattice_solve_columns.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/output_thread.hpp>
#include <kasane/lattice/observe/correlators.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

namespace kasane::app {
namespace {

using lattice::SpinorField;

/// The solver, with what deflates it. On one device modes are computed first, since they need the memory.
LatticeSolver deflated_solver(const Common& common, const Workers& workers, const lattice::RankGrid& grid, const lattice::GaugeField& links,
                              const LatticeSolveOptions& o, LatticeSolveResult& result) {
    const auto& parameters = result.facts.parameters;
    const auto modes = workers.count == 1 ? modes_of(o, workers.here.front(), links, parameters) : modes_of_file(o);
    auto solver = solver_on(common, workers, grid, links, parameters, result.options, &result.coherent);
    if (solver.alone && modes) {
        solver.alone->deflate(*modes);
        result.modes = static_cast<int>(modes->values.size());
    }
    if (!solver.divided) return solver;
    try {
        result.modes = deflate_on_workers(o, modes, *solver.divided);
    } catch (...) {
        common.ranks->end_if_others_wait();
        throw;
    }
    return solver;
}

/// As deflated_solver(); errors on the gauge field name its file.
LatticeSolver solver_of(const Common& common, const Workers& workers, const lattice::RankGrid& grid, const lattice::GaugeField& links,
                        const LatticeSolveOptions& o, LatticeSolveResult& result) {
    try {
        return deflated_solver(common, workers, grid, links, o, result);
    } catch (const InputError& error) {
        auto problems = error.problems();
        for (auto& problem : problems)
            if (problem.where.file.empty()) problem.where.file = result.facts.gauge_file;
        throw InputError(problems);
    }
}

void log_coherent(const LatticeSolveResult& result) {
    const auto& r = result.coherent;
    if (r.dimension > 0)
        log::info("deflation: {} near-null vectors in {} blocks of {}, a little operator of dimension {}, {}, set up in {:.3g} s",
                  r.vectors, r.blocks, lattice::text(r.block), r.dimension, size_text(r.bytes), r.seconds);
}

/// The progress of columns first to last - 1, which are solved together or one after the other; returns whether to stop.
class SolveProgress {
   public:
    SolveProgress(Progress& bar, const LatticeSolveResult& result, int first, int last, bool together)
        : bar_(bar), result_(result), first_(first), last_(last), together_(together) {}
    bool operator()(int iteration, double residual) {
        if (!together_ && iteration < before_) first_ = std::min(first_ + 1, last_ - 1);
        before_ = iteration;
        const int at_once = together_ ? last_ - first_ : 1;
        const auto which = at_once > 1           ? fmt::format("columns {} to {} of {}, ", first_ + 1, last_, result_.columns)
                           : result_.columns > 1 ? fmt::format("column {} of {}, ", first_ + 1, result_.columns)
                                                 : "";
        bar_.update(first_ + at_once * converged_share(residual, result_.options.rtol),
                    fmt::format("{}iteration {}, residual {:.1e}", which, iteration, residual));
        return interrupt_requested();
    }

   private:
    Progress& bar_;
    const LatticeSolveResult& result_;
    int first_, last_;
    bool together_;
    int before_ = 0;
};

/// Adds the logs up to the first column that failed. @returns whether all converged   @throws Interrupted
bool take_logs(std::vector<lattice::SolveLog> logs, LatticeSolveResult& result) {
    for (auto& each : logs) {
        const auto& log = result.logs.emplace_back(std::move(each));
        if (log.end == krylov::Outcome::stopped) throw Interrupted();
        for (const auto& note : log.notes)
            if (std::find(result.notes.begin(), result.notes.end(), note) == result.notes.end()) result.notes.push_back(note);
        if (!log.converged()) return false;
    }
    return true;
}

/// Solves for columns of the host.
void solve_on_host(const LatticeSolver& solver, Progress& bar, const LatticeSource& source, const lattice::Extents& extents,
                   LatticeSolveResult& result, std::vector<SpinorField>& columns) {
    std::vector<SpinorField> b;
    const auto resize = [&](SpinorField& field) {
        field.extents = extents;
        resize_touched(field.values, static_cast<std::size_t>(12 * extents.volume()));
    };
    for (int first = 0; first < result.columns; first += result.columns_at_once) {
        const int last = std::min(result.columns, first + result.columns_at_once);
        const auto count = static_cast<std::size_t>(last - first);
        std::vector<SpinorField> x(count);
        b.resize(count);
        for (std::size_t c = 0; c < count; ++c) {
            resize(x[c]);
            resize(b[c]);
            source.fill(first + static_cast<int>(c), b[c]);
        }
        SolveProgress progress(bar, result, first, last, count > 1);
        if (!take_logs(solver.solve(b, x, std::ref(progress)), result)) return;
        for (auto& each : x) columns.push_back(std::move(each));
    }
}

}  // namespace

std::string page_of(const std::string& solution) { return std::filesystem::path(solution).replace_extension(".html").string(); }

std::string size_text(double bytes) {
    constexpr double mebi = 1 << 20, gibi = 1 << 30;
    return bytes < gibi ? fmt::format("{:.3g} MiB", bytes / mebi) : fmt::format("{:.4g} GiB", bytes / gibi);
}

lattice::SolutionRows solve_columns(const Common& common, const Workers& workers, const lattice::RankGrid& grid, lattice::GaugeField& links,
                                    const LatticeSolveOptions& o, bool keep_links, const LatticeSource& source,
                                    LatticeSolveResult& result) {
    const auto extents = links.extents;
    Stopwatch watch;
    const auto solver = solver_of(common, workers, grid, links, o, result);
    log_coherent(result);
    if (!keep_links) links = {};
    stop_if_interrupted();
    result.wall.setup += watch.seconds();

    watch.restart();
    const double factor = 2 * result.facts.parameters.kappa;
    Progress bar(common.progress(), "solving", result.columns);
    lattice::SolutionRows rows;
    if (result.on_space) {
        SolveProgress progress(bar, result, 0, result.columns, result.columns_at_once > 1);
        take_logs(solver.alone->solve(*source.propagator(), std::ref(progress)), result);
        rows = [alone = solver.alone, factor](const lattice::TakeRows& take) { alone->each_part(factor, take); };
    } else {
        const auto columns = std::make_shared<std::vector<SpinorField>>();
        solve_on_host(solver, bar, source, extents, result, *columns);
        rows = [columns, factor](const lattice::TakeRows& take) { lattice::rows_of(*columns, factor)(take); };
    }
    result.wall.solving += watch.seconds();
    return rows;
}

void write_solutions(const LatticeSolveOptions& o, const LatticeSource& source, const lattice::SolutionRows& rows,
                     LatticeSolveResult& result) {
    Stopwatch watch;
    auto& facts = result.facts;
    const bool propagator = result.columns == 12;
    lattice::MesonCorrelators mesons(result.extents, source.time());
    {
        static std::mutex one_writer;  // of the workers of this rank: HDF5 serves one thread at a time
        std::unique_lock lock(one_writer, std::defer_lock);
        std::optional<lattice::SolutionWriter> file;
        if (!o.solution.empty()) {
            lock.lock();
            file.emplace(o.solution, result.extents, result.columns);
        }
        io::OutputThread output;  // writes a part while the next one is computed
        rows([&](index_t first, View<std::complex<double>> part) {
            if (propagator) mesons.add(first, part);
            if (!file) return;
            lattice::rotate_rows(part, result.columns, lattice::GammaBasis::degrand_rossi, facts.basis);
            output.flush();
            output.add([&file, first, part] { file->write(first, part); });
            if (first + part.n / (12 * result.columns) == result.extents.volume()) output.flush();
        });
        if (propagator) {
            facts.pion = mesons.pion();
            facts.vector = mesons.vector();
            result.pion_mass = lattice::effective_mass(facts.pion);
        }
        if (file) file->finish(facts);
    }
    if (!o.solution.empty()) {
        result.solution = o.solution;
        if (propagator) {
            result.page = page_of(o.solution);
            write_atomically(result.page, as_page(result));
        }
    }
    result.wall.output += watch.seconds();
}

}  // namespace kasane::app
