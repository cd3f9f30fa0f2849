// Eigenmodes for `kasane lattice solve --deflate`: from a file, or computed and written.
#include <app/lattice_solve.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/file/eigenmode_file.hpp>

#include <filesystem>

namespace kasane::app {
namespace {

bool deflates_by_modes(const LatticeSolveOptions& o) { return o.deflate > 0 && o.deflation == "exact"; }

/// Logs modes that were just computed, and writes their file where it is wanted.
void take_computed(const LatticeSolveOptions& o, const lattice::Eigenmodes& modes, double seconds) {
    log::info("modes: {} computed in {:.3g} s ({} restarts, {} applications of D^+ D), lowest eigenvalue {:.6e}, highest {:.6e}", o.deflate,
              seconds, modes.restarts, modes.applications, modes.values.front(), modes.values.back());
    if (!o.modes.empty()) lattice::write_eigenmodes(o.modes, modes);
}

}  // namespace

std::optional<lattice::Eigenmodes> modes_of_file(const LatticeSolveOptions& o) {
    if (!deflates_by_modes(o) || o.modes.empty() || !std::filesystem::exists(o.modes)) return {};
    auto modes = lattice::read_eigenmodes(o.modes, o.deflate);
    log::info("modes: {} of {}, lowest eigenvalue {:.6e}, highest {:.6e}", o.deflate, o.modes, modes.values.front(), modes.values.back());
    return modes;
}

std::optional<lattice::Eigenmodes> modes_of(const LatticeSolveOptions& o, const AnySpace& on, const lattice::GaugeField& links,
                                            const lattice::DiracParameters& parameters) {
    if (!deflates_by_modes(o)) return {};
    if (auto modes = modes_of_file(o)) return modes;
    const Stopwatch watch;
    auto modes = lowest_eigenmodes(on, links, parameters, {.count = o.deflate});
    take_computed(o, modes, watch.seconds());
    return modes;
}

int deflate_on_workers(const LatticeSolveOptions& o, const std::optional<lattice::Eigenmodes>& of_file,
                       lattice::DistributedSolver& solver) {
    if (!deflates_by_modes(o)) return 0;
    if (of_file) {
        solver.deflate(*of_file);
        return o.deflate;
    }
    const Stopwatch watch;
    take_computed(o, solver.deflate({.count = o.deflate}, !o.modes.empty()), watch.seconds());
    return o.deflate;
}

}  // namespace kasane::app
