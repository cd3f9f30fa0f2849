// `mpirun -n R kasane run` of a Poisson problem: the solution of one rank, resume on another number of ranks, what is refused.
#include <kasane/core/io/hdf5.hpp>

#include <gtest/gtest.h>
#include <test/run/ranks.hpp>

#include <cmath>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class ParallelPoisson : public test::RanksTest {
   protected:
    void put(const std::string& more = "", const std::string& solver = "precondition = 'multigrid'\n",
             const std::string& coefficient = "formula = 'k > 10 ? 20 : 1'\n") {
        test::write_file(
            directory / "box.toml",
            "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [9, 8, 21]\n[source]\nformula = 'i - 2 * j + k'\n"
            "[coefficient]\n" +
                coefficient + "[solver]\n" + solver + "[output]\ndirectory = 'out'\n" + more);
    }
    std::vector<double> potential(const std::string& run) {
        return hdf5::File::open(directory / run / "solution.hdf5").read_array<double>("/Potential");
    }
    void expect_near(const std::vector<double>& a, const std::vector<double>& b, double limit) {
        ASSERT_EQ(a.size(), b.size());
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            difference = std::max(difference, std::fabs(a[i] - b[i])), size = std::max(size, std::fabs(b[i]));
        EXPECT_LE(difference, limit * size);
    }
};

TEST_F(ParallelPoisson, HasTheSolutionOfOneRank) {
    put();
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one", "--set", "solver.rtol=1e-11"}).status, 0);
    for (const int n : {2, 3, 7}) {
        const auto name = "r" + std::to_string(n);
        const auto outcome = ranks(n, {"run", "box.toml", "--json", "-o", name, "--set", "solver.rtol=1e-11"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["precondition"], "multigrid");
        expect_near(potential(name), potential("one"), 1e-8);
    }
    // Without a key several workers take multigrid.
    put("", "rtol = 1e-11\n");
    ASSERT_EQ(ranks(2, {"run", "box.toml", "-o", "default"}).status, 0);
    expect_near(potential("default"), potential("one"), 1e-8);
}

TEST_F(ParallelPoisson, TakesATensorWithoutCouplings) {
    put("", "precondition = 'multigrid'\nrtol = 1e-11\n", "xx = 'k > 10 ? 20 : 1'\nyy = 3\nzz = '1 + x/9'\n");
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one"}).status, 0);
    ASSERT_EQ(ranks(3, {"run", "box.toml", "-o", "three"}).status, 0);
    expect_near(potential("three"), potential("one"), 1e-8);
}

TEST_F(ParallelPoisson, TakesTensorsThatCoupleDirections) {
    const auto expect_solution_of_one_rank = [&](const std::string& name) {
        const auto run = [&](const std::string& to) { return std::vector<std::string>{"run", "box.toml", "--json", "-o", name + to}; };
        const auto one = kasane(run("1"));
        ASSERT_EQ(one.status, 0) << one.err;
        for (const int n : {2, 3, 4, 8}) {
            const auto outcome = ranks(n, run(std::to_string(n)));
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            expect_near(potential(name + std::to_string(n)), potential(name + "1"), 1e-8);
            EXPECT_NEAR(outcome.json()["iterations"].get<int>(), one.json()["iterations"].get<int>(), 1);
            EXPECT_EQ(outcome.json()["nonzeros"], one.json()["nonzeros"]);
        }
    };
    const std::string solver = "precondition = 'multigrid'\nrtol = 1e-11\n";
    put("", solver, "xx = 2\nxy = 'x/20'\nyy = 3\nyz = '(z - 10)/30'\nzz = 'k > 10 ? 4 : 1'\n");
    expect_solution_of_one_rank("formulas");
    put("", solver, "file = 'formulas1/solution.hdf5'\ndataset = 'Tensor'\n");
    expect_solution_of_one_rank("file");
    expect_near(potential("file3"), potential("formulas1"), 1e-8);
    // No face holds phi, and the first and the last rank are neighbours. The sources add up to zero.
    put("[boundary]\nz_min = { periodic = true }\nz_max = { periodic = true }\n", solver, "xx = 2\nxz = 0.5\nyy = 3\nzz = '1 + y/9'\n");
    auto text = test::read_file(directory / "box.toml");
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"cells = [9, 8, 21]", "cells = [9, 8, 22]"}, {"i - 2 * j + k", "i - 2 * j + k - 7.5"}})
        text.replace(text.find(from), from.size(), to);
    test::write_file(directory / "box.toml", text);
    expect_solution_of_one_rank("closed");
}

TEST_F(ParallelPoisson, SaysWhereOneWorkerWouldTakeAggregation) {
    put("", "rtol = 1e-10\n", "xx = '1 + 499*cos(x)^2'\nxy = '499*cos(x)*sin(x)'\nyy = '1 + 499*sin(x)^2'\nzz = 1\n");
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one"}).status, 0);
    ASSERT_EQ(ranks(3, {"run", "box.toml", "-o", "three"}).status, 0);
    expect_near(potential("three"), potential("one"), 1e-6);
    const auto page = test::read_file(directory / "three/report.html");
    EXPECT_NE(page.find("multigrid is geometric, the only one of several workers"), std::string::npos);
}

TEST_F(ParallelPoisson, FirstAndLastRankAreNeighboursWhereZIsPeriodic) {
    put("[boundary]\ny_min = { dirichlet = 1.0 }\nz_min = { periodic = true }\nz_max = { periodic = true }\n");
    const auto run = [&](const std::string& name) {
        return std::vector<std::string>{"run", "box.toml", "-o", name, "--set", "grid.cells=[9, 8, 22]", "--set", "solver.rtol=1e-11"};
    };
    ASSERT_EQ(kasane(run("one")).status, 0);
    for (const int n : {2, 3}) {
        const auto name = "r" + std::to_string(n);
        ASSERT_EQ(ranks(n, run(name)).status, 0);
        expect_near(potential(name), potential("one"), 1e-8);
    }
}

TEST_F(ParallelPoisson, ResumesOnAnotherNumberOfRanks) {
    put();
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one"}).status, 0);
    const auto limited = ranks(2, {"run", "box.toml", "-o", "r", "--set", "solver.max_iterations=4"});
    EXPECT_EQ(limited.status, 1) << limited.err;
    auto text = test::read_file(directory / "r" / "run.toml");
    const std::string key = "max_iterations = 4";
    const auto at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    test::write_file(directory / "r" / "run.toml", text.replace(at, key.size(), "max_iterations = 100"));
    const auto resumed = ranks(3, {"resume", "r"});
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    expect_near(potential("r"), potential("one"), 1e-6);
}

TEST_F(ParallelPoisson, TakesMultigridForTheMethodOfOneWorker) {
    const std::string note = "several workers solve with multigrid";
    const auto times = [&](const std::string& text) {
        int n = 0;
        for (auto at = text.find(note); at != std::string::npos; at = text.find(note, at + 1)) ++n;
        return n;
    };
    put("", "precondition = 'ic0'\nordering = 'cm-rcm:8'\nformat = 'csr'\ntune = false\nrtol = 1e-11\n");
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "one"}).status, 0);
    const auto outcome = ranks(2, {"run", "box.toml", "-o", "two", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["precondition"], "multigrid");
    expect_near(potential("two"), potential("one"), 1e-8);
    EXPECT_EQ(times(test::read_file(directory / "two/log.txt")), 1);
    put("", "precondition = 'ic0'\nordering = 'cm-rmc:8'\n");
    test::expect_bad_input(ranks(2, {"run", "box.toml", "--json"}), {"solver.ordering", "cm-rcm"});
    // What kasane ships.
    const auto examples = fs::path(KASANE_SOURCE_DIR) / "examples";
    ASSERT_EQ(kasane({"new", "poisson", "-o", "new.toml"}).status, 0);
    for (const auto& path : {(examples / "poisson.toml").string(), (examples / "poisson-layers.toml").string(), std::string("new.toml")}) {
        const auto run = ranks(2, {"run", path, "-o", "out", "--force", "--device", "cpu", "--threads", "1", "--set", "solver.rtol=1e-3"});
        EXPECT_EQ(run.status, 0) << path << ": " << run.err;
    }
}

TEST_F(ParallelPoisson, ResumesRunsOfOneWorker) {
    put();
    ASSERT_EQ(kasane({"run", "box.toml", "-o", "expected"}).status, 0);
    for (const char* solver : {"", "precondition = 'ssor'\nssor_omega = 1.2\n", "precondition = 'ict'\nfill = 5\n"}) {
        put("", solver);
        fs::remove_all(directory / "r");
        EXPECT_EQ(kasane({"run", "box.toml", "-o", "r", "--set", "solver.max_iterations=4"}).status, 1);
        auto text = test::read_file(directory / "r" / "run.toml");
        const std::string key = "max_iterations = 4";
        const auto at = text.find(key);
        ASSERT_NE(at, std::string::npos) << text;
        test::write_file(directory / "r" / "run.toml", text.replace(at, key.size(), "max_iterations = 100"));
        const auto resumed = ranks(2, {"resume", "r"});
        ASSERT_EQ(resumed.status, 0) << resumed.err;
        EXPECT_NE(resumed.err.find("several workers solve with multigrid"), std::string::npos) << resumed.err;
        expect_near(potential("r"), potential("expected"), 1e-6);
    }
}

TEST_F(ParallelPoisson, RefusesWhatSeveralWorkersDoNotHave) {
    put("", "precondition = 'ssor'\n");
    test::expect_bad_input(ranks(2, {"run", "box.toml", "--json"}), {"solver.precondition", "ssor", "one worker", "multigrid"});
    for (const char* named : {"", "precondition = 'multigrid'\n"}) {
        put("", named + std::string("tune = false\nordering = 'mc:8'\nlevel = 2\n"));
        const auto refused = ranks(2, {"run", "box.toml"});
        EXPECT_EQ(refused.status, 2);
        EXPECT_NE(refused.err.find("solver.ordering: has no effect here, nor have tune, level"), std::string::npos) << refused.err;
        EXPECT_EQ(refused.err.find("ic0"), std::string::npos) << refused.err;
    }
    put();
    test::expect_bad_input(ranks(4, {"run", "box.toml", "--json", "--set", "grid.cells=[8, 8, 7]"}),
                           {"grid.cells", "7 planes", "4 workers", "at most 3"});
    put("[boundary]\nx_min = { periodic = true }\nx_max = { periodic = true }\n");
    test::expect_bad_input(ranks(2, {"run", "box.toml", "--json"}), {"boundary.x_min", "9 cells along x", "even number", "one worker"});
    test::expect_bad_input(ranks(2, {"run", "box.toml", "--json", "--set", "parallel.gpus_per_rank=0"}), {"parallel.gpus_per_rank"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

}  // namespace
