// The methods that a GeneralSolver tries, one after the other.
#pragma once

#include <kasane/sparse/general/options.hpp>
#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/matrix/kind.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

struct GeneralStep {
    GeneralMethod method;              ///< not automatic
    GeneralPrecondition precondition;  ///< not automatic
    /// "gmres with ilu0"
    std::string text() const { return name(method) + " with " + name(precondition); }
};

/// Returns one step if the method is given, otherwise at least two. @param fill_first  ilut before ilu0, where both are open
/// @throws InputError: minres with ilu0, or for a nonsymmetric matrix
std::vector<GeneralStep> steps_for(const MatrixKind& kind, const GeneralOptions& options, bool fill_first);

/// Does the same for a complex matrix. @throws InputError: ilut, spai or minres; cg for a matrix that is not Hermitian
std::vector<GeneralStep> complex_steps_for(const ComplexKind& kind, const GeneralOptions& options);

/// @throws InputError for options out of range
void check_general_options(const GeneralOptions& options);

}  // namespace kasane::sparse
