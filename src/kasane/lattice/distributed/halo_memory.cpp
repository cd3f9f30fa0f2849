#include <kasane/lattice/distributed/halo_memory.hpp>

#include <kasane/lattice/distributed/halo_exchange.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

/// Of HaloTerms, per site of one parity on all faces: links, tables, factors of A at the places beside faces with their numbers.
double terms_bytes_per_site(const HaloLayout& layout, bool clover) {
    return 2 * (9 * 8 + 4 + 4 + 4. * layout.faces + (clover ? 72 * 8 + 8 : 0));
}

/// Basis and couplings that neighbours send in the set-up, and coefficients; sent and received.
double coherent_bytes(const HaloLayout& layout, const CoherentOptions& options, double number) {
    const double packs = (options.vectors + 7) / 8, rows = 16 * packs;
    double blocks = 0;  // on all faces
    for (int face = 0; face < layout.faces; ++face) {
        const double volume = 1. * options.block[0] * options.block[1] * options.block[2] * options.block[3];
        blocks += 2. * static_cast<double>(layout.sites(face)) * options.block[layout.mu[face]] / volume;
    }
    const double basis = 12 * 16 * packs * static_cast<double>(layout.sites()), couplings = blocks / 2 * rows * 2 * rows;
    return 2 * number * (std::max(basis, couplings) + blocks * 2 * rows);
}

}  // namespace

double halo_bytes(const RankGrid& grid, const DiracParameters& parameters, const SolverOptions& options) {
    const auto layout = halo_layout(grid);
    const bool clover = parameters.csw != 0, mixed = options.inner != Precision::double_;
    const auto sites = static_cast<double>(layout.sites());
    double bytes = 2 * 96 * sites + (mixed ? 2 : 1) * sites * terms_bytes_per_site(layout, clover);
    if (clover) {
        auto extended = grid.local();
        for (int face = 0; face < layout.faces; face += 2) extended.n[layout.mu[face]] += 2;
        bytes += 2 * 576. * static_cast<double>(extended.volume() - grid.local().volume());
    }
    if (options.coherent.vectors != 0) bytes += coherent_bytes(layout, chosen(options.coherent, grid.local()), mixed ? 4 : 8);
    return bytes;
}

}  // namespace kasane::lattice
