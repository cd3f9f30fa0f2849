// The estimate of a simulation's memory, compared with the largest resident memory of a process, or, where a sanitizer adds memory of its
// own, with the largest sum of its allocated blocks.
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" {  // GCC installs no header for them
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t), void (*freed)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}

std::atomic<std::size_t> in_use{0}, largest{0};

/// Starts to count the allocated bytes.
void start_count() {
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t bytes) {
            const auto now = in_use += bytes;
            for (auto most = largest.load(); most < now && !largest.compare_exchange_weak(most, now);) {
            }
        },
        [](const volatile void* block) { in_use -= block ? std::min(in_use.load(), __sanitizer_get_allocated_size(block)) : 0; });
}

/// Largest number of bytes in use since start_count().
double largest_memory() { return static_cast<double>(largest); }
#else
/// A number of kB of /proc/self/status, in bytes.
double resident(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kilobytes = 0;
        if (word == key + ":" && status >> kilobytes) return 1024 * kilobytes;
    }
    return 0;
}

double at_start = 0;

/// Freed arrays return to the system from here on, so that resident memory is the sum of the live arrays.
void start_count() {
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    at_start = resident("VmRSS");
}

/// Largest number of bytes in use since start_count().
double largest_memory() { return resident("VmHWM") - at_start; }
#endif

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
[[noreturn]] void measure(const Force& force) {
    constexpr index_t n = index_t{1} << 19;
    start_count();
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
    const double measured = largest_memory();
    const auto estimate = static_cast<double>(simulation_memory(Cpu{1}, n, force).host_bytes);
    fprintf(stderr, "%.0f bytes per particle measured, %.0f estimated\n", measured / n, estimate / n);
    std::exit(measured < 1.03 * estimate && measured > 0.85 * estimate ? 0 : 1);
}

TEST(SimulationMemory, EstimateFitsTheResidentMemoryOfATreeRun) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts a new process, so that earlier tests do not count
    EXPECT_EXIT(measure(Tree{.mac = AccelerationMac{0.05}, .softening = 0.01}), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kasane::gravity
