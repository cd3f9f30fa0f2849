#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/perf/simd.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/version.hpp>

#include <fmt/chrono.h>

#include <cmath>
#include <ctime>

namespace kasane::run {
namespace {

using json = nlohmann::ordered_json;

json of_segments(const Record& r, const std::string& step) {
    json segments = json::array();
    for (const auto& s : r.segments) {
        json segment{{"started", s.started}, {"device", s.device}, {"threads", s.threads}};
        if (r.parallel) segment["members"] = s.workers;
        segment.update(json{{"commit", s.commit}, {"first_" + step, s.first}, {"last_" + step, s.last}, {"seconds", s.seconds}});
        segments.push_back(std::move(segment));
    }
    return segments;
}

}  // namespace

json common_json(const Record& r, const std::string& problem, const std::string& step) {
    json object{{"kasane", version},
                {"commit", commit},
                {"build", {{"compiler", compiler}, {"cuda", text_or_null(cuda_compiler)}, {"mpi", text_or_null(comm::mpi_built_with())}}},
                {"device",
                 {{"name", r.device.name},
                  {"kind", r.device.kind},
                  {"memory_bytes", r.device.memory_bytes},
                  {"units", r.device.units},
                  {"clock_hertz", r.device.clock_hertz},
                  {"capability", r.device.capability}}},
                {"threads", r.threads},
                {"simd", r.simd}};
    if (r.parallel)
        object["parallel"] = {{"ranks", r.parallel->ranks},
                              {"members_per_rank", r.parallel->workers},
                              {"placement", r.parallel->placement},
                              {"engine", text_or_null(r.parallel->engine)},
                              {"form", text_or_null(r.parallel->form)}};
    json timers = json::object();
    for (const auto& [name, part] : r.timers) timers[name] = {{"seconds", part.seconds}, {"calls", part.calls}};
    object.update(json{{"title", r.title},
                       {"problem", problem},
                       {"status", r.status},
                       {"message", r.message},
                       {"started", r.started},
                       {"finished", text_or_null(r.finished)},
                       {"seconds", r.seconds},
                       {"timers", timers},
                       {"segments", of_segments(r, step)},
                       {"unused_keys", r.unused_keys},
                       {"papers", r.papers}});
    return object;
}

void read_common(const nlohmann::json& j, const std::string& step, Record& r) {
    r.title = j.at("title"), r.status = j.at("status"), r.started = j.at("started");
    r.message = j.value("message", "");  // the first records of gravity runs lack what is read with a default
    if (j.contains("finished")) r.finished = text_or_empty(j["finished"]);
    const auto& device = j.at("device");
    r.device.name = device.at("name"), r.device.kind = device.value("kind", ""), r.device.capability = device.value("capability", "");
    r.device.memory_bytes = device.value("memory_bytes", r.device.memory_bytes), r.device.units = device.value("units", r.device.units);
    if (device.contains("clock_hertz")) r.device.clock_hertz = number_or_nan(device["clock_hertz"]);
    r.threads = j.value("threads", 0), r.simd = j.at("simd");
    r.version = j.value("kasane", ""), r.commit = j.value("commit", "");
    if (const auto build = j.find("build"); build != j.end())
        r.compiler = text_or_empty(build->at("compiler")), r.cuda = text_or_empty(build->at("cuda"));
    r.seconds = number_or_nan(j.at("seconds"));
    if (const auto timers = j.find("timers"); timers != j.end())
        for (const auto& [name, part] : timers->items()) r.timers[name] = {number_or_nan(part.at("seconds")), part.at("calls")};
    for (const auto& s : j.at("segments"))
        r.segments.push_back({s.at("started"), s.at("device"), s.at("commit"), s.at("threads"), s.value("members", 1),
                              s.at("first_" + step), s.at("last_" + step), number_or_nan(s.at("seconds"))});
    r.unused_keys = j.at("unused_keys").get<std::vector<std::string>>();
    r.papers = j.at("papers").get<std::vector<std::string>>();
}

void read_record(const std::string& text, const std::filesystem::path& file, const std::string& problem,
                 const std::function<void(const nlohmann::json&)>& read) {
    try {
        const auto j = io::parse_json(text, file);
        KS_VALIDATE(j.at("problem") == problem, "is the record of another problem", {file.string(), 0, 0, ""});
        read(j);
    } catch (const json::exception& error) {
        throw InputError("is not the record of a " + problem + " run: " + error.what(), {file.string(), 0, 0, ""});
    }
}

void add(std::map<std::string, Timers::Part>& to, const Timers& timers) {
    for (const auto& [name, part] : timers.parts()) {
        auto& sum = to[name];
        sum.seconds += part.seconds;
        sum.calls += part.calls;
    }
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

std::string text_or_empty(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

double number_or_nan(const nlohmann::json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

json positive_or_null(double value) { return value > 0 ? json(value) : json(nullptr); }

std::string iso_time_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string simd_name() {
    const auto target = simd_target();
    return target.starts_with("AVX3") ? "AVX-512" : target;  // Highway's name for it
}

int threads_of(const AnySpace& space) {
    const auto* cpu = std::get_if<Cpu>(&space);
    return thread_count(cpu ? *cpu : Cpu{});
}

}  // namespace kasane::run
