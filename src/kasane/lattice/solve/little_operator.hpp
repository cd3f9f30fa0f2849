// The little Dirac operator P^+ D P on the grid of blocks [Luscher 2007], and the algebra of its vectors.
// Invariants: a block couples to itself and to its eight neighbours, over its faces; a neighbour may be the block itself or be one in two
// directions. P commutes with gamma_5, so that the coupling backward is the adjoint of the neighbour's coupling forward, with the sign of
// the product of chiralities. Declarations only: little_operator.kernels.cpp defines them, once per Space.
#pragma once

#include <kasane/lattice/solve/block_vectors.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/parameters.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::lattice {

/// Coefficients of a field in the subspace: [block][chirality][pack][re, im][8].
template <Space S, class T>
struct LittleVector {
    Buffer<T, S> data;
    LittleVector(S on, const BlockLayout& layout) : data(on, layout.coefficients()) {}
};

/// Result of an iteration of GCR (krylov/algebra.hpp, minimise).
struct LittleGcrStep {
    double before, now;
    std::complex<double> alpha;
};

/// The operations of krylov's methods on them (krylov/algebra.hpp).
template <Space S, class T>
class LittleAlgebra {
   public:
    using Vector = LittleVector<S, T>;
    using Scalar = std::complex<double>;

    LittleAlgebra(S on, const BlockLayout& layout) : on_(on), layout_(layout) {}
    Vector like(const Vector&) const { return {on_, layout_}; }
    void copy(const Vector& x, Vector& y) { axpby(1, x, 0, y); }
    void zero(Vector& y);
    double norm2(const Vector& x);
    Scalar dot(const Vector& x, const Vector& y);
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y);
    double axpy_norm2(Scalar a, const Vector& x, Vector& y);
    /// An iteration of GCR after A z_k; the host waits once. At most coherent_little_length vectors.
    LittleGcrStep minimise(std::vector<Vector>& c, std::size_t k, Scalar* beta, Vector& r)
        requires(!std::same_as<S, Cpu>);
    /// x += sum of the first `count` factors times z.
    void add(const std::vector<Scalar>& factors, const std::vector<Vector>& z, std::size_t count, Vector& x)
        requires(!std::same_as<S, Cpu>);

   private:
    S on_;
    BlockLayout layout_;
    struct Gcr;
    std::shared_ptr<Gcr> gcr_;  ///< memory of minimise(), from its first call
};

/// The little operator, and the inverses of its diagonal blocks.
template <Space S, class T>
class LittleOperator {
   public:
    /// Takes the memory.
    LittleOperator(S on, const BlockLayout& layout);

    /// Computes it from a basis. @param A  null: 1   @throws ComputationError where a diagonal block is singular
    void assemble(const BlockVectors<S, T>& basis, const Links<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters);

    /// On a device and in single precision: stores the couplings to neighbours as floating point numbers of 16 bits until the next
    /// assemble(). They are nine tenths of the numbers that a product reads. hop() is invalid then. Otherwise nothing happens.
    void narrow();

    /// out = P^+ D P in.
    void apply(const LittleVector<S, T>& in, LittleVector<S, T>& out) const;
    /// out = B^-1 in, B the diagonal blocks.
    void divide(const LittleVector<S, T>& in, LittleVector<S, T>& out) const;
    /// out = in + (P^+ D P - B) B^-1 in = P^+ D P B^-1 in, by way of `between` = B^-1 in.
    void apply_divided(const LittleVector<S, T>& in, LittleVector<S, T>& between, LittleVector<S, T>& out) const;

    double bytes() const;

    const BlockLayout& layout() const { return layout_; }
    /// The matrices, for code that multiplies or fills them: diagonal blocks, their inverses, couplings to neighbours.
    const T* own() const { return own_.data(); }
    const T* inverse() const { return inverse_.data(); }
    const T* hop() const { return hop_.data(); }
    T* own() { return own_.data(); }
    T* inverse() { return inverse_.data(); }
    T* hop() {
        narrow_ = false;
        return hop_.data();
    }

   private:
    void multiply(const T* own, bool couples, const T* added, const LittleVector<S, T>& in, LittleVector<S, T>& out) const;

    BlockLayout layout_;
    bool narrow_ = false;
    Buffer<T, S> own_, inverse_;  ///< [block][row][column pack][re, im][8]
    Buffer<T, S> hop_;            ///< [block][2 mu + (backward)][row][column pack][re, im][8], where narrow_ of 16 bits in its first half
};

}  // namespace kasane::lattice
