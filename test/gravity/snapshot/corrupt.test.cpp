// Hostile snapshots: cut at every block, with lying markers and counts, unusable values, and thousands of random changes.
// Nothing but InputError or success may come out, and no memory may be taken that the file cannot back up.
#include "beyond_memory.hpp"
#include "samples.hpp"

#include <kasane/core/io/hdf5.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#if defined(__SANITIZE_ADDRESS__)
// HDF5 allocates what a corrupt header says and handles the failure; AddressSanitizer would end the program instead.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
// What HDF5 itself loses when it gives up on a corrupt file is not ours to mend.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace kasane::gravity::test {
namespace {

class CorruptSnapshots : public testing::Test {
   protected:
    Folder folder;

    std::string binary(SnapshotFormat format, ByteOrder order = ByteOrder::little, bool double_precision = true) {
        write_snapshot(folder / "valid", sample(), {.format = format, .order = order, .double_precision = double_precision});
        return bytes_of(folder / "valid");
    }
    std::string complaint_about(const std::string& bytes) {
        write_bytes(folder / "changed", bytes);
        return complaint(folder / "changed");
    }
};

template <class T>
std::string with(std::string bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
}

/// Offsets of the records of format 1 that sample() makes in double precision: HEAD, POS, VEL, ID, MASS, and the end.
struct Record {
    const char* name;
    std::size_t offset, bytes;
};
constexpr std::array<Record, 5> records{{{"HEAD", 0, 256},
                                         {"POS", 264, 14 * 24},
                                         {"VEL", 264 + 344, 14 * 24},
                                         {"ID", 264 + 2 * 344, 14 * 4},
                                         {"MASS", 264 + 2 * 344 + 64, 9 * 8}}};

TEST_F(CorruptSnapshots, RefusesFilesThatAreNotSnapshots) {
    EXPECT_MENTIONS(complaint(folder / "none"), "no such file");
    EXPECT_MENTIONS(complaint(folder.path()), "directory");
    EXPECT_MENTIONS(complaint("/dev/null"), "not a regular file");
    EXPECT_MENTIONS(complaint_about(""), "not a snapshot");
    EXPECT_MENTIONS(complaint_about("abc"), "not a snapshot");
    EXPECT_MENTIONS(complaint_about("It was a dark and stormy night"), "not a snapshot");
    fs::permissions(folder / "changed", fs::perms::none);
    const bool superuser = ::geteuid() == 0;  // root may read all files: the test switches to an ordinary user
    if (superuser) {
        ASSERT_EQ(::seteuid(65534), 0);
    }
    EXPECT_MENTIONS(complaint(folder / "changed"), "Permission denied");
    if (superuser) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    fs::permissions(folder / "changed", fs::perms::owner_all);
    EXPECT_THROW(inspect_snapshot(folder / "none"), InputError);
    EXPECT_THROW(inspect_snapshot(folder / "changed"), InputError);
}

TEST_F(CorruptSnapshots, ATruncatedFileIsReportedWithItsBlock) {
    for (const auto format : {SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        for (const auto order : {ByteOrder::little, ByteOrder::big}) {
            const auto whole = binary(format, order);
            write_bytes(folder / "changed", whole);
            for (auto length = whole.size() - 1; length >= 4; --length) {
                fs::resize_file(folder / "changed", length);
                const auto said = complaint(folder / "changed");
                ASSERT_NE(said.find("changed: block "), std::string::npos) << "cut at " << length << ", said: " << said;
            }
        }
    }
    const auto whole = binary(SnapshotFormat::gadget1);
    ASSERT_EQ(whole.size(), records.back().offset + records.back().bytes + 8);
    for (const auto& record : records) {  // at its start, after its first marker, amid it, before and within its last marker
        for (const auto cut : {std::size_t{0}, std::size_t{4}, 4 + record.bytes / 2, 4 + record.bytes, 7 + record.bytes}) {
            if (record.offset + cut < 4) continue;
            EXPECT_MENTIONS(complaint_about(whole.substr(0, record.offset + cut)), std::string("block ") + record.name);
        }
    }
}

TEST_F(CorruptSnapshots, RefusesWrongRecordLengths) {
    const auto whole = binary(SnapshotFormat::gadget1);
    for (const auto& record : records) {
        for (const std::uint32_t lie : {0u, 1u, static_cast<std::uint32_t>(record.bytes + 8), 0x7fffffffu, 0xffffffffu}) {
            if (record.offset > 0) {
                EXPECT_MENTIONS(complaint_about(with(whole, record.offset, lie)), std::string("block ") + record.name);
            }
            EXPECT_MENTIONS(complaint_about(with(whole, record.offset + 4 + record.bytes, lie)), std::string("block ") + record.name);
        }
    }
    // Both markers agree, and the size is wrong for the counts: 5 of type 1 became 4.
    EXPECT_MENTIONS(complaint_about(with(with(whole, 4 + 4, 4), 4 + 96 + 4, 4)), "block POS");
}

TEST_F(CorruptSnapshots, RefusesWrongCounts) {
    const auto whole = binary(SnapshotFormat::gadget1);
    const auto count = [&](int type, std::int32_t n) {
        return with(with(whole, 4 + 4 * static_cast<std::size_t>(type), n), 4 + 96 + 4 * static_cast<std::size_t>(type), n);
    };
    for (int type = 0; type < type_count; ++type) {
        EXPECT_MENTIONS(complaint_about(count(type, std::numeric_limits<std::int32_t>::max())), "block POS");
        EXPECT_MENTIONS(complaint_about(count(type, -1)), "block HEAD");
    }
    EXPECT_MENTIONS(complaint_about(with(whole, 4 + 96, 77)), "counts disagree");
    EXPECT_MENTIONS(complaint_about(with(whole, 4 + 124, 2)), "has no number");
    auto none = whole.substr(0, 264);
    for (std::size_t t = 0; t < type_count; ++t) none = with(with(none, 4 + 4 * t, 0), 4 + 96 + 4 * t, 0);
    EXPECT_MENTIONS(complaint_about(none), "no particles");
    // 2^31 - 1 files, of which the first two exist
    write_bytes(folder / "huge.0", with(whole, 4 + 124, std::numeric_limits<std::int32_t>::max()));
    write_bytes(folder / "huge.1", with(whole, 4 + 124, std::numeric_limits<std::int32_t>::max()));
    EXPECT_MENTIONS(complaint(folder / "huge.0"), "huge.2");
}

TEST_F(CorruptSnapshots, RefusesInvalidValues) {
    const auto whole = binary(SnapshotFormat::gadget1);
    const auto nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    EXPECT_MENTIONS(complaint_about(with(whole, records[1].offset + 4, nan)), "position");
    EXPECT_MENTIONS(complaint_about(with(whole, records[1].offset + 4 + 24 * 13, infinity)), "particle 13");
    EXPECT_MENTIONS(complaint_about(with(whole, records[2].offset + 4, -infinity)), "velocity");
    EXPECT_MENTIONS(complaint_about(with(whole, records[4].offset + 4, -1.0)), "mass -1");
    EXPECT_MENTIONS(complaint_about(with(whole, records[4].offset + 4, nan)), "mass nan");
    EXPECT_MENTIONS(complaint_about(with(whole, 4 + 24 + 8, -1.0)), "mass -1");  // MassTable of type 1
    EXPECT_MENTIONS(complaint_about(with(whole, 4 + 24 + 8, nan)), "mass nan");
    EXPECT_MENTIONS(complaint_about(with(whole, 4 + 72, nan)), "time");
    for (const auto* name : {"/PartType1/Coordinates", "/PartType0/Masses"}) {
        auto s = sample();
        (std::string(name).ends_with("Masses") ? s.particles.mass[0] : s.particles.position[3].y) = nan;
        write_snapshot(folder / "nan.hdf5", s);
        EXPECT_MENTIONS(complaint(folder / "nan.hdf5"), "must be finite");
    }
}

TEST_F(CorruptSnapshots, RefusesMoreParticlesThanMemoryWithBothNumbers) {
    const auto n = write_snapshot_beyond_memory(folder / "huge");
    EXPECT_EQ(inspect_snapshot(folder / "huge").total(), n);
    const auto said = complaint(folder / "huge");
    EXPECT_MENTIONS(said, "MiB are needed");
    EXPECT_MENTIONS(said, "MiB are available");
    const auto first = said.find("memory: ");
    ASSERT_NE(first, std::string::npos);
    EXPECT_NEAR(std::stod(said.substr(first + 8)), static_cast<double>(n) * 65 / 1048576, 1);
}

TEST_F(CorruptSnapshots, RandomChangesOfBinaryFilesGiveErrorsOnly) {
    std::mt19937 random(20'081);
    std::array<int, 2> outcomes{};
    for (const auto format : {SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        for (const auto order : {ByteOrder::little, ByteOrder::big}) {
            const auto whole = binary(format, order, order == ByteOrder::little);
            for (int round = 0; round < 1500; ++round) {
                auto bytes = whole;
                for (auto changes = 1 + random() % 4; changes > 0; --changes) {
                    // Half of the changes fall on the header and the first markers, where they hurt most.
                    const auto where = random() % (random() % 2 == 0 ? 300 : bytes.size());
                    bytes[where] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 256);
                }
                if (random() % 4 == 0) bytes.resize(random() % bytes.size());
                if (random() % 8 == 0) bytes += bytes.substr(bytes.size() / 2);
                ++outcomes[complaint_about(bytes).empty()];
            }
        }
    }
    EXPECT_GT(outcomes[0], 1000);  // most changes are noticed,
    EXPECT_GT(outcomes[1], 100);   // and those of a digit of a position cannot be
}

TEST_F(CorruptSnapshots, RandomChangesOfHdf5FilesGiveErrorsOnly) {
    auto s = sample();
    s.potential.resize(14, -1);
    write_snapshot(folder / "valid.hdf5", s);
    const auto whole = bytes_of(folder / "valid.hdf5");
    std::mt19937 random(4'711);
    std::array<int, 2> outcomes{};
    for (int round = 0; round < 400; ++round) {
        auto bytes = whole;
        for (auto changes = 1 + random() % 4; changes > 0; --changes) {
            bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 256);
        }
        if (random() % 4 == 0) bytes.resize(random() % bytes.size());
        ++outcomes[complaint_about(bytes).empty()];
    }
    EXPECT_GT(outcomes[0], 50);
    EXPECT_GT(outcomes[1], 10);
}

TEST_F(CorruptSnapshots, RefusesATruncatedHdf5FileAndAMissingDataset) {
    write_snapshot(folder / "valid.hdf5", sample());
    const auto whole = bytes_of(folder / "valid.hdf5");
    for (std::size_t length = 8; length < whole.size(); length += 97) {
        EXPECT_MENTIONS(complaint_about(whole.substr(0, length)), "changed");
    }
    for (const auto* left_out : {"Coordinates", "Velocities", "ParticleIDs", "Masses"}) {
        auto file = hdf5::File::create(folder / "lacking.hdf5");
        file.create_group("/Header");
        file.set_attribute("/Header", "NumPart_ThisFile", std::array<int, 6>{0, 1, 0, 0, 0, 0});
        file.set_attribute("/Header", "Time", 0.0);
        for (const auto* name : {"Coordinates", "Velocities", "ParticleIDs", "Masses"}) {
            const auto path = std::string("/PartType1/") + name;
            if (std::string(name) == left_out) continue;
            if (name[0] == 'C' || name[0] == 'V')
                file.write(path, std::vector<Vec3<double>>(1));
            else
                file.write(path, std::vector<int>{1});
        }
        file.close();
        EXPECT_MENTIONS(complaint(folder / "lacking.hdf5"), std::string("/PartType1/") + left_out);
    }
}

}  // namespace
}  // namespace kasane::gravity::test
