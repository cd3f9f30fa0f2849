// libFuzzer target: checkpoints of which up to eight data sets were mutated in structure. Built and run by test/fuzz/run.
// Two bytes of the input are a mutation: the data set, and what takes its place.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <test/run/hdf5_mutations.hpp>

#include <cstdlib>
#include <set>
#include <unistd.h>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

const std::vector<std::string> datasets{"/Particles/Position", "/Particles/Velocity", "/Particles/Mass", "/Particles/Id",
                                        "/Particles/Type",     "/Checkpoint/Record",  "/State/Order",    "/State/Acceleration"};

/// A directory with valid.hdf5, removed at the end.
struct Workplace {
    fs::path directory = fs::temp_directory_path() / ("kasane_fuzz_hdf5." + std::to_string(::getpid()));
    Workplace() {
        fs::create_directories(directory);
        run::GravityCheckpoint c;
        c.particles.resize(3);
        c.particles.mass = {1, 2, 3};
        c.units = gravity::nbody_units();
        c.record = "{}";
        c.state.order = {2, 1, 0};
        c.state.acceleration.resize(3);
        run::write_gravity_checkpoint(directory / "valid.hdf5", c);
    }
    ~Workplace() { fs::remove_all(directory); }
};

/// Refused or read; nothing else.
template <class Read>
void attempt(Read read) {
    try {
        read();
    } catch (const InputError&) {
    }
}

}  // namespace

// HDF5 takes and frees megabytes for each file; the default quarantine of them reaches the limit of memory.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=16"; }
// Checkpoints of particles on several ranks, which no file leads to; they need the communicator.
std::size_t kasane::gravity::bytes_of(Column) { std::abort(); }
void kasane::gravity::SlabParticles::rows(Column, index_t, index_t, void*) const { std::abort(); }

// What HDF5 itself loses when it gives up on a file is not ours to mend.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Workplace place;
    const auto path = place.directory / "mutated.hdf5";
    fs::copy_file(place.directory / "valid.hdf5", path, fs::copy_options::overwrite_existing);
    {
        const test::mutation::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
        std::set<std::size_t> mutated;  // a mutation expects a data set as the writer makes it
        for (std::size_t k = 0; k + 1 < size; k += 2) {
            const auto& all = test::hdf5_mutations();
            const auto which = data[k] % datasets.size();
            if (mutated.insert(which).second) all[data[k + 1] % all.size()].apply(file, datasets[which]);
        }
    }
    attempt([&] { run::read_gravity_checkpoint(path); });
    const auto file = hdf5::File::open(path);
    for (const auto& dataset : datasets) {
        attempt([&] { file.read<double>(dataset); });
        attempt([&] { file.read<Vec3<float>>(dataset); });
        attempt([&] { file.read_array<std::int64_t>(dataset); });
    }
    return 0;
}
