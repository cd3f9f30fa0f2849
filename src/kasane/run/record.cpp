#include <kasane/core/base/error.hpp>
#include <kasane/perf/simd.hpp>
#include <kasane/run/record.hpp>
#include <kasane/version.hpp>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <ctime>

namespace kasane::run {
namespace {

using json = nlohmann::ordered_json;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

/// JSON knows no inf and nan; nlohmann writes them as null, and reads null back here.
double number(const json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

}  // namespace

std::string iso_time_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string simd_name() {
    const auto target = simd_target();
    return target.starts_with("AVX3") ? "AVX-512" : target;  // Highway's name for it
}

std::string to_json(const Record& r) {
    json timers = json::object();
    for (const auto& [name, part] : r.timers) timers[name] = {{"seconds", part.seconds}, {"calls", part.calls}};
    const auto force = r.timers.find("force");
    const double force_seconds = force == r.timers.end() ? 0 : force->second.seconds;
    json segments = json::array();
    for (const auto& s : r.segments)
        segments.push_back({{"started", s.started}, {"device", s.device}, {"threads", s.threads}, {"commit", s.commit},
                            {"first_step", s.first_step}, {"last_step", s.last_step}, {"seconds", s.seconds}});
    json objects = json::array();
    for (const auto& object : r.objects) objects.push_back({{"name", object.name}, {"count", object.count}});
    const json bound = r.bound.rate > 0 ? json{{"rate", r.bound.rate}, {"reason", r.bound.reason}} : json(nullptr);
    const json object = {
        {"kasane", version},
        {"commit", commit},
        {"build", {{"compiler", compiler}, {"cuda", text_or_null(cuda_compiler)}, {"mpi", nullptr}}},
        {"device",
         {{"name", r.device.name}, {"kind", r.device.kind}, {"memory_bytes", r.device.memory_bytes}, {"units", r.device.units},
          {"clock_hertz", r.device.clock_hertz}, {"capability", r.device.capability}}},
        {"threads", r.threads},
        {"simd", r.simd},
        {"title", r.title},
        {"problem", r.problem},
        {"status", r.status},
        {"message", r.problem_text},
        {"started", r.started},
        {"finished", text_or_null(r.finished)},
        {"particles", r.particles},
        {"particles_by_type", r.particles_by_type},
        {"objects", objects},
        {"units",
         {{"name", r.units.name}, {"length_cm", r.units.length_cm}, {"mass_g", r.units.mass_g},
          {"velocity_cm_s", r.units.velocity_cm_s}, {"G", r.units.G}, {"length_name", r.units.length_name},
          {"mass_name", r.units.mass_name}, {"velocity_name", r.units.velocity_name}, {"time_name", r.units.time_name}}},
        {"softening", r.softening},
        {"dt", r.dt},
        {"force",
         {{"method", r.method}, {"variant", r.variant}, {"precision", r.precision}, {"accumulation", r.accumulation},
          {"deterministic", r.deterministic}}},
        {"steps", r.steps},
        {"time", r.time},
        {"seconds", r.seconds},
        {"timers", timers},
        {"interactions", r.interactions},
        {"rate", force_seconds > 0 ? json(r.interactions / force_seconds) : json(nullptr)},
        {"bound", bound},
        {"initial_energy", r.initial_energy},
        {"relative_energy_error", r.relative_energy_error},
        {"final_relative_energy_error", r.final_relative_energy_error},
        {"segments", segments},
        {"unused_keys", r.unused_keys},
        {"papers", r.papers},
    };
    return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Record record_from_json(const std::string& text, const std::filesystem::path& file) {
    try {
        const auto j = json::parse(text);
        Record r;
        r.title = j.at("title");
        r.problem = j.at("problem");
        r.status = j.at("status");
        r.started = j.at("started");
        r.steps = j.at("steps");
        r.time = number(j.at("time"));
        r.seconds = number(j.at("seconds"));
        r.interactions = number(j.at("interactions"));
        r.initial_energy = number(j.at("initial_energy"));
        r.relative_energy_error = number(j.at("relative_energy_error"));
        r.final_relative_energy_error = number(j.at("final_relative_energy_error"));
        r.unused_keys = j.at("unused_keys");
        r.papers = j.at("papers");
        for (const auto& object : j.at("objects")) r.objects.push_back({object.at("name"), object.at("count")});
        for (const auto& [name, part] : j.at("timers").items()) r.timers[name] = {number(part.at("seconds")), part.at("calls")};
        for (const auto& s : j.at("segments"))
            r.segments.push_back({s.at("started"), s.at("device"), s.at("commit"), s.at("threads"), s.at("first_step"),
                                  s.at("last_step"), number(s.at("seconds"))});
        return r;
    } catch (const json::exception& error) {
        throw InputError(std::string("is no record of a run: ") + error.what(), {file.string(), 0, 0, ""});
    }
}

}  // namespace kasane::run
