#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/entry_file.hpp>
#include <kasane/perf/calibration.hpp>
#include <kasane/version.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

namespace kasane {
namespace {

using io::Json;
using io::text_of;

constexpr double largest_number = 1e30;

io::EntryFile entries_of(const std::filesystem::path& file) { return {file, "measured", "by `kasane calibrate`"}; }

CalibrationKey key_of(const Json& entry) { return {text_of(entry, "kind"), text_of(entry, "device"), text_of(entry, "what")}; }

std::optional<CalibrationEntry> checked(const Json& entry) {
    CalibrationEntry out{key_of(entry), {}, text_of(entry, "date")};
    const auto numbers = entry.find("numbers");
    if (out.key.kind.empty() || out.key.device.empty() || numbers == entry.end() || !numbers->is_object()) return {};
    for (const auto& [name, value] : numbers->items()) {
        if (!value.is_number()) return {};
        const auto number = value.get<double>();
        if (!(number >= 0 && number <= largest_number)) return {};
        out.numbers[name] = number;
    }
    return out;
}

}  // namespace

double CalibrationEntry::operator[](const std::string& name) const {
    const auto found = numbers.find(name);
    KS_VALIDATE(found != numbers.end(), fmt::format("the calibration of {} ({}, {}) says nothing of '{}': run `kasane calibrate` again",
                                                    key.device, key.kind, key.what, name));
    return found->second;
}

const CalibrationEntry* Calibration::find(const CalibrationKey& key) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string> Calibration::devices(const std::string& kind) const {
    std::vector<std::string> names;
    for (const auto& entry : entries)
        if (entry.key.kind == kind && std::find(names.begin(), names.end(), entry.key.device) == names.end())
            names.push_back(entry.key.device);
    return names;
}

std::filesystem::path default_calibration_file() { return io::cache_file("calibration.json"); }

Calibration read_calibration(const std::filesystem::path& file) {
    Calibration out;
    out.file = file;
    if (file.empty()) return out;
    const auto read = io::read_entries(entries_of(file));
    out.note = read.note;
    int others = 0, damaged = 0;
    for (const auto& entry : read.list) {
        if (text_of(entry, "version") != version) {
            ++others;
            continue;
        }
        auto taken = checked(entry);
        if (!taken) {
            ++damaged;
            continue;
        }
        if (out.find(taken->key))
            std::erase_if(out.entries, [&](const auto& before) { return before.key == taken->key; });  // the last entry counts
        out.entries.push_back(std::move(*taken));
    }
    if (damaged > 0)
        out.note = fmt::format("{}: {} of its entries cannot be taken", file.string(), damaged);
    else if (others > 0 && out.entries.empty())
        out.note = fmt::format("{}: its entries are of other versions of kasane, and speeds change with them", file.string());
    return out;
}

std::string why_calibration_kept(const std::filesystem::path& file) { return io::read_entries(entries_of(file)).why_kept; }

std::string keep_calibration(const std::filesystem::path& file, const std::vector<CalibrationEntry>& entries) {
    if (file.empty()) return "there is no directory for it: set HOME or XDG_CACHE_HOME, or name a file";
    const auto date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    return io::change_entries(entries_of(file), [&](Json& list) {
        Json kept = Json::array();
        for (auto& old : list) {
            const bool replaced = text_of(old, "version") == version &&
                                  std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.key == key_of(old); });
            if (!replaced) kept.push_back(std::move(old));
        }
        for (const auto& entry : entries)
            kept.push_back({{"version", version},
                            {"kind", entry.key.kind},
                            {"device", entry.key.device},
                            {"what", entry.key.what},
                            {"date", entry.date.empty() ? date : entry.date},
                            {"numbers", entry.numbers}});
        list = std::move(kept);
    });
}

std::string device_text(const DeviceInfo& device, int threads) {
    return device.kind == "cpu" ? fmt::format("{}, {} {}", device.name, threads, threads == 1 ? "thread" : "threads") : device.name;
}

}  // namespace kasane
