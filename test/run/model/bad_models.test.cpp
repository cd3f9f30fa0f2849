// Bad model files: exit status 2, every problem with its key and line, and nothing written.
#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <cmath>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class BadModel : public test::CommandTest {
   protected:
    /// `sample` refuses the model with these words at this line (0: none, a key at the top is missing), writes nothing, and leaves what
    /// was there.
    nlohmann::json expect_refused(const std::string& text, int line, const std::vector<std::string>& words) {
        test::write_file(directory / "model.toml", text);
        test::write_file(directory / "kept.hdf5", "years of work");
        const auto outcome = kasane({"sample", "model.toml", "-o", "kept.hdf5", "--force", "--json"});
        test::expect_bad_input(outcome, words);
        EXPECT_TRUE(test::read_file(directory / "kept.hdf5") == "years of work");
        EXPECT_FALSE(fs::exists(directory / ".kept.hdf5.tmp"));
        if (outcome.status != 2) return {};
        const auto object = outcome.json();
        EXPECT_EQ(object["error"]["line"], line > 0 ? nlohmann::json(line) : nlohmann::json()) << object;
        return object;
    }
    static std::string plummer(const std::string& more) {
        return "units = 'nbody'\ncount = 100\n[[component]]\nmodel = 'plummer'\n" + more;  // `more` begins with line 5
    }
    /// A table of r and r^-2.5 / (1 + r)^1.5.
    void write_table(const std::string& name, const std::function<std::string(int row, double r, double rho)>& line) {
        std::string text = "# r rho\n";
        for (int i = 0; i < 20; ++i) {
            const double r = std::pow(10, -2 + 0.25 * i);
            text += line(i, r, std::pow(r, -1) * std::pow(1 + r, -3)) + "\n";
        }
        test::write_file(directory / name, text);
    }
    static std::string row(double r, double rho) { return std::to_string(r) + " " + nlohmann::json(rho).dump(); }
};

TEST_F(BadModel, UnknownProfilesNameTheNearest) {
    expect_refused("units = 'nbody'\ncount = 10\nmodel = 'hernquits'\n", 3, {"model", "hernquits", "Did you mean 'hernquist'?"});
    expect_refused("units = 'nbody'\ncount = 10\n[[component]]\nmodel = 'exponential disk'\n", 4,
                   {"component.0.model", "Did you mean 'exponential-disk'?"});
    expect_refused("units = 'nbody'\ncount = 10\n[[component]]\nmodel = 'point'\n", 4, {"component.0.model", "plummer"});
    expect_refused("units = 'nbody'\ncount = 10\n[[component]]\nmass = 1\n", 3, {"component.0.model", "missing"});
}

TEST_F(BadModel, TwoErrorsAreBothReported) {
    const auto object = expect_refused(
        "units = 'nbody'\ncount = 10\n[[component]]\nmodel = 'nfw'\nscale = 1\n"
        "[[component]]\nname = 'b'\nmodel = 'king'\nscale = 1\nw0 = 30\n",
        3, {"component.0.truncation", "infinite"});
    ASSERT_EQ(object["problems"].size(), 2u) << object;
    EXPECT_EQ(object["problems"][1]["key"], "component.1.w0");
    EXPECT_EQ(object["problems"][1]["line"], 10);
    // One that the file shows and one that only the galaxy shows, each once.
    const auto mixed =
        expect_refused(plummer("mass = -1\ntypo = 3\ntruncation = { radius = 0.1, width = 0.01 }\n"), 5, {"mass", "above 0"});
    ASSERT_EQ(mixed["problems"].size(), 3u) << mixed;
    EXPECT_EQ(mixed["problems"][1]["key"], "component.0.typo");
    EXPECT_EQ(mixed["problems"][2]["key"], "component.0.truncation.radius");
    EXPECT_EQ(mixed["problems"][2]["line"], 7);
}

TEST_F(BadModel, MassesScalesAndTruncations) {
    for (const char* infinite : {"nfw", "isothermal", "burkert", "moore"})
        expect_refused("units = 'nbody'\ncount = 10\nmodel = '" + std::string(infinite) + "'\nscale = 1\n", 0, {"truncation", "infinite"});
    expect_refused(plummer("scale = 2\ntruncation = { radius = 1, width = 0.1 }\n"), 6,
                   {"component.0.truncation.radius", "outside the scale"});
    expect_refused(plummer("truncation = { radius = 10, width = 0.01 }\n"), 5, {"component.0.truncation.width", "1/100"});
    expect_refused(plummer("truncation = { radius = 10 }\n"), 5, {"component.0.truncation.width", "missing"});
    expect_refused(plummer("truncation = 10\n"), 5, {"component.0.truncation", "table"});
    expect_refused(plummer("scale = 0\n"), 5, {"component.0.scale", "above 0"});
    expect_refused(plummer("mass = nan\n"), 5, {"component.0.mass", "finite"});
    expect_refused("count = 10\nmodel = 'hernquist'\nmass = '1e10 Msun'\nscale = '3 km/s'\n", 4, {"scale", "length"});
}

TEST_F(BadModel, ParametersOfLaws) {
    for (const char* w0 : {"0", "-3", "17", "inf"})
        expect_refused("units = 'nbody'\ncount = 10\nmodel = 'king'\nscale = 1\nw0 = " + std::string(w0) + "\n", 5, {"w0"});
    expect_refused("units = 'nbody'\ncount = 10\nmodel = 'sersic'\nscale = 1\nn = 40\n", 5, {"\"n\"", "between"});
    expect_refused("units = 'nbody'\ncount = 10\nmodel = 'einasto'\nscale = 1\nalpha = 0\n", 5, {"alpha"});
    expect_refused("units = 'nbody'\ncount = 10\nmodel = 'two-power'\nscale = 1\ninner_slope = 3\n", 5, {"inner_slope", "infinite"});
    // Keys of other laws have no effect, which is an error.
    expect_refused(plummer("w0 = 3\n"), 5, {"component.0.w0", "no effect", "plummer", "king"});
    expect_refused(plummer("height = 3\n"), 5, {"component.0.height", "not a disk"});
    expect_refused("units = 'nbody'\ncount = 10\n[[component]]\nmodel = 'plummer'\n[[component]]\nmodel = 'black-hole'\nscale = 3\n", 7,
                   {"component.1.scale", "point"});
    expect_refused("units = 'nbody'\ncount = 10\nmodel = 'exponential-disk'\nscale = 1\nheight = 0.1\nanisotropy_radius = 1\n", 6,
                   {"anisotropy_radius", "toomre_q"});
}

TEST_F(BadModel, CountsFromOneTo2To40) {
    for (const char* count : {"0", "-1", "1099511627777", "1.5"}) {
        expect_refused("units = 'nbody'\ncount = " + std::string(count) + "\nmodel = 'plummer'\n", 2, {"count"});
        expect_refused("units = 'nbody'\n[[component]]\nmodel = 'plummer'\ncount = " + std::string(count) + "\n", 4, {"component.0.count"});
    }
    expect_refused("units = 'nbody'\nmodel = 'plummer'\n", 0, {"count", "missing"});
    expect_refused("units = 'nbody'\n[[component]]\nmodel = 'plummer'\ncount = 10\nparticle_mass = 0.1\n", 5,
                   {"component.0.particle_mass", "count"});
    expect_refused("units = 'nbody'\n[[component]]\nmodel = 'plummer'\nparticle_mass = 1e-20\n", 4, {"component.0.particle_mass"});
    expect_refused(
        "units = 'nbody'\n[[component]]\nmodel = 'plummer'\ncount = 800_000_000_000\n"
        "[[component]]\nname = 'b'\nmodel = 'plummer'\ncount = 800_000_000_000\n",
        2, {"1.6e+12"});
    // On the command line too, where a number may not even fit in 64 bits.
    test::write_file(directory / "model.toml", plummer(""));
    for (const char* count : {"0", "-5", "1099511627777", "99999999999999999999", "1e6"})
        test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--json", "--count", count}),
                               {"--count", "is " + std::string(count), "1 to 1099511627776"});
    for (const char* seed : {"-1", "18446744073709551615"})
        test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--json", "--seed", seed}), {"--seed", "whole number"});
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--json", "--count", "1099511627776"}),
                           {"--count", "GiB", "free"});
    EXPECT_FALSE(fs::exists(directory / "s.hdf5"));
    // More than memory: an error with both numbers, before anything is created.
    expect_refused("units = 'nbody'\ncount = 1_000_000_000_000\nmodel = 'plummer'\n", 2, {"count", "GiB", "free"});
}

TEST_F(BadModel, ComponentsTogether) {
    expect_refused(plummer("[[component]]\nmodel = 'plummer'\n"), 5, {"component.1", "own name"});
    expect_refused(plummer("softening = 1\n[[component]]\nname = 'b'\nmodel = 'plummer'\nsoftening = 2\n"), 9, {"component.1.softening"});
    expect_refused("units = 'nbody'\nmodel = 'plummer'\ncount = 10\n[[component]]\nmodel = 'plummer'\n", 2, {"model", "component"});
    expect_refused("units = 'nbody'\ncount = 10\n[component]\nmodel = 'plummer'\n", 3, {"component", "[[component]]"});
}

TEST_F(BadModel, GalaxiesWithoutAnEquilibrium) {
    const auto object =
        expect_refused(plummer("scale = 1\nanisotropy_radius = 0.1\n"), 6, {"component.0.anisotropy_radius", "negative", "plummer", "Try"});
    EXPECT_EQ(object["error"]["file"], "model.toml");
    // The same error from `check` of a run file that uses the model.
    test::write_file(directory / "run.toml",
                     "[run]\nproblem = 'gravity'\nunits = 'nbody'\nuntil = 1\n[initial]\nmodel = 'model.toml'\n"
                     "[force]\nsoftening = 0.1\n[step]\ndt = 0.1\n[output]\ndirectory = 'out'\n");
    for (const char* verb : {"check", "run"})
        test::expect_bad_input(kasane({verb, "run.toml", "--json"}), {"model.toml", "component.0.anisotropy_radius", "6"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST_F(BadModel, AQThatCannotBeMet) {
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'exponential-disk'\nscale = 1\nheight = 0.1\ntoomre_q = 30\n", 6, {"toomre_q"});
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'exponential-disk'\nscale = 1\nheight = 0.1\nretrograde = 1.5\n", 6,
                   {"retrograde"});
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'exponential-disk'\nscale = 1\n", 0, {"height", "missing"});
}

TEST_F(BadModel, TablesThatAreNotADensity) {
    const std::string text = "units = 'nbody'\ncount = 100\nmodel = 'table'\nfile = 'table.txt'\n";
    write_table("table.txt", [](int, double r, double rho) { return row(r, rho); });
    test::write_file(directory / "good.toml", text);
    ASSERT_EQ(kasane({"sample", "good.toml", "-o", "good.hdf5"}).status, 0);
    write_table("table.txt", [](int i, double r, double rho) { return row(r, i == 7 ? -rho : rho); });
    expect_refused(text, 4, {"file", "table.txt", "density", "positive", "row 8"});
    write_table("table.txt", [](int i, double r, double rho) { return row(i == 7 ? r / 10 : r, rho); });
    expect_refused(text, 4, {"file", "monotone", "row 8"});
    write_table("table.txt", [](int, double r, double) { return std::to_string(r); });
    expect_refused(text, 4, {"table.txt:2", "one column", "table.txt:4", "7 more like these"});
    test::write_file(directory / "table.txt", "1 3\n2 2\n3 1\n");
    expect_refused(text, 4, {"file", "3 rows", "short"});
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'table'\nfile = 'none.txt'\n", 4, {"none.txt", "no such file"});
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'table'\n", 0, {"file", "missing"});
    expect_refused("units = 'nbody'\ncount = 100\nmodel = 'table'\nfile = 'table.txt'\nscale = 2\n", 4, {"file"});
}

TEST_F(BadModel, RefusesToRunAModel) {
    test::write_file(directory / "model.toml", plummer(""));
    test::expect_bad_input(kasane({"run", "model.toml", "--json"}), {"model.toml", "is a model, not a run", "kasane sample"});
}

TEST_F(BadModel, OutputThatCannotBeWrittenIsRefusedBeforeTheWork) {
    test::write_file(directory / "model.toml", plummer(""));
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "missing/s.hdf5", "--json"}), {"missing/s.hdf5", "no directory"});
    test::write_file(directory / "s.hdf5", "years of work");
    test::expect_bad_input(kasane({"sample", "model.toml", "-o", "s.hdf5", "--json"}), {"s.hdf5", "exists already"});
    EXPECT_EQ(test::read_file(directory / "s.hdf5"), "years of work");
}

}  // namespace
