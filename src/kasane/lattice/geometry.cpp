#include <kasane/lattice/geometry.hpp>

#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <limits>

namespace kasane::lattice {

std::string text(const Extents& extents) { return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]); }

void check_extents(const Extents& extents, const std::string& where) {
    double volume = 1;
    for (int mu = 0; mu < 4; ++mu) {
        KS_VALIDATE(extents[mu] >= 2 && extents[mu] % 2 == 0,
                    fmt::format("{}: the extents are {}: all must be even and at least 2, for the sites are split into even and odd ones",
                                where, text(extents)));
        volume *= extents[mu];
    }
    KS_VALIDATE(volume / 2 < std::numeric_limits<std::int32_t>::max(),
                fmt::format("{}: {} are too many sites: a parity must have fewer than 2^31", where, text(extents)));
}

}  // namespace kasane::lattice
