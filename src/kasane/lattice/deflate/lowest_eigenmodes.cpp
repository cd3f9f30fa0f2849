#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/krylov/lanczos.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/quark_operator.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <fmt/format.h>

#include <variant>

namespace kasane::lattice {
namespace {

/// Dhat^+ Dhat of hybrid Monte Carlo's operator.
template <Space S>
struct NormalOperator {
    const QuarkOperator<S>& D;
    mutable Field<S, Precision::double_> between;

    template <class Algebra, class Vector>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        D.apply(in, between);
        D.apply(between, out, true);
    }
};

template <Space S>
void compute(S on, const GaugeField& links, const EigenmodeOptions& options, Eigenmodes& modes) {
    QuarkOperator<S> D(on, links.extents, QuarkParameters(modes.parameters), {.inner = Precision::double_});
    D.pack(links_on(on, links));
    FieldAlgebra<S, Precision::double_> algebra(D.lattice());
    const NormalOperator<S> A{D, D.vector()};
    constexpr int first_field = 1 << 14;  // numbers of random fields that pseudofermion fields do not have
    const auto randomise = [&](int number, Field<S, Precision::double_>& x) {
        gaussian_field(options.seed, 0, first_field + number, Parity::even, x);
    };
    const auto found = krylov::lowest_eigenpairs(algebra, A, randomise, A.between, static_cast<std::size_t>(12 * links.extents.half()),
                                                 {options.count, options.rtol, options.restart_limit});
    if (!found.converged)
        throw ComputationError(fmt::format(
            "the {} lowest eigenmodes were not found to {:.0e} in {} restarts of Lanczos's method: allow a larger tolerance, or ask for "
            "fewer modes",
            options.count, options.rtol, found.restarts));
    modes.values = found.values;
    modes.residuals = found.residuals;
    modes.restarts = found.restarts;
    modes.applications = found.applications;
    SpinorField host(links.extents);
    for (const auto& vector : found.vectors) {
        store(vector, Parity::even, host);
        auto& numbers = modes.vectors.emplace_back();
        numbers.reserve(static_cast<std::size_t>(12 * links.extents.half()));
        for (index_t i = 0; i < links.extents.half(); ++i) {
            const index_t site = links.extents.lexicographic(links.extents.site(Parity::even, i));
            for (int k = 0; k < 12; ++k) numbers.push_back(host.at(site, k / 3, k % 3));
        }
    }
}

}  // namespace

double eigenmode_bytes_per_site(const DiracParameters& parameters, int count) {
    const double basis = 2. * count + 13, rotated = 1.5 * count + 6, found = count;
    return QuarkOperator<Cpu>::bytes_per_site(QuarkParameters(parameters), {.inner = Precision::double_}) +
           96 * (basis + rotated + found + 5);
}

Eigenmodes lowest_eigenmodes(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const EigenmodeOptions& options) {
    check_solver(links, parameters, {});
    const index_t dimension = 12 * links.extents.half();
    KS_VALIDATE(options.count >= 1 && options.count < dimension,
                fmt::format("{} eigenmodes are not between 1 and {}, one less than half the lattice has", options.count, dimension - 1));
    KS_VALIDATE(options.rtol >= 1e-12 && options.rtol < 1,
                fmt::format("the tolerance of the eigenmodes, {}, must be from 1e-12 to below 1", options.rtol));
    KS_VALIDATE(options.restart_limit >= 1, fmt::format("the limit of {} restarts must be at least 1", options.restart_limit));
    const double needed = eigenmode_bytes_per_site(parameters, options.count) * static_cast<double>(links.extents.volume());
    const auto there = static_cast<double>(available_memory(on));
    constexpr double mib = 1 << 20;
    KS_VALIDATE(needed <= there,
                fmt::format("{} eigenmodes of a {} lattice need {:.0f} MiB while they are computed, and {:.0f} MiB are free: "
                            "ask for fewer modes",
                            options.count, text(links.extents), needed / mib, there / mib));
    Eigenmodes modes;
    modes.extents = links.extents;
    modes.parameters = parameters;
    modes.plaquette = plaquette(links).mean();
    std::visit([&](auto space) { compute(space, links, options, modes); }, on);
    return modes;
}

}  // namespace kasane::lattice
