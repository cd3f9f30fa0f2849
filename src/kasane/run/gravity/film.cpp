#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/film.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kasane::run {
namespace {

/// Scenes in memory for the next pass take at most this, and a quarter of the free memory. To read a snapshot of many particles again takes
/// less time than to draw it.
constexpr std::uint64_t most_kept = std::uint64_t{16} << 20;

/// Reads snapshots, makes the groups from the first one, and notes once for each that it cannot be read.
class SnapshotScenes : public report::Scenes {
   public:
    SnapshotScenes(const History& history, Film& film)
        : history_(history), film_(film), bytes_left_(std::min(available_memory(Cpu{}) / 4, most_kept)) {}

    std::size_t count() const override { return history_.snapshots.size(); }

    std::shared_ptr<const report::Scene> read(std::size_t index) override {
        if (const auto kept = kept_.find(index); kept != kept_.end()) return kept->second;
        const auto& path = history_.snapshots[index];
        gravity::Snapshot snapshot;
        try {
            snapshot = gravity::read_snapshot(path, {.velocities = false});
        } catch (const Error& error) {
            if (bad_.insert(index).second) film_.notes.push_back(fmt::format("{} is left out: {}", path.filename().string(), error.what()));
            return nullptr;
        }
        auto& particles = snapshot.particles;
        if (film_.groups.group.empty()) film_.groups = make_groups(particles, history_);
        auto& separation = separation_[index] = unknown;
        if (const auto& member = film_.groups.member; member.objects() == 2) {
            const auto apart = center_of(particles, member, 1) - center_of(particles, member, 0);
            separation = std::sqrt(dot(apart, apart));
        }
        auto group = film_.groups.of(particles);
        const auto scene = std::make_shared<const report::Scene>(
            report::Scene{snapshot.time, std::move(particles.position), std::move(particles.mass), std::move(group)});
        if (scene->bytes() <= bytes_left_) bytes_left_ -= scene->bytes(), kept_[index] = scene;
        return scene;
    }

    /// The window shows most of the stars and the inner part of haloes.
    std::vector<report::SceneGroup> groups() const override {
        const auto& all = film_.groups.group;
        const bool has_dark = all.back().dark, stars_alone = !film_.groups.haloes_drawn;
        std::vector<report::SceneGroup> result;
        for (const auto& g : all) result.push_back({g.hue, g.weight, g.dark ? 0.25 : has_dark ? 0.03 : stars_alone ? 0.015 : 0.12});
        return result;
    }

    /// Distance of the centres of two objects in a scene that was read, [length].
    double separation(std::size_t index) const { return separation_.at(index); }

   private:
    const History& history_;
    Film& film_;
    std::uint64_t bytes_left_;
    std::map<std::size_t, std::shared_ptr<const report::Scene>> kept_;
    std::map<std::size_t, double> separation_;
    std::set<std::size_t> bad_;
};

}  // namespace

ReportMemory report_memory() {
    // Measured: 37 MiB with two threads and 60 frames of particles in one group. Each four threads draw another frame, whose
    // densities and pictures take 16 MiB with five groups.
    constexpr std::uint64_t MiB = 1 << 20;
    return {most_kept + 40 * MiB + 16 * MiB * static_cast<std::uint64_t>(std::max(0, thread_count(Cpu{}) / 4 - 1))};
}

Film make_film(const History& history, const report::FilmOptions& options) {
    Film film;
    SnapshotScenes scenes(history, film);
    static_cast<report::Film&>(film) = report::make_film(scenes, options);
    for (const auto& frame : film.frames) film.separation.push_back(scenes.separation(frame.scene));
    return film;
}

}  // namespace kasane::run
