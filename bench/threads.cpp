#include <bench/threads.hpp>

#include <fmt/format.h>

namespace kasane::bench {

std::vector<AnySpace> with_threads(const AnySpace& on) {
    const auto* cpu = std::get_if<Cpu>(&on);
    if (!cpu) return {on};
    const int all = thread_count(*cpu);
    if (all == 1) return {Cpu{1}};
    return {Cpu{1}, Cpu{all}};
}

std::string threads_label(const AnySpace& on) {
    const auto* cpu = std::get_if<Cpu>(&on);
    if (!cpu) return "";
    const int threads = thread_count(*cpu);
    return threads == 1 ? ", 1 thread" : fmt::format(", {} threads", threads);
}

const MemorySpeed& Speeds::of(const AnySpace& on) {
    const auto key = name(on) + threads_label(on);
    const auto at = known_.find(key);
    return at != known_.end() ? at->second : known_[key] = memory_speed(on);
}

std::string words(const MemorySpeed& speed) {
    return fmt::format("triad a = b + s c in double, measured in this run, arrays of {} MiB: {:.4g} GB/s; reading alone {:.4g} GB/s",
                       speed.array_bytes >> 20, 1e-9 * speed.triad, 1e-9 * speed.read);
}

}  // namespace kasane::bench
