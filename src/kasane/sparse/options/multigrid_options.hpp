// Options of multigrid by aggregation, and their names.
#pragma once

#include <string>

namespace kasane::sparse {

/// Method that reduces the error on a level before and after the coarse level; both applications together are symmetric.
enum class Smoother {
    chebyshev,     ///< a polynomial in A on the upper three quarters of the spectrum      [Adams, Brezina, Hu & Tuminaro 2003]
    gauss_seidel,  ///< sweeps over the rows colour by colour, forward before the coarse level and backward after it   [Saad 2003, 4.1]
    jacobi,        ///< damped by 4/3 over the largest eigenvalue                                                      [Saad 2003, 4.1]
};
/// How a cycle visits the levels.
enum class Cycle {
    automatic,  ///< the two finest levels once, the others twice
    v,          ///< every level once
    w,          ///< every level but the finest twice
    k,          ///< on every level but the finest two iterations of flexible conjugate gradients   [Notay & Vassilevski 2008]
};
/// Options of multigrid by aggregation.
struct MultigridOptions {
    Smoother smoother = Smoother::chebyshev;  ///< on every level but the coarsest
    int steps = 2;                            ///< degree of the polynomial or number of sweeps, before and after the coarse level: 1 to 10
    Cycle cycle = Cycle::automatic;           ///< how the levels are visited
    /// Whether all members are equal.
    bool operator==(const MultigridOptions&) const = default;
};

/// "chebyshev", "gauss-seidel" or "jacobi". @throws InputError with what is allowed and the nearest name
Smoother parse_smoother(const std::string& text);
/// "auto", "v", "w" or "k". @throws InputError as parse_smoother
Cycle parse_cycle(const std::string& text);
/// As parse_smoother() reads it.
std::string name(Smoother);
/// As parse_cycle() reads it.
std::string name(Cycle);

}  // namespace kasane::sparse
