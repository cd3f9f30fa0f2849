#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <fmt/format.h>

namespace kasane::gravity {
namespace detail {

template <Space S>
TreeField tree_field_on(S on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options,
                        const std::vector<double>& softening);

}  // namespace detail

TreeField tree_field(const AnySpace& on, const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options,
                     const std::vector<double>& softening) {
    KS_VALIDATE(position.size() == mass.size(),
                fmt::format("{} positions and {} masses were given: every particle needs one of each", position.size(), mass.size()));
    KS_VALIDATE(softening.empty() || softening.size() == mass.size(),
                fmt::format("{} masses and {} softenings were given: every particle needs one of each, or none a softening", mass.size(),
                            softening.size()));
    return std::visit([&](auto space) { return detail::tree_field_on(space, position, mass, options, softening); }, on);
}

}  // namespace kasane::gravity
