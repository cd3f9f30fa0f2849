// The algebra of fields whose parts belong to the workers of a grid: each works on its own part, and sums are reduced over all of them.
// Invariants: one reduction for each operation that returns numbers, however many; all workers get the same bits.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/distributed/peer_bicgstab.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include <array>

namespace kasane::lattice {

template <Space S, Precision P>
class DistributedAlgebra {
   public:
    using Vector = Field<S, P>;
    using Scalar = std::complex<double>;

    /// @param peers  with them the scalars of BiCGStab stay on the devices, where they can; null: none; must outlive it
    DistributedAlgebra(std::shared_ptr<const Lattice<S>> lattice, comm::Worker& worker, [[maybe_unused]] PeerHalo* peers = nullptr)
        : local_(lattice), worker_(worker) {
        if constexpr (!std::same_as<S, Cpu>)
            if (peers && PeerBicgstab<P>::serves(*peers)) resident_ = std::make_unique<Resident>(std::move(lattice), *peers);
    }

    Vector like(const Vector& x) const { return local_.like(x); }
    void copy(const Vector& x, Vector& y) { local_.copy(x, y); }
    void zero(Vector& y) { local_.zero(y); }
    double norm2(const Vector& x) { return sum(std::array{local_.norm2(x)})[0]; }
    Scalar dot(const Vector& x, const Vector& y) {
        const Scalar here = local_.dot(x, y);
        const auto all = sum(std::array{here.real(), here.imag()});
        return {all[0], all[1]};
    }
    void axpby(Scalar a, const Vector& x, Scalar b, Vector& y) { local_.axpby(a, x, b, y); }

    double axpy_norm2(Scalar a, const Vector& x, Vector& y) { return sum(std::array{local_.axpy_norm2(a, x, y)})[0]; }
    std::pair<Scalar, double> dot_norm2(const Vector& x, const Vector& y) { return sum(local_.dot_norm2(x, y)); }
    void axpbypz(Scalar a, const Vector& x, Scalar b, const Vector& y, Vector& z) { local_.axpbypz(a, x, b, y, z); }
    void direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) { local_.direction(r, beta, omega, v, p); }
    std::pair<Scalar, double> finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t, const Vector& shadow, Vector& x,
                                     Vector& r) {
        return sum(local_.finish(alpha, p, omega, t, shadow, x, r));
    }
    double step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) { return sum(std::array{local_.step(a, p, q, x, r)})[0]; }

    bool has_resident_bicgstab() const { return resident_ != nullptr; }
    auto& resident_bicgstab()
        requires(!std::same_as<S, Cpu>)
    {
        return *resident_;
    }

   private:
    template <std::size_t n>
    std::array<double, n> sum(std::array<double, n> here) {
        worker_.all_reduce({here.data(), static_cast<index_t>(n)}, comm::Reduce::sum);
        return here;
    }
    std::pair<Scalar, double> sum(const std::pair<Scalar, double>& here) {
        const auto all = sum(std::array{here.first.real(), here.first.imag(), here.second});
        return {{all[0], all[1]}, all[2]};
    }

#if defined(KASANE_CUDA)
    using Resident = PeerBicgstab<P>;
#else
    struct Resident {};
#endif
    FieldAlgebra<S, P> local_;
    comm::Worker& worker_;
    std::unique_ptr<Resident> resident_;
};

}  // namespace kasane::lattice
