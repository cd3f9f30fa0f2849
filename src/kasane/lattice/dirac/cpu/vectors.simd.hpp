// Vectors of sites: the fields' numbers between memory and registers, in each precision, and the arithmetic of wilson.body.hpp on them.
// Included once per instruction set, by files that include <hwy/foreach_target.h>.
#if defined(KASANE_LATTICE_VECTORS_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_LATTICE_VECTORS_SIMD
#undef KASANE_LATTICE_VECTORS_SIMD
#else
#define KASANE_LATTICE_VECTORS_SIMD
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kasane::lattice {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V Reciprocal(V v) {
    return hn::Div(hn::Set(hn::DFromV<V>(), 1), v);
}
#define KS_SITE HWY_INLINE
#include <kasane/lattice/dirac/wilson.body.hpp>
#include <kasane/lattice/dirac/eight_reals.body.hpp>
#undef KS_SITE

/// The registers of a precision.
template <Precision P>
using Tag = hn::ScalableTag<typename CpuReal<P>::Computed>;
template <Precision P>
using Vector = hn::Vec<Tag<P>>;
template <Precision P>
constexpr int width = static_cast<int>(HWY_LANES(typename CpuReal<P>::Computed));

template <class D, class V = hn::Vec<D>>
HWY_INLINE V load_integers(D d, const std::int16_t* from) {
    const hn::Rebind<std::int16_t, D> d16;
    const hn::Rebind<std::int32_t, D> d32;
    return hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d16, from)));
}

/// Reads the spinor numbers of the places lane … lane + width - 1 of a group.
template <Precision P>
struct Reader {
    const typename CpuReal<P>::Stored* from;
    HWY_INLINE Reader(const typename CpuReal<P>::Stored* group, int lane) : from(group + lane) {}
    HWY_INLINE Vector<P> operator()(int k) const { return hn::Load(Tag<P>(), from + k * group_lanes<P>); }
};
template <>
struct Reader<Precision::half> {
    const std::int16_t* from;
    Vector<Precision::half> step, half_step;
    HWY_INLINE Reader(const std::int16_t* group, int lane) : from(group + lane) {
        const Tag<Precision::half> d;
        step = hn::Mul(hn::Load(d, reinterpret_cast<const float*>(group + 24 * 16) + lane), hn::Set(d, spinor_unit));
        half_step = hn::Mul(step, hn::Set(d, 0.5f));
    }
    HWY_INLINE Vector<Precision::half> operator()(int k) const {
        return hn::MulAdd(load_integers(Tag<Precision::half>(), from + k * 16), step, half_step);
    }
};

/// Takes the 24 numbers of a vector of places in any order; finish() stores them.
template <Precision P>
struct Writer {
    typename CpuReal<P>::Stored* to;
    HWY_INLINE Writer(typename CpuReal<P>::Stored* group, int lane) : to(group + lane) {}
    HWY_INLINE void operator()(int k, Vector<P> v) { hn::Store(v, Tag<P>(), to + k * group_lanes<P>); }
    HWY_INLINE void finish() {}
};
template <>
struct Writer<Precision::half> {
    using V = Vector<Precision::half>;
    std::int16_t* group;
    int lane;
    V values[24];
    HWY_INLINE Writer(std::int16_t* g, int l) : group(g), lane(l) {}
    HWY_INLINE void operator()(int k, V v) { values[k] = v; }
    HWY_INLINE void finish() {
        const Tag<Precision::half> d;
        const hn::Rebind<std::int16_t, decltype(d)> d16;
        const V zero = hn::Zero(d);
        V scale = zero, poison = zero;  // a comparison with NaN is false
        for (const V& v : values) {
            scale = hn::Max(scale, hn::Abs(v));
            poison = hn::MulAdd(v, zero, poison);
        }
        // Below this, the inverse would overflow: a solver that rescales tiny sources has no such numbers.
        scale = hn::IfThenElseZero(hn::Gt(scale, hn::Set(d, 1e-33f)), scale);
        const V inverse = hn::IfThenElseZero(hn::Gt(scale, zero), hn::Div(hn::Set(d, 1 / spinor_unit), scale));
        const V half_step = hn::Set(d, 0.5f);
        for (int k = 0; k < 24; ++k)
            hn::StoreU(hn::DemoteTo(d16, hn::NearestInt(hn::MulSub(values[k], inverse, half_step))), d16, group + k * 16 + lane);
        hn::Store(hn::Add(scale, poison), d, reinterpret_cast<float*>(group + 24 * 16) + lane);
    }
};

template <Precision P>
HWY_INLINE Spinor<Vector<P>> load_spinor(const typename CpuReal<P>::Stored* group, int lane) {
    const Reader<P> read(group, lane);
    Spinor<Vector<P>> p;
    for (int k = 0; k < 12; ++k) p.s[k / 3].c[k % 3] = {read(2 * k), read(2 * k + 1)};
    return p;
}

template <Precision P>
HWY_INLINE void store_spinor(const Spinor<Vector<P>>& p, typename CpuReal<P>::Stored* group, int lane) {
    Writer<P> write(group, lane);
    for (int k = 0; k < 12; ++k) {
        write(2 * k, p.s[k / 3].c[k % 3].re);
        write(2 * k + 1, p.s[k / 3].c[k % 3].im);
    }
    write.finish();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::lattice
HWY_AFTER_NAMESPACE();

#endif
