// Interface between the command and the cuSPARSE plugin (libkasane_cusparse.so), which links cuSPARSE and cuBLAS and is
// loaded when the benchmark needs it: the command itself must start where no toolkit is installed.
// Invariants: all pointers are to host memory of the command; exceptions do not cross this interface.
#pragma once

#include <cstdint>

namespace kasane::bench {

struct CusparseSystem {
    int device = 0;
    std::int32_t rows = 0, nonzeros = 0;
    const std::int32_t* begin = nullptr;   ///< [rows + 1]
    const std::int32_t* column = nullptr;  ///< [nonzeros] ascending in each row
    const double* value = nullptr;         ///< [nonzeros]
    const double* b = nullptr;             ///< [rows]
    double tolerance = 1e-8;
    std::int32_t iteration_limit = 10000;
};

struct CusparseSolve {
    double factor_seconds = 0;    ///< csric02: buffer, analysis, factorisation
    double analysis_seconds = 0;  ///< SpSV_analysis of both triangles
    double solve_seconds = 0;     ///< of the iterations, the best of three solves
    std::int32_t iterations = 0;
    double residual = 0;    ///< of the recurrence, relative
    char version[32] = {};  ///< of cuSPARSE
};

/// Fills x [rows] and `solve`. False: why [why_size] has the reason.
using CusparsePeer = bool (*)(const CusparseSystem& system, double* x, CusparseSolve& solve, char* why, int why_size);
inline constexpr const char* cusparse_module = "libkasane_cusparse.so";
inline constexpr const char* cusparse_function = "kasane_cusparse_cg";

}  // namespace kasane::bench
