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

using io::Json;

/// The fields that every kind of run has. @param step  of the keys first_STEP and last_STEP
template <class Fields, class R>
void list_fields(Fields& f, R& r, const std::string& problem, const std::string& step) {
    auto&& later = f.later();  // the first records of gravity runs lack these
    later("kasane", r.version), later("commit", r.commit);
    later.part("build", [&](auto& in) { in("compiler", r.compiler), in.text("cuda", r.cuda), in.text("mpi", r.mpi); });
    f.part("device", [&](auto& in) {
        auto&& more = in.later();
        in("name", r.device.name), more("kind", r.device.kind);
        more("memory_bytes", r.device.memory_bytes), more("units", r.device.units);
        more("clock_hertz", r.device.clock_hertz), more("capability", r.device.capability);
    });
    later("threads", r.threads), f("simd", r.simd);
    f.optional("parallel", r.parallel, [](auto& in, auto& parallel) {
        in("ranks", parallel.ranks), in("members_per_rank", parallel.workers), in("placement", parallel.placement);
        in.text("engine", parallel.engine), in.text("form", parallel.form);
    });
    f("title", r.title), f.derived("problem", problem), f("status", r.status), later("message", r.message);
    f("started", r.started), later.text("finished", r.finished), f("seconds", r.seconds);
    later.map("timers", r.timers, [](auto& in, auto& part) { in("seconds", part.seconds), in("calls", part.calls); });
    f.list("segments", r.segments, [&](auto& in, auto& segment) {
        in("started", segment.started), in("device", segment.device), in("threads", segment.threads);
        if (r.parallel) in.later()("members", segment.workers);
        in("commit", segment.commit), in("first_" + step, segment.first), in("last_" + step, segment.last);
        in("seconds", segment.seconds);
    });
    f("unused_keys", r.unused_keys), f("papers", r.papers);
}

}  // namespace

Json common_json(Record r, const std::string& problem, const std::string& step) {
    r.version = version, r.commit = commit, r.compiler = compiler, r.cuda = cuda_compiler, r.mpi = comm::mpi_built_with();
    FieldWriter fields;
    list_fields(fields, r, problem, step);
    return fields.object;
}

void read_common(const io::Json& object, const std::string& step, Record& r, Gaps gaps) {
    FieldReader fields(object, gaps);
    list_fields(fields, r, {}, step);
}

void read_record(const std::string& text, const std::filesystem::path& file, const std::string& problem,
                 const std::function<void(const io::Json&)>& read) {
    try {
        const auto j = io::parse_json(text, file);
        KS_VALIDATE(j.at("problem") == problem, "is the record of another problem", {file.string(), 0, 0, ""});
        read(j);
    } catch (const Json::exception& error) {
        throw InputError("is not the record of a " + problem + " run: " + error.what(), {file.string(), 0, 0, ""});
    }
}

void add(std::map<std::string, Timers::Part>& to, const std::map<std::string, Timers::Part>& parts) {
    for (const auto& [name, part] : parts) {
        auto& sum = to[name];
        sum.seconds += part.seconds;
        sum.calls += part.calls;
    }
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string text_or_empty(const io::Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

double number_or_nan(const io::Json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

Json positive_or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

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
