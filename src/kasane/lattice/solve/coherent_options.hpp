// Options of inexact deflation by local coherence, their check, and the report of its set-up.
#pragma once

#include <kasane/lattice/geometry.hpp>

#include <string>
#include <vector>

namespace kasane::lattice {

/// Inexact deflation of the quark solver by local coherence, two levels [Luscher 2007]. Near-null vectors of D, cut into blocks, span a
/// subspace in which a little Dirac operator replaces D. A value of 0 selects a good value; `vectors` = 0 means no deflation.
struct CoherentOptions {
    int vectors = 0;                 ///< near-null vectors; each gives two basis vectors per block, one of each chirality
    int block[4] = {0, 0, 0, 0};     ///< extents x, y, z, t of a block: even, divide the lattice's
    int relaxation_steps = 0;        ///< iterations of BiCGStab that make the first near-null vectors from random ones
    int rounds = 0;                  ///< improvements of the near-null vectors by the preconditioner itself
    int smoother_steps = 0;          ///< minimal residual iterations after the correction in the subspace, without a Schwarz preconditioner
    double little_rtol = 0;          ///< tolerance of the little system in every application
    int little_iteration_limit = 0;  ///< of its solve
};

/// Sizes and costs of the set-up of a coherent subspace.
struct CoherentReport {
    int vectors = 0;          ///< near-null vectors
    Extents block;            ///< extents of a block
    index_t blocks = 0;       ///< of the lattice
    index_t dimension = 0;    ///< of the little operator
    double seconds = 0;       ///< of the set-up
    double bytes = 0;         ///< of basis and little operator
    double independence = 0;  ///< smallest norm of a unit vector's part in a block that is not in the span of the vectors before it
};

/// Pairs of vectors of the little system's GCR. With 32 it stagnated after restarts, and the solve with it, on a field of 16^4 with a
/// singular value of 1.6e-3 (beta 6.0, kappa 0.1357, 16 vectors), however many iterations were allowed; with 128 it took 84 on average.
inline constexpr int coherent_little_length = 128;

/// Number of near-null vectors of the little operator itself that deflate it in addition to the coefficients of the near-null vectors of D.
constexpr int coherent_own_vectors(int vectors) { return vectors / 4; }

/// Returns the options with a value in place of every 0.
CoherentOptions chosen(const CoherentOptions& options, const Extents& lattice);

/// Returns the problems of chosen options on this lattice, with usable blocks; empty if there are none.
std::vector<std::string> problems_of(const CoherentOptions& options, const Extents& lattice);

/// Memory of the little operator and its deflation in single precision (twice as much for a solver in double). [bytes per site]
double little_bytes_per_site(const CoherentOptions& options, const Extents& lattice);

/// Memory of basis and little operator in single precision (twice as much for a solver in double). [bytes per site]
double coherent_bytes_per_site(const CoherentOptions& options, const Extents& lattice);

}  // namespace kasane::lattice
