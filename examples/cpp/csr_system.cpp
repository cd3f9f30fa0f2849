// Solves a system given as arrays in compressed rows (CSR): the Laplacian of a 64 x 64 grid, on the CPU and on the GPU if there is one.
#include <kasane/sparse.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace kasane;

int main() {
    const int n = 64, rows = n * n;
    std::vector<int> row_begin{0}, column;
    std::vector<double> value;
    const auto entry = [&](int j, double a) { column.push_back(j), value.push_back(a); };
    for (int i = 0; i < rows; ++i) {
        if (i >= n) entry(i - n, -1);
        if (i % n > 0) entry(i - 1, -1);
        entry(i, 4);
        if (i % n < n - 1) entry(i + 1, -1);
        if (i < rows - n) entry(i + n, -1);
        row_begin.push_back(static_cast<int>(column.size()));
    }
    const sparse::CsrView A(rows, row_begin.data(), column.data(), value.data());
    const std::vector<double> b(rows, 1);

    std::vector<double> on_host, x;
    for (const AnySpace& space : {AnySpace(Cpu{}), best_space()}) {
        sparse::Solver solver(space, A, {.rtol = 1e-10});
        sparse::SolveLog log;
        x = solver.solve(b, &log);
        std::printf("%s: %d iterations, ||b - A x|| / ||b|| = %.1e\n", name(space).c_str(), log.iterations, log.true_residual);
        if (!log.converged()) return 1;
        if (on_host.empty()) on_host = x;
    }
    return std::abs(x[rows / 2] / on_host[rows / 2] - 1) < 1e-8 ? 0 : 1;
}
