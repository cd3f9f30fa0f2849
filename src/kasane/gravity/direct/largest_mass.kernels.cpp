// On CUDA every index of a launch finds the largest of a part of the masses, and the host the largest of these.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/direct/largest_mass.hpp>

#include <algorithm>
#include <concepts>
#include <vector>

namespace kasane::gravity {
namespace {

struct LargestOfPart {
    View<const double> mass;
    View<double> largest;

    KS_FN void operator()(index_t k) const {
        double found = mass[k];
        for (index_t i = k + largest.n; i < mass.n; i += largest.n) found = mass[i] > found ? mass[i] : found;
        largest[k] = found;
    }
};

}  // namespace

template <Space S>
double largest_mass(S on, View<const double> mass, [[maybe_unused]] Buffer<double, S>& scratch) {
    if constexpr (std::same_as<S, Cpu>) {
        static_cast<void>(on);
        return *std::max_element(mass.ptr, mass.ptr + mass.n);
    } else {
        constexpr index_t parts = 4096;
        if (scratch.size() == 0) scratch = Buffer<double, S>(on, parts);
        const auto largest = scratch.view().subview(0, std::min(parts, mass.n));
        parallel_for(on, largest.n, LargestOfPart{mass, largest});
        std::vector<double> found(static_cast<std::size_t>(largest.n));
        copy_to_host(on, view(found), View<const double>(largest));
        return *std::max_element(found.begin(), found.end());
    }
}

template double largest_mass(KS_SPACE, View<const double>, Buffer<double, KS_SPACE>&);

}  // namespace kasane::gravity
