// The file of measurements: entries come back as written, and bad content does no harm; and empty kernels.
#include <kasane/core/base/error.hpp>
#include <kasane/perf/calibration.hpp>
#include <kasane/perf/sync_times.hpp>
#include <kasane/version.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace kasane {
namespace {

namespace fs = std::filesystem;

class CalibrationFile : public testing::Test {
   protected:
    fs::path directory = fs::temp_directory_path() / ("kasane_calibration_" + std::to_string(::getpid()));
    fs::path file = directory / "deep" / "calibration.json";
    void SetUp() override { fs::remove_all(directory); }
    void TearDown() override { fs::remove_all(directory); }
    void write(const std::string& text) const {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
    }
    static std::string entry(const std::string& numbers, const std::string& of = version) {
        return R"({"version": ")" + of + R"(", "kind": "force", "device": "d", "what": "w", "numbers": )" + numbers + "}";
    }
};

TEST_F(CalibrationFile, KeepsEntriesOfSeveralMachines) {
    EXPECT_TRUE(read_calibration(file).entries.empty());
    EXPECT_EQ(read_calibration(file).note, "");
    ASSERT_EQ(keep_calibration(file, {{{"force", "one", "w"}, {{"a", 1.5}, {"b", 0}}, ""}, {{"channel", "one", "2"}, {{"a", 3}}, ""}}), "");
    ASSERT_EQ(keep_calibration(file, {{{"force", "two", "w"}, {{"a", 7}}, "2026-01-02"}}), "");
    ASSERT_EQ(keep_calibration(file, {{{"force", "one", "w"}, {{"a", 2.5}}, ""}}), "");  // in place of the first
    const auto read = read_calibration(file);
    EXPECT_EQ(read.note, "");
    ASSERT_EQ(read.entries.size(), 3u);
    EXPECT_EQ(read.devices("force"), (std::vector<std::string>{"two", "one"}));
    const auto* one = read.find({"force", "one", "w"});
    ASSERT_TRUE(one);
    EXPECT_EQ((*one)["a"], 2.5);
    EXPECT_EQ(one->date.size(), 10u);
    EXPECT_THROW((*one)["b"], InputError);
    EXPECT_EQ(read.find({"force", "two", "w"})->date, "2026-01-02");
    EXPECT_EQ(read.find({"force", "three", "w"}), nullptr);
}

TEST_F(CalibrationFile, IgnoresDamagedAndForeignEntries) {
    for (const auto* bad : {"", "no JSON", "[]", "{}", R"({"measured": 3})", R"({"choices": []})"}) {
        write(bad);
        const auto read = read_calibration(file);
        EXPECT_TRUE(read.entries.empty()) << bad;
        EXPECT_NE(read.note.find("passed over"), std::string::npos) << bad;
    }
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_NE(read_calibration(file).note.find("not a regular file"), std::string::npos);
    EXPECT_NE(keep_calibration(file, {}), "");
}

TEST_F(CalibrationFile, IgnoresHostileEntries) {
    for (const auto* bad : {R"({"a": -1})", R"({"a": 1e31})", R"({"a": "1"})", R"({"a": null})", R"([1])", "7", R"({"a": {"b": 1}})"}) {
        write(R"({"measured": [)" + entry(bad) + "]}");
        const auto read = read_calibration(file);
        EXPECT_TRUE(read.entries.empty()) << bad;
        EXPECT_NE(read.note.find("1 of its entries"), std::string::npos) << bad;
    }
    write(R"({"measured": [3, {"kind": 3}, )" + entry(R"({"a": 1})") + ", " + entry(R"({"a": 2})") + "]}");
    const auto read = read_calibration(file);
    ASSERT_EQ(read.entries.size(), 1u);
    EXPECT_EQ(read.entries[0]["a"], 2);  // the latest
    // Of other versions: absent, and mentioned when there are no other entries.
    write(R"({"measured": [)" + entry(R"({"a": 1})", "0.0.0") + "]}");
    EXPECT_TRUE(read_calibration(file).entries.empty());
    EXPECT_NE(read_calibration(file).note.find("other versions"), std::string::npos);
}

TEST_F(CalibrationFile, NamesDevices) {
    DeviceInfo device;
    device.name = "A processor", device.kind = "cpu";
    EXPECT_EQ(device_text(device, 1), "A processor, 1 thread");
    EXPECT_EQ(device_text(device, 8), "A processor, 8 threads");
    device.kind = "cuda";
    EXPECT_EQ(device_text(device, 8), "A processor");
    EXPECT_NE(keep_calibration({}, {}), "");
}

TEST(SyncTimes, LineOfEmptyKernels) {
    const auto fit = fit_sync(2, {{1, 1.2e-5}, {2, 1.4e-5}, {10, 3.0e-5}});
    EXPECT_EQ(fit.workers, 2);
    EXPECT_NEAR(fit.t_sync, 1.0e-5, 1e-18);
    EXPECT_NEAR(fit.t_kernel, 2.0e-6, 1e-19);
    // Measured: times are above zero and grow with the number of kernels; their size depends on the machine.
    const auto alone = measure_sync(AnySpace(Cpu{1}));
    EXPECT_EQ(alone.workers, 1);
    EXPECT_GE(alone.timings.size(), 5u);
    for (const auto& timing : alone.timings) EXPECT_GT(timing.seconds, 0);
    const auto ranks = comm::alone();
    comm::WorkerCommunicator workers(*ranks, 2);
    const auto two = measure_sync(workers, {AnySpace(Cpu{1}), AnySpace(Cpu{1})});
    EXPECT_EQ(two.workers, 2);
    EXPECT_EQ(two.timings.size(), alone.timings.size());
}

}  // namespace
}  // namespace kasane
