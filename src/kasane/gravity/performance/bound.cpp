#include <kasane/gravity/performance/bound.hpp>

namespace kasane::gravity {

DirectBound direct_bound(const AnySpace& on, const Direct& options, [[maybe_unused]] index_t n, [[maybe_unused]] bool equal_masses) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&on)) return direct_bound(*cuda, options, n, equal_masses);
#endif
    return direct_bound(std::get<Cpu>(on), options);
}

}  // namespace kasane::gravity
