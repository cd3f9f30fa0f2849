#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/space_cuda.hpp>
#include <kasane/core/device/threads.hpp>

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>

namespace kasane {
namespace {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "CPU";
}

double processor_clock() {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    double kilohertz = 0;
    return file >> kilohertz ? 1e3 * kilohertz : 0.0;
}

std::uint64_t memory_line(const std::string& key) {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t kibibytes = 0;
        if (words >> name >> kibibytes && name == key) return 1024 * kibibytes;
    }
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// The memory limit of a control group (container) for this process: /proc/meminfo does not contain it.
std::uint64_t control_group_room() {
    const auto number = [](const char* path) -> std::uint64_t {
        std::ifstream file(path);
        std::uint64_t value = 0;
        return file >> value ? value : ~std::uint64_t{0};
    };
    const auto limit = number("/sys/fs/cgroup/memory.max"), used = number("/sys/fs/cgroup/memory.current");
    return limit == ~std::uint64_t{0} || used == ~std::uint64_t{0} ? ~std::uint64_t{0} : limit - std::min(used, limit);
}

int cuda_index(const std::string& name) {
    if (name == "cuda") return 0;
    try {
        std::size_t used = 0;
        const std::string digits = name.substr(5);
        const int index = std::stoi(digits, &used);
        if (used == digits.size() && index >= 0) return index;
    } catch (const std::exception&) {
    }
    return -1;
}

/// Whether this process may have started a team of OpenMP.
std::atomic<bool> has_team = false;

void after_fork_in_child() {
    if (has_team) omp_set_max_active_levels(0);
}
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);

void expect_team() {
    if (!has_team.load(std::memory_order_relaxed)) has_team = true;
}

}  // namespace

int thread_count(Cpu on) {
    expect_team();
    return on.threads > 0 ? on.threads : std::max(1, omp_get_num_procs());
}

int default_thread_count() {
    expect_team();
    return omp_get_max_threads();
}

AnySpace best_space() { return space_named("auto"); }

AnySpace space_named(const std::string& name, int threads) {
    const auto cpu = [&] {
        check_threads(threads);
        return Cpu{threads};
    };
    if (name == "cpu") return cpu();
    const bool wants_cuda = name == "cuda" || name.starts_with("cuda:");
    KS_VALIDATE(wants_cuda || name == "auto", "no device is called '" + name + "'; there are auto, cpu, cuda, cuda:1, ...");
    const auto missing = why_no_cuda();
#if defined(KASANE_CUDA)
    if (missing.empty()) {
        const int count = cuda::device_count();
        int index = wants_cuda ? cuda_index(name) : 0;
        while (!wants_cuda && !cuda::why_no_code(index).empty()) ++index;  // some device has code: else `missing` is set
        KS_VALIDATE(index >= 0 && index < count,
                    "there is no device '" + name + "': this machine has " + std::to_string(count) + " CUDA device(s), numbered from 0");
        const auto why = cuda::why_no_code(index);
        KS_VALIDATE(why.empty(), "device '" + name + "' is not available: " + why + ", or use another device");
        return Cuda{index, nullptr};
    }
#else
    static_cast<void>(cuda_index);
#endif
    if (!wants_cuda) warn_of_unused_cuda();
    KS_VALIDATE(!wants_cuda, "device '" + name + "' is not available: " + missing + "; use --device cpu or --device auto");
    return cpu();
}

std::string name(const AnySpace& space) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&space)) return "cuda:" + std::to_string(cuda->device);
#endif
    static_cast<void>(space);
    return "cpu";
}

DeviceInfo device_info(const AnySpace& space) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&space)) return cuda::info(cuda->device);
#endif
    DeviceInfo info;
    info.name = processor_name();
    info.kind = "cpu";
    info.memory_bytes = memory_line("MemTotal:");
    info.units = thread_count(std::get<Cpu>(space));
    info.clock_hertz = processor_clock();
    return info;
}

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> all{device_info(Cpu{})};
#if defined(KASANE_CUDA)
    if (why_no_cuda().empty())
        for (int i = 0; i < cuda::device_count(); ++i) all.push_back(cuda::info(i));
#endif
    return all;
}

std::string why_no_cuda() {
#if defined(KASANE_CUDA)
    return cuda::why_none();
#else
    return "this build has no CUDA (no nvcc was found when it was configured)";
#endif
}

void warn_of_unused_cuda() {
#if defined(KASANE_CUDA)
    static std::once_flag once;
    std::call_once(once, [] {
        if (cuda::device_count() > 0) log::warning("the GPU is not used, the CPU computes: {}", why_no_cuda());
    });
#endif
}

std::uint64_t available_memory(const AnySpace& space) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&space)) return cuda::free_memory(cuda->device);
#endif
    static_cast<void>(space);
    return std::min(memory_line("MemAvailable:"), control_group_room());
}

void synchronize(const AnySpace& space) {
#if defined(KASANE_CUDA)
    if (const auto* cuda = std::get_if<Cuda>(&space)) cuda::synchronize(*cuda);
#endif
    static_cast<void>(space);
}

}  // namespace kasane
