// Three passes over the scenes: a few (of few points: all) set the window, a few set the scale of brightness, all give frames.
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/report/film.hpp>
#include <kasane/report/image.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <optional>
#include <set>

namespace kasane::report {
namespace {

/// At most n of `count` indices, evenly, the first and the last among them.
std::vector<std::size_t> evenly(std::size_t count, int n) {
    std::vector<std::size_t> chosen;
    const auto many = std::min(count, static_cast<std::size_t>(std::max(n, 1)));
    for (std::size_t k = 0; k < many; ++k) chosen.push_back(many == 1 ? count - 1 : k * (count - 1) / (many - 1));
    return chosen;
}

/// The value of this rank, from 0.
double ranked(std::vector<double>& values, std::size_t rank) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

struct Extent {
    Vec3<double> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};

    /// The same number of values lies below `low` and above `high`: none of two, so that a pair is whole.
    void include(std::vector<double>& values, double Vec3<double>::* axis, double outside) {
        if (values.empty()) return;
        const auto last = values.size() - 1, beyond = static_cast<std::size_t>(outside * static_cast<double>(last));
        low.*axis = std::min(low.*axis, ranked(values, beyond));
        high.*axis = std::max(high.*axis, ranked(values, last - beyond));
    }
};

constexpr std::size_t most_in_window = 1 << 20;  ///< points that set the window: a quantile then errs by a thousandth of its rank
constexpr std::size_t few_points = 10'000;       ///< of a scene, so that every scene that is shown can set the window

/// Extends the box to the points of the scene, without the shares that may lie outside. Of more than `most_in_window` points it takes every
/// second, every third, ...
void include(Extent& box, const Scene& scene, const std::vector<SceneGroup>& groups) {
    const auto& group = scene.group;
    const auto stride = std::max<std::size_t>(1, (group.size() + most_in_window - 1) / most_in_window);
    std::vector<std::size_t> count(groups.size());
    for (std::size_t i = 0; i < group.size(); i += stride)
        if (group[i] < groups.size()) ++count[group[i]];
    std::map<double, std::size_t> points;  // by the share outside
    for (std::size_t g = 0; g < groups.size(); ++g) points[groups[g].outside] += count[g];
    constexpr double Vec3<double>::* axes[] = {&Vec3<double>::x, &Vec3<double>::y, &Vec3<double>::z};
    for_each_part(thread_count(Cpu{}), 3, [&](index_t a) {
        const auto axis = axes[a];
        std::map<double, std::vector<double>> values;  // by the share outside
        for (const auto& [outside, some] : points) values[outside].reserve(some);
        std::vector<std::vector<double>*> of_group;
        for (const auto& g : groups) of_group.push_back(&values[g.outside]);
        for (std::size_t i = 0; i < group.size(); i += stride) {
            const double v = scene.position[i].*axis;
            if (group[i] < groups.size() && std::isfinite(v)) of_group[group[i]]->push_back(v);
        }
        for (auto& [outside, some] : values) box.include(some, axis, outside);
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
    Maker(Scenes& scenes, const FilmOptions& options) : scenes_(scenes), options_(options) {}

    Film make() {
        if (!choose_window()) return std::move(film_);
        choose_scale();
        fit_size();
        for (std::size_t g = 0; g < groups_.size(); ++g) film_.ramps.push_back(palette_->ramp(g));
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

    /// False when no scene can be read.
    bool choose_window() {
        std::size_t most = 0;  // points of a scene
        for (const auto index : evenly(scenes_.count(), 7)) {
            const auto scene = scenes_.read(index);
            if (!scene) continue;
            if (probes_.empty()) groups_ = scenes_.groups();
            include(box_, *scene, groups_);
            probes_.push_back(index);
            most = std::max(most, scene->group.size());
        }
        if (probes_.empty()) return false;
        if (most <= few_points)  // an orbit may be on one side in all probes
            for (const auto index : shown())
                if (const auto scene = scenes_.read(index)) include(box_, *scene, groups_);
        film_.window = window_of(box_, options_.pixels);
        film_.side = side_of(film_.window, box_);
        std::vector<double> hues;
        for (const auto& g : groups_) hues.push_back(g.hue);
        palette_.emplace(hues);
        return true;
    }

    void choose_scale() {
        for (const auto k : evenly(probes_.size(), 4))
            if (const auto scene = scenes_.read(probes_[k])) film_.exposure.include(total(fronts_[probes_[k]] = front(*scene)));
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
        const auto scene = scenes_.read(probes_[probes_.size() / 2]);
        if (!scene) return;
        for (int round = 0; round < 3; ++round) {
            const auto one = encode_layers(front(*scene), *tone_, *palette_);
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
            const auto scene = scenes_.read(index);
            if (!scene) continue;
            auto& next = drawn.emplace_back();
            next.frame = film_.frames.size();
            auto& frame = film_.frames.emplace_back();
            frame.scene = index;
            frame.time = scene->time;
            if (still_frames.count(index) > 0) {
                next.still = film_.stills.size();
                film_.stills.push_back({next.frame, {}, film_.window.columns / 2, {}});
            }
            const auto known = fronts_.find(index);
            next.parts[0] = known != fronts_.end() ? std::move(known->second) : front(*scene);
            next.parts[1] = densities(film_.side, Plane::xz, *scene);
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
                film_.frames[one.frame].picture[p] = encode_layers(one.parts[p], *tone_, *palette_);
            } else if (one.still) {
                auto& still = film_.stills[*one.still];
                const auto small = shrink(paint(one.parts[p], *tone_, *palette_), 2);
                still.png[p] = encode_png(small);
                still.rows[p] = small.height;
            }
        });
        drawn.clear();
    }

    std::vector<Density> densities(const Window& window, Plane plane, const Scene& scene) const {
        std::vector<double> weights;
        for (const auto& g : groups_) weights.push_back(g.weight);
        return surface_densities(window, plane, view(scene.position), view(scene.mass), view(scene.group), weights);
    }
    std::vector<Density> front(const Scene& scene) const { return densities(film_.window, Plane::xy, scene); }
    std::vector<std::size_t> shown() const { return evenly(scenes_.count(), options_.most_frames); }

    Scenes& scenes_;
    const FilmOptions& options_;
    Film film_;
    std::vector<SceneGroup> groups_;
    Extent box_;
    std::vector<std::size_t> probes_;
    std::map<std::size_t, std::vector<Density>> fronts_;  ///< densities of probes in the x-y window
    std::optional<Palette> palette_;
    std::optional<Tone> tone_;
};

}  // namespace

Film make_film(Scenes& scenes, const FilmOptions& options) { return Maker(scenes, options).make(); }

}  // namespace kasane::report
