#include <kasane/core/math/random_direction.hpp>
#include <kasane/gravity/galaxy/disk/disk_draw.hpp>
#include <kasane/run/model/model_preview.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

constexpr std::uint8_t previewed_halo_type = 1;
constexpr int columns = 600, rows = 480;

enum class Look { disk, stars, halo };

Look look_of(const gravity::Component& c) {
    return gravity::is_disk(c.law) ? Look::disk : c.type == previewed_halo_type ? Look::halo : Look::stars;
}

/// The points of the picture, one group for each kind of component that is there.
struct Sample {
    std::vector<Vec3<double>> position;
    std::vector<double> weight;  // mass
    std::vector<std::uint8_t> group;
    std::vector<Look> look;  // of each group
    std::vector<std::string> name;
    std::vector<double> mass;
};

Sample draw(const gravity::Galaxy& galaxy, index_t points, Cpu on) {
    Sample sample;
    const auto& components = galaxy.model().components;
    const auto parts = std::count_if(components.begin(), components.end(), [](const auto& c) { return !gravity::is_black_hole(c.law); });
    std::size_t disk = 0;
    const int threads = thread_count(on);
    for (std::size_t k = 0; k < components.size(); ++k) {
        const auto& component = components[k];
        if (gravity::is_black_hole(component.law)) continue;
        const auto look = look_of(component);
        const auto at = static_cast<std::size_t>(std::find(sample.look.begin(), sample.look.end(), look) - sample.look.begin());
        if (at == sample.look.size()) sample.look.push_back(look), sample.name.emplace_back(), sample.mass.push_back(0);
        sample.name[at] += (sample.name[at].empty() ? "" : ", ") + component.label();
        sample.mass[at] += component.mass;
        const auto first = sample.position.size(), n = static_cast<std::size_t>(points / parts);
        sample.position.resize(first + n);
        sample.weight.resize(first + n, component.mass / static_cast<double>(n));
        sample.group.resize(first + n, static_cast<std::uint8_t>(at));
        const auto* sphere = galaxy.sphere(k);
        TableMemory here(on);
        const auto of_disk = sphere ? gravity::DiskDraw{} : gravity::DiskDraw::of(*galaxy.disks(), disk++, here);
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
        for (std::size_t i = first; i < first + n; ++i) {
            RandomStream random(galaxy.model().seed, i);
            if (sphere) {
                const double r = sphere->radius(component.mass * random.uniform());
                sample.position[i] = r * random_direction(random);
            } else {
                sample.position[i] = of_disk(random).position;
            }
        }
    }
    return sample;
}

/// Half the width of a square about the centre that holds `share` of the mass of these groups on the sky.
double extent(const Sample& sample, const std::vector<bool>& counts, double share) {
    std::vector<std::pair<double, double>> far;  // distance, mass
    double total = 0;
    for (std::size_t i = 0; i < sample.group.size(); ++i) {
        if (!counts[sample.group[i]]) continue;
        const auto& r = sample.position[i];
        far.emplace_back(std::max(std::abs(r.x), std::abs(r.y)), sample.weight[i]);
        total += sample.weight[i];
    }
    std::sort(far.begin(), far.end());
    double sum = 0;
    for (const auto& [distance, mass] : far)
        if ((sum += mass) >= share * total) return distance;
    return far.empty() ? 1 : far.back().first;
}

}  // namespace

Preview make_preview(const gravity::Galaxy& galaxy, Cpu on, index_t points) {
    Preview preview;
    const auto sample = draw(galaxy, points, on);
    const auto groups = sample.look.size();
    preview.drawn = std::ssize(sample.position);
    if (groups == 0) return preview;

    const bool has_halo = groups > 1 && std::count(sample.look.begin(), sample.look.end(), Look::halo) > 0;
    std::vector<bool> bright;
    std::vector<double> hues;
    double dark_mass = 0, bright_mass = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const bool dark = has_halo && sample.look[g] == Look::halo;
        bright.push_back(!dark);
        (dark ? dark_mass : bright_mass) += sample.mass[g];
        hues.push_back(groups == 1 ? 280 : dark ? 305 : sample.look[g] == Look::disk ? 248 : 68);
    }
    const Palette palette(hues);
    std::vector<double> weights;
    for (std::size_t g = 0; g < groups; ++g) {
        // Most of the mass is dark; drawn as it is, it would outshine the stars.
        weights.push_back(bright[g] ? 1 : std::min(1.0, 0.5 * bright_mass / dark_mass));
        preview.groups.push_back({sample.name[g], palette.ramp(g), weights[g]});
    }

    auto& window = preview.window;
    window.columns = columns, window.rows = rows;
    window.height = 2.2 * std::max(extent(sample, bright, 0.95), 1e-300);
    window.width = window.height * columns / rows;
    std::vector<Density> parts[2];
    for (int p = 0; p < 2; ++p) {
        parts[p] = surface_densities(window, p == 0 ? Plane::xy : Plane::xz, view(sample.position), view(sample.weight), view(sample.group),
                                     weights);
        preview.exposure.include(total(parts[p]));
    }
    preview.exposure.limit();
    const Tone tone(preview.exposure);
    for (int p = 0; p < 2; ++p) preview.png[p] = encode_png(paint(parts[p], tone, palette));
    return preview;
}

}  // namespace kasane::run
