// kasane_petsc FILE [PETSc options]: a program of its own that solves a system by PETSc on its ranks and prints one line of JSON. A
// benchmark starts it; kasane does not link PETSc. FILE: int64 rows and entries, int32 begin [rows + 1] and column [entries], double value
// [entries] and b [rows], as this machine stores them. Rank r owns the r-th contiguous share of the rows.
#include <petscksp.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

struct Problem {
    std::int64_t rows = 0, entries = 0;
    std::vector<std::int32_t> begin, column;
    std::vector<double> value, b;
};

template <class T>
bool read(std::FILE* file, std::vector<T>& to, std::int64_t count) {
    to.resize(static_cast<std::size_t>(count));
    return std::fread(to.data(), sizeof(T), to.size(), file) == to.size();
}

bool read(const char* name, Problem& problem) {
    std::FILE* file = std::fopen(name, "rb");
    if (!file) return false;
    std::vector<std::int64_t> head;
    bool good = read(file, head, 2);
    if (good) {
        problem.rows = head[0], problem.entries = head[1];
        good = read(file, problem.begin, problem.rows + 1) && read(file, problem.column, problem.entries) &&
               read(file, problem.value, problem.entries) && read(file, problem.b, problem.rows);
    }
    std::fclose(file);
    return good;
}

PetscErrorCode solve(const Problem& problem) {
    const auto rows = static_cast<PetscInt>(problem.rows);
    PetscFunctionBeginUser;
    Mat A;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetUp(A));
    Vec b, x, r;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscInt first = 0, last = 0;
    PetscCall(VecGetOwnershipRange(b, &first, &last));
    std::vector<PetscInt> begin;
    for (PetscInt row = first; row <= last; ++row)
        begin.push_back(problem.begin[static_cast<std::size_t>(row)] - problem.begin[static_cast<std::size_t>(first)]);
    const auto offset = problem.begin[static_cast<std::size_t>(first)];
    PetscCall(MatSeqAIJSetPreallocationCSR(A, begin.data(), problem.column.data() + offset, problem.value.data() + offset));
    PetscCall(MatMPIAIJSetPreallocationCSR(A, begin.data(), problem.column.data() + offset, problem.value.data() + offset));
    for (PetscInt row = first; row < last; ++row) PetscCall(VecSetValue(b, row, problem.b[static_cast<std::size_t>(row)], INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));

    KSP solver;
    PetscLogDouble start = 0, ready = 0, end = 0, before = 0;
    const std::clock_t first_tick = std::clock();
    PetscCall(PetscMemoryGetCurrentUsage(&before));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, A, A));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSetUp(solver));
    PetscCall(KSPSetUpOnBlocks(solver));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&ready));
    PetscCall(KSPSolve(solver, b, x));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&end));
    double processor = static_cast<double>(std::clock() - first_tick) / CLOCKS_PER_SEC, all_processor = 0;
    PetscCallMPI(MPI_Allreduce(&processor, &all_processor, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));

    KSPConvergedReason reason;
    PetscInt iterations = 0;
    PetscReal norm = 0, residual = 0;
    PetscLogDouble memory = 0, all_memory = 0;
    PetscCall(KSPGetConvergedReason(solver, &reason));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(PetscMemoryGetCurrentUsage(&memory));
    memory -= before;
    PetscCallMPI(MPI_Allreduce(&memory, &all_memory, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "{\"setup_seconds\": %.6e, \"solve_seconds\": %.6e, \"iterations\": %d, \"true_residual\": %.6e, \"reason\": %d, "
                          "\"processor_seconds\": %.6e, \"bytes\": %.0f, \"version\": \"%d.%d.%d\"}\n",
                          ready - start, end - ready, static_cast<int>(iterations), residual / norm, static_cast<int>(reason),
                          all_processor, all_memory, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: kasane_petsc FILE [PETSc options]\n");
        return 2;
    }
    Problem problem;
    if (!read(argv[1], problem)) {
        std::fprintf(stderr, "kasane_petsc: %s cannot be read\n", argv[1]);
        return 2;
    }
    if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
    const bool good = static_cast<int>(solve(problem)) == 0;
    return PetscFinalize() == 0 && good ? 0 : 1;
}
