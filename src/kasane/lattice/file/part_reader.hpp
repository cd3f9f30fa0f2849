// The division of a file among several readers, each of which keeps the sites of a box of the lattice, and the reductions over the readers.
// Invariant: all readers of a file make the same calls in the same order; an error that one of them finds ends all of them.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <array>
#include <bit>
#include <cstdint>

namespace kasane::lattice {

/// Sites that a reader keeps.
struct FileBox {
    Extents lattice, local;
    Site origin{};  ///< first one in the lattice

    bool contains(const Site& s) const {
        for (int mu = 0; mu < 4; ++mu)
            if (s[mu] < origin[mu] || s[mu] >= origin[mu] + local[mu]) return false;
        return true;
    }
    /// Lexicographic number in the box of a site of the lattice.
    index_t number(Site s) const {
        for (int mu = 0; mu < 4; ++mu) s[mu] -= origin[mu];
        return local.lexicographic(s);
    }
    /// The site of the lattice with this number in the box.
    Site site(index_t number) const {
        Site s = local.site(number);
        for (int mu = 0; mu < 4; ++mu) s[mu] += origin[mu];
        return s;
    }
    /// Sites with consecutive numbers in the box and in the lattice.
    index_t run() const {
        index_t sites = local[0];
        for (int mu = 0; mu < 3 && local[mu] == lattice[mu]; ++mu) sites *= local[mu + 1];
        return sites;
    }
};

/// One of the readers. This one reads the whole file alone.
class PartReader {
   public:
    virtual ~PartReader() = default;
    /// Returns the sites of this reader; called once, when the extents are known. @throws InputError where the lattice cannot be divided
    virtual FileBox box(const Extents& lattice) { return {lattice, lattice, {}}; }
    /// Reduces numbers over all readers, element by element.
    virtual void all_reduce(View<double>, comm::Reduce) {}
    virtual void all_reduce(View<std::uint64_t>, comm::Reduce) {}
    /// Averages over the whole lattice of the links that the readers have.
    virtual double plaquette(const GaugeField& part) { return lattice::plaquette(part).mean(); }
    virtual double link_trace(const GaugeField& part) { return lattice::link_trace(part); }

    /// Whether one of the readers has found the problem.
    bool any(bool here) {
        double found = here ? 1 : 0;
        all_reduce(View<double>(&found, 1), comm::Reduce::max);
        return found > 0;
    }
    std::uint32_t sum(std::uint32_t here) {
        std::uint64_t all = here;
        all_reduce(View<std::uint64_t>(&all, 1), comm::Reduce::sum);
        return static_cast<std::uint32_t>(all);
    }
    /// Exclusive or of the readers' words, bit by bit.
    std::uint32_t exclusive_or(std::uint32_t here) {
        std::array<std::uint64_t, 32> ones{};
        for (std::size_t bit = 0; bit < 32; ++bit) ones[bit] = here >> bit & 1;
        all_reduce(View<std::uint64_t>(ones.data(), 32), comm::Reduce::sum);
        std::uint32_t word = 0;
        for (std::size_t bit = 0; bit < 32; ++bit) word |= static_cast<std::uint32_t>(ones[bit] & 1) << bit;
        return word;
    }
};

}  // namespace kasane::lattice
