// A small quenched run in a test's directory, and comparisons of its output.
#pragma once

#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <test/run/command.hpp>

#include <algorithm>

namespace kasane::test {

class QuenchedTest : public CommandTest {
   protected:
    /// 2 x 4 x 6 x 4 sites, 12 sweeps, two configurations after thermalisation.
    fs::path quenched_file(const std::string& more_output = "") {
        const auto path = directory / "quenched.toml";
        write_file(path,
                   "[run]\nproblem = 'quenched'\ntitle = 'small <one>'\ndevice = 'cpu'\nthreads = 2\n[lattice]\nextents = [2, 4, 6, 4]\n"
                   "[action]\nbeta = 5.7\n[update]\nsweeps = 12\nthermalisation = 3\noverrelaxation = 2\n"
                   "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\nevery = 4\n" +
                       more_output);
        return path;
    }
    /// Runs it to its end. @param more --set key=value
    Outcome run_to_end(const std::string& name, const std::vector<std::string>& more = {}, const std::string& verb = "run") {
        std::vector<std::string> arguments{"run", "quenched.toml", "-o", name, "--json"};
        if (verb == "generate") arguments = {"lattice", "generate", "quenched.toml", "-o", name, "--json"};
        for (const auto& each : more) arguments.insert(arguments.end(), {"--set", each});
        auto outcome = kasane(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        return outcome;
    }
    std::vector<run::Measurement> measurements(const std::string& name) {
        return run::read_measurements(directory / name / "measurements.csv");
    }
    lattice::GaugeField field(const std::string& file) { return lattice::read_gauge(directory / file).field; }
    std::vector<fs::path> checkpoints(const std::string& name) {
        std::vector<fs::path> all;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints", absent))
            if (entry.path().extension() == ".hdf5") all.push_back(entry.path());
        std::ranges::sort(all);
        return all;
    }
    /// The same measurements, and the same bits in all configurations.
    void expect_same(const std::string& a, const std::string& b) {
        EXPECT_EQ(read_file(directory / a / "measurements.csv"), read_file(directory / b / "measurements.csv"));
        int configurations = 0;
        for (const auto& entry : fs::recursive_directory_iterator(directory / a)) {
            if (entry.path().extension() != ".lime") continue;
            const auto other = directory / b / fs::relative(entry.path(), directory / a);
            ASSERT_TRUE(fs::exists(other)) << other;
            EXPECT_EQ(lattice::read_gauge(entry.path()).field.links, lattice::read_gauge(other).field.links) << entry.path();
            ++configurations;
        }
        EXPECT_GE(configurations, 1);
    }
};

}  // namespace kasane::test
