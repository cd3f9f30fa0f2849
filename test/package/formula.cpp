// Links an installed library whose private dependency is a shared library of the system: formulas are evaluated by muParser.
#include <kasane/sparse/poisson/poisson.hpp>

int main() {
    kasane::sparse::PoissonProblem problem;
    problem.cells = {2, 1, 1};
    return kasane::sparse::source_of(problem, "x < 1 ? 1 : 10") == std::vector<double>{1, 10} ? 0 : 1;
}
