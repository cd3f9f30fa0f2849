#include <kasane/run/hmc/hmc_record.hpp>

namespace kasane::run {
namespace {

template <class Fields, class Summary>
void list_summary(Fields& f, Summary& s) {
    f.list("terms", s.terms, [](auto& in, auto& term) {
        in("name", term.name), in("force_mean", term.force_mean), in("force_largest", term.force_largest);
        in("iterations", term.iterations), in("force_iterations", term.force_iterations);
    });
    f.part("reversibility",
           [&](auto& in) { in("returns", s.returns), in("largest_distance", s.return_distance), in("largest_dH", s.return_dH); });
    f.part("flow", [&](auto& in) {
        in("measurements", s.charge.count);
        list_estimate(in, "topological_charge", s.charge);
        list_estimate(in, "topological_charge_squared", s.charge2);
        list_estimate(in, "t2E", s.t2E);
        list_estimate(in, "t0", s.t0);
    });
    f.part("spectrum", [&](auto& in) {
        in("measurements", s.eigenvalue.count);
        list_estimate(in, "smallest_eigenvalue", s.eigenvalue);
        in("least", s.least_eigenvalue);
    });
}

template <class Fields, class R>
void list_hmc_fields(Fields& f, R& r) {
    f("extents", r.extents.n);
    list_start(f, r);
    f.part("gauge", [&](auto& in) { in("action", r.action), in("beta", r.beta), in("c1", r.c1); });
    f.optional("quarks", r.quarks, [&](auto& in, auto& q) {
        in("kappa", q.kappa), in("csw", q.csw), in("boundary", q.boundary), in("twisted_mass", q.twisted_mass);
        in("hasenbusch_masses", q.masses), in("precision", q.precision);
        in("action_rtol", q.action_rtol), in("force_rtol", q.force_rtol), in("gauge_steps", q.gauge_steps);
        in.later()("flavours", q.flavours), in.later()("weight_error", q.weight_error), in.later()("spectrum_every", q.spectrum_every);
        in.later().list("one_flavour", r.flavours, [](auto& of, auto& flavour) {
            of("kappa", flavour.kappa), of("range", flavour.range), of("least", flavour.least), of("most", flavour.most);
            of("poles", flavour.poles), of("error", flavour.error), of("weight_error", flavour.weight_error);
            of("smallest_eigenvalue", flavour.smallest), of("largest_eigenvalue", flavour.largest);
            of("measured_after", flavour.measured_after);
        });
        in.later()("hasenbusch_steps", q.mass_steps);
        in.later()("force_precision", q.force_precision), in.later()("chronological", q.chronological);
        in.later()("deflate", q.deflate), in.later()("deflation_block", q.deflation_block);
    });
    f("trajectories", r.trajectories), f("thermalisation", r.thermalisation), f("accept_first", r.accept_first);
    f("length", r.length), f("integrator", r.integrator), f("steps", r.steps), f("seed", r.seed);
    list_configurations(f, r);
    f("trajectories_done", r.trajectories_done);
    f.part("means", [&](auto& in) {
        in("measurements", r.means.plaquette.count);
        list_estimate(in, "plaquette", r.means.plaquette);
        list_estimate(in, "rectangle", r.means.rectangle);
        list_estimate(in, "dH", r.means.dH);
        list_estimate(in, "exp_minus_dH", r.means.weight);
        list_estimate(in, "acceptance", r.means.acceptance);
    });
    // Records of earlier versions lack the rest.
    auto&& later = f.later();
    later.part("tuning", [&](auto& in) { in("acceptance", r.tuning.acceptance), in("steps", r.tuning.steps), in("done", r.tuning.done); });
    later.part("measure", [&](auto& in) {
        in("reversibility_every", r.measure.reversibility_every), in("flow_every", r.measure.flow_every);
        in("spectrum_every", r.measure.spectrum_every);
        in("flow_time", r.measure.flow_time), in("flow_step", r.measure.flow_step);
    });
    list_summary(later, r.summary);
}

}  // namespace

io::Json part_of(const HmcRecord& r) {
    FieldWriter fields;
    list_hmc_fields(fields, r);
    return fields.object;
}

HmcRecord hmc_record_from_json(const std::string& text, const std::filesystem::path& file) {
    HmcRecord r;
    read_record(text, file, "hmc", [&](const io::Json& object) {
        read_common(object, "trajectory", r);
        FieldReader fields(object);
        list_hmc_fields(fields, r);
    });
    if (r.quarks)
        for (const auto& flavour : r.flavours) r.quarks->single.push_back({.kappa = flavour.kappa});
    return r;
}

double trajectory_seconds(const HmcRecord& r) {
    double seconds = 0;
    for (const auto& [name, part] : r.timers)
        if (name == "links" || name == "momenta" || name == "force norms" || name == "action" || name.starts_with("force, ") ||
            name.starts_with("heat bath, "))
            seconds += part.seconds;
    return r.trajectories_done > 0 ? seconds / static_cast<double>(r.trajectories_done) : 0;
}

}  // namespace kasane::run
