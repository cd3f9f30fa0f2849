#include <kasane/lattice/solution_rows.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/parallel.hpp>

#include <algorithm>
#include <array>

namespace kasane::lattice {

index_t end_of_part(const Extents& extents, int columns, index_t first) {
    constexpr index_t most_bytes = 16 << 20;
    const index_t slice = extents.volume() / extents[3], plane = slice / extents[2];
    const index_t most = most_bytes / (static_cast<index_t>(sizeof(std::complex<double>)) * 12 * columns);  // sites
    if (most >= slice) return std::min(first + most / slice * slice, extents.volume());
    const index_t end_of_slice = (first / slice + 1) * slice;
    return std::min(first + std::max(most / plane, index_t{1}) * plane, end_of_slice);
}

SolutionRows rows_of(const std::vector<SpinorField>& columns, double factor) {
    KS_REQUIRE(!columns.empty() && std::all_of(columns.begin(), columns.end(),
                                               [&](const SpinorField& each) {
                                                   return each.extents == columns.front().extents &&
                                                          std::ssize(each.values) == 12 * each.extents.volume();
                                               }),
               "solutions of different lattices, or none, have no rows");
    return [&columns, factor](const TakeRows& take) {
        const auto& extents = columns.front().extents;
        const auto count = std::ssize(columns);
        std::array<Buffer<std::complex<double>, Cpu>, 2> parts;  // `take` may use the part before
        for (index_t first = 0, part = 0; first < extents.volume(); ++part) {
            const index_t sites = end_of_part(extents, static_cast<int>(count), first) - first;
            auto& rows = parts[static_cast<std::size_t>(part % 2)];
            rows.reserve_discarding(12 * count * sites);
            parallel_for(Cpu{}, 12 * sites, [&](index_t i) {
                for (index_t c = 0; c < count; ++c)
                    rows.data()[i * count + c] =
                        columns[static_cast<std::size_t>(c)].values[static_cast<std::size_t>(12 * first + i)] * factor;
            });
            take(first, {rows.data(), 12 * count * sites});
            first += sites;
        }
    };
}

}  // namespace kasane::lattice
