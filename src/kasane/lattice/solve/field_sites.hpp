// Access to single sites of a quark field from kernels written once for every space. It connects the two orders of memory of
// the lattice module: spinors are stored in tiles (Cuda) or lanes (Cpu), by `place`; links, clover terms and forces in checkerboard order,
// by `checkerboard`. Both number the sites of one parity, and the Site is common to both:
//   place -> site(parity, place) -> extents.checkerboard(site) for links;   any Site -> place(site) for spinors.
// Invariants: a loop over a field runs over all places(); one that adds to other data skips the places that do not count, which hold
// copies of a site on Cpu; one that writes the field writes them too, and so keeps them copies. On Cuda all places count, and threads of
// consecutive places read whole 16-byte rows of spinors and whole 32-byte sectors of links where a tile has 8 sites along x.
#pragma once

#include <kasane/lattice/dirac/cpu/place.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/solve/fields.hpp>

#if defined(KASANE_CUDA)
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#endif

namespace kasane::lattice {

/// One parity of a quark field, by sites; copied into kernels. The field must outlive it. Spinors are of doubles on Cpu and of Real<P> on
/// Cuda.
template <Space S, Precision P = Precision::double_>
class FieldSites;

template <Precision P>
class FieldSites<Cpu, P> {
   public:
    /// Refers to a constant field, for reading only.
    explicit FieldSites(const Field<Cpu, P>& field)
        : data_(const_cast<typename CpuReal<P>::Stored*>(field.group(0))), lattice_(field.lattice().get()) {}

    index_t places() const { return lattice_->places(); }
    bool counts(index_t place) const { return lattice_->counts(place); }
    Site site(Parity parity, index_t place) const { return lattice_->site(parity, place); }
    index_t place(const Site& site) const { return lattice_->place(site); }
    Spinor<double> load(index_t place) const {
        double values[24];
        read_place<P>(data_, place, values);
        Spinor<double> p;
        for (int k = 0; k < 12; ++k) p.s[k / 3].c[k % 3] = {values[2 * k], values[2 * k + 1]};
        return p;
    }
    void store(index_t place, const Spinor<double>& p) const {
        double values[24];
        for (int k = 0; k < 12; ++k) {
            values[2 * k] = p.s[k / 3].c[k % 3].re;
            values[2 * k + 1] = p.s[k / 3].c[k % 3].im;
        }
        write_place<P>(data_, place, values);
    }

   private:
    typename CpuReal<P>::Stored* data_;
    const Lattice<Cpu>* lattice_;
};

#if defined(KASANE_CUDA)
template <Precision P>
class FieldSites<Cuda, P> {
   public:
    /// Refers to a constant field, for reading only.
    explicit FieldSites(const Field<Cuda, P>& field) : view_(field.view()), tiles_(field.lattice()->tiles()) {}

    KS_FN index_t places() const { return tiles_.extents.half(); }
    KS_FN bool counts(index_t) const { return true; }
    KS_FN Site site(Parity parity, index_t place) const { return tiles_.site(parity, static_cast<std::uint32_t>(place)); }
    KS_FN index_t place(const Site& site) const { return static_cast<index_t>(tiles_.place(site)); }
    KS_FN Spinor<device::Real<P>> load(index_t place) const { return device::load_spinor<P>(view_, static_cast<std::uint32_t>(place)); }
    KS_FN void store(index_t place, const Spinor<device::Real<P>>& p) const {
        device::store_spinor<P>(view_, static_cast<std::uint32_t>(place), p);
    }

   private:
    device::FieldView<P> view_;
    device::Tiles tiles_;
};
#endif

}  // namespace kasane::lattice
