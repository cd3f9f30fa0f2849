// energy.csv of a resumed run: rows of later steps are removed, tables of an earlier version are completed.
#include <kasane/run/gravity/energy_table.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>

namespace {

using namespace kasane;

class EnergyTableFile : public test::CommandTest {};

std::size_t fields(const std::string& line) { return 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')); }

TEST_F(EnergyTableFile, KeepsRowsUpToAStepAndDropsWhatWasCutOff) {
    const auto path = directory / "energy.csv";
    run::EnergyRow row;
    row.diagnostics.lagrangian_radius.assign(5, 1.0);
    {
        run::EnergyTable table(path);
        for (row.step = 0; row.step < 4; ++row.step) table.add(row);
    }
    const auto whole = test::read_file(path);
    test::write_file(path, whole + "4,4,1.5");
    run::EnergyTable::keep_until(path, 10);
    EXPECT_EQ(test::read_file(path), whole);
    run::EnergyTable::keep_until(path, 2);
    const auto kept = test::read_file(path);
    EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 4);
    EXPECT_TRUE(whole.starts_with(kept));
}

TEST_F(EnergyTableFile, ATableOfTheVersionBeforeGetsTheNewColumns) {
    const auto path = directory / "energy.csv";
    const auto& header = run::EnergyTable::header();
    const auto old_header = header.substr(0, header.find(",force_error_median"));
    std::string numbers;
    for (std::size_t i = 2; i < fields(old_header); ++i) numbers += ",0.5";
    test::write_file(path, old_header + "\n0,0" + numbers + "\n1,10" + numbers + "\n2,20" + numbers + "\n");
    run::EnergyTable::keep_until(path, 10);
    const std::string missing = ",nan,nan,nan,nan,nan,nan";
    EXPECT_EQ(test::read_file(path), header + "\n0,0" + numbers + missing + "\n1,10" + numbers + missing + "\n");
    EXPECT_EQ(fields(header), fields("0,0" + numbers + missing));
}

}  // namespace
