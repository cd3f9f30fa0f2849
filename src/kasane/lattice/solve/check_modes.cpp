#include <kasane/lattice/solve/check_modes.hpp>

#include <fmt/format.h>

namespace kasane::lattice {

void check_deflation(const SolverOptions& options) {
    const bool rotates = options.outer_links.temporal_gauge || options.inner_links.temporal_gauge;
    KS_VALIDATE(options.method == Method::cg && options.schur == Schur::asymmetric && !rotates,
                fmt::format("deflation is for the method cg with the asymmetric even-odd operator and without the temporal gauge; the "
                            "options name {}, {}{}",
                            name(options.method), options.schur == Schur::asymmetric ? "asymmetric" : "symmetric",
                            rotates ? ", temporal gauge" : ""));
}

void check_modes(const Eigenmodes& modes, const Extents& extents, const DiracParameters& parameters) {
    KS_VALIDATE(modes.extents == extents,
                fmt::format("the modes are those of a {} lattice; the gauge field has {}", text(modes.extents), text(extents)));
    const auto& [kappa, csw, boundary] = parameters;
    KS_VALIDATE(modes.parameters.kappa == kappa && modes.parameters.csw == csw && modes.parameters.boundary == boundary,
                fmt::format("the modes are those of kappa {}, c_sw {}, {} quarks; the solver has kappa {}, c_sw {}, {} quarks: "
                            "compute modes of its own",
                            modes.parameters.kappa, modes.parameters.csw, name(modes.parameters.boundary), kappa, csw, name(boundary)));
}

InputError foreign_modes(double residual, double plaquette) {
    return InputError(
        fmt::format("the modes do not belong to this gauge field: a residual |D^+ D v - lambda v| / lambda is "
                    "{:.1e} (its plaquette was {:.10f}). Compute modes of this field",
                    residual, plaquette));
}

}  // namespace kasane::lattice
