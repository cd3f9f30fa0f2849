// Reads a vector at the places of neighbouring rows. Included once per instruction set.
#if defined(KASANE_GATHER_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_GATHER_SIMD
#undef KASANE_GATHER_SIMD
#else
#define KASANE_GATHER_SIMD
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kasane::sparse {
namespace HWY_NAMESPACE {

using Doubles = hwy::HWY_NAMESPACE::ScalableTag<double>;

/// x[column[0]], x[column[1]], … @tparam gathers  by the processor's instruction; false: by a load for each lane
template <bool gathers>
HWY_INLINE auto gather(Doubles d, const double* x, const std::int32_t* column) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (gathers) {
        const hn::Rebind<std::int64_t, Doubles> wide;
        return hn::GatherIndex(d, x, hn::PromoteTo(wide, hn::LoadU(hn::Rebind<std::int32_t, Doubles>(), column)));
    } else {
        HWY_ALIGN double lane[hn::MaxLanes(d)];
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) lane[l] = x[column[l]];
        return hn::Load(d, lane);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane::sparse
HWY_AFTER_NAMESPACE();
#endif
