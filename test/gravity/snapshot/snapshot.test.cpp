// Round trips of every format, order and precision, sets of files, and the public GADGET-2 galaxy collision.
#include "samples.hpp"

#include <kasane/core/io/hdf5.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

namespace kasane::gravity::test {
namespace {

class Snapshots : public testing::Test {
   protected:
    Folder folder;
};

TEST_F(Snapshots, BinaryFormatsAreReadBackInEveryOrderAndPrecision) {
    for (const auto format : {SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        for (const auto order : {ByteOrder::little, ByteOrder::big}) {
            for (const bool double_precision : {false, true}) {
                for (const bool wide_ids : {false, true}) {
                    const auto written = sample(wide_ids);
                    write_snapshot(folder / "a.dat", written, {.format = format, .order = order, .double_precision = double_precision});
                    const auto read = read_snapshot(folder / "a.dat");
                    expect_same_particles(read.particles, written.particles);
                    EXPECT_EQ(read.time, written.time);
                    EXPECT_EQ(read.units, written.units);
                    const auto summary = inspect_snapshot(folder / "a.dat");
                    EXPECT_EQ(summary.format, format);
                    EXPECT_EQ(summary.count, (std::array<std::uint64_t, type_count>{2, 5, 3, 0, 4, 0}));
                    EXPECT_EQ(summary.total(), 14u);
                    EXPECT_EQ(summary.time, 0.75);
                }
            }
        }
    }
}

TEST_F(Snapshots, BinaryLayoutIsGadgets) {
    // By hand from the GADGET-2 user guide: 256-byte header, then POS, VEL, ID, MASS (14 particles, 9 of them without a common mass).
    write_snapshot(folder / "a.dat", sample(), {.format = SnapshotFormat::gadget1, .double_precision = false});
    const auto bytes = bytes_of(folder / "a.dat");
    ASSERT_EQ(bytes.size(), (256u + 8) + 2 * (14 * 12 + 8) + (14 * 4 + 8) + (9 * 4 + 8));
    const auto at = [&]<class T>(T value, std::size_t offset) {
        std::memcpy(&value, bytes.data() + offset, sizeof value);
        return value;
    };
    EXPECT_EQ(at(0u, 0), 256u);
    EXPECT_EQ(at(0, 4 + 4), 5);                               // npart[1]
    EXPECT_EQ(at(0.0, 4 + 24 + 8), 0.001046338700689375401);  // mass[1]
    EXPECT_EQ(at(0.0, 4 + 72), 0.75);                         // time
    EXPECT_EQ(at(0, 4 + 96 + 16), 4);                         // npartTotal[4]
    EXPECT_EQ(at(0, 4 + 124), 1);                             // num_files
    EXPECT_EQ(at(0u, 264), 14u * 12);
    EXPECT_EQ(at(0.f, 268 + 12), 0.5f);  // x of particle 1
    const auto format2 = [&] {
        write_snapshot(folder / "b.dat", sample(), {.format = SnapshotFormat::gadget2, .order = ByteOrder::big});
        return bytes_of(folder / "b.dat");
    }();
    EXPECT_EQ(format2.substr(0, 16), (std::string{0, 0, 0, 8, 'H', 'E', 'A', 'D', 0, 0, 1, 8, 0, 0, 0, 8}));
}

TEST_F(Snapshots, Hdf5IsReadBackCompletely) {
    for (const bool double_precision : {false, true}) {
        for (const int files : {1, 3, 40}) {
            auto written = sample(true);
            written.softening = {0, 0.4, 0.7, 0, 0.1, 0};
            for (int i = 0; i < 14; ++i) {
                written.acceleration.push_back({1.0 * i, 2.0, -0.5 * i});
                written.potential.push_back(-1.0 - i);
            }
            write_snapshot(folder / "snap.hdf5", written, {.double_precision = double_precision, .files = files});
            const auto path = folder / (files == 1 ? "snap.hdf5" : "snap." + std::to_string(files - 1) + ".hdf5");
            const auto read = read_snapshot(path);
            expect_same_particles(read.particles, written.particles);
            EXPECT_EQ(read.acceleration, written.acceleration);
            EXPECT_EQ(read.potential, written.potential);
            EXPECT_EQ(read.softening, written.softening);
            EXPECT_EQ(read.units, written.units);
            EXPECT_EQ(read.time, written.time);
            EXPECT_EQ(inspect_snapshot(path).files, files);
            EXPECT_EQ(inspect_snapshot(path).total(), 14u);
            EXPECT_EQ(read_snapshot(folder / "snap.hdf5").particles.id, written.particles.id);  // the name given to write
            for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
        }
    }
}

TEST_F(Snapshots, CompressedOnesAreReadBackBitByBitAndKeepTheirChecksums) {
    Snapshot s;
    s.particles.resize(20'000);  // more than two chunks
    for (std::size_t i = 0; i < 20'000; ++i) {
        const double x = std::sin(static_cast<double>(i));
        s.particles.position[i] = {x, x / 3, 1e-300 * x};
        s.particles.velocity[i] = {100 * x, 0, -x};
        s.particles.mass[i] = 1 + 0.1 * x;
        s.particles.id[i] = i + 1;
        s.particles.type[i] = static_cast<std::uint8_t>(1 + i % 2);
    }
    write_snapshot(folder / "plain.hdf5", s);
    write_snapshot(folder / "small.hdf5", s, {.compress = true});
    EXPECT_LT(fs::file_size(folder / "small.hdf5"), fs::file_size(folder / "plain.hdf5") * 9 / 10);
    expect_same_particles(read_snapshot(folder / "small.hdf5").particles, read_snapshot(folder / "plain.hdf5").particles);

    auto bytes = bytes_of(folder / "small.hdf5");
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(folder / "small.hdf5", std::ios::binary) << bytes;
    EXPECT_THROW(read_snapshot(folder / "small.hdf5"), InputError);
}

TEST_F(Snapshots, VelocitiesCanBeLeftOut) {
    for (const auto format : {SnapshotFormat::hdf5, SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        auto s = sample();
        write_snapshot(folder / "a", s, {.format = format});
        auto read = read_snapshot(folder / "a", {.velocities = false});
        EXPECT_TRUE(read.particles.velocity.empty());
        read.particles.velocity = s.particles.velocity;
        expect_same_particles(read.particles, read_snapshot(folder / "a").particles);
        s.particles.position[3].z = std::numeric_limits<double>::infinity();
        write_snapshot(folder / "a", s, {.format = format});
        EXPECT_THROW(read_snapshot(folder / "a", {.velocities = false}), InputError);
    }
}

TEST_F(Snapshots, DoublesAreExactAndFloatsAreRounded) {
    auto s = sample();
    s.particles.position[0] = {0.1, 1e-300, -1.0 / 3};
    for (const auto format : {SnapshotFormat::hdf5, SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        write_snapshot(folder / "a", s, {.format = format});
        EXPECT_EQ(read_snapshot(folder / "a").particles.position[0], (Vec3<double>{0.1, 1e-300, -1.0 / 3}));
        write_snapshot(folder / "a", s, {.format = format, .double_precision = false});
        EXPECT_EQ(read_snapshot(folder / "a").particles.position[0], (Vec3<double>{0.1f, 0.0, -1.0f / 3}));
        s.particles.velocity[1].y = 1e39;  // beyond float
        EXPECT_THROW(write_snapshot(folder / "a", s, {.format = format, .double_precision = false}), InputError);
        EXPECT_NO_THROW(write_snapshot(folder / "a", s, {.format = format}));
        s.particles.velocity[1].y = 0;
    }
}

TEST_F(Snapshots, OneParticle) {
    Snapshot s;
    s.units = nbody_units();
    s.particles = {{{1, 2, 3}}, {{4, 5, 6}}, {7}, {8}, {5}};
    for (const auto format : {SnapshotFormat::hdf5, SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
        write_snapshot(folder / "one", s, {.format = format});
        expect_same_particles(read_snapshot(folder / "one").particles, s.particles);
        s.particles.mass[0] = 0;  // MassTable cannot say zero
        write_snapshot(folder / "one", s, {.format = format});
        EXPECT_EQ(read_snapshot(folder / "one").particles.mass[0], 0);
        s.particles.mass[0] = 7;
    }
}

TEST_F(Snapshots, ParticlesInAnyOrderAreSortedByTypeAndKeepTheirValues) {
    const auto sorted = sample();
    auto shuffled = sorted;
    std::vector<std::size_t> order(14);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [](auto a, auto b) { return a % 3 > b % 3; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        shuffled.particles.position[i] = sorted.particles.position[order[i]];
        shuffled.particles.velocity[i] = sorted.particles.velocity[order[i]];
        shuffled.particles.mass[i] = sorted.particles.mass[order[i]];
        shuffled.particles.id[i] = sorted.particles.id[order[i]];
        shuffled.particles.type[i] = sorted.particles.type[order[i]];
        shuffled.potential.push_back(static_cast<double>(order[i]));
    }
    for (const auto format : {SnapshotFormat::hdf5, SnapshotFormat::gadget1}) {
        write_snapshot(folder / "a", shuffled, {.format = format});
        const auto read = read_snapshot(folder / "a");
        ASSERT_TRUE(std::is_sorted(read.particles.type.begin(), read.particles.type.end()));
        for (std::size_t i = 0; i < 14; ++i) {
            const auto k = 1100 - read.particles.id[i];  // its place in the sample
            EXPECT_EQ(read.particles.position[i], sorted.particles.position[k]);
            EXPECT_EQ(read.particles.mass[i], sorted.particles.mass[k]);
            if (format == SnapshotFormat::hdf5) {
                EXPECT_EQ(read.potential[i], static_cast<double>(k));
            }
        }
    }
}

// Many enough for several parts that are counted by several threads. One type is contiguous, two alternate, and one has two masses.
TEST_F(Snapshots, ManyParticlesOfMixedTypesKeepTheirOrderWithinATypeAndTheirMasses) {
    constexpr std::size_t n = 400'000, alternating = 250'000;
    Snapshot many;
    auto& p = many.particles;
    p.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        p.type[i] = i >= alternating ? 3 : i % 3 == 0 ? 4 : 1;
        p.mass[i] = p.type[i] == 4 && i > 200'000 ? 2 : 1;
        p.id[i] = i + 1;
        p.position[i] = {static_cast<double>(i), 0, 0};
    }
    write_snapshot(folder / "many", many);
    const auto read = read_snapshot(folder / "many").particles;
    ASSERT_EQ(read.size(), static_cast<index_t>(n));
    for (std::size_t k = 0; k < n; ++k) {
        const auto i = read.id[k] - 1;
        ASSERT_EQ(read.type[k], p.type[i]);
        ASSERT_EQ(read.mass[k], p.mass[i]);
        ASSERT_EQ(read.position[k], p.position[i]);
        if (k > 0 && read.type[k] == read.type[k - 1]) {
            ASSERT_EQ(read.id[k], read.id[k - 1] + (read.type[k] == 3 ? 1 : read.type[k] == 4 ? 3 : read.id[k - 1] % 3 == 2 ? 1 : 2));
        }
    }
    p.type[300'000] = type_count;
    EXPECT_THROW(write_snapshot(folder / "many", many), InputError);
}

TEST_F(Snapshots, EverySystemOfUnitsIsReadBack) {
    for (const auto& units : {galactic_units(), nbody_units(), user_units(1.495978707e13, 1.98841e33, 2.97847e6)}) {
        auto s = sample();
        s.units = units;
        for (const auto format : {SnapshotFormat::hdf5, SnapshotFormat::gadget1, SnapshotFormat::gadget2}) {
            write_snapshot(folder / "a", s, {.format = format});
            EXPECT_EQ(read_snapshot(folder / "a").units, units) << units.name;
        }
    }
}

/// HDF5 files of other programs: attributes written by hand.
class ForeignHdf5 : public Snapshots {
   protected:
    void make(const std::function<void(hdf5::File&)>& extra) {
        auto file = hdf5::File::create(folder / "a.hdf5");
        file.create_group("/Header");
        file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::int32_t, 6>{0, 0, 0, 0, 2, 0});
        file.set_attribute("/Header", "NumPart_Total", std::array<std::uint64_t, 6>{0, 0, 0, 0, 2, 0});
        file.set_attribute("/Header", "Time", 1.5);
        file.write("/PartType4/Coordinates", std::vector<Vec3<float>>{{1, 2, 3}, {4, 5, 6}});
        file.write("/PartType4/Velocities", std::vector<Vec3<double>>{{0, 0, 0}, {1, 1, 1}});
        file.write("/PartType4/ParticleIDs", std::vector<std::int32_t>{5, 6});
        extra(file);
        file.close();
    }
    static void masses(hdf5::File& file) { file.write("/PartType4/Masses", std::vector<float>{1, 2}); }
};

TEST_F(ForeignHdf5, WithoutUnitsGalacticUnitsAreAssumed) {
    make(masses);
    const auto read = read_snapshot(folder / "a.hdf5");
    EXPECT_EQ(read.units, galactic_units());
    EXPECT_EQ(read.particles.mass, (std::vector<double>{1, 2}));
    EXPECT_EQ(read.particles.position[1], (Vec3<double>{4, 5, 6}));
    EXPECT_TRUE(read.acceleration.empty() && read.potential.empty());
}

TEST_F(ForeignHdf5, UnitsOfParametersAndSofteningClasses) {
    make([](hdf5::File& file) {
        masses(file);
        file.create_group("/Parameters");
        file.set_attribute("/Parameters", "UnitLength_in_cm", 3.085678e24);
        file.set_attribute("/Parameters", "UnitMass_in_g", 1.989e43);
        file.set_attribute("/Parameters", "UnitVelocity_in_cm_per_s", 1e5);
        file.set_attribute("/Parameters", "GravityConstantInternal", 0.0);  // GADGET-4: computed from the scales
        file.set_attribute("/Parameters", "SofteningClassOfPartType4", 1);
        file.set_attribute("/Parameters", "SofteningComovingClass1", 0.25);
    });
    const auto read = read_snapshot(folder / "a.hdf5");
    EXPECT_EQ(read.units, user_units(3.085678e24, 1.989e43, 1e5));
    EXPECT_EQ(read.softening[4], 0.25);
}

/// The softening parameters of a parameter file of AREPO: a softening type for each particle type, and the softenings of the types.
class ArepoHdf5 : public ForeignHdf5 {
   protected:
    static constexpr std::array<int, type_count> type{0, 1, 1, 2, 3, 1};
    static constexpr std::array<double, 4> softening{0.01, 0.5, 0.125, 0.25};

    static void parameters(hdf5::File& file) {
        masses(file);
        file.create_group("/Parameters");
        file.set_attribute("/Parameters", "ComovingIntegrationOn", 0);
        for (std::size_t t = 0; t < type.size(); ++t)
            file.set_attribute("/Parameters", "SofteningTypeOfPartType" + std::to_string(t), type[t]);
        for (std::size_t k = 0; k < softening.size(); ++k) {
            file.set_attribute("/Parameters", "SofteningComovingType" + std::to_string(k), softening[k]);
            file.set_attribute("/Parameters", "SofteningMaxPhysType" + std::to_string(k), softening[k] / 2);
        }
    }
};

TEST_F(ArepoHdf5, ReadsTheSofteningOfEachTypeThroughItsSofteningType) {
    make(parameters);
    std::array<double, type_count> expected{};  // in coordinates that are not comoving, SofteningMaxPhysType has no effect
    for (std::size_t t = 0; t < type.size(); ++t) expected[t] = softening[static_cast<std::size_t>(type[t])];
    EXPECT_EQ(read_snapshot(folder / "a.hdf5").softening, expected);
}

TEST_F(ArepoHdf5, TypesWithoutASofteningAreNotKnown) {
    make([](hdf5::File& file) {
        parameters(file);
        file.set_attribute("/Parameters", "SofteningTypeOfPartType4", 7);  // no such softening type
        file.set_attribute("/Parameters", "SofteningTypeOfPartType1", -1);
    });
    EXPECT_EQ(read_snapshot(folder / "a.hdf5").softening, (std::array<double, type_count>{0.01, 0, 0.5, 0.125, 0, 0.5}));
}

TEST_F(ArepoHdf5, TheAttributeOfKasaneTakesTheirPlace) {
    make([](hdf5::File& file) {
        parameters(file);
        file.create_group("/Kasane");
        file.set_attribute("/Kasane", "Softening", std::array<double, type_count>{0, 0, 0, 0, 0.75, 0});
    });
    EXPECT_EQ(read_snapshot(folder / "a.hdf5").softening, (std::array<double, type_count>{0, 0, 0, 0, 0.75, 0}));
}

TEST_F(ArepoHdf5, RefusesUnusableSoftenings) {
    for (const double wrong : {-0.25, std::nan(""), HUGE_VAL}) {
        make([&](hdf5::File& file) {
            parameters(file);
            file.set_attribute("/Parameters", "SofteningComovingType3", wrong);
        });
        EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "gives type 4 the softening");
    }
    make([](hdf5::File& file) {
        parameters(file);
        file.set_attribute("/Parameters", "SofteningTypeOfPartType4", std::string("stars"));
        file.set_attribute("/Parameters", "SofteningComovingType1", std::string("0.5 kpc"));
    });
    const auto text = complaint(folder / "a.hdf5");
    for (const auto* name : {"SofteningTypeOfPartType4", "SofteningComovingType1"}) EXPECT_MENTIONS(text, name);
    make([](hdf5::File& file) {
        parameters(file);
        file.set_attribute("/Parameters", "ComovingIntegrationOn", 1);
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "ComovingIntegrationOn");
}

TEST_F(ForeignHdf5, ScalesOfOneAndGOfOneAreNbody) {
    make([](hdf5::File& file) {
        masses(file);
        file.create_group("/Parameters");
        for (const auto* name : {"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s", "GravityConstantInternal"}) {
            file.set_attribute("/Parameters", name, 1.0);
        }
    });
    EXPECT_EQ(read_snapshot(folder / "a.hdf5").units, nbody_units());
}

TEST_F(ForeignHdf5, ReadsAMinimalSnapshot) {
    // As docs/snapshots.md writes it in Python.
    auto file = hdf5::File::create(folder / "own.hdf5");
    file.create_group("/Header");
    file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::uint32_t, 6>{0, 2, 0, 0, 0, 0});
    file.set_attribute("/Header", "Time", 0.0);
    file.write("/PartType1/Coordinates", std::vector<Vec3<double>>{{1, 2, 3}, {4, 5, 6}});
    file.write("/PartType1/Velocities", std::vector<Vec3<double>>{{0, 1, 0}, {1, 0, 0}});
    file.write("/PartType1/Masses", std::vector<double>{0.5, 0.25});
    file.write("/PartType1/ParticleIDs", std::vector<std::uint64_t>{7, 8});
    file.close();
    const auto read = read_snapshot(folder / "own.hdf5");
    EXPECT_EQ(read.particles.position, (std::vector<Vec3<double>>{{1, 2, 3}, {4, 5, 6}}));
    EXPECT_EQ(read.particles.mass, (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(read.particles.id, (std::vector<std::uint64_t>{7, 8}));
    EXPECT_EQ(read.units, galactic_units());
    EXPECT_FALSE(read.states_units);
}

TEST_F(ForeignHdf5, ReportsEveryMissingObjectAtOnce) {
    const auto mentions = [&](const std::vector<std::string>& words) {
        const auto text = complaint(folder / "bad.hdf5");
        for (const auto& word : words) EXPECT_MENTIONS(text, word);
        EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1, words.size()) << text;
    };
    auto file = hdf5::File::create(folder / "bad.hdf5");
    file.create_group("/Header");
    file.set_attribute("/Header", "NumPart_ThisFile", std::array<int, 6>{0, 2, 3, 0, 0, 0});
    file.write("/PartType1/Coordinates", std::vector<double>{1, 2, 3, 4, 5, 6});
    file.write("/PartType1/ParticleIDs", std::vector<double>{7, 8});
    file.create_group("/Units");
    file.set_attribute("/Units", "UnitLength_in_cm", 1.0);
    file.close();
    mentions({"/Header@Time", "/Units@UnitMass_in_g", "/Units@UnitVelocity_in_cm_per_s", "/PartType1/Coordinates: has the wrong shape (6)",
              "/PartType1/Velocities: is missing: (N, 3)", "/PartType1/ParticleIDs: holds floating-point", "/PartType1/Masses: is missing",
              "/PartType2: is missing: the header counts 3"});

    // The groups are also checked without counts, and without a header.
    file = hdf5::File::create(folder / "bad.hdf5");
    file.write("/PartType1/Coordinates", std::vector<Vec3<double>>(2));
    file.write("/PartType4/ParticleIDs", std::vector<int>{1, 2});
    file.close();
    mentions({"/Header: is missing", "/PartType1/Velocities", "/PartType1/ParticleIDs", "/PartType1/Masses", "/PartType4/Coordinates",
              "/PartType4/Velocities", "/PartType4/Masses"});

    file = hdf5::File::create(folder / "bad.hdf5");
    file.write("/Density", std::vector<double>{1});
    file.close();
    mentions({"not a GADGET snapshot"});
}

TEST_F(ForeignHdf5, RefusesUnusableFilesByName) {
    make([](hdf5::File&) {});
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "/PartType4/Masses");
    make([](hdf5::File& file) {
        masses(file);
        file.set_attribute("/Header", "Redshift", 9.0);
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "comoving");
    make([](hdf5::File& file) { file.write("/PartType4/Masses", std::vector<float>{1, -2}); });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "mass -2");
    make([](hdf5::File& file) {
        masses(file);
        file.set_attribute("/Header", "NumPart_Total", std::array<std::uint64_t, 6>{0, 0, 0, 0, 3, 0});
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "counts disagree");
    make([](hdf5::File& file) {
        masses(file);
        file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::int32_t, 6>{0, 0, 0, 0, -2, 0});
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "NumPart_ThisFile");
    make([](hdf5::File& file) {
        masses(file);
        file.set_attribute("/Header", "NumPart_ThisFile", std::array<std::int64_t, 6>{0, 0, 0, 0, std::int64_t{1} << 60, 0});
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "/PartType4/Coordinates");
    make([](hdf5::File& file) {
        masses(file);
        file.create_group("/Units");
        file.set_attribute("/Units", "UnitLength_in_cm", -1.0);
        file.set_attribute("/Units", "UnitMass_in_g", 1.0);
        file.set_attribute("/Units", "UnitVelocity_in_cm_per_s", 1.0);
    });
    EXPECT_MENTIONS(complaint(folder / "a.hdf5"), "units");
}

TEST_F(Snapshots, BinarySetsOfSeveralFiles) {
    // A set of two files of format 1, joined by their headers.
    const auto whole = sample();
    for (const int half : {0, 1}) {
        auto part = whole;
        part.particles.resize(0);
        for (std::size_t i = 0; i < 14; ++i) {
            if (static_cast<int>(i % 2) != half) continue;
            part.particles.append({{whole.particles.position[i]},
                                   {whole.particles.velocity[i]},
                                   {whole.particles.mass[i]},
                                   {whole.particles.id[i]},
                                   {whole.particles.type[i]}});
        }
        const auto path = folder / ("set." + std::to_string(half));
        write_snapshot(path, part, {.format = SnapshotFormat::gadget1});
        auto bytes = bytes_of(path);
        const std::array<std::uint32_t, 6> total{2, 5, 3, 0, 4, 0};
        std::memcpy(bytes.data() + 4 + 96, total.data(), sizeof total);
        bytes[4 + 124] = 2;
        write_bytes(path, bytes);
    }
    const auto read = read_snapshot(folder / "set.1");
    EXPECT_EQ(read.particles.size(), 14);
    EXPECT_EQ(read.particles.type, whole.particles.type);
    EXPECT_EQ(read.particles.id,
              (std::vector<std::uint64_t>{1100, 1099, 1098, 1096, 1094, 1097, 1095, 1092, 1093, 1091, 1090, 1088, 1089, 1087}));
    fs::remove(folder / "set.0");
    EXPECT_MENTIONS(complaint(folder / "set.1"), "set.0");
    fs::rename(folder / "set.1", folder / "lonely");
    EXPECT_MENTIONS(complaint(folder / "lonely"), "one of 2 files");
}

TEST_F(Snapshots, RefusesSetsWhoseFilesDisagree) {
    write_snapshot(folder / "snap.hdf5", sample(), {.files = 2});
    auto other = sample();
    other.time = 1;
    write_snapshot(folder / "other.hdf5", other, {.files = 2});
    fs::copy_file(folder / "other.1.hdf5", folder / "snap.1.hdf5", fs::copy_options::overwrite_existing);
    EXPECT_MENTIONS(complaint(folder / "snap.0.hdf5"), "disagrees");
    fs::copy_file(folder / "snap.0.hdf5", folder / "snap.1.hdf5", fs::copy_options::overwrite_existing);
    EXPECT_MENTIONS(complaint(folder / "snap.0.hdf5"), "counts disagree");
}

TEST_F(Snapshots, OptionalBlocksOfFormat2AreSkipped) {
    write_snapshot(folder / "a.dat", sample(), {.format = SnapshotFormat::gadget2, .double_precision = false});
    auto bytes = bytes_of(folder / "a.dat");
    const std::uint32_t eight = 8, length = 8, next = 16;
    const auto word = [](std::uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
    bytes += word(eight) + "U   " + word(next) + word(eight) + word(length) + std::string(8, 'u') + word(length);
    write_bytes(folder / "a.dat", bytes);
    expect_same_particles(read_snapshot(folder / "a.dat").particles, sample().particles);
    bytes.resize(bytes.size() - 1);
    write_bytes(folder / "a.dat", bytes);
    EXPECT_MENTIONS(complaint(folder / "a.dat"), "block U");
}

TEST_F(Snapshots, RefusesToWriteInvalidSnapshots) {
    const auto s = sample();
    EXPECT_THROW(write_snapshot(folder / "missing/a.hdf5", s), InputError);
    EXPECT_THROW(write_snapshot(folder.path(), s), InputError);
    EXPECT_THROW(write_snapshot(folder / "a.dat", s, {.format = SnapshotFormat::gadget1, .files = 2}), InputError);
    EXPECT_THROW(write_snapshot(folder / "a.dat", s, {.format = SnapshotFormat::gadget2, .compress = true}), InputError);
    EXPECT_THROW(write_snapshot(folder / "a.hdf5", s, {.files = 0}), InputError);
    EXPECT_THROW(write_snapshot(folder / "a.hdf5", Snapshot{}), InputError);
    auto uneven = s;
    uneven.potential.resize(3);
    EXPECT_THROW(write_snapshot(folder / "a.hdf5", uneven), InputError);
    auto typed = s;
    typed.particles.type[3] = 6;
    EXPECT_THROW(write_snapshot(folder / "a.hdf5", typed), InputError);
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(Snapshots, PublicGalaxyCollisionOfGadget2) {
    const auto* given = std::getenv("KASANE_DATA");
    const fs::path data = given != nullptr ? fs::path(given) : fs::path(KASANE_SOURCE_DIR) / ".." / "shared" / "data";
    const auto path = data / "galaxy_littleendian.dat";
    if (!fs::exists(path)) GTEST_SKIP() << path << " is absent: set KASANE_DATA to the folder with GADGET-2's galaxy_littleendian.dat";
    const auto read = read_snapshot(path);
    const auto& p = read.particles;
    ASSERT_EQ(p.size(), 60'000);
    EXPECT_EQ(inspect_snapshot(path).count, (std::array<std::uint64_t, type_count>{0, 40'000, 20'000, 0, 0, 0}));
    EXPECT_EQ(read.time, 0);
    EXPECT_EQ(read.units, galactic_units());
    EXPECT_NEAR(p.mass[0], 0.00104633870, 1e-11);  // as printed, nine digits
    EXPECT_NEAR(p.mass[40'000], 0.000232519713, 1e-12);
    EXPECT_EQ(p.type[39'999], 1);
    EXPECT_EQ(p.type[40'000], 2);
    write_snapshot(folder / "copy.hdf5", read);
    expect_same_particles(read_snapshot(folder / "copy.hdf5").particles, p);
    // The header, positions, velocities and ids of the original file are the bytes that kasane writes.
    write_snapshot(folder / "copy.dat", read, {.format = SnapshotFormat::gadget1, .double_precision = false});
    const auto original = bytes_of(path), copy = bytes_of(folder / "copy.dat");
    ASSERT_EQ(copy.size(), original.size());
    EXPECT_TRUE(std::equal(copy.begin() + 264, copy.end(), original.begin() + 264));
}

}  // namespace
}  // namespace kasane::gravity::test
