// What fuzzing and its replay ask of the reader of gauge files: any bytes are read or refused with an InputError, and what is read is a
// lattice of SU(3) matrices.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/formats.hpp>

#include <cstdint>
#include <stdexcept>

namespace kasane::test {

/// @returns whether it was read   @throws std::logic_error where a promise is broken
inline bool read_gauge_bytes(View<const char> bytes) {
    using namespace kasane::lattice;
    const auto promised = [](bool condition, const char* what) {
        if (!condition) throw std::logic_error(what);
    };
    GaugeFile file;
    try {
        ByteSource source(bytes, "bytes");
        file = read_gauge(source, std::uint64_t{4} << 20);  // little, so that a promise of much is seen
    } catch (const InputError&) {
        return false;
    }
    const auto& n = file.field.extents;
    for (const int extent : n.n) promised(extent >= 2 && extent % 2 == 0, "extents");
    promised(file.field.links.size() == static_cast<std::size_t>(4 * n.volume()), "as many links as the extents say");
    for (const auto& u : file.field.links) promised(distance_from_su3(u) <= 1e-5, "links in SU(3)");
    promised(file.facts.checksum.ok && file.facts.worst_distance_from_su3 <= 1e-5, "facts");
    return true;
}

}  // namespace kasane::test
