// Options of a GeneralSolver and of a ComplexSolver, and their names.
#pragma once

#include <kasane/sparse/order/ordering.hpp>

#include <string>

namespace kasane::sparse {

/// The Krylov method.
enum class GeneralMethod {
    automatic,  ///< minres where A is symmetric, else bicgstab; gmres follows where the first one fails
    bicgstab,   ///< BiCGStab: two products per iteration, nine vectors
    gmres,      ///< restarted flexible GMRES: the residual never grows; 2 `restart` + 1 vectors
    minres,     ///< MINRES: symmetric A, definite or not
    cg,         ///< conjugate gradients: Hermitian positive definite A, by a ComplexSolver alone (for real A take Solver)
};

/// The preconditioner of a GeneralSolver.
enum class GeneralPrecondition {
    automatic,  ///< jacobi for minres; otherwise ilu0, ilut where that fails or would need many iterations, jacobi where both are unstable
    none,       ///< M = 1
    jacobi,     ///< the diagonal; the largest entry of a row whose diagonal entry is small; for minres their absolute values
    ilu0,       ///< incomplete LU factorisation with the pattern of A                                               [Saad 2003, 10.3]
    ilut,       ///< incomplete LU factorisation with a threshold and a limit of fill-in for each row                [Saad 2003, 10.4]
    spai,       ///< sparse approximate inverse with the pattern of A                                                [Saad 2003, 10.5]
};

/// "auto", "bicgstab", "gmres", "minres" or "cg". @throws InputError with what is allowed and the nearest name
GeneralMethod parse_general_method(const std::string& text);
/// "auto", "none", "jacobi", "ilu0", "ilut" or "spai". @throws InputError as parse_general_method
GeneralPrecondition parse_general_precondition(const std::string& text);
/// Whether it is ilu0 or ilut.
constexpr bool is_lu(GeneralPrecondition kind) { return kind == GeneralPrecondition::ilu0 || kind == GeneralPrecondition::ilut; }
/// Whether it is symmetric where A is, as minres needs it.
constexpr bool is_symmetric(GeneralPrecondition kind) { return !is_lu(kind) && kind != GeneralPrecondition::spai; }
/// As parse_general_method() reads it.
std::string name(GeneralMethod);
/// As parse_general_precondition() reads it.
std::string name(GeneralPrecondition);

/// Options of a GeneralSolver, and of a ComplexSolver, which has no ilut, spai and minres.
struct GeneralOptions {
    GeneralMethod method = GeneralMethod::automatic;                    ///< the method
    GeneralPrecondition precondition = GeneralPrecondition::automatic;  ///< the preconditioner
    Ordering ordering = {};                                             ///< order of elimination of ilu0 and ilut; any but block
    int restart = 30;                                                   ///< iterations of a cycle of gmres
    double drop_tolerance = 1e-3;  ///< of ilut: entries below this part of the norm of A's row are dropped; from 0 to below 1
    int fill = 10;                 ///< of ilut: entries that a row of L, and of U, may have beyond those of A
    bool scale = true;             ///< rows and columns by powers of two, where their largest entries differ by more than a factor of 8
    double rtol = 1e-8;            ///< tolerance of ||b - A x|| / ||b||; as krylov::Options::rtol
    int iteration_limit = 10000;   ///< of all methods together
};

}  // namespace kasane::sparse
