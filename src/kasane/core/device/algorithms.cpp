// The parallel algorithms on the CPU. Sorting is Highway's vector sort of 128-bit keys {key, place}: places make equal keys distinct, so
// the result is the stable one and does not depend on how the threads share the work.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/parallel.hpp>

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kasane {
namespace {

/// Below this number of keys one thread is faster (131,072 keys: 2.3 ms on one AVX-512 core).
constexpr index_t parallel_from = 32768;

/// Contiguous shares of [0, n), as many as the threads. Loops compute the end of a share once: a compiler that sees stores of integers
/// divides again for every element.
struct Shares {
    index_t n;
    int count;
    index_t first(index_t share) const { return n * share / count; }
};

Shares shares(Cpu on, index_t n) { return {n, n < parallel_from ? 1 : thread_count(on)}; }

void sort_range(hwy::uint128_t* keys, index_t n) {
    constexpr auto without_vectors = HWY_SCALAR | HWY_EMU128;  // the vector sort would stop the program there
    if ((hwy::SupportedTargets() & ~without_vectors) == 0) {
        std::sort(keys, keys + n, [](const auto& a, const auto& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; });
        return;
    }
    static const hwy::Sorter sorter;  // static: a sort changes nothing in it
    sorter(keys, static_cast<std::size_t>(n), hwy::SortAscending());
}

/// Limits of ranges of about one size in the sorted keys, from an evenly spaced sample.
std::vector<std::uint64_t> cuts(View<std::uint64_t> key, int ranges) {
    constexpr int samples_per_range = 64;
    const int samples = ranges * samples_per_range;
    std::vector<std::uint64_t> sample(static_cast<std::size_t>(samples)), cut;
    for (int i = 0; i < samples; ++i) sample[static_cast<std::size_t>(i)] = key[key.n * i / samples];
    std::sort(sample.begin(), sample.end());
    for (int r = 1; r < ranges; ++r) cut.push_back(sample[static_cast<std::size_t>(r * samples_per_range)]);
    return cut;
}

/// Copies keys and places into `pairs`, grouped by range; first[r] is where range r begins.
std::vector<index_t> partition(Shares by, int ranges, View<std::uint64_t> key, hwy::uint128_t* pairs) {
    const auto cut = cuts(key, ranges);
    const auto range_of = [&](std::uint64_t k) {
        return static_cast<std::size_t>(std::upper_bound(cut.begin(), cut.end(), k) - cut.begin());
    };
    const auto row = static_cast<std::size_t>(ranges);
    std::vector<index_t> at(row * static_cast<std::size_t>(by.count), 0);
    for_each_part(by.count, by.count, [&](index_t share) {
        for (index_t i = by.first(share), end = by.first(share + 1); i < end; ++i)
            ++at[static_cast<std::size_t>(share) * row + range_of(key[i])];
    });
    std::vector<index_t> first(row + 1, 0);
    index_t sum = 0;
    for (std::size_t r = 0; r < row; ++r) {
        first[r] = sum;
        for (int share = 0; share < by.count; ++share) sum += std::exchange(at[static_cast<std::size_t>(share) * row + r], sum);
    }
    first[row] = sum;
    for_each_part(by.count, by.count, [&](index_t share) {
        for (index_t i = by.first(share), end = by.first(share + 1); i < end; ++i)
            pairs[at[static_cast<std::size_t>(share) * row + range_of(key[i])]++] = {static_cast<std::uint64_t>(i), key[i]};
    });
    return first;
}

}  // namespace

template <>
void sort_by_key(Cpu on, Workspace<Cpu>& work, View<std::uint64_t> key, View<std::uint32_t> value, View<std::uint64_t>,
                 View<std::uint32_t> value_scratch, int) {
    const index_t n = key.n;
    if (n < 2) return;
    auto* const pairs = reinterpret_cast<hwy::uint128_t*>(work.bytes(static_cast<std::size_t>(n) * sizeof(hwy::uint128_t)));
    const auto by = shares(on, n);
    if (by.count == 1) {
        for (index_t i = 0; i < n; ++i) pairs[i] = {static_cast<std::uint64_t>(i), key[i]};
        sort_range(pairs, n);
    } else {
        const int ranges = 4 * by.count;  // several per thread, since a sample does not divide the keys evenly
        const auto first = partition(by, ranges, key, pairs);
        for_each_part(by.count, ranges, [&](index_t r) {
            const auto begin = first[static_cast<std::size_t>(r)];
            sort_range(pairs + begin, first[static_cast<std::size_t>(r) + 1] - begin);
        });
    }
    parallel_for(on, n, [=](index_t i) { value_scratch[i] = value[static_cast<index_t>(pairs[i].lo)]; });
    parallel_for(on, n, [=](index_t i) {
        key[i] = pairs[i].hi;
        value[i] = value_scratch[i];
    });
}

template <>
void exclusive_scan(Cpu on, Workspace<Cpu>&, View<const std::uint32_t> in, View<std::uint32_t> out) {
    const auto by = shares(on, in.n);
    std::vector<std::uint32_t> before(static_cast<std::size_t>(by.count), 0);
    if (by.count > 1) {
        for_each_part(by.count, by.count, [&](index_t share) {
            before[static_cast<std::size_t>(share)] = std::accumulate(in.ptr + by.first(share), in.ptr + by.first(share + 1), 0u);
        });
        std::exclusive_scan(before.begin(), before.end(), before.begin(), 0u);
    }
    for_each_part(by.count, by.count, [&](index_t share) {
        auto sum = before[static_cast<std::size_t>(share)];
        for (index_t i = by.first(share), end = by.first(share + 1); i < end; ++i) {
            const auto next = sum + in[i];
            out[i] = std::exchange(sum, next);
        }
    });
}

namespace {
template <class Element>
void select_elements(Cpu on, Element element, View<const std::uint8_t> flag, View<std::uint32_t> out, View<std::uint32_t> count) {
    const auto by = shares(on, flag.n);
    std::vector<std::uint32_t> before(static_cast<std::size_t>(by.count) + 1, 0);
    for_each_part(by.count, by.count, [&](index_t share) {
        std::uint32_t selected = 0;
        for (index_t i = by.first(share), end = by.first(share + 1); i < end; ++i) selected += flag[i] != 0;
        before[static_cast<std::size_t>(share)] = selected;
    });
    std::exclusive_scan(before.begin(), before.end(), before.begin(), 0u);
    for_each_part(by.count, by.count, [&](index_t share) {
        auto at = before[static_cast<std::size_t>(share)];
        for (index_t i = by.first(share), end = by.first(share + 1); i < end; ++i)
            if (flag[i] != 0) out[at++] = element(i);
    });
    count[0] = before.back();
}
}  // namespace

template <>
void select_flagged(Cpu on, Workspace<Cpu>&, View<const std::uint8_t> flag, View<std::uint32_t> out, View<std::uint32_t> count) {
    select_elements(on, [](index_t i) { return static_cast<std::uint32_t>(i); }, flag, out, count);
}

template <>
void select_flagged(Cpu on, Workspace<Cpu>&, View<const std::uint32_t> in, View<const std::uint8_t> flag, View<std::uint32_t> out,
                    View<std::uint32_t> count) {
    select_elements(on, [=](index_t i) { return in[i]; }, flag, out, count);
}

}  // namespace kasane
