#include <kasane/core/base/error.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>
#include <kasane/version.hpp>

#include "sparse/box.hpp"

#include <gtest/gtest.h>

#include <sys/file.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace kasane::sparse {
namespace {

namespace fs = std::filesystem;

class TuningFile : public testing::Test {
   protected:
    fs::path directory = fs::temp_directory_path() / ("kasane_tuning_" + std::to_string(::getpid()));
    fs::path file = directory / "deep" / "tuning.json";
    CsrMatrix A = box_matrix({4, 5, 6});
    TuningKey key = tuning_key("a device, 2 threads", A.view(), {});

    void SetUp() override { fs::remove_all(directory); }
    void TearDown() override { fs::remove_all(directory); }
    void write(const std::string& text) const {
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
    }
    std::string text() const {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    static SolverOptions choice(const std::string& ordering) {
        SolverOptions options;
        options.ordering = Ordering::parse(ordering);
        options.numbering = Numbering::sequential;
        options.format = Format::parse("sell:8:32");
        options.launch = Launch::graph;
        return options;
    }
    /// Stores a choice as a program does that has timed it.
    static std::string keep(const fs::path& to, const TuningKey& of, const SolverOptions& chosen) {
        return remember(to, of, {}, [&](TuningRecord& record) { record.choice = chosen; });
    }
    std::string entry(const std::string& ordering, const std::string& format) const {
        return R"({"version": ")" + std::string(version) + R"(", "device": ")" + key.device + R"(", "matrix": ")" + key.matrix +
               R"(", "asked": ")" + key.asked + R"(", "layout": 2, "ordering": )" + ordering + R"(, "numbering": "coalesced", "format": )" +
               format + R"(, "iteration": "auto", "launch": "auto"})";
    }
};

TEST_F(TuningFile, RecallsAStoredChoice) {
    EXPECT_FALSE(recall(file, key, {}).record.choice);
    EXPECT_EQ(recall(file, key, {}).note, "");
    EXPECT_EQ(keep(file, key, choice("cm-rcm:8")), "");
    const auto found = recall(file, key, {});
    ASSERT_TRUE(found.record.choice);
    EXPECT_EQ(found.record.choice->ordering.text(), "cm-rcm:8");
    EXPECT_EQ(found.record.choice->numbering, Numbering::sequential);
    EXPECT_EQ(found.record.choice->format.text(), "sell:8:32");
    EXPECT_EQ(found.record.choice->launch, Launch::graph);
    EXPECT_EQ(found.record.choice->iteration, Iteration::automatic);
    // The newer choice of one key replaces the older; others stay.
    const auto other = tuning_key("another device", A.view(), {});
    EXPECT_EQ(keep(file, other, choice("mc:3")), "");
    EXPECT_EQ(keep(file, key, choice("rcm")), "");
    EXPECT_EQ(recall(file, key, {}).record.choice->ordering.text(), "rcm");
    EXPECT_EQ(recall(file, other, {}).record.choice->ordering.text(), "mc:3");
    EXPECT_EQ(text().find("cm-rcm:8"), std::string::npos);
}

TEST_F(TuningFile, TheKeyIsDeviceShapeAndGivenOptions) {
    auto same = A;
    for (auto& value : same.value) value *= 3;
    SolverOptions asked;
    asked.rtol = 1e-3;
    EXPECT_EQ(tuning_key(key.device, same.view(), asked), key) << "values and tolerance do not matter";
    EXPECT_NE(tuning_key("b", A.view(), {}), key);
    EXPECT_EQ(tuning_key(key.device, box_matrix({4, 6, 5}).view(), {}), key) << "the same but for one of the steps to a neighbour";
    EXPECT_NE(tuning_key(key.device, box_matrix({4, 5, 7}).view(), {}), key);
    EXPECT_NE(tuning_key(key.device, box_matrix({30, 4, 1}).view(), {}), tuning_key(key.device, box_matrix({4, 30, 1}).view(), {}))
        << "other distances from the diagonal";
    auto moved = A;
    ++moved.begin[2];  // an entry more in row 1, one less in row 2: other lengths in all
    EXPECT_NE(tuning_key(key.device, moved.view(), {}), key);
    asked = {};
    asked.precondition = Precondition::ssor;
    const auto ssor = tuning_key(key.device, A.view(), asked);
    EXPECT_NE(ssor, key);
    asked.ssor_omega = 1.5;
    EXPECT_NE(tuning_key(key.device, A.view(), asked), ssor);
    asked = {};
    asked.format = Format::parse("csr");
    EXPECT_NE(tuning_key(key.device, A.view(), asked), key);
    asked = {};
    asked.single_factor = true;
    EXPECT_NE(tuning_key(key.device, A.view(), asked), key);
}

TEST_F(TuningFile, FixedOptionsStay) {
    SolverOptions asked;
    asked.format = Format::parse("csr");
    asked.numbering = Numbering::coalesced;
    asked.rtol = 1e-5;
    ASSERT_EQ(keep(file, key, choice("cm-rcm:8")), "");
    const auto found = recall(file, key, asked).record.choice;  // the entry claims this key, but has other options
    ASSERT_TRUE(found);
    EXPECT_EQ(found->format.text(), "csr");
    EXPECT_EQ(found->numbering, Numbering::coalesced);
    EXPECT_EQ(found->rtol, 1e-5);
    EXPECT_EQ(found->ordering.text(), "cm-rcm:8");
}

TEST_F(TuningFile, DamagedFilesAreIgnoredAndReplaced) {
    const std::string good = R"({"choices": [)" + entry("\"rcm\"", "\"csr\"") + "]}";
    write(good);
    ASSERT_TRUE(recall(file, key, {}).record.choice);
    for (const std::string& bad :
         {std::string(), good.substr(0, good.size() / 2), std::string("\0\1\2\xff\xfe", 5), std::string("[]"), std::string("null"),
          std::string("{}"), std::string(R"({"choices": 3})"), std::string(100'000, '['), good + good, std::string(5 << 20, ' ')}) {
        write(bad);
        const auto found = recall(file, key, {});
        EXPECT_FALSE(found.record.choice) << bad.substr(0, 60);
        EXPECT_NE(found.note.find("is passed over"), std::string::npos) << bad.substr(0, 60);
        EXPECT_EQ(keep(file, key, choice("mc:3")), "") << bad.substr(0, 60);
        EXPECT_TRUE(recall(file, key, {}).record.choice);
    }
}

TEST_F(TuningFile, AFileOfAnotherKindIsNotReplaced) {
    file = directory / "deep" / "matrix.mtx";
    write("%%MatrixMarket matrix");
    EXPECT_NE(recall(file, key, {}).note.find("not replaced"), std::string::npos);
    EXPECT_NE(keep(file, key, choice("mc:3")).find("not replaced"), std::string::npos);
    EXPECT_EQ(text(), "%%MatrixMarket matrix");
}

TEST_F(TuningFile, TruncationsAndFlippedBitsAreHarmless) {
    ASSERT_EQ(keep(file, key, choice("cm-rcm:8")), "");
    const auto whole = text();
    for (std::size_t length = 0; length + 2 < whole.size(); length += 3) {
        write(whole.substr(0, length));
        EXPECT_FALSE(recall(file, key, {}).record.choice) << length;
    }
    // A byte changed anywhere: a valid record or none.
    for (std::size_t at = 0; at < whole.size(); at += 2) {
        auto changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x41);
        write(changed);
        const auto found = recall(file, key, {});
        if (found.record.choice) {
            EXPECT_NE(found.record.choice->ordering.kind, OrderingKind::automatic);
            EXPECT_NE(found.record.choice->format.kind, FormatKind::automatic);
            EXPECT_NE(found.record.choice->numbering, Numbering::automatic);
        }
    }
}

TEST_F(TuningFile, HostileEntriesAreIgnored) {
    for (const std::string ordering :
         {R"("auto")", R"("")", R"("mc:0")", R"("cm-rmc:4")", "17", "null", "[]", "{}", R"("mc:99999999999999999999")"}) {
        write(R"({"choices": [3, null, [], {}, "x", )" + entry(ordering, "\"csr\"") + "]}");
        const auto found = recall(file, key, {});
        EXPECT_FALSE(found.record.choice) << ordering;
        EXPECT_NE(found.note.find("cannot be taken"), std::string::npos) << ordering;
    }
    for (const std::string format : {R"("auto")", R"("sell:0")", R"("sell:99999999")", "1e999", "true"}) {
        write(R"({"choices": [)" + entry("\"rcm\"", format) + "]}");
        EXPECT_FALSE(recall(file, key, {}).record.choice) << format;
    }
    // An older valid entry after the invalid one is found.
    write(R"({"choices": [)" + entry("\"rcm\"", "\"csr\"") + ", " + entry("\"auto\"", "\"csr\"") + "]}");
    ASSERT_TRUE(recall(file, key, {}).record.choice);
    // A choice of another version is not used, and stays in the file.
    auto foreign = entry("\"mc:7\"", "\"csr\"");
    foreign.replace(foreign.find(version), std::string(version).size(), "99.0");
    write(R"({"choices": [)" + foreign + "]}");
    EXPECT_FALSE(recall(file, key, {}).record.choice);
    EXPECT_EQ(keep(file, key, choice("rcm")), "");
    EXPECT_NE(text().find("mc:7"), std::string::npos);
}

TEST_F(TuningFile, DoesNotWaitForAPipeOrReadADirectory) {
    fs::create_directories(file.parent_path());
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_FALSE(recall(file, key, {}).record.choice);
    EXPECT_NE(keep(file, key, choice("rcm")), "");
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_FALSE(recall(file, key, {}).record.choice);
    EXPECT_NE(keep(file, key, choice("rcm")), "");
}

TEST_F(TuningFile, KeepsTrialsAndTimes) {
    TuneTrial trial;
    trial.options = choice("mc:3");
    trial.seconds_per_iteration = 1. / 3;
    trial.progress = {{8, 0.1, 0.7}, {11, 1e-300, 1e300}};
    ASSERT_EQ(remember(file, key, {}, [&](TuningRecord& r) { r.trials = {trial, trial}, r.solve_seconds = 0.1, r.rule_decade = 3; }), "");
    ASSERT_EQ(remember(file, key, {}, [&](TuningRecord& r) { r.setup_seconds = 7, r.uses = 5; }), "");
    const auto record = recall(file, key, {}).record;
    EXPECT_FALSE(record.choice);
    EXPECT_EQ(record.solve_seconds, 0.1);
    EXPECT_EQ(record.setup_seconds, 7);
    EXPECT_EQ(record.rule_decade, 3);
    EXPECT_EQ(record.uses, 5);
    ASSERT_EQ(record.trials.size(), 2u);
    EXPECT_EQ(record.trials[1].options.ordering.text(), "mc:3");
    EXPECT_EQ(record.trials[1].seconds_per_iteration, 1. / 3);
    ASSERT_EQ(record.trials[1].progress.size(), 2u);
    EXPECT_EQ(record.trials[1].progress[1].iterations, 11);
    EXPECT_EQ(record.trials[1].progress[1].residual, 1e300);
    // Numbers that a file may hold and a record may not, and damaged trials.
    auto damaged = text();
    for (const char* bad : {"\"solve_seconds\": -1", "\"solve_seconds\": \"x\"", "\"solve_seconds\": null", "\"solve_seconds\": []"}) {
        auto changed = damaged;
        const std::string good = "\"solve_seconds\": 0.1";
        ASSERT_NE(changed.find(good), std::string::npos);
        changed.replace(changed.find(good), good.size(), bad);
        write(changed);
        EXPECT_EQ(recall(file, key, {}).record.solve_seconds, 0) << bad;
    }
    damaged.replace(damaged.find("\"mc:3\""), 6, "\"auto\"");
    write(damaged);
    EXPECT_EQ(recall(file, key, {}).record.trials.size(), 1u);
}

TEST_F(TuningFile, ChoicesOfAnOlderLayoutAreIgnored) {
    auto old = entry("\"rcm\"", "\"csr\"");
    old.erase(old.find("\"layout\": 2, "), 13);
    write(R"({"choices": [)" + old + "]}");
    const auto found = recall(file, key, {});
    EXPECT_FALSE(found.record.choice);
    EXPECT_NE(found.note.find("older layout"), std::string::npos) << found.note;
    ASSERT_EQ(keep(file, key, choice("mc:3")), "");
    EXPECT_EQ(recall(file, key, {}).note, "") << "replaced";
}

TEST_F(TuningFile, AFailedWriteIsANote) {
    EXPECT_EQ(keep({}, key, choice("rcm")), "");
    fs::create_directories(directory);
    std::ofstream(directory / "deep") << "a file where a directory should be";
    EXPECT_NE(keep(file, key, choice("rcm")).find("were not kept"), std::string::npos);
    EXPECT_NE(keep("/proc/kasane/tuning.json", key, choice("rcm")), "");
}

TEST_F(TuningFile, WaitsForALockForALimitedTime) {
    ASSERT_EQ(keep(file, key, choice("rcm")), "");
    const int holder = ::open((file.string() + ".lock").c_str(), O_RDWR);
    ASSERT_EQ(::flock(holder, LOCK_EX), 0);
    EXPECT_NE(keep(file, key, choice("mc:3")).find("locked"), std::string::npos);
    EXPECT_EQ(recall(file, key, {}).record.choice->ordering.text(), "rcm");
    ::close(holder);
    EXPECT_EQ(keep(file, key, choice("mc:3")), "");
}

TEST_F(TuningFile, ConcurrentProgramsLoseNoEntry) {
    std::vector<std::thread> writers;
    for (int t = 0; t < 4; ++t)
        writers.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i)
                EXPECT_EQ(keep(file, tuning_key("device " + std::to_string(5 * t + i), A.view(), {}), choice("mc:3")), "");
        });
    for (auto& writer : writers) writer.join();
    for (int d = 0; d < 20; ++d) EXPECT_TRUE(recall(file, tuning_key("device " + std::to_string(d), A.view(), {}), {}).record.choice) << d;
}

TEST_F(TuningFile, HasALimitedNumberOfEntries) {
    std::string list;
    for (int i = 0; i < 1200; ++i) list += R"({"version": "old", "device": "d)" + std::to_string(i) + R"("},)";
    write(R"({"choices": [)" + list + "{}]}");
    ASSERT_EQ(keep(file, key, choice("rcm")), "");
    EXPECT_EQ(text().find("\"d100\""), std::string::npos) << "the oldest entries are removed";
    EXPECT_NE(text().find("\"d1199\""), std::string::npos);
    EXPECT_TRUE(recall(file, key, {}).record.choice);
}

TEST(DefaultTuningFile, IsInTheUsersCache) {
    const auto set = [](const char* variable, const char* value) { value ? ::setenv(variable, value, 1) : ::unsetenv(variable); };
    const auto saved = [](const char* variable) {
        const char* value = std::getenv(variable);
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
    const auto cache = saved("XDG_CACHE_HOME"), home = saved("HOME");
    set("HOME", "/home/somebody");
    set("XDG_CACHE_HOME", "/var/cache/somebody");
    EXPECT_EQ(default_tuning_file(), "/var/cache/somebody/kasane/tuning.json");
    for (const char* none : {static_cast<const char*>(nullptr), "", "relative"}) {
        set("XDG_CACHE_HOME", none);
        EXPECT_EQ(default_tuning_file(), "/home/somebody/.cache/kasane/tuning.json");
    }
    set("HOME", nullptr);
    EXPECT_EQ(default_tuning_file(), "");
    set("XDG_CACHE_HOME", cache ? cache->c_str() : nullptr);
    set("HOME", home ? home->c_str() : nullptr);
}

}  // namespace
}  // namespace kasane::sparse
