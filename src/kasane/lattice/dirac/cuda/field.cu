// Copies fields between host and device, and converts between precisions.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#include <kasane/lattice/dirac/validate.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

/// Copies one parity of a host field, [site][12] complex, lexicographic, to the device's order and back.
template <Precision P>
struct FromHostOrder {
    Tiles tiles;
    Parity parity;
    const double* from;
    FieldView<P> to;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        const double* v = from + 24 * tiles.extents.checkerboard(tiles.site(parity, place));
        Spinor<Real<P>> p;
        for (int k = 0; k < 12; ++k) p.s[k / 3].c[k % 3] = {static_cast<Real<P>>(v[2 * k]), static_cast<Real<P>>(v[2 * k + 1])};
        store_spinor<P>(to, place, p);
    }
};
template <Precision P>
struct ToHostOrder {
    Tiles tiles;
    Parity parity;
    FieldView<P> from;
    double* to;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        double* v = to + 24 * tiles.extents.checkerboard(tiles.site(parity, place));
        const auto p = load_spinor<P>(from, place);
        for (int k = 0; k < 12; ++k) {
            v[2 * k] = static_cast<double>(p.s[k / 3].c[k % 3].re);
            v[2 * k + 1] = static_cast<double>(p.s[k / 3].c[k % 3].im);
        }
    }
};

template <Precision From, Precision To>
struct Convert {
    FieldView<From> from;
    FieldView<To> to;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        const auto p = load_spinor<From>(from, place);
        Spinor<Real<To>> q;
        for (int s = 0; s < 4; ++s)
            for (int a = 0; a < 3; ++a) q.s[s].c[a] = {static_cast<Real<To>>(p.s[s].c[a].re), static_cast<Real<To>>(p.s[s].c[a].im)};
        store_spinor<To>(to, place, q);
    }
};

/// The i-th site of a parity, in lexicographic order.
index_t host_site(const Extents& n, Parity parity, index_t i) { return n.lexicographic(n.site(parity, i)); }

template <Precision P>
void load_there(const SpinorField& from, Parity parity, Field<Cuda, P>& to) {
    const auto& lattice = *to.lattice();
    const auto& n = lattice.extents();
    require_field(from, n);
    Buffer<double, Cpu> values(Cpu{}, 24 * n.half());
    const auto* source = reinterpret_cast<const double*>(from.values.data());
    parallel_for(Cpu{}, n.half(),
                 [&](index_t i) { std::memcpy(values.data() + 24 * i, source + 24 * host_site(n, parity, i), 24 * sizeof(double)); });
    Buffer<double, Cuda> there(lattice.space(), values.size());
    copy_from_host(lattice.space(), there.view(), std::as_const(values).view());
    parallel_for(lattice.space(), n.half(), FromHostOrder<P>{lattice.tiles(), parity, there.data(), to.view()});
    cuda::synchronize(lattice.space());
}

template <Precision P>
void store_there(const Field<Cuda, P>& from, Parity parity, SpinorField& to) {
    const auto& lattice = *from.lattice();
    const auto& n = lattice.extents();
    require_field(to, n);
    Buffer<double, Cuda> there(lattice.space(), 24 * n.half());
    parallel_for(lattice.space(), n.half(), ToHostOrder<P>{lattice.tiles(), parity, from.view(), there.data()});
    Buffer<double, Cpu> values(Cpu{}, there.size());
    touch_pages(values.data(), static_cast<std::size_t>(values.size()) * sizeof(double));
    copy_to_host(lattice.space(), values.view(), std::as_const(there).view());
    auto* target = reinterpret_cast<double*>(to.values.data());
    parallel_for(Cpu{}, n.half(),
                 [&](index_t i) { std::memcpy(target + 24 * host_site(n, parity, i), values.data() + 24 * i, 24 * sizeof(double)); });
}

template <Precision From, Precision To>
void convert_there(const Field<Cuda, From>& from, Field<Cuda, To>& to) {
    require_same_lattice(from, to);
    const auto& lattice = *to.lattice();
    const Cuda on = lattice.space();
    if constexpr (From == To) {  // bit by bit: a new scale would differ by rounding
        const auto a = from.view(), b = to.view();
        const auto places = static_cast<std::size_t>(lattice.blocks()) * row;
        cuda::copy_on_device(on, b.data, a.data, places * spinor_chunks<To> * sizeof(Chunk));
        if (To == Precision::half) cuda::copy_on_device(on, b.scale, a.scale, places * sizeof(float));
    } else {
        parallel_for(on, lattice.sites(), Convert<From, To>{from.view(), to.view()});
    }
}

}  // namespace

template <>
void load(const SpinorField& from, Parity parity, Field<Cuda, Precision::half>& to) {
    load_there(from, parity, to);
}
template <>
void store(const Field<Cuda, Precision::half>& from, Parity parity, SpinorField& to) {
    store_there(from, parity, to);
}
template <>
void load(const SpinorField& from, Parity parity, Field<Cuda, Precision::single>& to) {
    load_there(from, parity, to);
}
template <>
void store(const Field<Cuda, Precision::single>& from, Parity parity, SpinorField& to) {
    store_there(from, parity, to);
}
template <>
void load(const SpinorField& from, Parity parity, Field<Cuda, Precision::double_>& to) {
    load_there(from, parity, to);
}
template <>
void store(const Field<Cuda, Precision::double_>& from, Parity parity, SpinorField& to) {
    store_there(from, parity, to);
}
template <>
void convert(const Field<Cuda, Precision::half>& from, Field<Cuda, Precision::half>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::half>& from, Field<Cuda, Precision::single>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::half>& from, Field<Cuda, Precision::double_>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::single>& from, Field<Cuda, Precision::half>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::single>& from, Field<Cuda, Precision::single>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::single>& from, Field<Cuda, Precision::double_>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::double_>& from, Field<Cuda, Precision::half>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::double_>& from, Field<Cuda, Precision::single>& to) {
    convert_there(from, to);
}
template <>
void convert(const Field<Cuda, Precision::double_>& from, Field<Cuda, Precision::double_>& to) {
    convert_there(from, to);
}

}  // namespace kasane::lattice
