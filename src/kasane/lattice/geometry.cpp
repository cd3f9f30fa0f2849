#include <kasane/lattice/geometry.hpp>

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace kasane::lattice {

std::string text(const Extents& extents) { return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]); }

namespace {

std::optional<std::string> problem_of(const Extents& extents) {
    double volume = 1;
    for (int mu = 0; mu < 4; ++mu) {
        if (extents[mu] < 2 || extents[mu] % 2 != 0)
            return fmt::format("the extents are {}: all must be even and at least 2, for the sites are split into even and odd ones",
                               text(extents));
        volume *= extents[mu];
    }
    if (!(volume / 2 < std::numeric_limits<std::int32_t>::max()))
        return fmt::format("{} are too many sites: a parity must have fewer than 2^31", text(extents));
    return std::nullopt;
}

}  // namespace

void check_extents(const Extents& extents, const Where& where) {
    if (auto problem = problem_of(extents)) throw InputError(std::move(*problem), where);
}

const Extents& required(const Extents& extents) {
    if (const auto problem = problem_of(extents)) throw LogicError(*problem);
    return extents;
}

}  // namespace kasane::lattice
