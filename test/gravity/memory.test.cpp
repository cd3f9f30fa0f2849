// The estimate of a simulation's memory, compared with the largest resident memory of a process.
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <malloc.h>
#include <unistd.h>

namespace kasane::gravity {
namespace {

/// A number of kB of /proc/self/status, in bytes.
double resident(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kilobytes = 0;
        if (word == key + ":" && status >> kilobytes) return 1024 * kilobytes;
    }
    return 0;
}

Particles cube(index_t n) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> coordinate(-1, 1);
    Particles p;
    p.resize(n);
    for (std::size_t i = 0; i < p.position.size(); ++i) {
        p.position[i] = {coordinate(random), coordinate(random), coordinate(random)};
        p.mass[i] = 1. / static_cast<double>(n);
        p.id[i] = i + 1;
        p.type[i] = 1;
    }
    return p;
}

/// Takes a step and then holds what a run holds at most: the state, while the particles are written to a file. Exits with 0 if the memory
/// fits the estimate.
[[noreturn, maybe_unused]] void measure(const Force& force) {
    mallopt(M_MMAP_THRESHOLD, 1 << 16);  // freed arrays return to the system, so that resident memory is the sum of the live arrays
    constexpr index_t n = index_t{1} << 19;
    const double before = resident("VmRSS");
    {
        Simulation simulation(Cpu{1}, cube(n), {.force = force, .step = BlockSteps{{.dt_max = 1e-4}}});
        simulation.step(1);
        const auto& particles = simulation.particles();
        const auto state = simulation.state();
        const auto path = std::filesystem::path(testing::TempDir()) / ("kasane_memory_" + std::to_string(::getpid()) + ".hdf5");
        write_snapshot(path, particles, {});
        std::filesystem::remove(path);
        EXPECT_EQ(state.acceleration.size(), std::holds_alternative<Tree>(force) ? particles.position.size() : 0);
    }
    const double measured = resident("VmHWM") - before;
    const auto estimate = static_cast<double>(simulation_memory(Cpu{1}, n, force).host_bytes);
    fprintf(stderr, "%.0f bytes per particle measured, %.0f estimated\n", measured / n, estimate / n);
    std::exit(measured < 1.03 * estimate && measured > 0.85 * estimate ? 0 : 1);
}

TEST(SimulationMemory, EstimateFitsTheResidentMemoryOfATreeRun) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers add memory of their own";
#else
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts a new process, so that earlier tests do not count
    EXPECT_EXIT(measure(Tree{.mac = AccelerationMac{0.05}, .softening = 0.01}), testing::ExitedWithCode(0), "");
#endif
}

}  // namespace
}  // namespace kasane::gravity
