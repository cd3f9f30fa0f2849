// `mpirun -n R kasane lattice solve` and `measure`: the numbers of one rank, refused grids and files, ranks that end.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/solution_file.hpp>

#include <gtest/gtest.h>
#include <test/lattice/random_fields.hpp>
#include <test/run/ranks.hpp>

namespace {

using namespace kasane;
using test::count;
namespace fs = std::filesystem;

class ParallelLattice : public test::RanksTest {
   protected:
    void put(const std::string& name, const lattice::Extents& extents, double epsilon = 0.3) {
        lattice::write_gauge(directory / name, lattice::test::random_gauge(extents, 7, epsilon), {});
    }
    static std::vector<std::string> solve(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"lattice", "solve", "--device", "cpu", "--threads", "1"});
        return arguments;
    }
    /// Refused once, with these words, and nothing written.
    void expect_refused(int n, const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
        const auto outcome = ranks(n, arguments);
        test::expect_bad_input(outcome, words);
        EXPECT_EQ(count(outcome.err, "error: "), 1) << outcome.err;
        EXPECT_EQ(count(outcome.out, "\"error\""), 1) << outcome.out;
        EXPECT_FALSE(fs::exists(directory / "x.h5"));
    }
    /// Of two ranks, which never end by themselves, when they are about to solve.
    Process begin() {
        put("hot.lime", {{8, 8, 8, 16}}, 2);
        auto process = start_ranks(2, solve({"hot.lime", "--kappa", "0.2", "--solver", "cg", "--inner", "double", "--rtol", "1e-14",
                                             "--max-iterations", "1000000000", "-o", "x.h5"}));
        EXPECT_TRUE(wait_for([&] { return test::read_file(directory / ".err").find("bytes per site") != std::string::npos; }));
        return process;
    }
};

TEST_F(ParallelLattice, HasTheCorrelatorsAndFieldsOfOneRank) {
    put("cfg.lime", {{4, 4, 4, 12}});
    const auto words = [&](const std::string& file) {
        return solve({"cfg.lime", "--kappa", "0.12", "--csw", "1", "--rtol", "1e-11", "--json", "-o", file});
    };
    const auto alone = kasane(words("one.h5"));
    ASSERT_EQ(alone.status, 0) << alone.err;
    const auto expected = alone.json();
    EXPECT_EQ(expected["grid"], (std::vector{1, 1, 1, 1}));
    const auto one = lattice::read_solution(directory / "one.h5");
    for (const int n : {2, 3, 4}) {
        const auto file = std::to_string(n) + ".h5";
        const auto outcome = ranks(n, words(file));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto got = outcome.json();
        EXPECT_NE(outcome.err.find("grid: "), std::string::npos) << outcome.err;
        EXPECT_EQ(got["converged"], true);
        EXPECT_LE(got["relative_residual"].get<double>(), 1e-11);
        int product = 1;
        for (const int g : got["grid"]) product *= g;
        EXPECT_EQ(product, n);
        // The solutions differ by the tolerance times the inverse's norm, below 20 here; correlators are sums of their squares.
        for (const char* which : {"pion", "vector"})
            for (std::size_t t = 0; t < 12; ++t) {
                const double value = expected[which][t], scale = expected["pion"][0];
                EXPECT_NEAR(got[which][t].get<double>(), value, 1e-9 * scale) << n << which << t;
            }
        const auto many = lattice::read_solution(directory / file);
        ASSERT_EQ(many.columns.size(), 12U);
        for (std::size_t c = 0; c < 12; ++c) {
            double difference = 0, size = 0;
            for (std::size_t i = 0; i < one.columns[c].values.size(); ++i) {
                difference += std::norm(many.columns[c].values[i] - one.columns[c].values[i]);
                size += std::norm(one.columns[c].values[i]);
            }
            EXPECT_LT(std::sqrt(difference / size), 20 * 2e-11) << n << " ranks, column " << c;
        }
        EXPECT_TRUE(fs::exists(directory / (std::to_string(n) + ".html")));
    }
}

TEST_F(ParallelLattice, TakesTheGridThatIsGivenAndTheTemporalGauge) {
    put("cfg.lime", {{4, 4, 4, 8}});
    const auto outcome =
        ranks(4, solve({"cfg.lime", "--kappa", "0.12", "--grid", "2,1,2,1", "--temporal-gauge", "--source", "z2:3", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["grid"], (std::vector{2, 1, 2, 1}));
    EXPECT_LE(outcome.json()["relative_residual"].get<double>(), 1e-10);
}

TEST_F(ParallelLattice, DeflatesByLocalCoherence) {
    put("cfg.lime", {{4, 4, 4, 8}});
    const auto outcome = ranks(4, solve({"cfg.lime", "--kappa", "0.12", "--csw", "1", "--inner", "single", "--deflate", "4", "--deflation",
                                         "coherent", "--source", "z2:3", "--json"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto object = outcome.json();
    EXPECT_LE(object["relative_residual"].get<double>(), 1e-10);
    EXPECT_TRUE(object["notes"].empty());
    // Of the whole lattice: two chiralities of four vectors in each block.
    const auto& coherent = object["coherent"];
    EXPECT_EQ(coherent["dimension"].get<int>(), 8 * coherent["blocks"].get<int>());
    int volume = coherent["blocks"];
    for (const int extent : coherent["block"]) volume *= extent;
    EXPECT_EQ(volume, 4 * 4 * 4 * 8);
    expect_refused(4,
                   solve({"cfg.lime", "--kappa", "0.12", "--deflate", "4", "--deflation", "coherent", "--deflation-block", "4,4,4,4",
                          "--json", "-o", "x.h5"}),
                   {"--deflation coherent", "local lattice of a worker", "Usable extents"});
}

TEST_F(ParallelLattice, PreconditionsByOverlappingBlocks) {
    put("cfg.lime", {{4, 4, 8, 8}});
    const auto words = [&](const std::string& method, const char* block, const char* overlap) {
        return solve({"cfg.lime", "--kappa", "0.12", "--csw", "1", "--inner", "single", "--precondition", method, "--block", block,
                      "--overlap", overlap, "--source", "z2:3", "--json"});
    };
    const auto on_grid = [](std::vector<std::string> arguments, const char* grid) {
        arguments.insert(arguments.end(), {"--grid", grid});
        return arguments;
    };
    for (const std::string method : {"ras", "multiplicative"}) {
        const auto all = words(method, "4,4,4,4", "2");
        const auto one = kasane(all), two = ranks(2, all), four = ranks(4, on_grid(all, "1,1,2,2"));
        for (const auto* outcome : {&one, &two, &four}) {
            ASSERT_EQ(outcome->status, 0) << outcome->err;
            const auto object = outcome->json();
            EXPECT_LE(object["relative_residual"].get<double>(), 1e-10);
            EXPECT_TRUE(object["notes"].empty());
            EXPECT_EQ(object["iterations"], one.json()["iterations"]) << method;
        }
        EXPECT_NE(four.err.find("; each sends 128 half spinors in a hop, and 384 spinors of a residual"), std::string::npos) << four.err;
    }
    expect_refused(4, on_grid(words("ras", "4,4,8,4", "1"), "1,1,2,2"), {"--precondition", "local lattice of a worker", "z: 2 4"});
    expect_refused(4, on_grid(words("multiplicative", "4,4,2,4", "3"), "1,1,2,2"),
                   {"--precondition", "overlap = 3", "smallest extent of a block, 2"});
}

TEST_F(ParallelLattice, DeflatesByExactModesAndSharesTheirFileWithOneRank) {
    put("cfg.lime", {{4, 4, 4, 8}});
    const auto with_modes = [&](const char* solution) {
        return solve({"cfg.lime", "--kappa", "0.12", "--csw", "1", "--inner", "single", "--deflate", "4", "--modes", "modes.h5", "--source",
                      "z2:3", "-o", solution, "--json"});
    };
    const auto writes = ranks(4, with_modes("four.h5"));
    ASSERT_EQ(writes.status, 0) << writes.err;
    EXPECT_EQ(writes.json()["deflated_modes"], 4);
    const auto reads = ranks(2, with_modes("two.h5")), one = kasane(with_modes("one.h5"));
    ASSERT_EQ(reads.status, 0) << reads.err;
    ASSERT_EQ(one.status, 0) << one.err;
    for (const auto* other : {&writes, &reads}) {
        EXPECT_LE(other->json()["relative_residual"].get<double>(), 1e-10);
        EXPECT_NEAR(other->json()["iterations"].get<int>(), one.json()["iterations"].get<int>(), 1);
    }
    // Modes of another field: found on the workers, reported once.
    put("other.lime", {{4, 4, 4, 8}}, 0.2);
    expect_refused(2,
                   solve({"other.lime", "--kappa", "0.12", "--csw", "1", "--deflate", "4", "--modes", "modes.h5", "--json", "-o", "x.h5"}),
                   {"do not belong to this gauge field", "Compute modes of this field"});
}

TEST_F(ParallelLattice, RefusesOnce) {
    put("cfg.lime", {{4, 4, 4, 4}});
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"cfg.lime", "-o", "x.h5", "--json", "--kappa"});
        return solve(more);
    };
    expect_refused(3, with({"0.12"}), {"4x4x4x4", "3 workers", "Usable numbers of workers: 1, 2, 4"});
    expect_refused(4, with({"0.12", "--grid", "4,1,1,1"}), {"[4, 1, 1, 1]", "odd extents", "[1, 1, 2, 2]"});
    expect_refused(2, with({"0.12", "--inner-links", "8"}), {"8 numbers", "12 or 18"});
    expect_refused(2, with({"0.9", "--csw", "10"}), {"not positive definite"});
    expect_refused(2, {"lattice", "convert", "cfg.lime", "x.h5", "--json"}, {"kasane lattice convert", "one rank", "2 were started"});
    expect_refused(3, {"lattice", "info", "cfg.lime", "--json"}, {"4x4x4x4", "3 workers", "Usable numbers of workers: 1, 2, 4"});
    expect_refused(2, {"lattice", "info", "absent", "--json"}, {"absent", "no such file"});
    // One rank.
    test::expect_bad_input(kasane(with({"0.12", "--grid", "2,2"})), {"--grid", "four numbers"});
    test::expect_bad_input(kasane(with({"0.12", "--grid", "1,1,1,2"})), {"[1, 1, 1, 2]", "its product must be 1"});
    test::expect_bad_input(kasane(with({"0.12", "--gpus-per-rank", "2"})), {"worker"});
}

TEST_F(ParallelLattice, DescribesAFileAsOneRank) {
    put("cfg.lime", {{4, 4, 4, 8}});
    const auto alone = kasane({"lattice", "info", "cfg.lime", "--json"}), all = ranks(4, {"lattice", "info", "cfg.lime", "--json"});
    ASSERT_EQ(alone.status, 0) << alone.err;
    ASSERT_EQ(all.status, 0) << all.err;
    auto expected = alone.json(), found = all.json();
    for (const char* sum : {"plaquette", "plaquette_space", "plaquette_time", "link_trace"}) {
        EXPECT_NEAR(found[sum].get<double>(), expected[sum].get<double>(), 1e-14) << sum;
        found.erase(sum), expected.erase(sum);
    }
    EXPECT_EQ(found, expected);
}

TEST_F(ParallelLattice, MeasuresTheNumbersOfOneRank) {
    const auto words = [](const std::string& file) {
        return std::vector<std::string>{"lattice", "measure",     "--device", "cpu",         "--threads", "1",
                                        file,      "--flow-time", "0.1",      "--flow-step", "0.02",      "--json"};
    };
    put("cfg.lime", {{4, 4, 4, 12}});
    const auto alone = kasane(words("cfg.lime"));
    ASSERT_EQ(alone.status, 0) << alone.err;
    const auto one = alone.json();
    EXPECT_EQ(one["grid"], (std::vector{1, 1, 1, 1}));
    for (const int n : {2, 3, 4, 8}) {
        const auto outcome = ranks(n, words("cfg.lime"));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto got = outcome.json();
        int product = 1;
        for (const int g : got["grid"]) product *= g;
        EXPECT_EQ(product, n);
        for (const char* same : {"file", "format", "extents", "notes"}) EXPECT_EQ(got[same], one[same]) << n;
        for (const char* number : {"plaquette", "plaquette_space", "plaquette_time", "link_trace", "topological_charge"})
            EXPECT_NEAR(got[number].get<double>(), one[number].get<double>(), 1e-12) << n << " ranks, " << number;
        for (const int part : {0, 1})
            EXPECT_NEAR(got["polyakov_loop"][part].get<double>(), one["polyakov_loop"][part].get<double>(), 1e-13) << n;
        ASSERT_EQ(got["flow"]["points"].size(), 6U);
        for (std::size_t i = 0; i < 6; ++i)
            for (const char* number : {"t", "t2E", "t2E_plaquette", "topological_charge"})
                EXPECT_NEAR(got["flow"]["points"][i][number].get<double>(), one["flow"]["points"][i][number].get<double>(), 1e-12)
                    << n << " ranks, point " << i << ", " << number;
    }
    // A file that is damaged, missing, or cannot be divided, is refused once.
    expect_refused(5, words("cfg.lime"), {"4x4x4x12", "5 workers", "Usable numbers of workers"});
    expect_refused(2, words("nothing.lime"), {"nothing.lime"});
    auto bytes = test::read_file(directory / "cfg.lime");
    auto& last_bits = bytes[bytes.find("ildg-binary-data") + 128 + 400'000 + 7];  // of a number in the part of the last rank
    last_bits = static_cast<char>(last_bits ^ 1);
    test::write_file(directory / "bad.lime", bytes);
    expect_refused(4, words("bad.lime"), {"bad.lime", "checksum", "damaged"});
}

TEST_F(ParallelLattice, ARankThatIsKilledEndsAllAndLeavesNothing) {
    auto process = begin();
    const auto victim = rank_of(process.id(), 1);
    ASSERT_GT(victim, 0);
    kill(victim, SIGKILL);
    const auto outcome = process.wait();
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "x.h5"));
}

TEST_F(ParallelLattice, AnInterruptLeavesNothing) {
    if (!passes_signals_on()) GTEST_SKIP() << test::no_signals;
    auto process = begin();
    process.signal(SIGUSR1);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_EQ(count(outcome.err, "nothing was written"), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "x.h5"));
}

}  // namespace
