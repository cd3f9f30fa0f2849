// Parts of a snapshot are those of the whole, whatever its format, its number of files and the parts; files of different sets are refused.
#include "samples.hpp"

#include <kasane/gravity/snapshot/snapshot_reader.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>

#include <numeric>

namespace kasane::gravity::test {
namespace {

/// 20,000 particles of the types 1, 2 and 5, mixed; type 2 has one mass.
Snapshot mixed(index_t n = 20'000) {
    Snapshot s;
    s.time = 1.5;
    s.units = galactic_units();
    s.particles.resize(n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const auto x = static_cast<double>(i);
        s.particles.position[i] = {x, -x / 3, 1 / (1 + x)};
        s.particles.velocity[i] = {0.1 * x, x * x, -7};
        s.particles.id[i] = 7 * i + 3;
        s.particles.type[i] = i % 5 == 0 ? 2 : i % 7 == 0 ? 5 : 1;
        s.particles.mass[i] = s.particles.type[i] == 2 ? 0.25 : 1 + x;
    }
    return s;
}

/// All particles, read by `readers` processes, one slab each.
Particles read_by(const fs::path& path, int readers) {
    Particles all;
    for (int r = 0; r < readers; ++r) {
        const SnapshotReader reader(path);
        const auto n = static_cast<index_t>(reader.summary().total());
        const index_t first = n * r / readers, end = n * (r + 1) / readers;
        all.append(reader.read(first, end - first));
    }
    return all;
}

TEST(SnapshotReader, AnyNumberOfReadersReadsWhatOneReads) {
    const Folder folder;
    auto s = mixed();
    const auto check = [&](const std::string& name, const SnapshotWriteOptions& options) {
        SCOPED_TRACE(name);
        write_snapshot(folder / name, s, options);
        const auto whole = read_snapshot(folder / name).particles;
        ASSERT_EQ(whole.size(), s.particles.size());
        for (const int readers : {1, 2, 3, 4, 7}) expect_same_particles(read_by(folder / name, readers), whole);
    };
    check("one.hdf5", {});
    check("set.hdf5", {.files = 3});
    check("compressed.hdf5", {.files = 2, .compress = true});
    check("float.hdf5", {.double_precision = false});
    check("binary1", {.format = SnapshotFormat::gadget1});
    check("binary2", {.format = SnapshotFormat::gadget2, .order = ByteOrder::big});
}

TEST(SnapshotReader, ReadsTheColumnsThatAreAsked) {
    const Folder folder;
    write_snapshot(folder / "set.hdf5", mixed(), {.files = 3});
    const SnapshotReader reader(folder / "set.hdf5");
    const auto whole = read_snapshot(folder / "set.hdf5").particles;
    const auto first_of_two = reader.summary().count[1];
    Snapshot part;
    reader.read({0, 0, 17, 0, 0, 0}, {0, 0, 1000, 0, 0, 0}, part, {.position = false, .velocity = false, .id = false});
    EXPECT_TRUE(part.particles.position.empty() && part.particles.velocity.empty() && part.particles.id.empty());
    ASSERT_EQ(part.particles.mass.size(), 1000u);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(part.particles.mass[i], whole.mass[first_of_two + 17 + i]);
}

/// Two writers write a set of "snap.hdf5" of particles with alternating ownership.
void write_set(const fs::path& path, const Snapshot& s, int files, std::uint64_t number, double shift = 0) {
    SnapshotOutline outline;
    outline.time = s.time;
    outline.units = s.units;
    outline.mass[2] = 0.25;
    SnapshotSetPlace place{0, files, {}, number};
    for (const auto t : s.particles.type) ++place.total[t];
    const index_t n = s.particles.size();
    for (int f = 0; f < files; ++f) {
        Particles own;
        for (index_t i = n * f / files; i < n * (f + 1) / files; ++i) {
            const auto k = static_cast<std::size_t>(i);
            own.position.push_back(s.particles.position[k] + Vec3<double>{shift, 0, 0});
            own.velocity.push_back(s.particles.velocity[k]);
            own.mass.push_back(s.particles.mass[k]);
            own.id.push_back(s.particles.id[k]);
            own.type.push_back(s.particles.type[k]);
        }
        auto here = outline;
        for (const auto t : own.type) ++here.count[t];
        place.file = f;
        SnapshotWriter writer(path, here, place);
        writer.append(own);
        writer.commit();
    }
}

TEST(SnapshotSets, OfSeveralWritersAreTheSnapshotOfOne) {
    const Folder folder;
    const auto s = mixed();
    write_snapshot(folder / "one.hdf5", s);
    const auto one = read_snapshot(folder / "one.hdf5");
    for (const int files : {1, 2, 3, 8}) {
        SCOPED_TRACE(files);
        const auto name = "set" + std::to_string(files) + ".hdf5";
        write_set(folder / name, s, files, 77);
        for (const auto& path : {folder / name, snapshot_file_name(folder / name, files - 1)}) {
            const auto set = read_snapshot(path);
            expect_same_particles(set.particles, one.particles);
            EXPECT_EQ(set.time, one.time);
            EXPECT_EQ(inspect_snapshot(path).files, files);
        }
    }
}

TEST(SnapshotSets, MayHaveFilesWithoutParticles) {
    const Folder folder;
    const auto s = mixed(2);
    write_set(folder / "set.hdf5", s, 4, 77);
    EXPECT_EQ(read_snapshot(folder / "set.hdf5").particles.size(), 2);
}

void expect_refused(const fs::path& path, const std::string& word) {
    try {
        read_snapshot(path);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
}

TEST(SnapshotSets, AreRefusedWhereFilesAreMissingOrOfAnotherSet) {
    const Folder folder;
    const auto s = mixed(1000);
    write_set(folder / "a.hdf5", s, 3, 77);
    write_set(folder / "b.hdf5", s, 3, 78, 0.5);
    fs::copy_file(snapshot_file_name(folder / "b.hdf5", 1), snapshot_file_name(folder / "a.hdf5", 1), fs::copy_options::overwrite_existing);
    expect_refused(folder / "a.hdf5", "not written together");
    fs::remove(snapshot_file_name(folder / "b.hdf5", 2));
    expect_refused(folder / "b.hdf5", "no such file");
    write_set(folder / "c.hdf5", s, 3, 77);
    fs::resize_file(snapshot_file_name(folder / "c.hdf5", 2), 4000);
    expect_refused(folder / "c.hdf5", "c.2.hdf5");
}

TEST(SnapshotSets, AppearWhenTheyAreComplete) {
    const Folder folder;
    const auto s = mixed(100);
    SnapshotOutline outline;
    outline.units = s.units;
    for (const auto t : s.particles.type) ++outline.count[t];
    const SnapshotSetPlace place{0, 2, outline.count, 5};
    {
        SnapshotWriter writer(folder / "set.hdf5", outline, place);
        writer.append(s.particles);
        writer.complete();
        EXPECT_FALSE(fs::exists(folder / "set.0.hdf5"));
        writer.commit();
        EXPECT_TRUE(fs::exists(folder / "set.0.hdf5"));
    }
    const auto before = bytes_of(folder / "set.0.hdf5");
    {
        SnapshotWriter writer(folder / "set.hdf5", outline, place);  // it is dropped
        writer.append(s.particles);
    }
    EXPECT_EQ(bytes_of(folder / "set.0.hdf5"), before);
}

}  // namespace
}  // namespace kasane::gravity::test
