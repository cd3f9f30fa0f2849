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

/// JSON knows no inf and nan; nlohmann writes them as null, and null is read back here as NaN.
double number_or_nan(const nlohmann::json& value);

/// Threads of the CPU that a run on this space uses.
int threads_of(const AnySpace& space);

}  // namespace kasane::run
