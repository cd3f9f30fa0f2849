// What every record.json has in common, whatever the problem: program, build and device; and how its numbers are read back.
#pragma once

#include <kasane/core/device/space.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace kasane::run {

/// "kasane", "commit", "build", "device", "threads", "simd", in this order.
nlohmann::ordered_json record_head(const DeviceInfo& device, int threads, const std::string& simd);

/// Null for an empty text.
nlohmann::ordered_json text_or_null(const std::string& text);

/// Empty for what is no text.
std::string text_or_empty(const nlohmann::json& value);

/// JSON knows no inf and nan; nlohmann writes them as null, and null is read back here as NaN.
double number_or_nan(const nlohmann::json& value);

/// What every record begins with, into a record of any problem: title, state, device, program.
/// @throws nlohmann::json::exception where something is missing or of another type
template <class Record>
void read_head(const nlohmann::json& j, Record& r) {
    r.title = j.at("title"), r.status = j.at("status"), r.message = j.at("message");
    r.started = j.at("started"), r.finished = text_or_empty(j.at("finished"));
    const auto& device = j.at("device");
    r.device = {
        device.at("name"),      device.at("kind"), device.at("memory_bytes"), device.at("units"), number_or_nan(device.at("clock_hertz")),
        device.at("capability")};
    r.threads = j.at("threads"), r.simd = j.at("simd");
    r.version = j.at("kasane"), r.commit = j.at("commit");
    r.compiler = text_or_empty(j.at("build").at("compiler")), r.cuda = text_or_empty(j.at("build").at("cuda"));
}

/// Threads of the CPU that a run on this space uses.
int threads_of(const AnySpace& space);

}  // namespace kasane::run
