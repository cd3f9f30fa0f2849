#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/binding.hpp>
#include <kasane/perf/benchmark.hpp>
#include <kasane/version.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <variant>

namespace kasane {

Timing time_calls(const AnySpace& space, const std::function<void()>& call, int repetitions) {
    call();
    synchronize(space);
    Stopwatch watch;
    call();
    synchronize(space);
    const double once = std::max(watch.seconds(), 1e-7);
    const int batch = std::max(1, static_cast<int>(std::ceil(0.02 / once)));
    std::vector<double> seconds;
    for (int r = 0; r < repetitions; ++r) {
        watch.restart();
        for (int k = 0; k < batch; ++k) call();
        synchronize(space);
        seconds.push_back(watch.seconds() / batch);
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    return {median, (seconds.back() - seconds.front()) / median};
}

std::vector<Benchmark> selected(const std::vector<Benchmark>& all, const std::vector<std::string>& wanted) {
    if (wanted.empty()) return all;
    std::vector<Benchmark> chosen;
    for (const auto& name : wanted) {
        const auto before = chosen.size();
        for (const auto& benchmark : all)
            if (benchmark.name == name || benchmark.name.starts_with(name + ".")) chosen.push_back(benchmark);
        std::string names;
        for (const auto& benchmark : all) names += (names.empty() ? "" : ", ") + benchmark.name;
        KS_VALIDATE(chosen.size() > before, fmt::format("no benchmark is called '{}'; there are {}", name, names));
    }
    return chosen;
}

std::string benchmark_record(const AnySpace& space, const std::vector<BenchmarkResult>& results) {
    const auto device = device_info(space);
    io::Json record;
    record["machine"] = {{"name", device.name},
                         {"kind", device.kind},
                         {"units", device.units},
                         {"clock_hertz", device.clock_hertz},
                         {"memory_bytes", device.memory_bytes},
                         {"capability", device.capability}};
    if (std::holds_alternative<Cpu>(space)) {
        const auto binding = thread_binding();
        record["machine"]["thread_binding"] = binding.policy.empty() ? "none" : binding.policy;
        record["machine"]["memory_nodes"] = binding.memory_nodes;
    }
    record["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    record["version"] = version;
    record["commit"] = commit;
    record["build"] = {{"compiler", compiler}, {"cuda", cuda_compiler}};
    // One line per result, so that people can read and compare records.
    auto text = record.dump(2);
    text.resize(text.size() - 2);  // "\n}"
    text += ",\n  \"results\": [";
    for (const auto& r : results) {
        io::Json row{{"case", r.name},
                     {"n", r.n},
                     {"seconds", r.seconds},
                     {"spread", r.spread},
                     {"rate", r.rate},
                     {"unit", r.unit},
                     {"tflops", r.tflops},
                     {"bound", r.bound},
                     {"bound_fraction", r.bound_fraction()},
                     {"bound_reason", r.bound_reason},
                     {"error", r.error}};
        for (const auto& [key, value] : r.more) row[key] = value;
        for (const auto& [key, values] : r.lists) row[key] = values;
        for (const auto& worker : r.timeline) {
            auto spans = io::Json::array();
            for (const auto& span : worker) spans.push_back({span.name, span.begin, span.end});
            row["timeline"].push_back(spans);
        }
        if (!r.note.empty()) row["note"] = r.note;
        text += (&r == &results.front() ? "\n    " : ",\n    ") + row.dump();
    }
    return text + "\n  ]\n}\n";
}

}  // namespace kasane
