// A snapshot that is written block by block equals the one that is written at once; with wrong particles no file appears.
#include "samples.hpp"

#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>

namespace kasane::gravity::test {
namespace {

/// Types 1, 2 and 5; in the middle of a block the type changes, and no type's count is a multiple of a chunk.
Snapshot galaxy(std::uint64_t n = 20'011) {
    Snapshot s;
    s.units = galactic_units();
    s.softening = {0, 0.5, 0.25, 0, 0, 0.125};
    s.components = {{"halo", "nfw", 1, n - 5'001, 1, 80, 7},
                    {"disk", "exponential-disk", n - 5'000, 5'000, 2, 4, 7},
                    {"hole", "black-hole", n, 1, 5, 1e-3, 7}};
    s.model = "# a model\n[[component]]\nname = \"重ね\"\n";
    s.particles.resize(static_cast<index_t>(n));
    for (std::uint64_t i = 0; i < n; ++i) {
        const auto x = static_cast<double>(i);
        s.particles.position[i] = {x, -x / 3, 1 / (1 + x)};
        s.particles.velocity[i] = {0.1 * x, x * x, -7};
        s.particles.id[i] = i + 1;
        for (const auto& c : s.components) {
            if (i + 1 >= c.first_id) s.particles.type[i] = c.type, s.particles.mass[i] = c.mass / static_cast<double>(c.count);
        }
    }
    return s;
}

SnapshotOutline outline_of(const Snapshot& s) {
    SnapshotOutline outline;
    outline.units = s.units;
    outline.softening = s.softening;
    outline.components = s.components;
    outline.model = s.model;
    for (const auto& c : s.components) {
        outline.count[c.type] += c.count;
        outline.mass[c.type] = c.mass / static_cast<double>(c.count);
    }
    return outline;
}

Particles part_of(const Particles& p, std::size_t first, std::size_t n) {
    const auto cut = [&](const auto& from) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
        return std::remove_cvref_t<decltype(from)>(begin, begin + static_cast<std::ptrdiff_t>(std::min(n, from.size() - first)));
    };
    return {cut(p.position), cut(p.velocity), cut(p.mass), cut(p.id), cut(p.type)};
}

void write_in_blocks(const fs::path& path, const Snapshot& s, std::size_t block) {
    SnapshotWriter writer(path, outline_of(s));
    for (std::size_t at = 0; at < s.particles.mass.size(); at += block) writer.append(part_of(s.particles, at, block));
    EXPECT_FALSE(fs::exists(path));
    writer.commit();
}

class Writer : public testing::Test {
   protected:
    Folder folder;
};

TEST_F(Writer, BlocksOfAnySizeGiveTheSnapshotThatIsWrittenAtOnce) {
    const auto s = galaxy();
    write_snapshot(folder / "once.hdf5", s);
    const auto once = read_snapshot(folder / "once.hdf5");
    expect_same_particles(once.particles, s.particles);
    for (const std::size_t block : {1'000u, 8'192u, 30'000u}) {
        write_in_blocks(folder / "blocks.hdf5", s, block);
        const auto read = read_snapshot(folder / "blocks.hdf5");
        expect_same_particles(read.particles, s.particles);
        EXPECT_EQ(read.softening, s.softening);
        EXPECT_EQ(read.components, s.components);
        EXPECT_EQ(read.model, s.model);
        EXPECT_EQ(read.units, s.units);
        // A mass that all particles of a type have is stored only in the header.
        EXPECT_FALSE(hdf5::File::open(folder / "blocks.hdf5").exists("/PartType1/Masses"));
        fs::remove(folder / "blocks.hdf5");
    }
    write_in_blocks(folder / "a.hdf5", s, 3'000);
    write_in_blocks(folder / "b.hdf5", s, 3'000);
    EXPECT_EQ(bytes_of(folder / "a.hdf5"), bytes_of(folder / "b.hdf5"));
    const auto bytes = outline_of(s).bytes();
    EXPECT_GT(fs::file_size(folder / "a.hdf5"), bytes);
    EXPECT_LT(fs::file_size(folder / "a.hdf5"), bytes + 32'768);
}

TEST_F(Writer, WritesIndividualMasses) {
    auto s = galaxy();
    auto outline = outline_of(s);
    s.particles.mass[3] = 17;
    outline.mass[1] = 0;
    SnapshotWriter writer(folder / "a.hdf5", outline);
    writer.append(s.particles);
    writer.commit();
    expect_same_particles(read_snapshot(folder / "a.hdf5").particles, s.particles);
}

TEST_F(Writer, UnannouncedParticlesLeaveNoFile) {
    const auto s = galaxy();
    const auto refused = [&](const auto& change) {
        fs::remove(folder / "a.hdf5");
        write_bytes(folder / "a.hdf5", "what was there before");
        auto outline = outline_of(s);
        auto particles = s.particles;
        change(outline, particles);
        EXPECT_THROW(
            {
                SnapshotWriter writer(folder / "a.hdf5", outline);
                writer.append(particles);
                writer.commit();
            },
            ComputationError);
        EXPECT_EQ(bytes_of(folder / "a.hdf5"), "what was there before");
        EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);  // no temporary either
    };
    refused([](SnapshotOutline& outline, Particles&) { ++outline.count[1]; });
    refused([](SnapshotOutline& outline, Particles&) { --outline.count[2]; });
    refused([](SnapshotOutline&, Particles& p) { p.mass[9] *= 1 + 1e-15; });
    refused([](SnapshotOutline& outline, Particles&) { outline.count[5] = 0; });
}

TEST_F(Writer, RefusesPathsThatCannotBeWrittenBeforeTheFirstParticle) {
    auto outline = outline_of(galaxy());
    EXPECT_THROW(SnapshotWriter(folder / "missing/a.hdf5", outline), InputError);
    EXPECT_THROW(SnapshotWriter(folder.path(), outline), InputError);
    EXPECT_THROW(SnapshotWriter(folder / "a.hdf5", SnapshotOutline{}), InputError);
    outline.count[1] = std::uint64_t{1} << 33;
    EXPECT_THROW(SnapshotWriter(folder / "a.hdf5", outline), InputError);
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(Writer, WritesModelsOfAnyLength) {
    auto s = galaxy();
    s.model = std::string(200'000, '#');
    write_snapshot(folder / "a.hdf5", s);
    EXPECT_EQ(read_snapshot(folder / "a.hdf5").model, s.model);
}

TEST_F(Writer, BlocksHaveChecksums) {
    write_in_blocks(folder / "a.hdf5", galaxy(), 3'000);
    const auto whole = bytes_of(folder / "a.hdf5");
    ASSERT_EQ(complaint(folder / "a.hdf5"), "");
    for (const double where : {0.2, 0.35, 0.5, 0.65, 0.8}) {
        auto bytes = whole;
        bytes[static_cast<std::size_t>(where * static_cast<double>(bytes.size()))] ^= 1;
        write_bytes(folder / "a.hdf5", bytes);
        EXPECT_NE(complaint(folder / "a.hdf5"), "") << where;
    }
}

TEST_F(Writer, RefusesWrongLabels) {
    const auto s = galaxy();
    for (const char* name : {"NumComponents", "Count", "Name"}) {
        write_snapshot(folder / "a.hdf5", s);
        auto bytes = bytes_of(folder / "a.hdf5");
        const auto at = bytes.find(name);
        ASSERT_NE(at, std::string::npos);
        bytes[at] = 'X';
        write_bytes(folder / "a.hdf5", bytes);
        EXPECT_NE(complaint(folder / "a.hdf5"), "") << name;
    }
    auto file = hdf5::File::create(folder / "b.hdf5");
    file.create_group("/Header");
    file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::int32_t, 6>{0, 1, 0, 0, 0, 0});
    file.set_attribute("/Header", "MassTable", std::array<double, 6>{0, 1, 0, 0, 0, 0});
    file.set_attribute("/Header", "Time", 0.0);
    file.write("/PartType1/Coordinates", std::vector<Vec3<double>>{{1, 2, 3}});
    file.write("/PartType1/Velocities", std::vector<Vec3<double>>{{1, 2, 3}});
    file.write("/PartType1/ParticleIDs", std::vector<std::int64_t>{1});
    file.create_group("/Kasane");
    file.set_attribute("/Kasane", "NumComponents", std::uint64_t{1} << 60);
    file.close();
    EXPECT_MENTIONS(complaint(folder / "b.hdf5"), "NumComponents");
}

}  // namespace
}  // namespace kasane::gravity::test
