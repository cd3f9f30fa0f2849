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

}  // namespace

template <Space S>
std::vector<CurvePart> curve_parts(S on, View<const std::uint64_t> key, View<const std::uint8_t> level, double work_per_force,
                                   index_t most) {
    Buffer<CurvePart, S> part(on, std::min(most, key.n));
    parallel_for(on, part.size(), SumWork{key, level, work_per_force, part.view()});
    return to_host(part);
}

template std::vector<CurvePart> curve_parts(KS_SPACE, View<const std::uint64_t>, View<const std::uint8_t>, double, index_t);

}  // namespace kasane::gravity
