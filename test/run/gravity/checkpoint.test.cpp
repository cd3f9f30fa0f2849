// Checkpoints: what comes back is what went in, bit by bit, and no damage goes unseen.
#include <kasane/core/base/memory_error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <gtest/gtest.h>
#include <test/gravity/snapshot/beyond_memory.hpp>
#include <test/run/command.hpp>

#if defined(__SANITIZE_ADDRESS__)
// What HDF5 itself loses when it gives up on a corrupt file is not ours to mend.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace {

using namespace kasane;
namespace fs = std::filesystem;
using run::GravityCheckpoint;

class CheckpointFile : public test::CommandTest {
   protected:
    static GravityCheckpoint example() {
        GravityCheckpoint c;
        c.particles.resize(13);
        for (std::size_t i = 0; i < 13; ++i) {
            const double x = 1.0 / (static_cast<double>(i) + 3);
            c.particles.position[i] = {x, -x, 1e-300 * x};
            c.particles.velocity[i] = {x * x, 1e200 * x, -0.0};
            c.particles.mass[i] = x;
            c.particles.id[i] = ~std::uint64_t{0} - i;
            c.particles.type[i] = static_cast<std::uint8_t>(i % 6);
        }
        c.units = gravity::galactic_units();
        c.step = 123456789012;
        c.start = 0.1;
        c.dt = 1.0 / 3;
        c.record = std::string(100'000, 'x') + "\n{}";
        for (std::uint32_t i = 0; i < 13; ++i) {
            c.state.order.push_back(12 - i);
            c.state.acceleration.push_back({1.0f / (static_cast<float>(i) + 3), -0.0f, 1e-30f});
        }
        c.state.tuning.many = {{.vector = 2, .group = 64, .group_extent = 1.0 / 3, .list = 512}, false};
        c.state.tuning.few = {{.vector = 1, .group = 16, .group_extent = 1.0 / 7, .list = 256}, true};
        c.state.tuning.rebuild_interval = 17;
        c.state.step_length = 1.0 / 7;
        c.state.frame = {{0.1, -0.2, 1e-300}, 1.0 / 11, 1.0 / 13, 1'000'000'000'000};
        return c;
    }
};

TEST_F(CheckpointFile, RoundTripKeepsEveryBit) {
    const auto c = example();
    run::write_gravity_checkpoint(directory / "c.hdf5", c);
    const auto back = run::read_gravity_checkpoint(directory / "c.hdf5");
    EXPECT_EQ(back.particles.position, c.particles.position);
    EXPECT_EQ(back.particles.velocity, c.particles.velocity);
    EXPECT_TRUE(std::signbit(back.particles.velocity[0].z));
    EXPECT_EQ(back.particles.mass, c.particles.mass);
    EXPECT_EQ(back.particles.id, c.particles.id);
    EXPECT_EQ(back.particles.type, c.particles.type);
    EXPECT_EQ(back.units, c.units);
    EXPECT_EQ(back.step, c.step);
    EXPECT_EQ(back.start, c.start);
    EXPECT_EQ(back.dt, c.dt);
    EXPECT_EQ(back.record, c.record);
    EXPECT_EQ(back.state.order, c.state.order);
    EXPECT_EQ(back.state.acceleration, c.state.acceleration);
    EXPECT_TRUE(std::signbit(back.state.acceleration[0].y));
    const auto &tuning = back.state.tuning, &written = c.state.tuning;
    for (const auto& [tuned, given] : {std::pair{tuning.many, written.many}, {tuning.few, written.few}}) {
        EXPECT_EQ(tuned.decided, given.decided);
        EXPECT_EQ(tuned.walk.vector, given.walk.vector);
        EXPECT_EQ(tuned.walk.group, given.walk.group);
        EXPECT_EQ(tuned.walk.group_extent, given.walk.group_extent);
        EXPECT_EQ(tuned.walk.list, given.walk.list);
    }
    EXPECT_EQ(back.state.tuning.rebuild_interval, 17);
    EXPECT_EQ(back.state.step_length, 1.0 / 7);
    EXPECT_EQ(back.state.frame.origin, c.state.frame.origin);
    EXPECT_EQ(back.state.frame.extent, 1.0 / 11);
    EXPECT_EQ(back.state.frame.largest_mass, 1.0 / 13);
    EXPECT_EQ(back.state.frame.total, 1'000'000'000'000);
}

TEST_F(CheckpointFile, WithoutATreeTheStateIsEmpty) {
    auto c = example();
    c.state = {};
    run::write_gravity_checkpoint(directory / "c.hdf5", c);
    const auto back = run::read_gravity_checkpoint(directory / "c.hdf5");
    EXPECT_TRUE(back.state.order.empty());
    EXPECT_TRUE(back.state.acceleration.empty());
    EXPECT_EQ(back.state.tuning.rebuild_interval, 0);
    EXPECT_EQ(back.state.step_length, 0);
}

TEST_F(CheckpointFile, TheFirstLayoutIsStillRead) {
    const auto back = run::read_gravity_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/gravity/checkpoint_layout1.hdf5");
    ASSERT_EQ(back.particles.size(), 3);
    EXPECT_EQ(back.particles.position[1], (Vec3<double>{0.25, -0.25, 1e-300}));
    EXPECT_EQ(back.particles.id, (std::vector<std::uint64_t>{7, 8, 9}));
    EXPECT_EQ(back.units, gravity::nbody_units());
    EXPECT_EQ(back.step, 42);
    EXPECT_EQ(back.dt, 1.0 / 3);
    EXPECT_EQ(back.record, "{}");
    EXPECT_TRUE(back.state.order.empty());
}

TEST_F(CheckpointFile, TheSecondLayoutIsStillRead) {
    const auto back = run::read_gravity_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/gravity/checkpoint_layout2.hdf5");
    ASSERT_EQ(back.particles.size(), 3);
    EXPECT_EQ(back.particles.position[1], (Vec3<double>{0.25, -0.25, 1e-300}));
    EXPECT_EQ(back.step, 42);
    EXPECT_EQ(back.state.order, (std::vector<std::uint32_t>{2, 1, 0}));
    EXPECT_EQ(back.state.acceleration[2], (Vec3<float>{0.5f, -0.0f, 2}));
    EXPECT_EQ(back.state.tuning.rebuild_interval, 17);
    EXPECT_EQ(back.state.step_length, 1.0 / 7);
    EXPECT_EQ(back.state.frame.total, 0) << "it has none";
}

// Its walk has numbers that are read for the checksum and then ignored.
TEST_F(CheckpointFile, TheThirdLayoutIsStillRead) {
    const auto back = run::read_gravity_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/gravity/checkpoint_layout3.hdf5");
    ASSERT_EQ(back.particles.size(), 3);
    EXPECT_EQ(back.particles.position[1], (Vec3<double>{0.25, -0.25, 1e-300}));
    EXPECT_EQ(back.step, 42);
    EXPECT_EQ(back.state.order, (std::vector<std::uint32_t>{2, 1, 0}));
    EXPECT_EQ(back.state.tuning.many.walk.group, 64);
    EXPECT_EQ(back.state.tuning.many.walk.list, 512);
    EXPECT_TRUE(back.state.tuning.many.decided);
    EXPECT_FALSE(back.state.tuning.few.decided) << "its choice was measured with many targets alone";
    EXPECT_EQ(back.state.tuning.rebuild_interval, 17);
    EXPECT_EQ(back.state.frame.total, 1'000'000'000'000);
}

TEST_F(CheckpointFile, TheFourthLayoutIsStillRead) {
    const auto back = run::read_gravity_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/gravity/checkpoint_layout4.hdf5");
    ASSERT_EQ(back.particles.size(), 3);
    EXPECT_EQ(back.state.tuning.many.walk.group, 64);
    EXPECT_EQ(back.state.tuning.many.walk.list, 512);
    EXPECT_EQ(back.state.tuning.many.walk.group_extent, 0) << "it has no effect where all particles are targets";
    EXPECT_TRUE(back.state.tuning.many.decided);
    EXPECT_EQ(back.state.tuning.few.walk.group, 0);
    EXPECT_FALSE(back.state.tuning.few.decided);
    EXPECT_EQ(back.state.tuning.rebuild_interval, 17);
    EXPECT_EQ(back.state.frame.total, 1'000'000'000'000);
}

// Its checksum is one of all bytes, not of pieces.
TEST_F(CheckpointFile, TheSeventhLayoutIsStillRead) {
    const auto back = run::read_gravity_checkpoint(fs::path(KASANE_SOURCE_DIR) / "test/run/gravity/checkpoint_layout7.hdf5");
    EXPECT_EQ(back.particles.size(), 3);
    EXPECT_EQ(back.step, 2);
    EXPECT_EQ(back.state.order.size(), 3u);
    EXPECT_EQ(back.state.acceleration.size(), 3u);
}

/// A checkpoint of a step with a snapshot: its particles are a second name of the snapshot.
class LinkedCheckpoint : public CheckpointFile {
   protected:
    fs::path path_, particles_;

    void SetUp() override {
        CheckpointFile::SetUp();
        path_ = directory / "checkpoint_000000000007.hdf5", particles_ = directory / "particles_000000000007.hdf5";
    }
    static gravity::Snapshot snapshot_of(const GravityCheckpoint& c) {
        gravity::Snapshot snapshot;
        snapshot.particles = c.particles;
        snapshot.units = c.units;
        return snapshot;
    }
    /// @param several  types in an order that the snapshot does not have, and one mass for all particles of type 4
    GravityCheckpoint write(bool several, bool compress = false) {
        auto c = example();
        for (std::size_t i = 0; i < 13; ++i) {
            c.particles.type[i] = static_cast<std::uint8_t>(several ? (i * 5 + 3) % 6 : i / 4);
            c.particles.velocity[i].y = 1.0 / (static_cast<double>(i) + 7);
            if (c.particles.type[i] == 4) c.particles.mass[i] = 0.1;
        }
        if (several) c.particles.softening.assign(13, 0.25);
        gravity::write_snapshot(directory / "s.hdf5", snapshot_of(c), {.compress = compress});
        run::write_gravity_checkpoint(path_, c, directory / "s.hdf5");
        return c;
    }
    std::string complaint() const {
        const auto whole = complaint_of(run::read_gravity_checkpoint);
        EXPECT_EQ(complaint_of(run::open_gravity_checkpoint), whole) << "where it is read in parts";
        return whole;
    }
    std::string complaint_of(run::GravityCheckpoint (*read)(const fs::path& path)) const {
        try {
            read(path_);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(LinkedCheckpoint, RoundTripKeepsEveryBitWithoutTheSnapshot) {
    for (const bool several : {false, true}) {
        for (const bool compress : {false, true}) {
            const auto c = write(several, compress);
            EXPECT_EQ(fs::hard_link_count(particles_), 2u) << "their bytes are on the disk once";
            fs::remove(directory / "s.hdf5");
            const auto back = run::read_gravity_checkpoint(path_);
            EXPECT_EQ(back.particles.position, c.particles.position);
            EXPECT_EQ(back.particles.velocity, c.particles.velocity);
            EXPECT_TRUE(std::signbit(back.particles.velocity[0].z));
            EXPECT_EQ(back.particles.mass, c.particles.mass);
            EXPECT_EQ(back.particles.id, c.particles.id);
            EXPECT_EQ(back.particles.type, c.particles.type);
            EXPECT_EQ(back.particles.softening, c.particles.softening);
            EXPECT_EQ(back.state.acceleration, c.state.acceleration);
            EXPECT_EQ(back.record, c.record);
        }
    }
}

/// The rows of a checkpoint that is read in parts are those of one that is read whole, in any parts and order.
void expect_same_rows(const fs::path& path) {
    const auto whole = run::read_gravity_checkpoint(path);
    const auto parts = run::open_gravity_checkpoint(path);
    ASSERT_TRUE(parts.rows);
    auto& rows = *parts.rows;
    const auto n = whole.particles.size();
    EXPECT_EQ(rows.size(), n);
    EXPECT_EQ(parts.step, whole.step);
    EXPECT_EQ(parts.record, whole.record);
    EXPECT_EQ(parts.state.step_length, whole.state.step_length);
    EXPECT_EQ(rows.has(gravity::Column::softening), !whole.particles.softening.empty());
    EXPECT_EQ(rows.has(gravity::Column::acceleration), !whole.state.acceleration.empty());
    const auto compare = [&]<class T>(gravity::Column column, const std::vector<T>& all) {
        if (all.empty()) return;
        for (const auto& [first, count] : std::vector<std::pair<index_t, index_t>>{{0, n}, {0, 5}, {5, n - 5}, {3, 1}, {n - 2, 2}}) {
            const auto found = rows.rows_of<T>(column, first, count);
            EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin() + first)) << first << " " << count;
        }
    };
    compare(gravity::Column::position, whole.particles.position);
    compare(gravity::Column::velocity, whole.particles.velocity);
    compare(gravity::Column::mass, whole.particles.mass);
    compare(gravity::Column::id, whole.particles.id);
    compare(gravity::Column::type, whole.particles.type);
    compare(gravity::Column::softening, whole.particles.softening);
    compare(gravity::Column::acceleration, whole.state.acceleration);
}

TEST_F(LinkedCheckpoint, IsReadInParts) {
    for (const bool several : {false, true})
        for (const bool compress : {false, true}) {
            write(several, compress);
            expect_same_rows(path_);
        }
    run::write_gravity_checkpoint(path_, example(), {});
    expect_same_rows(path_);
}

TEST_F(LinkedCheckpoint, ParticlesThatAreMissingDamagedOrOthersAreFound) {
    const auto c = write(true);
    const auto refused = [&](const char* reason) {
        const auto said = complaint();
        EXPECT_NE(said.find("particles_000000000007.hdf5"), std::string::npos) << said;
        EXPECT_NE(said.find(reason), std::string::npos) << said;
    };
    const auto whole = test::read_file(particles_);
    for (const std::size_t at : {std::size_t{40}, whole.size() / 2, whole.size() - 200}) {
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        test::write_file(particles_, damaged);
        try {
            EXPECT_EQ(run::read_gravity_checkpoint(path_).particles.position, c.particles.position) << "padding of HDF5";
        } catch (const InputError&) {
        }
    }
    auto others = snapshot_of(c);
    others.particles.position[3].x *= 1 + 1e-15;
    gravity::write_snapshot(particles_, others);
    EXPECT_NE(complaint().find("checksum does not fit"), std::string::npos) << complaint();
    others.particles.type[0] = others.particles.type[0] == 1 ? 2 : 1;
    gravity::write_snapshot(particles_, others);
    refused("other particles");
    others.particles.resize(12);
    gravity::write_snapshot(particles_, others);
    refused("other particles");
    test::write_file(particles_, "this is text");
    refused("which");
    fs::remove(particles_);
    refused("no such file");
}

// Low memory is no damage of the file: the remedy is not another file, and an older checkpoint must not take its place.
TEST_F(LinkedCheckpoint, ParticlesThatDoNotFitIntoMemoryAreNoDamage) {
    write(false);
    gravity::test::write_snapshot_beyond_memory(particles_);
    EXPECT_THROW(run::read_gravity_checkpoint(path_), MemoryError);
    const auto said = complaint_of(run::read_gravity_checkpoint);
    EXPECT_EQ(said.find(particles_.string() + ": has more particles than fit into memory: "), 0u) << said;
    EXPECT_NE(said.find("End other programs"), std::string::npos) << said;
    EXPECT_EQ(said.find("put back"), std::string::npos) << said;
}

TEST_F(LinkedCheckpoint, WithoutALinkTheCheckpointHasTheParticles) {
    const auto c = example();
    run::write_gravity_checkpoint(path_, c, directory / "missing.hdf5");
    EXPECT_FALSE(fs::exists(particles_));
    EXPECT_EQ(run::read_gravity_checkpoint(path_).particles.position, c.particles.position);
}

TEST_F(CheckpointFile, ALaterLayoutIsRefusedWithBothNumbers) {
    {
        auto file = hdf5::File::create(directory / "later.hdf5");
        file.create_group("/Checkpoint");
        file.set_attribute("/Checkpoint", "Layout", std::uint32_t{9});
        file.close();
    }
    try {
        run::read_gravity_checkpoint(directory / "later.hdf5");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("layout 9, this one reads up to 8"), std::string::npos) << error.what();
    }
}

TEST_F(CheckpointFile, DetectsEveryTruncation) {
    auto c = example();
    c.record = "{}";
    run::write_gravity_checkpoint(directory / "c.hdf5", c);
    const auto whole = test::read_file(directory / "c.hdf5");
    for (std::size_t size = 0; size < whole.size(); size += 97) {
        test::write_file(directory / "t.hdf5", whole.substr(0, size));
        EXPECT_THROW(run::read_gravity_checkpoint(directory / "t.hdf5"), InputError) << size << " of " << whole.size() << " bytes";
    }
}

TEST_F(CheckpointFile, NoFlippedBitChangesWhatIsRead) {
    auto c = example();
    c.record = "{}";
    run::write_gravity_checkpoint(directory / "c.hdf5", c);
    const auto whole = test::read_file(directory / "c.hdf5");
    int seen = 0;
    for (std::size_t at = 0; at < whole.size(); at += 13) {
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        test::write_file(directory / "d.hdf5", damaged);
        try {
            const auto back = run::read_gravity_checkpoint(directory / "d.hdf5");
            // Padding and unused bytes of HDF5 may change; the content may not.
            EXPECT_EQ(back.particles.position, c.particles.position) << at;
            EXPECT_EQ(back.particles.mass, c.particles.mass) << at;
            EXPECT_EQ(back.step, c.step) << at;
            EXPECT_EQ(back.units, c.units) << at;
            EXPECT_EQ(back.record, c.record) << at;
            EXPECT_EQ(back.state.order, c.state.order) << at;
            EXPECT_EQ(back.state.acceleration, c.state.acceleration) << at;
            EXPECT_EQ(back.state.tuning.rebuild_interval, c.state.tuning.rebuild_interval) << at;
            EXPECT_EQ(back.state.tuning.few.walk.group, c.state.tuning.few.walk.group) << at;
            EXPECT_EQ(back.state.tuning.few.decided, c.state.tuning.few.decided) << at;
            EXPECT_EQ(back.state.step_length, c.state.step_length) << at;
            EXPECT_EQ(back.state.frame.origin, c.state.frame.origin) << at;
            EXPECT_EQ(back.state.frame.total, c.state.frame.total) << at;
        } catch (const InputError&) {
            ++seen;
        }
    }
    EXPECT_GT(seen, 50);  // the particles alone are 13 * 65 bytes: 65 of the places tried
}

TEST_F(CheckpointFile, RefusesOtherFiles) {
    EXPECT_THROW(run::read_gravity_checkpoint(directory / "missing.hdf5"), InputError);
    EXPECT_THROW(run::read_gravity_checkpoint(directory), InputError);
    test::write_file(directory / "text.hdf5", "this is text");
    EXPECT_THROW(run::read_gravity_checkpoint(directory / "text.hdf5"), InputError);
}

}  // namespace
