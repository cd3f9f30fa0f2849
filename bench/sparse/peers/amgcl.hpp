// AMGCL's smoothed aggregation with the smoother SPAI-0; does nothing where AMGCL was not found.
#pragma once

#include <bench/sparse/peers/matrix_peers.hpp>

namespace kasane::bench {

/// Conjugate gradients, or BiCGStab where the matrix is not symmetric. @param on  AMGCL's threads
void solve_with_amgcl(const PeerProblem& problem, Cpu on, const std::function<void(const PeerSolve&)>& report);

}  // namespace kasane::bench
