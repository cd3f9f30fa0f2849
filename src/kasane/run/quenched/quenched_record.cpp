#include <kasane/run/quenched/quenched_record.hpp>

namespace kasane::run {
namespace {

template <class Fields, class Means>
void list_means(Fields& f, Means& m) {
    f("measurements", m.plaquette.count);
    list_estimate(f, "plaquette", m.plaquette);
    list_estimate(f, "plaquette_space", m.plaquette_space);
    list_estimate(f, "plaquette_time", m.plaquette_time);
    list_estimate(f, "polyakov_re", m.polyakov_re);
    list_estimate(f, "polyakov_im", m.polyakov_im);
    list_estimate(f, "polyakov_modulus", m.polyakov);
    f.part("polyakov_susceptibility", [&](auto& in) { in("value", m.susceptibility.value), in("error", m.susceptibility.error); });
}

template <class Fields, class R>
void list_quenched_fields(Fields& f, R& r) {
    f("extents", r.extents.n), f("boundary", r.boundary);
    list_start(f, r);
    f("beta", r.beta), f("sweeps", r.sweeps), f("thermalisation", r.thermalisation), f("overrelaxation", r.overrelaxation);
    f("seed", r.seed), f("measure_every", r.measure_every);
    list_configurations(f, r);
    f("sweeps_done", r.sweeps_done);
    f.part("means", [&](auto& in) { list_means(in, r.means); });
    f("link_updates", r.link_updates);
}

}  // namespace

io::Json part_of(const QuenchedRecord& r) {
    FieldWriter fields;
    list_quenched_fields(fields, r);
    return fields.object;
}

QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file) {
    QuenchedRecord r;
    read_record(text, file, "quenched", [&](const io::Json& object) {
        read_common(object, "sweep", r);
        FieldReader fields(object);
        list_quenched_fields(fields, r);
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
