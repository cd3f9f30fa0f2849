// Launches of the kernels around the pairs: pack, take_sums, merge_sums.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/binned.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/direct/variants.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>

#include <algorithm>

namespace kasane::gravity::detail {
namespace {

constexpr int block = 128;  // threads
unsigned blocks_for(index_t n) { return static_cast<unsigned>((n + block - 1) / block); }

/// The kernels' types have the sizes of DirectLayout.
template <class Real>
constexpr bool fits(const DirectLayout& layout) {
    return layout.body_bytes() == sizeof(Body<Real>) &&
           layout.sum_bytes() == BinnedSums<Real>::parts * sizeof(typename BinnedSums<Real>::Part);
}
static_assert(fits<float>({Precision::single_}) && fits<double>({Precision::double_}));

template <class Real, class Origin>
void pack_bodies(Cuda on, const Direct& options, const Sources& sources, Origin origin, View<std::byte> bodies) {
    const auto layout = layout_of(options);
    const auto size = bodies.n / layout.body_bytes();
    if (size == 0) return;
    if (layout.softenings) {
        KS_EXPECT(size % source_run == 0);
        pack_softened<Real><<<blocks_for(size), block, 0, on.stream>>>(sources.position, sources.mass, sources.softening, options.softening,
                                                                       static_cast<int>(size), bodies.ptr, origin);
    } else {
        auto* to = reinterpret_cast<Body<Real>*>(bodies.ptr);
        pack<<<blocks_for(size), block, 0, on.stream>>>(sources.position, sources.mass, static_cast<int>(size), to, origin);
    }
    KS_CUDA(cudaGetLastError());
}

template <class Origin>
void pack_in(Cuda on, const Direct& options, const Sources& sources, Origin origin, View<std::byte> bodies) {
    if (options.precision == Precision::double_)
        pack_bodies<double>(on, options, sources, origin, bodies);
    else
        pack_bodies<float>(on, options, sources, origin, bodies);
}

template <class Sums>
Sums placed(const SumsMemory& memory) {
    Sums sums;
    sums.place(memory.bytes, memory.fixed_points);
    sums.n = memory.n;
    return sums;
}

/// Calls f(sums) with sums of the type that the memory holds.
template <class F>
void with_sums(Precision precision, const SumsMemory& memory, F f) {
    const bool in_double = precision == Precision::double_;
    if (memory.binned && in_double) f(placed<BinnedSums<double>>(memory));
    if (memory.binned && !in_double) f(placed<BinnedSums<float>>(memory));
    if (!memory.binned && in_double) f(placed<FloatSums<double>>(memory));
    if (!memory.binned && !in_double) f(placed<FloatSums<float>>(memory));
}

}  // namespace

index_t fixed_point_bytes() { return static_cast<index_t>(std::max(sizeof(FieldFixedPoint<float>), sizeof(FieldFixedPoint<double>))); }

void launch_pack(Cuda on, const Direct& options, const Sources& sources, const Vec3<double>& origin, View<std::byte> bodies) {
    pack_in(on, options, sources, GivenOrigin{origin}, bodies);
}

void launch_pack(Cuda on, const Direct& options, const Sources& sources, FoundFrame* found, View<std::byte> bodies) {
    pack_in(on, options, sources, FindMiddle{sources.position, found}, bodies);
}

void launch_take(Cuda on, const Direct& options, const SumsMemory& memory, const Field& out, FoundFrame* found) {
    if (memory.n == 0) return;
    with_sums(options.precision, memory,
              [&](auto sums) { take_sums<<<blocks_for(sums.n), block, 0, on.stream>>>(sums, options.G, out, found, memory.counter); });
    KS_CUDA(cudaGetLastError());
}

void launch_clear(Cuda on, View<std::byte> sums) {
    const View<std::uint64_t> words{reinterpret_cast<std::uint64_t*>(sums.ptr), sums.n / static_cast<index_t>(sizeof(std::uint64_t))};
    KS_EXPECT(words.n * static_cast<index_t>(sizeof(std::uint64_t)) == sums.n);
    if (words.n == 0) return;
    clear_words<<<blocks_for(words.n), block, 0, on.stream>>>(words);
    KS_CUDA(cudaGetLastError());
}

void launch_merge(Cuda on, Precision precision, const SumsMemory& memory, const std::byte* from) {
    if (memory.n == 0) return;
    with_sums(precision, memory, [&](auto to) {
        auto other = to;
        other.place(const_cast<std::byte*>(from), nullptr);
        merge_sums<<<blocks_for(to.merged()), block, 0, on.stream>>>(to, other);
    });
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::gravity::detail
