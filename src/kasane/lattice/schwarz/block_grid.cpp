#include <kasane/lattice/schwarz/block_grid.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::lattice {
namespace {

bool overlaps(SchwarzMethod method) { return method == SchwarzMethod::ras || method == SchwarzMethod::multiplicative; }

/// Two colours alternate around a periodic lattice where the number of blocks is even; one block is no neighbour of itself.
bool usable(int extent, int block, int colours) {
    if (block < 2 || block % 2 != 0 || extent % block != 0) return false;
    const int blocks = extent / block;
    return colours == 1 || blocks == 1 || blocks % 2 == 0;
}

std::vector<int> usable_extents(int extent, int colours) {
    std::vector<int> all;
    for (int block = 2; block <= extent; block += 2)
        if (usable(extent, block, colours)) all.push_back(block);
    return all;
}

}  // namespace

const char* name(SchwarzMethod method) {
    switch (method) {
        case SchwarzMethod::none: return "none";
        case SchwarzMethod::additive: return "additive";
        case SchwarzMethod::ras: return "ras";
        case SchwarzMethod::sap: return "sap";
        case SchwarzMethod::multiplicative: return "multiplicative";
    }
    return "";
}

int colours_of(SchwarzMethod method) { return method == SchwarzMethod::sap || method == SchwarzMethod::multiplicative ? 2 : 1; }

int BlockGrid::colour(index_t block) const { return colours == 1 ? 0 : static_cast<int>(count.site(block).parity()) ^ first_colour; }

Site BlockGrid::origin(index_t block) const {
    Site s = count.site(block);
    for (int mu = 0; mu < 4; ++mu) s[mu] = base[mu] + s[mu] * own[mu];
    return s;
}

Site BlockGrid::start(index_t block) const {
    Site s = origin(block);
    for (int mu = 0; mu < 4; ++mu) s[mu] = spans[mu] ? 0 : (s[mu] - overlap + lattice[mu]) % lattice[mu];
    return s;
}

bool BlockGrid::owns(index_t block, const Site& local) const {
    const Site from = origin(block);
    for (int mu = 0; mu < 4; ++mu) {
        const int first = spans[mu] ? from[mu] : overlap;
        if (local[mu] < first || local[mu] >= first + own[mu]) return false;
    }
    return true;
}

int BlockGrid::stacked_direction() const {
    for (int mu = 3; mu >= 0; --mu)
        if (!spans[mu]) return mu;
    return -1;
}

SchwarzOptions chosen(const SchwarzOptions& options, const Extents& lattice) {
    auto all = options;
    const int colours = colours_of(options.method);
    const bool extends = overlaps(options.method);
    if (std::all_of(options.block, options.block + 4, [](int n) { return n == 0; }))
        for (int mu = 0; mu < 4; ++mu) {
            // The usable extent that is nearest to the wanted one; the larger of two.
            const int wanted = extends ? 8 : 4;
            const auto extents = usable_extents(lattice[mu], colours);
            const auto nearest = std::min_element(extents.rbegin(), extents.rend(),
                                                  [&](int a, int b) { return std::abs(a - wanted) < std::abs(b - wanted); });
            all.block[mu] = nearest == extents.rend() ? lattice[mu] : *nearest;
        }
    if (options.overlap < 0) all.overlap = extends ? 1 : 0;
    if (options.cycles == 0) all.cycles = extends ? 2 : 6;
    if (options.block_steps == 0) all.block_steps = extends ? 8 : 4;
    return all;
}

std::vector<std::string> problems_of(const SchwarzOptions& options, const Extents& lattice) {
    std::vector<std::string> problems;
    const int colours = colours_of(options.method);
    bool fits = true;
    for (int mu = 0; mu < 4; ++mu) fits = fits && usable(lattice[mu], options.block[mu], colours);
    if (!fits) {
        std::string list;
        for (int mu = 0; mu < 4; ++mu)
            list += fmt::format("{}{}: {}", mu == 0 ? "" : "; ", "xyzt"[mu], fmt::join(usable_extents(lattice[mu], colours), " "));
        problems.push_back(fmt::format(
            "blocks of {},{},{},{} do not divide the {} lattice into {}. Usable extents of a block are {}", options.block[0],
            options.block[1], options.block[2], options.block[3], text(lattice),
            colours == 2 ? "blocks of two alternating colours, an even number (or one) in each direction" : "blocks of even extents",
            list));
    }
    const int smallest = *std::min_element(options.block, options.block + 4);
    if (!overlaps(options.method) && options.overlap != 0)
        problems.push_back(fmt::format("overlap = {}: {} has no overlap; take ras or multiplicative, or overlap = 0", options.overlap,
                                       name(options.method)));
    else if (options.overlap < 0 || (fits && options.overlap > smallest))
        problems.push_back(
            fmt::format("overlap = {} must lie between 0 and the smallest extent of a block, {}", options.overlap, smallest));
    if (options.cycles < 1) problems.push_back(fmt::format("cycles = {} must be at least 1; 0 chooses it", options.cycles));
    if (options.block_steps < 1) problems.push_back(fmt::format("block_steps = {} must be at least 1; 0 chooses it", options.block_steps));
    return problems;
}

BlockGrid block_grid(const Extents& lattice, const SchwarzOptions& options) {
    BlockGrid grid;
    grid.lattice = lattice;
    grid.overlap = options.overlap;
    grid.colours = colours_of(options.method);
    for (int mu = 0; mu < 4; ++mu) {
        grid.own.n[mu] = options.block[mu];
        grid.count.n[mu] = lattice[mu] / options.block[mu];
        grid.spans[mu] = options.block[mu] + 2 * options.overlap >= lattice[mu];
        grid.extended.n[mu] = grid.spans[mu] ? lattice[mu] : options.block[mu] + 2 * options.overlap;
    }
    return grid;
}

}  // namespace kasane::lattice
