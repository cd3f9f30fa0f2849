// HDF5 files of another structure than the readers expect: each mutation of each data set is bad input that names file and data set,
// and takes no more memory than a file of its size justifies.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/lattice/file/solution_file.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/poisson/poisson_output.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>
#include <test/run/hdf5_mutations.hpp>

#include <sys/resource.h>

namespace {

using namespace kasane;
namespace fs = std::filesystem;
using test::hdf5_mutations, test::mutated;

constexpr std::int64_t most_growth = std::int64_t{128} << 20;  // a huge data set would take 2 GiB or more

class Hdf5Structure : public test::CommandTest {
   protected:
    /// Most memory of this process so far.
    static std::int64_t peak_bytes() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return std::int64_t{usage.ru_maxrss} * 1024;
    }

    /// @param also  a word in place of the data set's name: of a reader that finds the fault later, by lengths or the checksum
    template <class Read>
    void expect_refused(Read read, const std::vector<std::string>& datasets, const std::string& also) {
        ASSERT_NO_THROW(read(directory / "valid.hdf5"));
        for (const auto& dataset : datasets)
            for (const auto& mutation : hdf5_mutations()) {
                SCOPED_TRACE(dataset + ": " + mutation.name);
                const auto path = mutated(directory, dataset, mutation);
                const auto before = peak_bytes();
                try {
                    read(path);
                    ADD_FAILURE() << "was read";
                } catch (const InputError& error) {
                    const std::string message = error.what();
                    EXPECT_NE(message.find("mutated.hdf5"), std::string::npos) << message;
                    EXPECT_TRUE(message.find(dataset) != std::string::npos || message.find(also) != std::string::npos) << message;
                }
                EXPECT_LT(peak_bytes() - before, most_growth);
            }
    }

    /// @param arguments  of the command that reads mutated.hdf5
    void expect_command_refuses(const std::vector<std::string>& arguments, const std::vector<std::string>& datasets) {
        for (const auto& dataset : datasets)
            for (const auto& mutation : hdf5_mutations()) {
                SCOPED_TRACE(dataset + ": " + mutation.name);
                mutated(directory, dataset, mutation);
                const auto outcome = kasane(arguments);
                test::expect_bad_input(outcome, {"mutated.hdf5", dataset});
                EXPECT_LT(outcome.peak_bytes, 2 * most_growth);
            }
    }
};

TEST_F(Hdf5Structure, Checkpoints) {
    run::GravityCheckpoint c;
    c.particles.resize(5);
    for (std::size_t i = 0; i < 5; ++i) c.particles.position[i] = {1. * static_cast<double>(i), 2, 3}, c.particles.mass[i] = 1;
    c.units = gravity::nbody_units();
    c.record = "{}";
    c.state.order = {4, 3, 2, 1, 0};
    c.state.acceleration.resize(5);
    run::write_gravity_checkpoint(directory / "valid.hdf5", c);
    expect_refused(run::read_gravity_checkpoint, {"/Particles/Position", "/Particles/Id", "/Checkpoint/Record", "/State/Order"},
                   "is damaged");
}

TEST_F(Hdf5Structure, CheckpointsOfQuenchedRuns) {
    run::QuenchedCheckpoint c;
    c.field = lattice::GaugeField(lattice::Extents{{2, 2, 2, 2}});
    c.measurements.resize(3);
    c.record = "{}";
    run::write_quenched_checkpoint(directory / "valid.hdf5", c);
    expect_refused(run::read_quenched_checkpoint, {"/Links", "/Measurements/Sweep", "/Checkpoint/Record"}, "is damaged");
}

TEST_F(Hdf5Structure, SolutionsOfPoissonProblems) {
    test::write_file(directory / "box.toml",
                     "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [4, 3, 2]\n[source]\nformula = '1'\n"
                     "[solver]\ntune = false\n[output]\ndirectory = 'out'\n");
    ASSERT_EQ(kasane({"run", "box.toml"}).status, 0);
    fs::copy_file(directory / "out" / "solution.hdf5", directory / "valid.hdf5");
    expect_refused(run::read_solution, {"/Potential", "/Faces/x", "/Residual/Iteration", "/Run/Record"}, "is damaged");
}

TEST_F(Hdf5Structure, Snapshots) {
    gravity::Snapshot s;
    s.particles.resize(7);
    for (std::size_t i = 0; i < 7; ++i) {
        s.particles.position[i] = {0.5 * static_cast<double>(i), 1, -1};
        s.particles.mass[i] = 1 + static_cast<double>(i);
        s.particles.id[i] = i;
        s.particles.type[i] = 1;
    }
    s.units = gravity::nbody_units();
    gravity::write_snapshot(directory / "valid.hdf5", s);
    const std::vector<std::string> arguments{"forces", "mutated.hdf5", "-o",  "forces.hdf5", "--softening",
                                             "0.1",    "--device",     "cpu", "--json"};
    expect_command_refuses(arguments, {"/PartType1/Coordinates", "/PartType1/ParticleIDs", "/PartType1/Masses"});
    EXPECT_FALSE(fs::exists(directory / "forces.hdf5"));
}

TEST_F(Hdf5Structure, GridsAndSourcesOfPoissonProblems) {
    const std::vector<double> ones(64, 1.);
    auto file = hdf5::File::create(directory / "valid.hdf5");
    file.write_array<double>("/Source", {4, 4, 4}, view(ones));
    file.write_array<double>("/Coefficient", {4, 4, 4}, view(ones));
    for (const char* axis : {"/Spacing/x", "/Spacing/y", "/Spacing/z"}) file.write(axis, std::vector<double>(4, 1.));
    file.close();
    test::write_file(directory / "box.toml",
                     "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [4, 4, 4]\nfile = 'mutated.hdf5'\n"
                     "[source]\nfile = 'mutated.hdf5'\n[coefficient]\nfile = 'mutated.hdf5'\n[solver]\ntune = false\n"
                     "[output]\ndirectory = 'out'\n");
    expect_command_refuses({"run", "box.toml", "--json"}, {"/Source", "/Coefficient", "/Spacing/x"});
    EXPECT_FALSE(fs::exists(directory / "out"));
}

// Headers are attributes.
TEST_F(Hdf5Structure, AttributesOfOtherTypes) {
    gravity::Snapshot s;
    s.particles.resize(2);
    s.particles.mass = {1, 2};
    s.particles.type = {1, 1};
    s.units = gravity::nbody_units();
    gravity::write_snapshot(directory / "valid.hdf5", s);
    using test::mutation::done, test::mutation::Handle, test::mutation::simple_space;
    struct Change {
        const char* name;
        hid_t type;
        std::vector<hsize_t> shape;
    };
    const Handle text(H5Tcopy(H5T_C_S1), H5Tclose), compound(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
    ASSERT_GE(H5Tset_size(text, H5T_VARIABLE), 0);
    ASSERT_GE(H5Tinsert(compound, "x", 0, H5T_NATIVE_DOUBLE), 0);
    for (const char* attribute : {"NumPart_ThisFile", "Time", "MassTable"})
        for (const auto& change : {Change{"missing", -1, {}}, Change{"text", text, {1}}, Change{"compound", compound, {6}},
                                   Change{"too many", H5T_NATIVE_DOUBLE, {2000}}, Change{"none", H5T_NATIVE_DOUBLE, {0}}}) {
            if (std::string(attribute) == "MassTable" && std::string(change.name) != "text" && std::string(change.name) != "compound")
                continue;  // may be missing or of another length
            SCOPED_TRACE(std::string(attribute) + ": " + change.name);
            fs::copy_file(directory / "valid.hdf5", directory / "mutated.hdf5", fs::copy_options::overwrite_existing);
            {
                const Handle file(H5Fopen((directory / "mutated.hdf5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
                done(H5Adelete_by_name(file, "/Header", attribute, H5P_DEFAULT));
                if (change.type >= 0) {
                    const Handle made(H5Acreate_by_name(file, "/Header", attribute, change.type, simple_space(change.shape), H5P_DEFAULT,
                                                        H5P_DEFAULT, H5P_DEFAULT),
                                      H5Aclose);
                    if (change.shape.front() == 2000) done(H5Awrite(made, change.type, std::vector<double>(2000, 1.).data()));
                }
            }
            test::expect_bad_input(kasane({"forces", "mutated.hdf5", "-o", "f.hdf5", "--softening", "0.1", "--device", "cpu", "--json"}),
                                   {"mutated.hdf5", "/Header"});
        }
}

}  // namespace
