// The algebra of the little system's vectors, and its deflation, where each worker has the coefficients of its own blocks.
// Invariants: as DistributedAlgebra. An iteration of GCR has two reductions and its operator one, however many vectors there are.
#pragma once

#include <kasane/lattice/distributed/reduced.hpp>
#include <kasane/lattice/solve/little_deflation.hpp>

#include <complex>
#include <vector>

namespace kasane::lattice {

template <Space S, class T>
class DistributedLittleAlgebra {
   public:
    using Vector = LittleVector<S, T>;
    using Scalar = std::complex<double>;

    /// @param worker  must outlive it
    DistributedLittleAlgebra(S on, const BlockLayout& layout, comm::Worker& worker) : local_(on, layout), worker_(&worker) {}
    Vector like(const Vector& x) const { return local_.like(x); }
    void copy(const Vector& x, Vector& y) { local_.copy(x, y); }
    void zero(Vector& y) { local_.zero(y); }
    double norm2(const Vector& x) { return reduced(*worker_, std::vector{local_.norm2(x)})[0]; }
    Scalar dot(const Vector& x, const Vector& y) { return reduced(*worker_, std::vector{local_.dot(x, y)})[0]; }
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y) { local_.axpby(a, x, b, y); }
    double axpy_norm2(Scalar a, const Vector& x, Vector& y) { return reduced(*worker_, std::vector{local_.axpy_norm2(a, x, y)})[0]; }

    /// As LittleAlgebra::minimise(), by the classical method of Gram and Schmidt: all products are reduced at once.
    LittleGcrStep minimise(std::vector<Vector>& c, std::size_t k, Scalar* beta, Vector& r) {
        auto& y = c[k];
        std::vector<Scalar> products;
        for (std::size_t l = 0; l < k; ++l) products.push_back(local_.dot(c[l], y));
        products.push_back(local_.norm2(y));
        products = reduced(*worker_, products);
        const double before = products[k].real();
        norms2_.resize(k + 1);
        for (std::size_t l = 0; l < k; ++l) {
            beta[l] = products[l] / norms2_[l];
            local_.axpby(-beta[l], c[l], 1, y);
        }
        const auto with_r = reduced(*worker_, std::vector{local_.dot(y, r), Scalar(local_.norm2(y))});
        const double now = norms2_[k] = with_r[1].real();
        if (!(now > 0)) return {before, now, 0};
        const Scalar alpha = with_r[0] / now;
        local_.axpby(-alpha, y, 1, r);
        return {before, now, alpha};
    }

   private:
    LittleAlgebra<S, T> local_;
    comm::Worker* worker_;
    std::vector<double> norms2_;  ///< |c_l|^2 of the present cycle
};

template <Space S, class T>
class DistributedLittleDeflation {
   public:
    using Vector = LittleVector<S, T>;

    /// @param most  as LittleDeflation's   @param worker  must outlive it
    DistributedLittleDeflation(S on, const BlockLayout& layout, int most, comm::Worker& worker)
        : local_(on, layout, most), worker_(&worker) {}

    void clear() { local_.clear(); }
    template <class Algebra, class Operator>
    void add(Algebra& algebra, const Operator& A, const Vector& w, int chirality, Vector& u, Vector& c) {
        add_to_deflation(*this, algebra, A, w, chirality, u, c);
    }
    bool full() const { return local_.full(); }
    void take_chirality(const Vector& w, int chirality, Vector& u) const { local_.take_chirality(w, chirality, u); }
    void append(const Vector& u, const Vector& c) { local_.append(u, c); }
    void take_out(Vector& c, Vector& u) {
        auto h = products(c);
        local_.subtract_images(h, c);
        for (auto& z : h) z = -z;
        local_.add_vectors(h, u);
    }

    /// As LittleDeflation's.
    std::vector<std::complex<T>> products(const Vector& v) const {
        auto here = local_.products(v);
        return local_.empty() ? here : reduced(*worker_, here);
    }
    void project(Vector& v) { local_.subtract_images(products(v), v); }
    void subtract_images(const std::vector<std::complex<T>>& h, Vector& v) { local_.subtract_images(h, v); }
    void add_vectors(const std::vector<std::complex<T>>& h, Vector& v) { local_.add_vectors(h, v); }

    double bytes() const { return local_.bytes(); }

   private:
    LittleDeflation<S, T> local_;
    comm::Worker* worker_;
};

}  // namespace kasane::lattice
