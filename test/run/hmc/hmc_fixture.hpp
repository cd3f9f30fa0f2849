// A small run of hybrid Monte Carlo in a test's directory, and comparisons of its output.
#pragma once

#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <test/run/command.hpp>

#include <algorithm>

namespace kasane::test {

class HmcTest : public CommandTest {
   protected:
    /// 2 x 4 x 2 x 4 sites, 12 trajectories, two configurations after thermalisation.
    void hmc_file(const std::string& more_output = "") {
        write_file(directory / "hmc.toml",
                   "[run]\nproblem = 'hmc'\ntitle = 'small <one>'\ndevice = 'cpu'\nthreads = 2\n[lattice]\nextents = [2, 4, 2, 4]\n"
                   "[gauge]\naction = 'symanzik'\nbeta = 4.5\n[hmc]\ntrajectories = 12\nthermalisation = 3\nsteps = 4\nlength = 0.8\n"
                   "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\nevery = 4\n" +
                       more_output);
    }
    Outcome run_to_end(const std::string& name, const std::vector<std::string>& more = {}, int status = 0) {
        std::vector<std::string> arguments{"run", "hmc.toml", "-o", name, "--json"};
        for (const auto& each : more) arguments.insert(arguments.end(), {"--set", each});
        auto outcome = kasane(arguments);
        EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
        return outcome;
    }
    std::vector<run::TrajectoryRow> rows(const std::string& name) { return run::read_trajectories(directory / name / "measurements.csv"); }
    lattice::GaugeField field(const std::string& file) { return lattice::read_gauge(directory / file).field; }
    std::vector<fs::path> checkpoints(const std::string& name) {
        std::vector<fs::path> all;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints", absent))
            if (entry.path().extension() == ".hdf5") all.push_back(entry.path());
        std::ranges::sort(all);
        return all;
    }
    /// In the run file of the directory part.
    void change(const std::string& from, const std::string& to) {
        auto text = read_file(directory / "part/run.toml");
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from << text;
        write_file(directory / "part/run.toml", text.replace(at, from.size(), to));
    }
    /// The same rows, and the same bits in the last configuration.
    void expect_same(const std::string& a, const std::string& b) {
        EXPECT_EQ(read_file(directory / a / "measurements.csv"), read_file(directory / b / "measurements.csv"));
        EXPECT_EQ(field(a + "/conf.lime").links, field(b + "/conf.lime").links);
    }
};

}  // namespace kasane::test
