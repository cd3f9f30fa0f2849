// Three passes over the snapshots: a few set the window, a few set the scale of brightness, all give frames.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/report/color.hpp>
#include <kasane/report/image.hpp>
#include <kasane/report/paint.hpp>
#include <kasane/run/gravity/film.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace kasane::run {

using namespace report;

namespace {

constexpr int tint_factor = 8;  // a pixel of the colour layer covers 8 x 8 of the lightness layer

/// At most n of `count` indices, evenly, the first and the last among them.
std::vector<std::size_t> evenly(std::size_t count, int n) {
    std::vector<std::size_t> chosen;
    const auto many = std::min(count, static_cast<std::size_t>(std::max(n, 1)));
    for (std::size_t k = 0; k < many; ++k) chosen.push_back(many == 1 ? count - 1 : k * (count - 1) / (many - 1));
    return chosen;
}

/// The particles of a snapshot, without velocities, and their groups.
struct Scene {
    double time = 0;
    gravity::Particles particles;
    std::vector<std::uint8_t> group;

    std::uint64_t bytes() const { return group.size() * (sizeof(Vec3<double>) + sizeof(double) + sizeof(std::uint64_t) + 2); }
};

/// Reads snapshots, makes the groups from the first one, and notes once for each that it cannot be read. Scenes are kept for the next pass
/// while they take less than a quarter of the memory that was free at the start.
class SceneReader {
   public:
    SceneReader(const History& history, Film& film) : history_(history), film_(film), bytes_left_(available_memory(Cpu{}) / 4) {}

    /// Null where the snapshot cannot be read.
    std::shared_ptr<const Scene> read(std::size_t index) {
        if (const auto kept = kept_.find(index); kept != kept_.end()) return kept->second;
        const auto& path = history_.snapshots[index];
        auto scene = std::make_shared<Scene>();
        try {
            auto snapshot = gravity::read_snapshot(path, {.velocities = false});
            scene->time = snapshot.time;
            scene->particles = std::move(snapshot.particles);
        } catch (const Error& error) {
            if (bad_.insert(index).second) film_.notes.push_back(fmt::format("{} is left out: {}", path.filename().string(), error.what()));
            return nullptr;
        }
        if (film_.groups.group.empty()) film_.groups = make_groups(scene->particles, history_);
        scene->group = film_.groups.of(scene->particles);
        if (scene->bytes() <= bytes_left_) bytes_left_ -= scene->bytes(), kept_[index] = scene;
        return scene;
    }

   private:
    const History& history_;
    Film& film_;
    std::uint64_t bytes_left_;
    std::map<std::size_t, std::shared_ptr<const Scene>> kept_;
    std::set<std::size_t> bad_;
};

/// The value below which `share` of the values lie.
template <class T>
T quantile(std::vector<T>& values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

struct Extent {
    Vec3<double> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

    void include(std::vector<double>& values, double Vec3<double>::* axis, double outside) {
        if (values.empty()) return;
        low.*axis = std::min(low.*axis, quantile(values, outside));
        high.*axis = std::max(high.*axis, quantile(values, 1 - outside));
    }
};

constexpr std::size_t most_in_window = 1 << 20;  ///< particles that set the window: a quantile then errs by a thousandth of its rank

/// Extends the box to most of the stars, or to the inner part of haloes. Of more than `most_in_window` particles it takes every second,
/// every third, ...
void include(Extent& box, const Scene& scene, const Groups& groups) {
    const auto& group = scene.group;
    const bool has_dark = groups.group.back().dark, stars_alone = !groups.haloes_drawn;
    const auto stride = std::max<std::size_t>(1, (group.size() + most_in_window - 1) / most_in_window);
    constexpr double Vec3<double>::* axes[] = {&Vec3<double>::x, &Vec3<double>::y, &Vec3<double>::z};
    for_each_part(thread_count(Cpu{}), 3, [&](index_t a) {
        const auto axis = axes[a];
        std::vector<double> bright, other;
        for (std::size_t i = 0; i < group.size(); i += stride) {
            if (group[i] == Groups::hidden) continue;
            const double v = scene.particles.position[i].*axis;
            if (std::isfinite(v)) (has_dark && !groups.group[group[i]].dark ? bright : other).push_back(v);
        }
        box.include(bright, axis, 0.03);
        box.include(other, axis, has_dark ? 0.25 : stars_alone ? 0.015 : 0.12);
    });
}

/// Sets columns and rows for about this number of pixels, in whole pixels of the colour layer, so that both layers end at the same edge.
Window sized(Window w, double aspect, double pixels) {
    w.columns = std::max(4, static_cast<int>(std::sqrt(pixels * aspect)) / tint_factor) * tint_factor;
    w.rows = std::max(4, static_cast<int>(w.columns / aspect) / tint_factor) * tint_factor;
    w.height = w.width * w.rows / w.columns;
    return w;
}

constexpr double border = 1.22;  // of a window, relative to the box that it shows

/// The x-y window about the box: landscape, between 4:3 and 8:5, as screens are; pixels square. As wide as the x-z window needs.
Window window_of(const Extent& box, double pixels) {
    const auto extent = box.high - box.low;
    Window w;
    w.center = 0.5 * (box.low + box.high);
    const double least = 1e-9 * (1 + std::abs(w.center.x) + std::abs(w.center.y) + std::abs(w.center.z));
    const double height = border * std::max(extent.y, least), width = border * std::max(extent.x, least);
    const double aspect = std::clamp(width / height, 4.0 / 3, 1.6);
    w.width = std::max({width, height * aspect, border * extent.z * aspect});
    return sized(w, aspect, pixels);
}

/// The x-z window below it: as high as the box, at least 3/8 and at most all of the x-y window's height.
Window side_of(const Window& front, const Extent& box) {
    const double height = std::clamp(border * (box.high.z - box.low.z), 0.375 * front.height, front.height);
    Window w = front;
    w.rows = std::clamp(static_cast<int>(std::lround(height / front.pixel() / tint_factor)) * tint_factor, tint_factor, front.rows);
    w.height = w.rows * front.pixel();
    return w;
}

std::vector<Density> densities(const Window& window, Plane plane, const Scene& scene, const Groups& groups) {
    std::vector<Density> result;
    for (std::size_t g = 0; g < groups.group.size(); ++g) {
        result.push_back(surface_density(window, plane, view(scene.particles.position), view(scene.particles.mass), view(scene.group),
                                         static_cast<std::uint8_t>(g)));
        const auto weight = static_cast<float>(groups.group[g].weight);
        for (auto& v : result.back().value) v *= weight;
    }
    return result;
}

/// Quantises lightness: fine steps in the dark, where pictures are smooth and an edge is visible, coarse steps in the light, where they are
/// grainy and need many bytes. step(level) is the nearest step; level(step) is its inverse.
class LightnessSteps {
   public:
    static constexpr int count = 80;
    LightnessSteps() {
        for (int s = 0; s < count; ++s) level_.push_back(static_cast<std::uint8_t>(std::lround(255 * std::pow(s / (count - 1.0), 1.6))));
        for (int v = 0, s = 0; v < 256; ++v) {
            while (s + 1 < count && std::abs(level_[s + 1] - v) <= std::abs(level_[s] - v)) ++s;
            step_.push_back(static_cast<std::uint8_t>(s));
        }
    }
    std::uint8_t step(int level) const { return step_[static_cast<std::size_t>(level)]; }
    std::uint8_t level(int step) const { return level_[static_cast<std::size_t>(step)]; }

   private:
    std::vector<std::uint8_t> level_, step_;
};

std::uint8_t brightest_channel(const Rgb& c) { return std::max({c.r, c.g, c.b}); }

/// One layer in the colours of the only group, or two layers with colour = light * tint / 255 in each channel.
Film::Picture layers(const std::vector<Density>& parts, const Tone& tone, const Palette& palette) {
    static const LightnessSteps steps;
    IndexedImage light{parts[0].columns, parts[0].rows, {}, {}};
    if (parts.size() == 1) {
        const double all = 1;
        for (int s = 0; s < LightnessSteps::count; ++s) light.color.push_back(palette(steps.level(s), &all));
        for (const float v : parts[0].value) light.pixel.push_back(steps.step(tone(v)));
        return {encode_png(light), {}};
    }
    const auto image = paint(parts, tone, palette);
    for (int s = 0; s < LightnessSteps::count; ++s) light.color.push_back({steps.level(s), steps.level(s), steps.level(s)});
    for (const auto& c : image.pixel) light.pixel.push_back(steps.step(brightest_channel(c)));
    auto tint = shrink(image, tint_factor);
    for (auto& c : tint.pixel) {
        const int top = std::max<int>(1, brightest_channel(c));
        const auto full = [&](int channel) { return static_cast<std::uint8_t>(channel * 255 / top); };
        c = {full(c.r), full(c.g), full(c.b)};
    }
    return {encode_png(light), encode_png(tint)};
}

/// Executes body(0), body(1), ... on all threads, and throws an exception of one of them.
template <class F>
void execute(index_t count, const F& body) {
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
    for_each_part(thread_count(Cpu{}), count, [&](index_t k) {
        try {
            body(k);
        } catch (...) {
            thrown[static_cast<std::size_t>(k)] = std::current_exception();
        }
    });
    for (const auto& error : thrown)
        if (error) std::rethrow_exception(error);
}

/// The three passes.
class Maker {
   public:
    Maker(const History& history, const FilmOptions& options) : history_(history), options_(options), source_(history, film_) {}

    Film make() {
        if (!choose_window()) return std::move(film_);
        choose_scale();
        fit_size();
        for (std::size_t g = 0; g < film_.groups.group.size(); ++g) film_.ramps.push_back(palette_->ramp(g));
        render();
        return std::move(film_);
    }

   private:
    /// A frame whose pictures are not encoded yet.
    struct Drawn {
        std::size_t frame = 0;
        std::optional<std::size_t> still;
        std::vector<Density> parts[2];
    };

    /// False when no snapshot can be read.
    bool choose_window() {
        for (const auto index : evenly(history_.snapshots.size(), 7)) {
            const auto scene = source_.read(index);
            if (!scene) continue;
            include(box_, *scene, film_.groups);
            probes_.push_back(index);
        }
        if (probes_.empty()) return false;
        film_.window = window_of(box_, options_.pixels);
        film_.side = side_of(film_.window, box_);
        std::vector<double> hues;
        for (const auto& g : film_.groups.group) hues.push_back(g.hue);
        palette_.emplace(hues);
        return true;
    }

    void choose_scale() {
        for (const auto k : evenly(probes_.size(), 4))
            if (const auto scene = source_.read(probes_[k])) film_.exposure.include(total(fronts_[probes_[k]] = front(*scene)));
        film_.exposure.limit();
        tone_.emplace(film_.exposure);
    }

    /// Ratio of the pixels of both pictures of a frame to those of the first.
    double both_planes() const { return 1 + static_cast<double>(film_.side.rows) / film_.window.rows; }

    /// Do all pictures fit even if PNG does not compress them? A layer in colour has 3 bytes for every tint_factor^2 pixels.
    bool fits_uncompressed() const {
        constexpr double bytes_of_a_pixel = 1.1 * (1 + 3.0 / (tint_factor * tint_factor)), headers = 4096;
        const double one = bytes_of_a_pixel * film_.window.columns * film_.window.rows + headers;
        return both_planes() * static_cast<double>(shown().size()) * one <= static_cast<double>(options_.most_bytes);
    }

    /// Takes fewer pixels where all pictures together are too large. Small pictures take more bytes per pixel than large ones, so the
    /// estimate is repeated.
    void fit_size() {
        if (fits_uncompressed()) return;
        const auto scene = source_.read(probes_[probes_.size() / 2]);
        if (!scene) return;
        for (int round = 0; round < 3; ++round) {
            const auto one = layers(front(*scene), *tone_, *palette_);
            const double all = both_planes() * static_cast<double>(shown().size() * (one.light.size() + one.tint.size()));
            const double share = static_cast<double>(options_.most_bytes) / all;
            if (share >= 1) return;
            fronts_.clear();
            auto& w = film_.window;
            w = sized(w, static_cast<double>(w.columns) / w.rows, 0.97 * share * w.columns * w.rows);
            film_.side = side_of(w, box_);
        }
    }

    void render() {
        const auto indices = shown();
        const auto at_once =
            static_cast<std::size_t>(std::max(1, thread_count(Cpu{}) / 4));  // frames: up to four pictures are encoded of each
        std::set<std::size_t> still_frames;
        for (const auto k : evenly(indices.size(), options_.stills)) still_frames.insert(indices[k]);
        std::vector<Drawn> drawn;
        for (const auto index : indices) {
            const auto scene = source_.read(index);
            if (!scene) continue;
            auto& next = drawn.emplace_back();
            next.frame = film_.frames.size();
            auto& frame = film_.frames.emplace_back();
            frame.time = scene->time;
            if (still_frames.count(index) > 0) {
                next.still = film_.stills.size();
                film_.stills.push_back({next.frame, {}, film_.window.columns / 2, {}});
            }
            const auto known = fronts_.find(index);
            next.parts[0] = known != fronts_.end() ? std::move(known->second) : front(*scene);
            next.parts[1] = densities(film_.side, Plane::xz, *scene, film_.groups);
            if (const auto& member = film_.groups.member; member.objects() == 2) {
                const auto apart = center_of(scene->particles, member, 1) - center_of(scene->particles, member, 0);
                frame.separation = std::sqrt(dot(apart, apart));
            }
            if (drawn.size() == at_once) encode(drawn);
        }
        encode(drawn);
    }

    /// Encodes the pictures of these frames, and forgets their densities.
    void encode(std::vector<Drawn>& drawn) {
        execute(4 * std::ssize(drawn), [&](index_t k) {
            const auto& one = drawn[static_cast<std::size_t>(k / 4)];
            const auto p = static_cast<std::size_t>(k % 2);
            if (k % 4 < 2) {
                film_.frames[one.frame].picture[p] = layers(one.parts[p], *tone_, *palette_);
            } else if (one.still) {
                auto& still = film_.stills[*one.still];
                const auto small = shrink(paint(one.parts[p], *tone_, *palette_), 2);
                still.png[p] = encode_png(small);
                still.rows[p] = small.height;
            }
        });
        drawn.clear();
    }

    std::vector<Density> front(const Scene& scene) const { return densities(film_.window, Plane::xy, scene, film_.groups); }
    std::vector<std::size_t> shown() const { return evenly(history_.snapshots.size(), options_.most_frames); }
    const History& history_;
    const FilmOptions& options_;
    Film film_;
    SceneReader source_;
    Extent box_;
    std::vector<std::size_t> probes_;
    std::map<std::size_t, std::vector<Density>> fronts_;  ///< densities of probes in the x-y window
    std::optional<Palette> palette_;
    std::optional<Tone> tone_;
};

}  // namespace

Film make_film(const History& history, const FilmOptions& options) { return Maker(history, options).make(); }

}  // namespace kasane::run
