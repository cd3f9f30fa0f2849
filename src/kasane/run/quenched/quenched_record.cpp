#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/quenched/quenched_record.hpp>
#include <kasane/run/record_parts.hpp>

namespace kasane::run {
namespace {

using json = nlohmann::ordered_json;

json of_estimate(const lattice::Estimate& e) {
    return {{"mean", e.mean}, {"error", e.error}, {"autocorrelation_time", e.tau}, {"autocorrelation_time_error", e.tau_error}};
}

json of_means(const QuenchedMeans& m) {
    return {{"measurements", m.plaquette.count},
            {"plaquette", of_estimate(m.plaquette)},
            {"plaquette_space", of_estimate(m.plaquette_space)},
            {"plaquette_time", of_estimate(m.plaquette_time)},
            {"polyakov_re", of_estimate(m.polyakov_re)},
            {"polyakov_im", of_estimate(m.polyakov_im)},
            {"polyakov_modulus", of_estimate(m.polyakov)},
            {"polyakov_susceptibility", {{"value", m.susceptibility.value}, {"error", m.susceptibility.error}}}};
}

}  // namespace

std::string to_json(const QuenchedRecord& r) {
    json segments = json::array(), timers = json::object();
    for (const auto& s : r.segments)
        segments.push_back({{"started", s.started},
                            {"device", s.device},
                            {"threads", s.threads},
                            {"commit", s.commit},
                            {"first_sweep", s.first_sweep},
                            {"last_sweep", s.last_sweep},
                            {"seconds", s.seconds}});
    for (const auto& [name, part] : r.timers) timers[name] = {{"seconds", part.seconds}, {"calls", part.calls}};
    json object = record_head(r.device, r.threads, r.simd);
    object.update(
        json{{"title", r.title},
             {"problem", "quenched"},
             {"status", r.status},
             {"message", r.message},
             {"started", r.started},
             {"finished", text_or_null(r.finished)},
             {"extents", r.extents.n},
             {"boundary", r.boundary},
             {"start", {{"kind", r.start}, {"file", text_or_null(r.start_file)}, {"seed", r.start_seed}}},
             {"beta", r.beta},
             {"sweeps", r.sweeps},
             {"thermalisation", r.thermalisation},
             {"overrelaxation", r.overrelaxation},
             {"seed", r.seed},
             {"measure_every", r.measure_every},
             {"configuration", {{"name", r.configuration}, {"format", r.format}, {"bits", r.bits}, {"written", r.configurations}}},
             {"sweeps_done", r.sweeps_done},
             {"means", of_means(r.means)},
             {"link_updates", r.link_updates},
             {"seconds", r.seconds},
             {"timers", timers},
             {"segments", segments},
             {"unused_keys", r.unused_keys},
             {"papers", r.papers}});
    return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file) {
    try {
        const auto j = io::parse_json(text, file);
        KS_VALIDATE(j.at("problem") == "quenched", "is the record of another problem", {file.string(), 0, 0, ""});
        QuenchedRecord r;
        read_head(j, r);
        for (std::size_t mu = 0; mu < 4; ++mu) r.extents.n[mu] = j.at("extents").at(mu);
        r.boundary = j.at("boundary");
        const auto& start = j.at("start");
        r.start = start.at("kind"), r.start_file = text_or_empty(start.at("file")), r.start_seed = start.at("seed");
        r.beta = number_or_nan(j.at("beta"));
        r.sweeps = j.at("sweeps"), r.thermalisation = j.at("thermalisation"), r.overrelaxation = j.at("overrelaxation");
        r.seed = j.at("seed"), r.measure_every = j.at("measure_every");
        const auto& configuration = j.at("configuration");
        r.configuration = configuration.at("name"), r.format = configuration.at("format"), r.bits = configuration.at("bits");
        r.configurations = configuration.at("written").get<std::vector<std::string>>();
        r.sweeps_done = j.at("sweeps_done");
        r.link_updates = number_or_nan(j.at("link_updates")), r.seconds = number_or_nan(j.at("seconds"));
        for (const auto& [name, part] : j.at("timers").items()) r.timers[name] = {number_or_nan(part.at("seconds")), part.at("calls")};
        for (const auto& s : j.at("segments"))
            r.segments.push_back({s.at("started"), s.at("device"), s.at("commit"), s.at("threads"), s.at("first_sweep"), s.at("last_sweep"),
                                  number_or_nan(s.at("seconds"))});
        r.unused_keys = j.at("unused_keys").get<std::vector<std::string>>();
        r.papers = j.at("papers").get<std::vector<std::string>>();
        return r;
    } catch (const json::exception& error) {
        throw InputError(std::string("is no record of a quenched run: ") + error.what(), {file.string(), 0, 0, ""});
    }
}

}  // namespace kasane::run
