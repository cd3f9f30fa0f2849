#include <kasane/gravity/domain/boundaries.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

index_t parts_per_worker(int workers) { return std::clamp<index_t>(index_t{128} * workers, 1024, 16384); }

std::vector<std::uint64_t> domain_boundaries(std::vector<CurvePart> parts, int domains) {
    // Equal parts in one order, whatever worker they come from: all workers add in the same order.
    std::sort(parts.begin(), parts.end(),
              [](const CurvePart& a, const CurvePart& b) { return a.key != b.key ? a.key < b.key : a.work < b.work; });
    double total = 0;
    for (const auto& part : parts) total += part.work;
    if (!(total > 0 && std::isfinite(total))) {
        for (auto& part : parts) part.work = 1;
        total = static_cast<double>(parts.size());
    }
    std::vector<std::uint64_t> boundary;
    double before = 0;
    for (const auto& part : parts) {
        // A boundary stands where the work before it is nearest to the share.
        const auto behind = [&] { return total * static_cast<double>(boundary.size() + 1) / domains; };
        while (static_cast<int>(boundary.size()) + 1 < domains && before + part.work / 2 >= behind()) boundary.push_back(part.key);
        before += part.work;
    }
    boundary.resize(static_cast<std::size_t>(domains) - 1, std::uint64_t{1} << 63);
    return boundary;
}

int domain_of(std::uint64_t key, const std::vector<std::uint64_t>& boundary) {
    return static_cast<int>(std::upper_bound(boundary.begin(), boundary.end(), key) - boundary.begin());
}

}  // namespace kasane::gravity
