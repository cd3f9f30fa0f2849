// Order in which unknowns are eliminated, and sets of unknowns that can be eliminated at the same time: the colours.
// Invariants: rows of one colour and step are independent of each other (no entry couples them), so a coloured order is a complete
// description of parallel substitution; every ordering is built in O(nonzeros), and depends only on the matrix's pattern.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Kinds of ordering; order_rows() defines each.
enum class OrderingKind {
    automatic,              ///< chosen by the solver, by rule or by timing
    natural,                ///< the matrix's own order
    multicolor,             ///< mc:K
    cuthill_mckee,          ///< cm
    reverse_cuthill_mckee,  ///< rcm
    cm_rcm,                 ///< cm-rcm:K
    block,                  ///< block:B:K
};

/// An ordering with its parameters: "auto", "natural", "mc:K", "cm", "rcm", "cm-rcm:K", "block:B:K".
struct Ordering {
    OrderingKind kind = OrderingKind::automatic;  ///< without parameters
    int colors = 0;                               ///< K of mc, cm-rcm and block; 0 where there is none
    int block = 0;                                ///< B of block: rows of a block
    /// The ordering of that name. @throws InputError with the allowed names and the nearest one
    static Ordering parse(const std::string& text);
    /// Its name, as parse() reads it.
    std::string text() const;
    /// Whether all members are equal.
    bool operator==(const Ordering&) const = default;
};

/// Rows in the order of elimination, with its colours.
/// natural, cm and rcm keep their order of elimination exactly: their colours are its wavefronts (levels of dependence), which may be many.
struct ColoredOrder {
    Ordering asked;  ///< the ordering that was requested
    /// [colours * ... ] position -> row, colour by colour; inside a colour block by block of `steps` rows. A block with fewer rows ends
    /// with padding, -1.
    std::vector<std::int32_t> row;
    std::vector<index_t> color_begin;  ///< [colors + 1] first position of each colour
    int steps = 1;                     ///< rows of a block, eliminated one after the other; 1: rows of a colour are independent
    std::string note;                  ///< for the user: "cm-rcm:3 has conflicts: 4 colours were taken"; empty: nothing
    /// Number of colours.
    int colors() const { return static_cast<int>(color_begin.size()) - 1; }
};

/// Orders the rows of A.
/// natural: the matrix's own order, coloured by levels: level(i) = 1 + max level(j), j < i coupled to i.
/// mc:K     greedy independent sets of rows / K in natural order; the real number of colours may exceed K (see note).
/// cm, rcm  Cuthill-McKee from the first row of minimum degree; a row that is coupled to one of its own level moves to a later one.
///          An unreached component starts at its first unvisited row. rcm: levels, and rows inside a level, reversed.
/// cm-rcm:K colour c takes rcm levels c, c + K, ...; K is raised while neighbours share a colour; beyond the number of levels: rcm.
///                                              [Washio, Maruyama, Osoda, Shimizu & Doi 2000, as used in HOHNI17, section 4.1]
/// block:B:K blocks of B neighbouring rows, the quotient graph greedily coloured with at least K colours, natural order inside a block
///                                              [Iwashita & Nakashima's algebraic block multicolour ordering]
/// @param A  host memory, checked   @param ordering not automatic
ColoredOrder order_rows(const CsrView& A, const Ordering& ordering);

/// Colour sizes in rows (padding not counted).
std::vector<index_t> color_sizes(const ColoredOrder& order);

}  // namespace kasane::sparse
