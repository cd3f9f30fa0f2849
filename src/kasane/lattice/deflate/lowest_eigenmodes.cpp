#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/deflate/find_eigenmodes.hpp>
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
    const auto randomise = [&](int number, Field<S, Precision::double_>& x) {
        gaussian_field(options.seed, 0, first_eigenmode_field + number, Parity::even, x);
    };
    const auto vectors = find_eigenmodes(algebra, A, randomise, A.between, options, modes);
    SpinorField host(links.extents);
    for (const auto& vector : vectors) {
        store(vector, Parity::even, host);
        modes.append(host);
    }
}

}  // namespace

void check_eigenmodes(const EigenmodeOptions& options, const Extents& lattice) {
    const index_t dimension = 12 * lattice.half();
    KS_VALIDATE(options.count >= 1 && options.count < dimension,
                fmt::format("{} eigenmodes are not between 1 and {}, one less than half the lattice has", options.count, dimension - 1));
    KS_VALIDATE(options.rtol >= 1e-12 && options.rtol < 1,
                fmt::format("the tolerance of the eigenmodes, {}, must be from 1e-12 to below 1", options.rtol));
    KS_VALIDATE(options.restart_limit >= 1, fmt::format("the limit of {} restarts must be at least 1", options.restart_limit));
}

double search_bytes_per_site(int count) {
    const double basis = 2. * count + 13, rotated = 1.5 * count + 6, found = count;
    return 96 * (basis + rotated + found + 5);
}

double eigenmode_bytes_per_site(const DiracParameters& parameters, int count) {
    return QuarkOperator<Cpu>::bytes_per_site(QuarkParameters(parameters), {.inner = Precision::double_}) + search_bytes_per_site(count);
}

Eigenmodes lowest_eigenmodes(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const EigenmodeOptions& options) {
    check_solver(links, parameters, {});
    check_eigenmodes(options, links.extents);
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
