// Access to single sites of a quark field in double, from kernels written once for every space. It connects the two orders of memory of
// the lattice module: spinors are stored in tiles (Cuda) or lanes (Cpu), by `place`; links, clover terms and forces in checkerboard order,
// by `checkerboard`. Both number the sites of one parity, and the Site is what they have in common:
//   place -> site(parity, place) -> extents.checkerboard(site) for links;   any Site -> place(site) for spinors.
// Invariants: a loop over a field runs over all places(); one that adds to other data skips the places that do not count, which hold
// copies of a site on Cpu; one that writes the field writes them too, and so keeps them copies. On Cuda all places count, and threads of
// consecutive places read whole 16-byte rows of spinors and whole 32-byte sectors of links where a tile has 8 sites along x.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/solve/fields.hpp>

#if defined(KASANE_CUDA)
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#endif

namespace kasane::lattice {

/// One parity of a quark field in double, by sites; copied into kernels. The field must outlive it.
template <Space S>
class FieldSites;

template <>
class FieldSites<Cpu> {
   public:
    /// Of a constant field for reading alone.
    explicit FieldSites(const Field<Cpu, Precision::double_>& field)
        : data_(const_cast<double*>(field.group(0))), lattice_(field.lattice().get()) {}

    index_t places() const { return lattice_->places(); }
    bool counts(index_t place) const { return lattice_->counts(place); }
    Site site(Parity parity, index_t place) const { return lattice_->site(parity, place); }
    index_t place(const Site& site) const { return lattice_->place(site); }
    Spinor<double> load(index_t place) const {
        const double* from = at(place);
        Spinor<double> p;
        for (int k = 0; k < 12; ++k) p.s[k / 3].c[k % 3] = {from[2 * k * lanes], from[(2 * k + 1) * lanes]};
        return p;
    }
    void store(index_t place, const Spinor<double>& p) const {
        double* to = at(place);
        for (int k = 0; k < 12; ++k) {
            to[2 * k * lanes] = p.s[k / 3].c[k % 3].re;
            to[(2 * k + 1) * lanes] = p.s[k / 3].c[k % 3].im;
        }
    }

   private:
    static constexpr int lanes = group_lanes<Precision::double_>;
    double* at(index_t place) const { return data_ + place / lanes * group_words<Precision::double_>(24) + place % lanes; }

    double* data_;
    const Lattice<Cpu>* lattice_;
};

#if defined(KASANE_CUDA)
template <>
class FieldSites<Cuda> {
   public:
    /// Of a constant field for reading alone.
    explicit FieldSites(const Field<Cuda, Precision::double_>& field) : view_(field.view()), tiles_(field.lattice()->tiles()) {}

    KS_FN index_t places() const { return tiles_.extents.half(); }
    KS_FN bool counts(index_t) const { return true; }
    KS_FN Site site(Parity parity, index_t place) const { return tiles_.site(parity, static_cast<std::uint32_t>(place)); }
    KS_FN index_t place(const Site& site) const { return static_cast<index_t>(tiles_.place(site)); }
    KS_FN Spinor<double> load(index_t place) const {
        return device::load_spinor<Precision::double_>(view_, static_cast<std::uint32_t>(place));
    }
    KS_FN void store(index_t place, const Spinor<double>& p) const {
        device::store_spinor<Precision::double_>(view_, static_cast<std::uint32_t>(place), p);
    }

   private:
    device::FieldView<Precision::double_> view_;
    device::Tiles tiles_;
};
#endif

}  // namespace kasane::lattice
