// Three passes over the snapshots: a few set the window, a few set the scale of brightness, all give frames.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/report/color.hpp>
#include <kasane/report/image.hpp>
#include <kasane/report/paint.hpp>
#include <kasane/run/gravity/film.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
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

/// Reads snapshots, and notes once for each that it cannot be read.
class SnapshotReader {
   public:
    SnapshotReader(const History& history, std::vector<std::string>& notes) : history_(history), notes_(notes) {}

    std::optional<gravity::Snapshot> read(std::size_t index) {
        const auto& path = history_.snapshots[index];
        try {
            return gravity::read_snapshot(path);
        } catch (const Error& error) {
            if (bad_.insert(index).second) notes_.push_back(fmt::format("{} is left out: {}", path.filename().string(), error.what()));
            return std::nullopt;
        }
    }

   private:
    const History& history_;
    std::vector<std::string>& notes_;
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

/// Extends the box to most of the stars, or to the inner part of haloes.
void include(Extent& box, const gravity::Particles& particles, const Groups& groups) {
    const auto group = groups.of(particles);
    const bool has_dark = groups.group.back().dark, stars_alone = !groups.haloes_drawn;
    for (const auto axis : {&Vec3<double>::x, &Vec3<double>::y, &Vec3<double>::z}) {
        std::vector<double> bright, other;
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (group[i] == Groups::hidden) continue;
            const double v = particles.position[i].*axis;
            if (std::isfinite(v)) (has_dark && !groups.group[group[i]].dark ? bright : other).push_back(v);
        }
        box.include(bright, axis, 0.03);
        box.include(other, axis, has_dark ? 0.25 : stars_alone ? 0.015 : 0.12);
    }
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

std::vector<Density> densities(const Window& window, Plane plane, const gravity::Particles& particles, const Groups& groups,
                               const std::vector<std::uint8_t>& group) {
    std::vector<Density> result;
    for (std::size_t g = 0; g < groups.group.size(); ++g) {
        result.push_back(
            surface_density(window, plane, view(particles.position), view(particles.mass), view(group), static_cast<std::uint8_t>(g)));
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

/// Executes body(0) and body(1) at the same time, and throws an exception of either.
template <class F>
void both_planes(F body) {
    std::exception_ptr thrown;
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int p = 0; p < 2; ++p) {
        try {
            body(p);
        } catch (...) {
#pragma omp critical(kasane_report_film)
            thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

constexpr Plane planes[2] = {Plane::xy, Plane::xz};

/// The three passes.
class Maker {
   public:
    Maker(const History& history, const FilmOptions& options) : history_(history), options_(options), source_(history, film_.notes) {}

    Film make() {
        if (!choose_window()) return std::move(film_);
        choose_scale();
        fit_size();
        for (std::size_t g = 0; g < film_.groups.group.size(); ++g) film_.ramps.push_back(palette_->ramp(g));
        render();
        return std::move(film_);
    }

   private:
    /// False when no snapshot can be read.
    bool choose_window() {
        for (const auto index : evenly(history_.snapshots.size(), 7)) {
            const auto snapshot = source_.read(index);
            if (!snapshot) continue;
            if (probes_.empty()) film_.groups = make_groups(snapshot->particles, history_);
            include(box_, snapshot->particles, film_.groups);
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
            if (const auto snapshot = source_.read(probes_[k])) film_.exposure.include(total(front(snapshot->particles)));
        film_.exposure.limit();
        tone_.emplace(film_.exposure);
    }

    /// Takes fewer pixels where all pictures together are too large. Small pictures take more bytes per pixel than large ones, so the
    /// estimate is repeated.
    void fit_size() {
        const auto snapshot = source_.read(probes_[probes_.size() / 2]);
        if (!snapshot) return;
        for (int round = 0; round < 3; ++round) {
            const auto one = layers(front(snapshot->particles), *tone_, *palette_);
            const double both = 1 + static_cast<double>(film_.side.rows) / film_.window.rows;
            const double all = both * static_cast<double>(shown().size() * (one.light.size() + one.tint.size()));
            const double share = static_cast<double>(options_.most_bytes) / all;
            if (share >= 1) return;
            auto& w = film_.window;
            w = sized(w, static_cast<double>(w.columns) / w.rows, 0.97 * share * w.columns * w.rows);
            film_.side = side_of(w, box_);
        }
    }

    void render() {
        const auto indices = shown();
        std::set<std::size_t> still_frames;
        for (const auto k : evenly(indices.size(), options_.stills)) still_frames.insert(indices[k]);
        for (const auto index : indices) {
            const auto snapshot = source_.read(index);
            if (!snapshot) continue;
            Film::Frame frame;
            frame.time = snapshot->time;
            const auto group = film_.groups.of(snapshot->particles);
            const bool is_still = still_frames.count(index) > 0;
            Film::Still still{film_.frames.size(), {}, 0, {}};
            both_planes([&](int p) {
                const auto parts = densities(p == 0 ? film_.window : film_.side, planes[p], snapshot->particles, film_.groups, group);
                frame.picture[p] = layers(parts, *tone_, *palette_);
                if (!is_still) return;
                const auto small = shrink(paint(parts, *tone_, *palette_), 2);
                still.png[p] = encode_png(small);
                still.rows[p] = small.height;
            });
            if (is_still) {
                still.columns = film_.window.columns / 2;
                film_.stills.push_back(std::move(still));
            }
            if (const auto& member = film_.groups.member; member.objects() == 2) {
                const auto apart = center_of(snapshot->particles, member, 1) - center_of(snapshot->particles, member, 0);
                frame.separation = std::sqrt(dot(apart, apart));
            }
            film_.frames.push_back(std::move(frame));
        }
    }

    std::vector<Density> front(const gravity::Particles& particles) const {
        return densities(film_.window, Plane::xy, particles, film_.groups, film_.groups.of(particles));
    }
    std::vector<std::size_t> shown() const { return evenly(history_.snapshots.size(), options_.most_frames); }
    const History& history_;
    const FilmOptions& options_;
    Film film_;
    SnapshotReader source_;
    Extent box_;
    std::vector<std::size_t> probes_;
    std::optional<Palette> palette_;
    std::optional<Tone> tone_;
};

}  // namespace

Film make_film(const History& history, const FilmOptions& options) { return Maker(history, options).make(); }

}  // namespace kasane::run
