// The algebra of vectors whose parts belong to workers: each works on its own part, and sums are reduced over all of them.
// Invariants: one reduction for each operation that returns numbers, none for the others; all workers get the same bits.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/sparse/general/complex_algebra.hpp>

#include <array>
#include <complex>
#include <iterator>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// @tparam User  double or std::complex<double>
template <Space S, class User = double>
class DistributedAlgebra {
    using Local = AlgebraOf<S, User>;

   public:
    using Vector = typename Local::Vector;
    using Scalar = User;

    DistributedAlgebra(S on, comm::Worker& worker) : local_(on), worker_(worker) {}

    /// The algebra of this worker's part alone.
    Local& local() { return local_; }

    Vector like(const Vector& x) const { return local_.like(x); }
    void copy(const Vector& x, Vector& y) { local_.copy(x, y); }
    void zero(Vector& y) { local_.zero(y); }
    Scalar dot(const Vector& x, const Vector& y) { return sum(local_.dot(x, y)); }
    /// The dot of each pair, by one reduction.
    std::vector<double> dots(const std::vector<std::pair<const Vector*, const Vector*>>& pairs) {
        std::vector<double> sums;
        if constexpr (requires { local_.dots(pairs); })
            sums = local_.dots(pairs);
        else
            for (const auto& [x, y] : pairs) sums.push_back(local_.dot(*x, *y));
        worker_.all_reduce({sums.data(), std::ssize(sums)}, comm::Reduce::sum);
        return sums;
    }
    void add_products(const std::vector<const Vector*>& x, const double* factors, std::vector<Vector>& y)
        requires requires(Local& local) { local.add_products(x, factors, y); }
    {
        local_.add_products(x, factors, y);
    }
    double norm2(const Vector& x) { return sum(local_.norm2(x)); }
    std::pair<Scalar, double> dot_norm2(const Vector& x, const Vector& y) { return sum(local_.dot_norm2(x, y)); }
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y) { local_.axpby(a, x, b, y); }
    double step(Scalar a, const Vector& p, const Vector& q, Vector& x, Vector& r) { return sum(local_.step(a, p, q, x, r)); }
    double axpy_norm2(Scalar a, const Vector& x, Vector& y) { return sum(local_.axpy_norm2(a, x, y)); }
    void axpy(Scalar a, const Vector& x, Vector& y) { local_.axpy_norm2(a, x, y); }
    void direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) { local_.direction(r, beta, omega, v, p); }
    std::pair<Scalar, double> finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r) {
        return sum(local_.finish(alpha, p, omega, t, shadow, x, r));
    }

   private:
    double sum(double here) {
        worker_.all_reduce({&here, 1}, comm::Reduce::sum);
        return here;
    }
    std::complex<double> sum(std::complex<double> here) {
        std::array all{here.real(), here.imag()};
        worker_.all_reduce({all.data(), 2}, comm::Reduce::sum);
        return {all[0], all[1]};
    }
    std::pair<std::complex<double>, double> sum(const std::pair<std::complex<double>, double>& here) {
        std::array all{here.first.real(), here.first.imag(), here.second};
        worker_.all_reduce({all.data(), 3}, comm::Reduce::sum);
        return {{all[0], all[1]}, all[2]};
    }
    std::pair<double, double> sum(const std::pair<double, double>& here) {
        std::array all{here.first, here.second};
        worker_.all_reduce({all.data(), 2}, comm::Reduce::sum);
        return {all[0], all[1]};
    }

    Local local_;
    comm::Worker& worker_;
};

}  // namespace kasane::sparse
