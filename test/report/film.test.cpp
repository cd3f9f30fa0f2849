// A film of scenes and its player: windows, frames and bytes; and the HTML that shows them.
#include <kasane/report/image.hpp>
#include <kasane/report/player.hpp>
#include <test/report/markup.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace {

using namespace kasane;
using namespace kasane::report;

/// Two clouds of width 0.5, one of each group, at x = -apart / 2 and x = apart / 2; they pass each other from scene to scene.
class Clouds : public Scenes {
   public:
    explicit Clouds(std::size_t count, std::size_t damaged = 100) : count_(count), damaged_(damaged) {}

    std::size_t count() const override { return count_; }
    std::shared_ptr<const Scene> read(std::size_t index) override {
        if (index == damaged_) return nullptr;
        auto scene = std::make_shared<Scene>();
        scene->time = static_cast<double>(index);
        std::mt19937_64 random(index);
        std::normal_distribution<double> normal(0, 0.5);
        const double half = 6 - static_cast<double>(index);
        for (int i = 0; i < 400; ++i) {
            const auto g = static_cast<std::uint8_t>(i % 2);
            scene->position.push_back({normal(random) + (g == 0 ? -half : half), normal(random), normal(random)});
            scene->mass.push_back(1);
            scene->group.push_back(g);
        }
        scene->position.push_back({1e6, 0, 0}), scene->mass.push_back(1e6), scene->group.push_back(255);  // not drawn
        scene->position.push_back({std::nan(""), 0, 0}), scene->mass.push_back(1), scene->group.push_back(0);
        return scene;
    }
    std::vector<SceneGroup> groups() const override { return {{62, 1, 0.03}, {240, 1, 0.03}}; }

   private:
    std::size_t count_, damaged_;
};

std::size_t bytes(const Film& film) {
    std::size_t sum = 0;
    for (const auto& frame : film.frames)
        for (const auto& picture : frame.picture) sum += picture.light.size() + picture.tint.size();
    return sum;
}

TEST(Film, TheWindowsShowThePointsOfAllScenes) {
    Clouds clouds(4);
    const auto film = make_film(clouds);
    ASSERT_EQ(film.frames.size(), 4U);
    ASSERT_EQ(film.stills.size(), 4U);
    EXPECT_NEAR(film.window.center.x, 0, 0.2);
    EXPECT_GT(film.window.width, 12) << "centres at -6 and 6";
    EXPECT_LT(film.window.width, 25) << "a point that is not drawn does not count";
    EXPECT_DOUBLE_EQ(film.window.width / film.window.columns, film.window.height / film.window.rows);
    EXPECT_EQ(film.side.columns, film.window.columns);
    EXPECT_LT(film.side.rows, film.window.rows) << "the points are flat in z";
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(film.frames[k].scene, k);
        EXPECT_EQ(film.frames[k].time, static_cast<double>(k));
    }
    for (const auto& frame : film.frames)
        for (const auto& picture : frame.picture) {
            EXPECT_FALSE(picture.light.empty());
            EXPECT_FALSE(picture.tint.empty()) << "two groups need a layer of colour";
        }
}

/// Two points on a circle of radius 3; every eighth scene has them on the x axis.
class Orbit : public Scenes {
   public:
    std::size_t count() const override { return 49; }
    std::shared_ptr<const Scene> read(std::size_t index) override {
        const double phase = std::numbers::pi / 8 * static_cast<double>(index);
        const Vec3<double> r{3 * std::cos(phase), 3 * std::sin(phase), 0};
        return std::make_shared<Scene>(Scene{static_cast<double>(index), {r, -1.0 * r}, {1, 1}, {0, 1}});
    }
    std::vector<SceneGroup> groups() const override { return {{62, 1, 0.12}, {240, 1, 0.12}}; }
};

TEST(Film, AnOrbitOfTwoPointsStaysInTheWindow) {
    Orbit orbit;
    const auto film = make_film(orbit);
    ASSERT_EQ(film.frames.size(), 49U);
    for (const auto& frame : film.frames) {
        const auto scene = orbit.read(frame.scene);
        for (const auto& r : scene->position) {
            EXPECT_LT(std::abs(r.x - film.window.center.x), film.window.width / 2) << frame.scene;
            EXPECT_LT(std::abs(r.y - film.window.center.y), film.window.height / 2) << frame.scene;
        }
    }
    EXPECT_LT(film.window.height, 10) << "and fills it";
}

TEST(Film, LeavesScenesOutThatCannotBeRead) {
    Clouds clouds(4, 2);
    const auto film = make_film(clouds);
    ASSERT_EQ(film.frames.size(), 3U);
    EXPECT_EQ(film.frames[2].scene, 3U);
    Clouds one_damaged(1, 0), none(0);
    EXPECT_TRUE(make_film(one_damaged).frames.empty());
    EXPECT_TRUE(make_film(none).frames.empty());
}

TEST(Film, KeepsToItsFramesAndBytes) {
    Clouds clouds(7);
    const auto few = make_film(clouds, {.most_frames = 3, .stills = 1});
    ASSERT_EQ(few.frames.size(), 3U);
    EXPECT_EQ(few.frames[1].scene, 3U);
    EXPECT_EQ(few.stills.size(), 1U);
    EXPECT_EQ(few.stills[0].frame, 2U) << "the last one";
    const auto whole = bytes(make_film(clouds));
    const auto small = make_film(clouds, {.most_bytes = whole / 3});
    EXPECT_LT(bytes(small), whole / 2) << "the size of a picture is estimated from one of them";
    EXPECT_GT(bytes(small), whole / 8);
}

TEST(Player, ShowsBothViewsWithControlsAndEscapesTexts) {
    Clouds clouds(3);
    const auto film = make_film(clouds, {.pixels = 20'000});
    const auto html = player(
        film, {.subject = "points & more", .view = {"front <1>", "side"}, .legend = "<b>legend</b>", .time = {}, .length_unit = "m"});
    EXPECT_EQ(test::markup_problem("<html><body>" + html + "</body></html>", test::Dialect::html), "");
    for (const char* text : {"Film of the points &amp; more", "front &lt;1&gt;", ">side<", "<b>legend</b>",
                             "id=\"seek\" min=\"0\" max=\"2\"", "data-frame=\"2\"", " m</span>", "\"times\":[0,1,2]"})
        EXPECT_NE(html.find(text), std::string::npos) << text;
    Clouds one(1);
    const auto still =
        player(make_film(one, {.pixels = 20'000}), {.subject = "points", .view = {"a", "b"}, .legend = "", .time = {}, .length_unit = ""});
    EXPECT_EQ(still.find("id=\"seek\""), std::string::npos) << "one frame has nothing to play";
    EXPECT_EQ(still.find("class=\"stills\""), std::string::npos);
}

}  // namespace
