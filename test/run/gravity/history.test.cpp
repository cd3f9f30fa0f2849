// Run directories in every state of disrepair.
#include <kasane/core/base/error.hpp>
#include <kasane/run/gravity/history.hpp>

#include "fixture.hpp"

using namespace kasane;
using namespace kasane::run;
using namespace kasane::report;
using test::Directory;
using test::write_file;

namespace {

TEST(ReportHistory, ReadsWhatARunWrites) {
    Directory d;
    test::fill_run(d, 0);
    for (const char* name : {"snapshot_0010.hdf5", "snapshot_0002.hdf5", "snapshot_0003.0.hdf5", "snapshot_0003.1.hdf5",
                             ".snapshot_0004.hdf5.tmp", "snapshot_x.hdf5", "other.hdf5"})
        write_file(d / "snapshots" / name, "");
    const auto h = read_history(d);
    EXPECT_EQ(h.record.title, "Two clumps");
    EXPECT_EQ(h.record.status, "done");
    EXPECT_EQ(h.record.particles, 400);
    EXPECT_EQ(h.record.particles_by_type[2], 400);
    EXPECT_EQ(h.record.units.length_name, "kpc");
    EXPECT_EQ(h.record.force.variant, "simd");
    EXPECT_EQ(h.record.rate, 2e9);
    EXPECT_EQ(h.record.bound.rate, 4e9);
    EXPECT_EQ(h.record.segments.size(), 2U);
    const auto parts = timed_parts(h.record);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].first, "force");
    EXPECT_EQ(h.energy.rows(), 11U);
    EXPECT_EQ(h.energy["r50"][3], 3);
    ASSERT_EQ(h.snapshots.size(), 3U);
    EXPECT_EQ(h.snapshots[0].filename(), "snapshot_0002.hdf5");
    EXPECT_EQ(h.snapshots[1].filename(), "snapshot_0003.0.hdf5");
    EXPECT_EQ(h.snapshots[2].filename(), "snapshot_0010.hdf5");
    EXPECT_TRUE(h.notes.empty());
}

TEST(ReportHistory, NoRunDirectoryIsAnInputError) {
    Directory d;
    EXPECT_THROW(read_history(d / "absent"), InputError);
    EXPECT_THROW(read_history(d), InputError);
    write_file(d / "file", "");
    EXPECT_THROW(read_history(d / "file"), InputError);
    try {
        read_history(d);
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("record.json"), std::string::npos) << error.what();
    }
}

TEST(ReportHistory, RunFileAloneIsEnough) {
    Directory d;
    write_file(d / "run.toml", "[run]\n");
    const auto h = read_history(d);
    EXPECT_EQ(h.run_file, "[run]\n");
    EXPECT_TRUE(h.snapshots.empty());
    EXPECT_EQ(h.energy.rows(), 0U);
    EXPECT_TRUE(std::isnan(h.record.rate));
    EXPECT_EQ(h.notes.size(), 1U);
}

TEST(ReportHistory, RecordOfTheWrongShape) {
    for (const char* text : {"", "{", "[1, 2]", "null", "\xff\xfe"}) {
        Directory d;
        write_file(d / "record.json", text);
        const auto h = read_history(d);
        EXPECT_EQ(h.notes.size(), 1U) << text;
    }
    Directory d;
    write_file(d / "record.json",
               R"({"title": 3, "particles": "many", "particles_by_type": {"a": 1}, "units": [], "timers": {"x": 1, "y": {"seconds": null},
               "z": {"seconds": 2}}, "bound": 7, "segments": 4, "papers": [1, "p"], "rate": null})");
    const auto h = read_history(d);
    EXPECT_TRUE(h.record.title.empty());
    EXPECT_EQ(h.record.particles, 0);
    EXPECT_EQ(timed_parts(h.record).size(), 1U);
    EXPECT_EQ(h.record.bound.rate, 0);
    EXPECT_EQ(h.record.segments.size(), 4U);
    EXPECT_EQ(h.record.papers, std::vector<std::string>{"p"});
}

TEST(ReportHistory, ObjectsOfTheRunFile) {
    const auto objects = [](const std::string& text) {
        Directory d;
        write_file(d / "run.toml", text);
        return read_history(d).objects;
    };
    EXPECT_EQ(objects("[[object]]\nmodel = \"nfw\"\ncount = 5\n[object.truncation]\nradius = 1.0\n[[object]]\ncount = 7\n[[object]]\nmodel "
                      "= \"point\"\n"),
              (std::vector<std::int64_t>{5, 7, 1}));
    EXPECT_TRUE(objects("[[object]]\ncount = 5\n[[object]]\nfile = \"a.hdf5\"\n").empty());
    EXPECT_TRUE(objects("[initial]\ncount = 5\n").empty());
    EXPECT_TRUE(objects("[[object]\ncount").empty());
}

TEST(ReportHistory, EnergyTableWithHoles) {
    Directory d;
    write_file(d / "run.toml", "");
    write_file(d / "energy.csv", "time,step,energy,time\r\n0,0,-1,9\r\n\r\n1,10,nan,9\r\n2,20,,9\r\n3,30,abc,9\r\n4,40,-inf,9\r\n5,5");
    const auto h = read_history(d);
    ASSERT_EQ(h.energy.rows(), 5U);
    EXPECT_EQ(h.energy["time"], (std::vector<double>{0, 1, 2, 3, 4}));
    EXPECT_EQ(h.energy["energy"][0], -1);
    for (const std::size_t row : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(h.energy["energy"][row])) << row;
    EXPECT_TRUE(std::isinf(h.energy["energy"][4]));
    EXPECT_TRUE(h.energy["absent"].empty());
    EXPECT_EQ(h.notes.size(), 2U);  // no record, and the row that was cut short
}

}  // namespace
