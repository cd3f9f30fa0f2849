// Eigenmodes for `kasane lattice solve --deflate`: from a file, or computed and written.
#include <app/lattice_solve.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/file/eigenmode_file.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace kasane::app {

std::optional<lattice::Eigenmodes> eigenmodes_of(const LatticeSolveOptions& o, const Workers& workers, const lattice::GaugeField& links,
                                                 const lattice::DiracParameters& parameters) {
    if (o.deflate == 0 || o.deflation != "exact") return {};
    KS_VALIDATE(workers.count == 1, "needs one device, and this run has several workers: run it on one rank with one device",
                {"", 0, 0, "--deflate"});
    if (!o.modes.empty() && std::filesystem::exists(o.modes)) {
        auto modes = lattice::read_eigenmodes(o.modes, o.deflate);
        log::info("modes: {} of {}, lowest eigenvalue {:.6e}, highest {:.6e}", o.deflate, o.modes, modes.values.front(),
                  modes.values.back());
        return modes;
    }
    Stopwatch watch;
    auto modes = lowest_eigenmodes(workers.here.front(), links, parameters, {.count = o.deflate});
    log::info("modes: {} computed in {:.3g} s ({} restarts, {} applications of D^+ D), lowest eigenvalue {:.6e}, highest {:.6e}", o.deflate,
              watch.seconds(), modes.restarts, modes.applications, modes.values.front(), modes.values.back());
    if (!o.modes.empty()) lattice::write_eigenmodes(o.modes, modes);
    return modes;
}

}  // namespace kasane::app
