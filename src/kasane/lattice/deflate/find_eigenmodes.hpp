// The search for the lowest eigenmodes of Dhat^+ Dhat, by the operator of one device or by that of a lattice which is divided among
// workers. On workers all take the same decisions, because their algebra returns the same sums.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/krylov/lanczos.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace kasane::lattice {

/// Number of the first random field that Lanczos's method starts from; pseudofermion fields do not have these numbers.
inline constexpr int first_eigenmode_field = 1 << 14;

/// Checks the options. @throws InputError with the option that is out of range on this lattice
void check_eigenmodes(const EigenmodeOptions& options, const Extents& lattice);

/// Memory of the vectors of the search. [bytes per site]
double search_bytes_per_site(int count);

/// @param A  Dhat^+ Dhat   @param randomise  as krylov::lowest_eigenpairs()
/// @param modes  of these extents; gets everything but the vectors   @return the vectors, on the space
/// @throws ComputationError where the restarts do not suffice
template <class Algebra, class Operator, class Randomise>
std::vector<typename Algebra::Vector> find_eigenmodes(Algebra& algebra, const Operator& A, const Randomise& randomise,
                                                      const typename Algebra::Vector& like, const EigenmodeOptions& options,
                                                      Eigenmodes& modes) {
    auto found = krylov::lowest_eigenpairs(algebra, A, randomise, like, static_cast<std::size_t>(12 * modes.extents.half()),
                                           {options.count, options.rtol, options.restart_limit});
    if (!found.converged)
        throw ComputationError(fmt::format(
            "the {} lowest eigenmodes were not found to {:.0e} in {} restarts of Lanczos's method: allow a larger tolerance, or ask for "
            "fewer modes",
            options.count, options.rtol, found.restarts));
    modes.values = std::move(found.values);
    modes.residuals = std::move(found.residuals);
    modes.restarts = found.restarts;
    modes.applications = found.applications;
    return std::move(found.vectors);
}

}  // namespace kasane::lattice
