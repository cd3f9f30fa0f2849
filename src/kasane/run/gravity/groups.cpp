#include <kasane/core/device/parallel.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/gravity/groups.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

constexpr std::uint8_t halo_type = 1;
constexpr int most_objects = 4;

double distance(const Vec3<double>& a, const Vec3<double>& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

bool finite(const Vec3<double>& r) { return std::isfinite(r.x) && std::isfinite(r.y) && std::isfinite(r.z); }

Vec3<double> mean(const std::vector<Vec3<double>>& points) {
    Vec3<double> sum;
    for (const auto& p : points) sum += p;
    const double n = std::max<double>(1, static_cast<double>(points.size()));
    return {sum.x / n, sum.y / n, sum.z / n};
}

double median_distance(const std::vector<Vec3<double>>& points, const Vec3<double>& center) {
    if (points.empty()) return 0;
    std::vector<double> d;
    d.reserve(points.size());
    for (const auto& p : points) d.push_back(distance(p, center));
    const auto middle = d.begin() + static_cast<std::ptrdiff_t>(d.size() / 2);
    std::nth_element(d.begin(), middle, d.end());
    return *middle;
}

/// Of more than this number of particles, objects are found from every second, every third, ...: their means and widths then err by less
/// than a hundredth of a width.
constexpr std::size_t most_positions = 1 << 17;

std::size_t stride_of(std::size_t particles) { return std::max<std::size_t>(1, (particles + most_positions - 1) / most_positions); }

std::string ordinal(int k) {
    static constexpr const char* words[] = {"first", "second", "third", "fourth"};
    return words[k];
}

}  // namespace

Membership Membership::by_counts(const std::vector<std::int64_t>& counts, const gravity::Particles& particles) {
    Membership m;
    std::uint64_t last = 0;
    for (const auto n : counts) m.last_id_.push_back(last += static_cast<std::uint64_t>(std::max<std::int64_t>(0, n)));
    std::vector<std::vector<Vec3<double>>> part(counts.size());
    const auto smallest = counts.empty() ? 0 : std::max<std::int64_t>(0, *std::ranges::min_element(counts));
    const auto stride = stride_of(static_cast<std::size_t>(smallest));
    const auto for_each_member = [&](const auto& body) {
        for (std::size_t i = 0; i < particles.id.size(); i += stride) {
            const auto p = std::lower_bound(m.last_id_.begin(), m.last_id_.end(), particles.id[i]) - m.last_id_.begin();
            if (p < std::ssize(part) && finite(particles.position[i])) body(static_cast<std::size_t>(p), particles.position[i]);
        }
    };
    std::vector<std::size_t> members(counts.size());
    for_each_member([&](std::size_t p, const auto&) { ++members[p]; });
    for (std::size_t p = 0; p < part.size(); ++p) part[p].reserve(members[p]);
    for_each_member([&](std::size_t p, const auto& position) { part[p].push_back(position); });
    m.objects_ = 0;
    for (std::size_t p = 0; p < part.size(); ++p) {
        const auto center = mean(part[p]);
        const double width = median_distance(part[p], center);
        auto object = static_cast<std::uint8_t>(m.objects_);
        for (std::size_t q = 0; q < p; ++q) {
            const auto other = mean(part[q]);
            if (distance(center, other) < 0.3 * (width + median_distance(part[q], other))) object = m.object_[q];
        }
        m.object_.push_back(object);
        m.objects_ = std::max(m.objects_, object + 1);
    }
    return m;
}

Membership Membership::by_position(const gravity::Particles& particles) {
    // Lloyd's two means, started from the particle farthest from the middle and the one farthest from that.
    const auto bright = [&](std::size_t i) { return particles.type[i] != halo_type; };
    bool any_bright = false;
    for (std::size_t i = 0; i < particles.type.size(); ++i) any_bright = any_bright || bright(i);
    const auto counts = [&](std::size_t i) { return finite(particles.position[i]) && (bright(i) || !any_bright); };
    std::size_t count = 0;
    for (std::size_t i = 0; i < particles.position.size(); ++i) count += counts(i);
    if (count < 16) return {};
    const auto stride = stride_of(count);
    std::vector<Vec3<double>> points;
    points.reserve((count + stride - 1) / stride);
    for (std::size_t i = 0, k = 0; i < particles.position.size(); ++i)
        if (counts(i) && k++ % stride == 0) points.push_back(particles.position[i]);
    const auto farthest = [&](const Vec3<double>& from) {
        return *std::max_element(points.begin(), points.end(),
                                 [&](const auto& a, const auto& b) { return distance(a, from) < distance(b, from); });
    };
    Vec3<double> first = farthest(mean(points)), second = farthest(first);
    const auto is_second = [&](const Vec3<double>& r) { return distance(r, second) < distance(r, first); };
    std::vector<Vec3<double>> side[2];
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (auto& s : side) s.clear();
        for (const auto& r : points) side[is_second(r)].push_back(r);
        if (side[0].empty() || side[1].empty()) return {};
        first = mean(side[0]), second = mean(side[1]);
    }
    // The halves of one round clump are about as wide as they are distant; two galaxies are narrower.
    const double widths = median_distance(side[0], first) + median_distance(side[1], second);
    const bool apart = distance(first, second) > 1.3 * widths;
    if (!apart || std::min(side[0].size(), side[1].size()) * 50 < points.size()) return {};
    if (side[1].size() > side[0].size()) std::swap(first, second);  // the larger one is the first

    Membership m;
    m.objects_ = 2;
    for (std::size_t i = 0; i < particles.position.size(); ++i)
        if (is_second(particles.position[i])) m.second_.push_back(particles.id[i]);
    std::sort(m.second_.begin(), m.second_.end());
    return m;
}

std::uint8_t Membership::of(std::uint64_t id) const {
    if (!last_id_.empty()) {
        const auto at = static_cast<std::size_t>(std::lower_bound(last_id_.begin(), last_id_.end(), id) - last_id_.begin());
        return object_[std::min(at, object_.size() - 1)];
    }
    return std::binary_search(second_.begin(), second_.end(), id);
}

std::vector<std::uint8_t> Groups::of(const gravity::Particles& particles) const {
    const auto dark = haloes_drawn ? static_cast<std::uint8_t>(group.size() - 1) : hidden;
    const bool has_dark = !haloes_drawn || group.back().dark;
    std::vector<std::uint8_t> result(particles.id.size());
    parallel_for(Cpu{}, std::ssize(result), [&](index_t k) {
        const auto i = static_cast<std::size_t>(k);
        result[i] = has_dark && particles.type[i] == halo_type ? dark : member.objects() > 1 ? member.of(particles.id[i]) : std::uint8_t{0};
    });
    return result;
}

Groups make_groups(const gravity::Particles& first, const History& history) {
    Groups groups;
    std::int64_t stated = 0;
    for (const auto count : history.objects) stated += count;
    const bool believed = !history.objects.empty() && stated == first.size();
    groups.member = believed ? Membership::by_counts(history.objects, first) : Membership::by_position(first);
    if (groups.member.objects() > most_objects) groups.member = {};

    double dark_mass = 0, bright_mass = 0;
    std::int64_t bright_type[gravity::type_count] = {};
    for (std::size_t i = 0; i < first.type.size(); ++i) {
        (first.type[i] == halo_type ? dark_mass : bright_mass) += first.mass[i];
        ++bright_type[first.type[i]];
    }
    const auto halo_count = bright_type[halo_type];
    bright_type[halo_type] = 0;
    const bool has_dark = halo_count > 0 && bright_mass > 0;
    groups.haloes_drawn = !(has_dark && history.film_of_stars);

    const bool only_disks =
        std::count_if(std::begin(bright_type), std::end(bright_type), [](auto n) { return n > 0; }) == 1 && bright_type[2] > 0;
    const std::string stars = only_disks ? "disk" : "stars";
    static constexpr double hue[] = {62, 240, 150, 350};
    const int n = groups.member.objects();
    const std::string noun = history.record.units.length_cm > 0 && std::ssize(first.id) > n ? "galaxy" : "object";
    if (n == 1)
        groups.group.push_back({has_dark ? stars : "particles", has_dark ? hue[0] : 280, 1, false, 0});
    else
        for (int k = 0; k < n; ++k) {
            // Parts that were merged (a halo and its disk) have no common name.
            const bool named =
                believed && std::ssize(history.object_names) == n && !history.object_names[static_cast<std::size_t>(k)].empty();
            const auto object = named ? history.object_names[static_cast<std::size_t>(k)] : "the " + ordinal(k) + " " + noun;
            groups.group.push_back({has_dark ? stars + " of " + object : object, hue[k], 1, false, 0});
        }
    if (has_dark && groups.haloes_drawn) {
        // Most of the mass is dark and would be brighter than the stars.
        const double weight = dark_mass > 0 ? std::min(1.0, 1.5 * bright_mass / dark_mass) : 1;
        groups.group.push_back({n == 1 ? "halo" : "haloes", 300, weight, true, 0});
    }
    for (const auto g : groups.of(first)) ++(g == Groups::hidden ? groups.hidden_count : groups.group[g].count);
    return groups;
}

Vec3<double> center_of(const gravity::Particles& particles, const Membership& member, std::uint8_t which) {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < particles.id.size(); ++i)
        if (member.of(particles.id[i]) == which && finite(particles.position[i])) inside.push_back(i);
    const auto weighted_mean = [&] {
        Vec3<double> sum;
        double mass = 0;
        for (const auto i : inside) {
            const auto& r = particles.position[i];
            const double m = particles.mass[i];
            sum += {m * r.x, m * r.y, m * r.z};
            mass += m;
        }
        return Vec3<double>{sum.x / mass, sum.y / mass, sum.z / mass};
    };
    auto center = weighted_mean();
    const auto least = std::max<std::size_t>(20, inside.size() / 100);
    double radius = 0;
    for (const auto i : inside) radius = std::max(radius, distance(particles.position[i], center));
    while (inside.size() > least && radius > 0) {
        radius *= 0.85;
        auto closer = inside;
        std::erase_if(closer, [&](std::size_t i) { return distance(particles.position[i], center) > radius; });
        if (closer.size() < least) break;
        inside = std::move(closer);
        center = weighted_mean();
    }
    return center;
}

}  // namespace kasane::run
