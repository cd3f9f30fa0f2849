#include <kasane/lattice/distributed/halo_memory.hpp>

#include <kasane/lattice/distributed/halo_exchange.hpp>
#include <kasane/lattice/schwarz/block_fields.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/options.hpp>

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

/// Of the little system, what it has of other workers' blocks, and this worker's matrices with those that it receives in the set-up.
double whole_little_bytes(const RankGrid& grid, const CoherentOptions& options, double number) {
    const double rows = 16 * ((options.vectors + 7) / 8), sites = static_cast<double>(grid.local().volume());
    const double blocks = sites / (1. * options.block[0] * options.block[1] * options.block[2] * options.block[3]);
    constexpr double vectors = 2 * 75;  // of GCR, and a few
    return (grid.size() - 1) * (number / 4 * sites * little_bytes_per_site(options, grid.local()) + number * vectors * rows * blocks) +
           18 * number * 2 * rows * rows * blocks;
}

index_t spinor_bytes_of(Precision precision) {
    switch (precision) {
        case Precision::half: return spinor_bytes<Precision::half>;
        case Precision::single: return spinor_bytes<Precision::single>;
        case Precision::double_: break;
    }
    return spinor_bytes<Precision::double_>;
}

/// Of blocks that overlap the neighbours' lattices: what they extend beyond those of a lattice with the local extents, and the border of
/// links, clover term, and residual with its tables, of which slices are sent and received.
double border_bytes(const RankGrid& grid, const DiracParameters& parameters, const SolverOptions& options) {
    const auto schwarz = chosen(options.schwarz, grid.local());
    if (schwarz.overlap == 0) return 0;
    const auto extended = grid.bordered(schwarz.overlap);
    index_t slice = 0;
    for (int mu = 0; mu < 4; ++mu)
        if (grid.divided(mu)) slice = std::max(slice, extended.volume() / extended[mu] * schwarz.overlap);
    const auto here = block_memory(parameters, options, block_grid(grid.local(), schwarz)),
               all = block_memory(parameters, options, block_grid(grid.lattice(), schwarz));
    const auto volume = static_cast<double>(extended.volume());
    const double blocks = (all.kept + all.setup - here.kept - here.setup) * static_cast<double>(grid.local().volume());
    // Even sites alone; each has a place in the local lattice, and those of the border have one where they are sent and where they arrive.
    const double fields = volume / 2 * (static_cast<double>(spinor_bytes_of(options.inner)) + 4) +
                          2 * 4 * static_cast<double>(grid.border_sites(schwarz.overlap));
    const double messages = 4 * static_cast<double>(slice) * std::max(576., static_cast<double>(spinor_bytes_of(options.inner)) / 2);
    return blocks + fields + messages + (parameters.csw != 0 ? 1152 : 576) * volume;
}

}  // namespace

double halo_bytes(const RankGrid& grid, const DiracParameters& parameters, const SolverOptions& options, bool on_device) {
    const auto layout = halo_layout(grid);
    const bool clover = parameters.csw != 0, mixed = options.inner != Precision::double_;
    const auto sites = static_cast<double>(layout.sites());
    double bytes = 2 * 96 * sites + (mixed ? 2 : 1) * sites * terms_bytes_per_site(layout, clover);
    if (clover) {
        bytes += 2 * 576. * 2 * static_cast<double>(grid.border_sites(1));
    }
    if (options.schwarz.method != SchwarzMethod::none) bytes += border_bytes(grid, parameters, options);
    if (options.coherent.vectors != 0) {
        const auto coherent = chosen(options.coherent, grid.local());
        bytes += coherent_bytes(layout, coherent, mixed ? 4 : 8);
        if (on_device) bytes += whole_little_bytes(grid, coherent, mixed ? 4 : 8);
    }
    return bytes;
}

}  // namespace kasane::lattice
