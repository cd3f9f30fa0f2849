// Decides open options: by rule, or by timing candidates on this matrix and device.
#pragma once

#include <kasane/sparse/prepared_system.hpp>
#include <kasane/sparse/tune/solve_account.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kasane::sparse {

struct Choice {
    SolverOptions options;  ///< ordering, numbering, format and launch decided
    ColoredOrder order;
    Decision decision;
    std::optional<SolveAccount> account;  ///< where an option was open and a tuning file is given
    std::vector<std::string> notes;
};

/// A kind by rule for a matrix in host memory.
struct PreconditionChoice {
    Precondition kind;
    std::string reason;           ///< one sentence
    int rows_per_node = 1;        ///< with multigrid: neighbouring rows that stay together
    bool few_iterations = false;  ///< with jacobi: a conversion of the rows may take longer than it saves
};
PreconditionChoice precondition_by_rule(const CsrView& A, bool cuda);

struct IterationEstimate {
    double iterations;  ///< that an incomplete factor without fill-in would need, about: those of ICCG where A is symmetric
    bool two_colours;   ///< no row is coupled to two rows that are coupled themselves, as on a box
};
/// @param A  in host memory, with a diagonal   @param enough  a larger number of iterations may be less than the true one
IterationEstimate iterations_by_rule(const CsrView& A, double enough);

template <Space S>
using PrepareSystem = std::function<PreparedSystem<S>(const SolverOptions&, ColoredOrder)>;

/// @param A  in host memory, canonical
template <Space S>
Choice choose(S on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, const PrepareSystem<S>& make,
              PartTimes& times);

/// Sets numbering, format and launch by rule, where they are open, for an order of that many colours.
void decide_rest(SolverOptions& options, const MatrixFacts& matrix, int colors, bool cuda);

}  // namespace kasane::sparse
