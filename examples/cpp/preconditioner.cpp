// A preconditioner of one's own: a polynomial in A (two steps of Jacobi's iteration) against no preconditioner and kasane's own parts.
#include <kasane/krylov.hpp>
#include <kasane/sparse.hpp>

#include <cstdio>
#include <vector>

using namespace kasane;

/// z = two steps of Jacobi's iteration for A z = r, from z = 0: z1 = D^-1 r, z = z1 + D^-1 (r - A z1). Symmetric positive definite where
/// 2 D - A is.
class TwoJacobiSteps {
   public:
    explicit TwoJacobiSteps(const sparse::CsrView& A) : A_(A), D_(A) {}
    template <class Algebra>
    void apply(Algebra& algebra, const std::vector<double>& r, std::vector<double>& z) const {
        std::vector<double> product(r.size()), correction(r.size());
        D_.solve(r, z);
        A_.multiply(z, product);
        algebra.axpby(1, r, -1, product);  // r - A z
        D_.solve(product, correction);
        algebra.axpby(1, correction, 1, z);
    }

   private:
    sparse::MatrixOperator A_;
    sparse::Jacobi D_;
};

int main() {
    sparse::PoissonProblem problem;
    problem.cells = {16, 16, 16};
    const auto A = sparse::poisson_matrix(problem);
    std::vector<double> b(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * i % 17);  // without the symmetry of the box
    const auto iterations = [&](const auto& M) {
        krylov::HostAlgebra algebra;
        krylov::CgWorkspace<std::vector<double>> work{b, b, b, b};
        std::vector<double> x(b.size());
        const auto log = krylov::conjugate_gradients(algebra, sparse::MatrixOperator(A.view()), M, b, x, work, {.rtol = 1e-10});
        return log.converged() ? log.iterations : -1;
    };
    const int none = iterations(krylov::NoPreconditioner{}), own = iterations(TwoJacobiSteps(A.view())),
              ic0 = iterations(sparse::IncompleteCholesky(A.view()));
    std::printf("iterations: none %d, two steps of Jacobi %d, IC(0) %d\n", none, own, ic0);
    return none > own && own > ic0 && ic0 > 0 ? 0 : 1;
}
