// Work along the curve, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/curve_parts.hpp>

#include <algorithm>

namespace kasane::gravity {
namespace {

struct SumWork {
    View<const std::uint64_t> key;
    View<const std::uint8_t> level;
    double work_per_force;
    View<CurvePart> part;
    KS_FN void operator()(index_t k) const {
        const index_t begin = k * key.n / part.n, end = (k + 1) * key.n / part.n;
        double forces = 0;
        for (index_t i = begin; i < end; ++i) forces += level.empty() ? 1. : static_cast<double>(std::uint64_t{1} << level[i]);
        part[k] = {key[begin], work_per_force * forces};
    }
};

struct FindBegins {
    View<const std::uint64_t> key;
    View<const std::uint64_t> boundary;
    View<index_t> begin;
    KS_FN void operator()(index_t d) const {
        index_t low = 0, high = key.n;
        while (low < high) {
            const index_t half = low + (high - low) / 2;
            if (key[half] < boundary[d])
                low = half + 1;
            else
                high = half;
        }
        begin[d] = low;
    }
};

}  // namespace

template <Space S>
std::vector<CurvePart> curve_parts(S on, View<const std::uint64_t> key, View<const std::uint8_t> level, double work_per_force,
                                   index_t most) {
    Buffer<CurvePart, S> part(on, std::min(most, key.n));
    parallel_for(on, part.size(), SumWork{key, level, work_per_force, part.view()});
    return to_host(part);
}

template <Space S>
std::vector<index_t> domain_begins(S on, View<const std::uint64_t> key, const std::vector<std::uint64_t>& boundary) {
    const auto here = to_space(on, boundary);
    Buffer<index_t, S> begin(on, here.size());
    parallel_for(on, here.size(), FindBegins{key, here.view(), begin.view()});
    auto begins = to_host(begin);
    begins.insert(begins.begin(), 0);
    begins.push_back(key.n);
    return begins;
}

template std::vector<CurvePart> curve_parts(KS_SPACE, View<const std::uint64_t>, View<const std::uint8_t>, double, index_t);
template std::vector<index_t> domain_begins(KS_SPACE, View<const std::uint64_t>, const std::vector<std::uint64_t>&);

}  // namespace kasane::gravity
