// Deflation of the little system by the near-null vectors as a whole, without which its iterations grow as those of D do: with orthonormal
// C = A U, A the little operator and U the vectors' coefficients, the system is solved in the complement of C by a minimal residual method,
// (1 - C C^+) A z = (1 - C C^+) c, and x = z + U C^+ (c - A z) [de Sturler 1996].
// Declarations only: little_deflation.kernels.cpp defines them, once per Space.
#pragma once

#include <kasane/lattice/solve/little_operator.hpp>

#include <cmath>
#include <complex>
#include <vector>

namespace kasane::lattice {

/// Adds the part of one chirality of w, and that of A w after orthogonalisation. Vectors in the span of earlier ones are left out, and
/// those beyond the largest number.
/// @param u, c  work
template <class Deflation, class Algebra, class Operator, class Vector>
void add_to_deflation(Deflation& deflation, Algebra& algebra, const Operator& A, const Vector& w, int chirality, Vector& u, Vector& c) {
    if (deflation.full()) return;
    deflation.take_chirality(w, chirality, u);
    A.apply(u, c);
    const double before = algebra.norm2(c);
    for (int pass = 0; pass < 2; ++pass) deflation.take_out(c, u);
    const double now = algebra.norm2(c);
    if (!(now > 1e-8 * before) || !std::isfinite(now)) return;
    algebra.axpby(0, u, 1 / std::sqrt(now), u);
    algebra.axpby(0, c, 1 / std::sqrt(now), c);
    deflation.append(u, c);
}

/// Vectors of coefficients in packs of eight: [pack][row of the little system][re, im][8].
template <Space S, class T>
class LittleDeflation {
   public:
    /// Takes the memory of 2 `most` vectors. @param most  that deflate
    LittleDeflation(S on, const BlockLayout& layout, int most);

    /// Deflates by nothing.
    void clear();
    /// As add_to_deflation().
    void add(LittleAlgebra<S, T>& algebra, const LittleOperator<S, T>& A, const LittleVector<S, T>& w, int chirality, LittleVector<S, T>& u,
             LittleVector<S, T>& c) {
        add_to_deflation(*this, algebra, A, w, chirality, u, c);
    }
    bool full() const { return count_ == most_; }
    bool empty() const { return count_ == 0; }
    /// c -= C C^+ c, and u -= U C^+ c.
    void take_out(LittleVector<S, T>& c, LittleVector<S, T>& u);
    /// The next vectors of U and C.
    void append(const LittleVector<S, T>& u, const LittleVector<S, T>& c);
    /// u = the part of one chirality of w.
    void take_chirality(const LittleVector<S, T>& w, int chirality, LittleVector<S, T>& u) const;

    /// C^+ v
    std::vector<std::complex<T>> products(const LittleVector<S, T>& v) const;
    /// v -= C C^+ v
    void project(LittleVector<S, T>& v);
    /// v -= C h, and v += U h.
    void subtract_images(const std::vector<std::complex<T>>& h, LittleVector<S, T>& v) { add_vectors(images_, h, -1, v); }
    void add_vectors(const std::vector<std::complex<T>>& h, LittleVector<S, T>& v) { add_vectors(vectors_, h, 1, v); }

    double bytes() const { return 2. * static_cast<double>(images_.size()) * sizeof(T); }

   private:
    void add_vectors(const Buffer<T, S>& of, const std::vector<std::complex<T>>& h, int sign, LittleVector<S, T>& v);
    /// v += `of` factors_
    void add_times_factors(const Buffer<T, S>& of, LittleVector<S, T>& v);
    void set(Buffer<T, S>& of, int j, const LittleVector<S, T>& from);
    /// factors_ = sign C^+ v
    void set_factors(const LittleVector<S, T>& v, int sign) const
        requires(!std::same_as<S, Cpu>);

    BlockLayout layout_;
    int most_, packs_, count_ = 0;
    Buffer<T, S> vectors_, images_;    ///< U, C
    mutable Buffer<T, S> factors_;     ///< [pack][re, im][8] of add_vectors
    mutable Buffer<double, S> parts_;  ///< [pack][part of the rows][re, im][8] of set_factors
};

/// (1 - C C^+) A B^-1, B the diagonal blocks of A, as an operator of krylov's methods.
template <class Operator, class Deflation, class Vector>
struct DeflatedLittleOperator {
    const Operator& A;
    Deflation& deflation;
    Vector& between;
    template <class Algebra>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        A.apply_divided(in, between, out);
        deflation.project(out);
    }
};

}  // namespace kasane::lattice
