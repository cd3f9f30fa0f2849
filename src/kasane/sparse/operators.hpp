// The replaceable parts of a solve on the host: a matrix and preconditioners with the interface of krylov::conjugate_gradients.
// Invariants: a part needs only apply(algebra, in, out) on std::vector<double>, so that a user's class can replace it; parts
// are simple, and serial where the order of elimination is serial. Solver is the fast equivalent of the whole.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <vector>

namespace kasane::sparse {

/// out = A in, rows shared among threads.
class MatrixOperator {
   public:
    /// @param A  in host memory; not copied: it must outlive the operator   @param threads  0: all
    explicit MatrixOperator(const CsrView& A, int threads = 0) : A_(A), threads_(threads) {}

    /// The interface of krylov: out = (this) in.
    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& in, std::vector<double>& out) const {
        multiply(in, out);
    }
    /// out = A in, [n] each. @throws LogicError for other sizes, or where in is out
    void multiply(const std::vector<double>& in, std::vector<double>& out) const;

   private:
    CsrView A_;
    int threads_;
};

/// out = D^-1 in with A's diagonal D.
class Jacobi {
   public:
    /// @param A  in host memory, not kept
    /// @throws InputError: offsets that fall, a column out of range, or the first row whose diagonal is missing or not positive
    explicit Jacobi(const CsrView& A);

    /// The interface of krylov: out = (this) in.
    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& in, std::vector<double>& out) const {
        solve(in, out);
    }
    /// out = D^-1 in, [n] each. @throws LogicError for other sizes
    void solve(const std::vector<double>& in, std::vector<double>& out) const;

   private:
    std::vector<double> inverse_;
};

/// out = M^-1 in with M = (D + L) D^-1 (D + L)^T in natural order: the common part of IC(0) and SSOR.
class TriangularProduct {
   public:
    /// The interface of krylov: out = (this) in.
    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& in, std::vector<double>& out) const {
        solve(in, out);
    }
    /// Forward and backward substitution, serial; [n] each. @throws LogicError for other sizes
    void solve(const std::vector<double>& in, std::vector<double>& out) const;

   protected:
    CsrMatrix lower_;              ///< strict lower triangle L, columns ascending
    std::vector<double> inverse_;  ///< of D
    double scale_ = 1;             ///< of the result
};

/// Incomplete Cholesky factorisation with the pattern of A: (D + L) D^-1 (D + L)^T equals A wherever A has an entry.
///                                                                                       [Meijerink & van der Vorst 1977; Saad 2003, 10.3]
/// Where a pivot is lost, the diagonal of A is multiplied by 1 + shift, the smallest of 1e-3 2^k that keeps all pivots.   [Manteuffel 1980]
class IncompleteCholesky : public TriangularProduct {
   public:
    /// @param A  in host memory, symmetric (see check()), not kept
    /// @throws InputError as Jacobi does; ComputationError where no shift up to 1 helps
    explicit IncompleteCholesky(const CsrView& A);
    /// Shift of the diagonal, relative; 0: none was needed.
    double shift() const { return shift_; }

   private:
    double shift_ = 0;
};

/// Symmetric successive over-relaxation: M = (D/w + L) (w / (2 - w)) D^-1 (D/w + L)^T with A = L + D + L^T.        [Saad 2003, 10.2]
class Ssor : public TriangularProduct {
   public:
    /// @param A  in host memory, not kept   @param omega  in (0, 2)
    /// @throws InputError for another omega, and as Jacobi does
    explicit Ssor(const CsrView& A, double omega = 1);
};

}  // namespace kasane::sparse
