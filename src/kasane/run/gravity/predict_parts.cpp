#include <kasane/core/base/error.hpp>
#include <kasane/run/gravity/predict_parts.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run {
namespace {

constexpr int most_workers = 4096;                            ///< the event simulation of more takes long
constexpr double link_measured = 1.2, link_extrapolated = 2;  ///< factors on latency and bandwidth

}  // namespace

std::string device_of(const AnySpace& on) {
    const auto* cpu = std::get_if<Cpu>(&on);
    return device_text(device_info(on), cpu ? thread_count(*cpu) : 0);
}

std::string processor(const std::string& device) { return device.substr(0, device.rfind(", ")); }

void check_request(const PredictionRequest& request) {
    KS_VALIDATE(request.ranks >= 1 && request.workers >= 1, "there must be at least one rank, with at least one worker",
                {"", 0, 0, "--ranks"});
    const int workers = request.ranks * request.workers;
    KS_VALIDATE(workers <= most_workers, fmt::format("{} workers are too many for a prediction: at most {}", workers, most_workers),
                {"", 0, 0, request.ranks > 1 ? "--ranks" : "--gpus-per-rank"});
}

FoundLink find_channel(const Calibration& calibration, const std::string& device, const PredictionRequest& request) {
    const int workers = request.ranks * request.workers;
    if (workers == 1) return {};
    const CalibrationEntry* nearest = nullptr;
    double least = 0;
    for (const auto& entry : calibration.entries) {
        if (entry.key.kind != "channel" || processor(entry.key.device) != processor(device)) continue;
        // Another number of ranks counts more than another number of workers per rank, since messages between ranks take another path.
        const double away = std::abs(std::log2(entry["members"] / workers)) + ((entry["ranks"] > 1) == (request.ranks > 1) ? 0 : 10) +
                            std::abs(std::log2(entry["members"] / entry["ranks"] / request.workers));
        if (!nearest || away < least) nearest = &entry, least = away;
    }
    KS_VALIDATE(nearest, fmt::format("the calibration of '{}' has no channel between workers: run `mpirun -n 2 kasane calibrate{}` there",
                                     device, request.workers > 1 ? " --gpus-per-rank 2" : ""));
    const auto optional = [&](const char* name) { return nearest->numbers.contains(name) ? (*nearest)[name] : 0; };
    FoundLink out{{(*nearest)["latency"], (*nearest)["bytes_per_second"], optional("least_one_sided"), optional("least_both_sides")},
                  link_measured,
                  ""};
    KS_VALIDATE(out.time.bytes_per_second > 0, "the calibration's channel has a bandwidth of 0: run `kasane calibrate` again");
    if ((*nearest)["members"] != workers || (*nearest)["ranks"] != request.ranks) {
        out.factor = link_extrapolated;
        out.doubt =
            fmt::format("messages were measured between {:.0f} workers on {:.0f} {}, not between {} on {}: the same speed is assumed",
                        (*nearest)["members"], (*nearest)["ranks"], (*nearest)["ranks"] == 1 ? "rank" : "ranks", workers, request.ranks);
    }
    return out;
}

CalibrationKey channel_key(const std::string& device, int ranks, int workers) {
    return {"channel", device, fmt::format("{} members on {} {}", ranks * workers, ranks, ranks == 1 ? "rank" : "ranks")};
}

CalibrationKey synchronisation_key(const std::string& device, int ranks, int workers) {
    auto key = channel_key(device, ranks, workers);
    key.kind = "synchronisation";
    return key;
}

}  // namespace kasane::run
