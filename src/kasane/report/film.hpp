// A film of points: pictures of its scenes along z and along y, in fixed windows and on one fixed scale of brightness.
// Invariant: every frame has one picture per plane.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/report/paint.hpp>
#include <kasane/report/picture_layers.hpp>
#include <kasane/report/projection.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::report {

/// Points at one time.
struct Scene {
    double time = 0;
    std::vector<Vec3<double>> position;
    std::vector<double> mass;         ///< one per point
    std::vector<std::uint8_t> group;  ///< one per point; points of a group that does not exist are not drawn

    std::size_t bytes() const { return group.size() * (sizeof(Vec3<double>) + sizeof(double) + 1); }
};

/// Points that are drawn in one hue.
struct SceneGroup {
    double hue = 0;      ///< [degrees]
    double weight = 1;   ///< factor of its surface density in the picture
    double outside = 0;  ///< share of its points that may lie beyond each side of the window; groups of one share are counted together
};

/// The scenes that a film shows.
class Scenes {
   public:
    virtual ~Scenes() = default;
    virtual std::size_t count() const = 0;
    /// Scene `index`; null where it cannot be read.
    virtual std::shared_ptr<const Scene> read(std::size_t index) = 0;
    /// Groups of all scenes; called after a scene was read.
    virtual std::vector<SceneGroup> groups() const = 0;
};

struct Film {
    struct Frame {
        std::size_t scene = 0;  ///< index
        double time = 0;
        PictureLayers picture[2];  ///< Plane::xy, Plane::xz
    };
    struct Still {
        std::size_t frame = 0;
        std::vector<std::uint8_t> png[2];  ///< Plane::xy, Plane::xz, in full colour
        int columns = 0, rows[2] = {};
    };

    Window window;  ///< of the x-y pictures
    Window side;    ///< of the x-z pictures: as wide as `window`, with its own height
    Exposure exposure;
    std::vector<std::vector<Rgb>> ramps;  ///< of each group: colours from dark to bright
    std::vector<Frame> frames;
    std::vector<Still> stills;
};

struct FilmOptions {
    int most_frames = 60;
    int stills = 8;
    double pixels = 330'000;             ///< of one picture; fewer where the page would become too large
    std::size_t most_bytes = 5'200'000;  ///< of all pictures; a third more in base64
};

/// Makes the film; without frames if no scene can be read.
Film make_film(Scenes& scenes, const FilmOptions& options = {});

}  // namespace kasane::report
