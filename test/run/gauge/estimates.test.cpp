// Errors of means as runs state them, and tables of measurements.
#include <kasane/core/base/error.hpp>
#include <kasane/run/gauge/estimates.hpp>
#include <kasane/run/gauge/update_table.hpp>

#include <test/run/command.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace kasane;

TEST(EstimateOfAChain, HasAtLeastTheErrorOfIndependentMeasurements) {
    std::vector<double> alternating;
    for (int i = 0; i < 100; ++i) alternating.push_back(i % 2 ? 1 : -1);
    const auto e = run::estimate_of_chain(alternating);
    EXPECT_TRUE(std::isnan(lattice::estimate(alternating).error));  // that of the Gamma method
    EXPECT_NEAR(e.error, 1 / std::sqrt(99.), 1e-15);                // variance 100 / 99, of 100
    EXPECT_TRUE(std::isnan(e.tau));
    EXPECT_EQ(e.mean, 0);
    for (const auto& few : {std::vector{1., 2.}, {1., 2., 1.}, {1., 3., 1., 3.}})
        EXPECT_GT(run::estimate_of_chain(few).error, 0.3) << few.size();
    // Correlated measurements keep their larger error.
    std::vector<double> slow;
    for (int i = 0; i < 200; ++i) slow.push_back(std::sin(i / 10.));
    EXPECT_EQ(run::estimate_of_chain(slow).error, lattice::estimate(slow).error);
    EXPECT_EQ(run::estimate_of_chain(slow, 5).tau, 5 * lattice::estimate(slow).tau);
}

TEST(EstimateOfAChain, OfConstantShortAndUndefinedSeries) {
    EXPECT_EQ(run::estimate_of_chain(std::vector<double>(50, 0.1)).error, 0);
    EXPECT_TRUE(std::isnan(run::estimate_of_chain({0.5}).error));
    EXPECT_TRUE(std::isnan(run::estimate_of_chain({}).mean));
    const auto undefined = run::estimate_of_chain({1, std::numeric_limits<double>::quiet_NaN(), 2});
    EXPECT_TRUE(std::isnan(undefined.mean) && std::isnan(undefined.error) && std::isnan(undefined.tau));
    EXPECT_EQ(run::text(undefined), "unknown");
}

TEST(EstimateOfAChain, AsText) {
    EXPECT_EQ(run::text(0.59371, 0.00012), "0.59371(12)");
    EXPECT_EQ(run::text(0.5, 0.00996), "0.500(10)");
    EXPECT_EQ(run::text(123.456, 3.2), "123.5(32)");
    EXPECT_EQ(run::text(123.456, 9.96), "123(10)");
    EXPECT_EQ(run::text(123.456, 12.3), "123(12)");
    EXPECT_EQ(run::text(4237.425, 67.6), "4237(68)");
    EXPECT_EQ(run::text(4237.425, 99.6), "4240(100)");
    EXPECT_EQ(run::text(1234567.8, 321), "1234570(320)");
    EXPECT_EQ(run::text(-0.3, 45), "0(45)");
    EXPECT_EQ(run::text(3.2e7, 1.2e6), "3.2e+07 ± 1.2e+06");
    EXPECT_EQ(run::text(0.5, 1e-20), "0.5 ± 1e-20");
    EXPECT_EQ(run::text(0.593712, 0.000123), "0.59371(12)");
    EXPECT_EQ(run::text(0.593712, 0.00994), "0.5937(99)");
    EXPECT_EQ(run::text(0.593712, 0.00996), "0.594(10)");
    EXPECT_EQ(run::text(12.34, 0.5), "12.34(50)");
    EXPECT_EQ(run::text(123.4, 12), "123(12)");
    EXPECT_EQ(run::text(0.25, 0), "0.25");
    EXPECT_EQ(run::text(0.25, std::nan("")), "0.25");
    EXPECT_EQ(run::text(std::nan(""), 1), "unknown");
    EXPECT_EQ(run::text(0.5, 0), "0.5");
    EXPECT_EQ(run::page_text(-0.312, 0.034), "−0.312(34)");
    EXPECT_EQ(run::time_text({.tau = 3.25, .tau_error = 0.12}, "sweeps"), "3.25(12) sweeps");
    EXPECT_EQ(run::time_text({.tau = std::numeric_limits<double>::quiet_NaN()}, "sweeps"), "unknown");
}

class UpdateTables : public test::CommandTest {};

TEST_F(UpdateTables, AreReadAsTheyWereWritten) {
    run::UpdateTable table("flow", {"charge", "t0[quark 1]"});
    table.add(3, {0.1, std::numeric_limits<double>::infinity()});
    table.add(7, {-1e-300, 1. / 3});
    const auto path = directory / "flow.csv";
    run::write_table(path, "trajectory", table);
    EXPECT_EQ(test::read_file(path), "trajectory,charge,t0[quark 1]\n3,0.10000000000000001,inf\n7,-1e-300,0.33333333333333331\n");
    EXPECT_EQ(run::read_table(path, "trajectory"), table);
    EXPECT_EQ(run::read_table(path, "trajectory", table.columns), table);
    EXPECT_EQ(table.column("t0[quark 1]", 3), std::vector{1. / 3});
    EXPECT_TRUE(table.column("t1").empty());
    EXPECT_THROW(table.add(8, {1}), LogicError);
}

TEST_F(UpdateTables, WithFaultsAreRefused) {
    const auto path = directory / "bad.csv";
    const auto refused = [&](const std::string& text, const std::string& reason) {
        test::write_file(path, text);
        try {
            run::read_table(path, "trajectory", {"a", "b"});
            ADD_FAILURE() << text;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
        }
    };
    refused("", "trajectory");
    refused("sweep,a,b\n", "does not begin with the column trajectory");
    refused("trajectory,a\n", "trajectory,a,b");
    refused("trajectory,a,b\n1,2\n", "is not a row of 3 numbers");
    refused("trajectory,a,b\n1,2,3,4\n", "is not a row of 3 numbers");
    refused("trajectory,a,b\n1,2,x\n", "is not a row of 3 numbers");
    refused("trajectory,a,b\n2,2,3\n2,2,3\n", "trajectory 2 after 2");
    EXPECT_THROW(run::read_table(directory / "none.csv", "trajectory"), InputError);
}

}  // namespace
