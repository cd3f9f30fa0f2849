#include <kasane/lattice/solve/coherent_options.hpp>

#include <kasane/lattice/schwarz/block_grid.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::lattice {
namespace {

/// Blocks of one colour without overlap, whose extents are even and divide the lattice.
SchwarzOptions as_blocks(const CoherentOptions& options) {
    SchwarzOptions blocks{.method = SchwarzMethod::additive, .overlap = 0, .cycles = 1, .block_steps = 1};
    std::copy(options.block, options.block + 4, blocks.block);
    return blocks;
}

}  // namespace

CoherentOptions chosen(const CoherentOptions& options, const Extents& lattice) {
    auto all = options;
    const auto blocks = chosen(as_blocks(options), lattice);
    std::copy(blocks.block, blocks.block + 4, all.block);
    if (options.relaxation_steps == 0) all.relaxation_steps = 25;
    if (options.rounds == 0) all.rounds = 3;
    if (options.smoother_steps == 0) all.smoother_steps = 12;
    if (options.little_rtol == 0) all.little_rtol = 0.2;
    if (options.little_iteration_limit == 0) all.little_iteration_limit = coherent_little_length;
    return all;
}

std::vector<std::string> problems_of(const CoherentOptions& options, const Extents& lattice) {
    auto problems = problems_of(as_blocks(options), lattice);
    const auto expect = [&](bool good, const std::string& message) {
        if (!good) problems.push_back(message);
    };
    const index_t most = 6 * index_t{options.block[0]} * options.block[1] * options.block[2] * options.block[3];
    expect(options.vectors >= 1 && (!problems.empty() || options.vectors <= most),
           fmt::format("{} near-null vectors must be at least 1 and at most {}, the dimension of one chirality in a block", options.vectors,
                       problems.empty() ? most : 0));
    expect(options.relaxation_steps >= 1, fmt::format("relaxation_steps = {} must be at least 1; 0 chooses it", options.relaxation_steps));
    expect(options.rounds >= 1, fmt::format("rounds = {} must be at least 1; 0 chooses it", options.rounds));
    expect(options.smoother_steps >= 1, fmt::format("smoother_steps = {} must be at least 1; 0 chooses it", options.smoother_steps));
    expect(options.little_rtol > 0 && options.little_rtol < 1,
           fmt::format("little_rtol = {} must lie between 0 and 1; 0 chooses it", options.little_rtol));
    expect(options.little_iteration_limit >= 1,
           fmt::format("little_iteration_limit = {} must be at least 1; 0 chooses it", options.little_iteration_limit));
    return problems;
}

double little_bytes_per_site(const CoherentOptions& options, const Extents& lattice) {
    const auto all = chosen(options, lattice);
    const double padded = 8 * ((all.vectors + 7) / 8);
    const double sites = 1. * all.block[0] * all.block[1] * all.block[2] * all.block[3];
    // Ten matrices of complex numbers per block; two vectors of coefficients for each of the deflation's, which are in packs, and those of
    // GCR.
    const double deflation = 2 * 8 * ((2 * (all.vectors + coherent_own_vectors(all.vectors)) + 7) / 8);
    const double gcr = 4. * coherent_little_length;
    return 4 * (10 * 2 * (2 * padded) + 2 * deflation + gcr) * 2 * padded / sites;
}

double coherent_bytes_per_site(const CoherentOptions& options, const Extents& lattice) {
    const double padded = 8 * ((chosen(options, lattice).vectors + 7) / 8);
    return 4 * 24 * padded + little_bytes_per_site(options, lattice);
}

}  // namespace kasane::lattice
