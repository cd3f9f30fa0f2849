#include <kasane/run/quenched/quenched_record.hpp>

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

lattice::Estimate estimate_from(const nlohmann::json& j) {
    lattice::Estimate e;
    e.mean = number_or_nan(j.at("mean")), e.error = number_or_nan(j.at("error"));
    e.tau = number_or_nan(j.at("autocorrelation_time")), e.tau_error = number_or_nan(j.at("autocorrelation_time_error"));
    return e;
}

QuenchedMeans means_from(const nlohmann::json& j) {
    QuenchedMeans m;
    m.plaquette = estimate_from(j.at("plaquette")), m.plaquette.count = j.at("measurements");
    m.plaquette_space = estimate_from(j.at("plaquette_space")), m.plaquette_time = estimate_from(j.at("plaquette_time"));
    m.polyakov_re = estimate_from(j.at("polyakov_re")), m.polyakov_im = estimate_from(j.at("polyakov_im"));
    m.polyakov = estimate_from(j.at("polyakov_modulus"));
    const auto& susceptibility = j.at("polyakov_susceptibility");
    m.susceptibility = {number_or_nan(susceptibility.at("value")), number_or_nan(susceptibility.at("error"))};
    return m;
}

}  // namespace

json part_of(const QuenchedRecord& r) {
    return {{"extents", r.extents.n},
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
            {"link_updates", r.link_updates}};
}

QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file) {
    QuenchedRecord r;
    read_record(text, file, "quenched", [&](const nlohmann::json& j) {
        read_common(j, "sweep", r);
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
        r.means = means_from(j.at("means"));
        r.link_updates = number_or_nan(j.at("link_updates"));
    });
    return r;
}

double link_rate(const QuenchedRecord& r) {
    double seconds = 0;
    for (const char* part : {"heatbath", "overrelaxation"})
        if (const auto found = r.timers.find(part); found != r.timers.end()) seconds += found->second.seconds;
    return seconds > 0 ? r.link_updates / seconds : 0;
}

}  // namespace kasane::run
