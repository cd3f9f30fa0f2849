// The common frame, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/common_frame.hpp>

#include <algorithm>
#include <string>

namespace kasane::gravity {
namespace {

struct ClearSample {
    Vec3<double>* sample;
    KS_FN void operator()(index_t k) const { sample[k] = {0, 0, 0}; }
};

/// Sample k is particle k total / samples.
struct DrawByNumber {
    const Vec3<double>* position;
    const std::uint32_t* given;
    index_t total, samples;
    Vec3<double>* sample;
    KS_FN void operator()(index_t i) const {
        const index_t number = given[i], k = (number * samples + total - 1) / total;
        if (k < samples && k * total / samples == number) sample[k] = position[i];
    }
};

}  // namespace

template <Space S>
Frame common_frame(S on, Workspace<S>& work, comm::Worker& worker, View<const Vec3<double>> position, View<const double> mass,
                   View<const std::uint32_t> given, index_t total) {
    if (total >= index_t{1} << 31)
        throw ComputationError(std::to_string(total) + " particles are too many for trees, which number them with 31 bits: use fewer");
    const index_t samples = std::min(total, detail::frame_sample_size);
    if (samples == 0) return {};
    const View<Vec3<double>> drawn(reinterpret_cast<Vec3<double>*>(work.bytes(static_cast<std::size_t>(samples) * sizeof(Vec3<double>))),
                                   samples);
    parallel_for(on, samples, ClearSample{drawn.ptr});
    parallel_for(on, position.n, DrawByNumber{position.ptr, given.ptr, total, samples, drawn.ptr});
    std::vector<Vec3<double>> sample(static_cast<std::size_t>(samples));
    copy_to_host(on, view(sample), View<const Vec3<double>>(drawn));
    worker.all_reduce(View<double>(&sample.front().x, 3 * samples), comm::Reduce::sum);
    const auto center = detail::middle(std::move(sample));

    const auto census = detail::take_census(on, work, position, mass, center);
    std::vector<std::uint64_t> count(std::begin(census->count), std::end(census->count));
    worker.all_reduce(view(count), comm::Reduce::sum);
    std::transform(count.begin(), count.end(), census->count, [](std::uint64_t n) { return static_cast<std::uint32_t>(n); });
    worker.all_reduce(View<double>(census->mass, detail::Census::shares), comm::Reduce::sum);
    return detail::frame_of(center, *census);
}

template Frame common_frame(KS_SPACE, Workspace<KS_SPACE>&, comm::Worker&, View<const Vec3<double>>, View<const double>,
                            View<const std::uint32_t>, index_t);

}  // namespace kasane::gravity
