// Options of the Schwarz preconditioners of the quark solver.
#pragma once

namespace kasane::lattice {

/// How the blocks' solutions are combined.
enum class SchwarzMethod {
    none,      ///< no Schwarz preconditioner
    additive,  ///< blocks without overlap, all at once: block Jacobi                          [Ish09, slide 37]
    ras,       ///< restricted additive: extended blocks, each returns its own region          [Cai & Sarkis 1999; Ish09, slides 38, 39]
    sap,       ///< blocks of two colours, one colour after the other, no overlap              [Luscher 2004; Ish09, slide 36]
    multiplicative,  ///< extended blocks of two colours, each returns its own region                [Ish09, slides 37, 41]
};

/// Options of a Schwarz preconditioner. A value of 0 (for overlap: -1) selects a good value.
struct SchwarzOptions {
    SchwarzMethod method = SchwarzMethod::none;  ///< combination of the blocks
    int block[4] = {0, 0, 0, 0};                 ///< extents x, y, z, t of a block's own region: even, divide the lattice's
    int overlap = -1;                            ///< sites by which ras and multiplicative extend a block on every side
    int cycles = 0;                              ///< applications of all blocks, each on the residual of the application before
    int block_steps = 0;                         ///< minimal residual iterations in a block
};

/// Its name in options, JSON and messages: "none", "additive", "ras", "sap", "multiplicative".
const char* name(SchwarzMethod method);

}  // namespace kasane::lattice
