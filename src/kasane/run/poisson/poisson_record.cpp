#include <kasane/run/poisson/poisson_record.hpp>

namespace kasane::run {
namespace {

using json = nlohmann::ordered_json;

constexpr krylov::CgEnd ends[] = {krylov::CgEnd::converged,
                                  krylov::CgEnd::iteration_limit,
                                  krylov::CgEnd::stagnated,
                                  krylov::CgEnd::operator_not_positive,
                                  krylov::CgEnd::preconditioner_not_positive,
                                  krylov::CgEnd::not_finite,
                                  krylov::CgEnd::stopped};

const char* name(sparse::BoundaryKind kind) { return kind == sparse::BoundaryKind::dirichlet ? "dirichlet" : "neumann"; }

json of_setup(const sparse::SetupFacts& s) {
    json parts = json::object();
    for (const auto& [part, seconds] : s.seconds) parts[part] = seconds;
    return {{"rows", s.rows},
            {"nonzeros", s.nonzeros},
            {"padded_rows", s.padded_rows},
            {"stored_entries", s.stored_entries},
            {"device", s.device},
            {"ordering", s.ordering},
            {"numbering", s.numbering},
            {"format", s.format},
            {"precondition", s.precondition},
            {"iteration", s.iteration},
            {"launch", text_or_null(s.launch)},
            {"decision",
             {{"by", s.decision.by}, {"reason", s.decision.reason}, {"trials", s.decision.trials}, {"seconds", s.decision.seconds}}},
            {"colors", s.colors},
            {"color_sizes", s.color_sizes},
            {"shift", s.shift},
            {"singular", s.singular},
            {"own_factor", s.own_factor},
            {"bytes", s.bytes},
            {"peak_bytes", s.peak_bytes},
            {"bytes_per_iteration", s.bytes_per_iteration},
            {"barriers_per_iteration", s.barriers_per_iteration},
            {"parts", parts},
            {"seconds", s.total_seconds},
            {"notes", s.notes}};
}

sparse::SetupFacts setup_from(const json& j) {
    sparse::SetupFacts s;
    s.rows = j.at("rows"), s.nonzeros = j.at("nonzeros"), s.padded_rows = j.at("padded_rows"), s.stored_entries = j.at("stored_entries");
    s.device = j.at("device"), s.ordering = j.at("ordering"), s.numbering = j.at("numbering"), s.format = j.at("format");
    s.precondition = j.at("precondition"), s.iteration = j.at("iteration");
    if (j.at("launch").is_string()) s.launch = j.at("launch");
    if (const auto d = j.find("decision"); d != j.end())  // records before it have none
        s.decision = {d->at("by"), d->at("reason"), d->at("trials"), number_or_nan(d->at("seconds"))};
    s.colors = j.at("colors"), s.color_sizes = j.at("color_sizes").get<std::vector<index_t>>();
    s.shift = number_or_nan(j.at("shift")), s.singular = j.at("singular"), s.own_factor = j.at("own_factor");
    s.bytes = j.at("bytes"), s.peak_bytes = j.at("peak_bytes");
    s.bytes_per_iteration = number_or_nan(j.at("bytes_per_iteration")), s.barriers_per_iteration = j.at("barriers_per_iteration");
    for (const auto& [part, seconds] : j.at("parts").items()) s.seconds.emplace_back(part, number_or_nan(seconds));
    s.total_seconds = number_or_nan(j.at("seconds"));
    s.notes = j.at("notes").get<std::vector<std::string>>();
    return s;
}

json of_log(const sparse::SolveLog& log) {
    return {{"end", krylov::name(log.end)},
            {"converged", log.converged()},
            {"iterations", log.iterations},
            {"relative_residual", log.true_residual},
            {"recurrence_residual", log.residual},
            {"restarts", log.restarts},
            {"seconds", log.seconds},
            {"iteration_seconds", log.iteration_seconds},
            {"mean_removed", log.mean_removed}};
}

sparse::SolveLog log_from(const json& j) {
    sparse::SolveLog log;
    for (const auto end : ends)
        if (j.at("end") == krylov::name(end)) log.end = end;
    log.iterations = j.at("iterations"), log.restarts = j.at("restarts");
    log.true_residual = number_or_nan(j.at("relative_residual")), log.residual = number_or_nan(j.at("recurrence_residual"));
    log.seconds = number_or_nan(j.at("seconds")), log.iteration_seconds = number_or_nan(j.at("iteration_seconds"));
    log.mean_removed = number_or_nan(j.at("mean_removed"));
    return log;
}

}  // namespace

json part_of(const PoissonRecord& r) {
    json boundary = json::object();
    for (std::size_t f = 0; f < 6; ++f) boundary[sparse::face_names[f]] = {{name(r.boundary[f].kind), r.boundary[f].value}};
    return {{"cells", r.cells},
            {"size", r.size},
            {"spacing", r.spacing},
            {"boundary", boundary},
            {"source", r.source},
            {"coefficient", r.coefficient},
            {"rtol", r.rtol},
            {"max_iterations", r.iteration_limit},
            {"setup", of_setup(r.setup)},
            {"solve", of_log(r.log)},
            {"assembly_seconds", r.assembly_seconds},
            {"potential", {{"least", r.least}, {"greatest", r.greatest}, {"mean", r.mean}}},
            {"notes", r.notes}};
}

PoissonRecord poisson_record_from_json(const std::string& text, const std::filesystem::path& file) {
    PoissonRecord r;
    read_record(text, file, "poisson", [&](const nlohmann::json& j) {
        read_common(j, "iteration", r);
        r.cells = j.at("cells"), r.spacing = j.at("spacing");
        for (std::size_t d = 0; d < 3; ++d) r.size[d] = number_or_nan(j.at("size").at(d));
        for (std::size_t f = 0; f < 6; ++f) {
            const auto& face = j.at("boundary").at(sparse::face_names[f]);
            const auto kind = face.contains("dirichlet") ? sparse::BoundaryKind::dirichlet : sparse::BoundaryKind::neumann;
            r.boundary[f] = {kind, number_or_nan(face.at(name(kind)))};
        }
        r.source = j.at("source"), r.coefficient = j.at("coefficient");
        r.rtol = number_or_nan(j.at("rtol")), r.iteration_limit = j.at("max_iterations");
        r.setup = setup_from(j.at("setup")), r.log = log_from(j.at("solve"));
        r.assembly_seconds = number_or_nan(j.at("assembly_seconds"));
        const auto& potential = j.at("potential");
        r.least = number_or_nan(potential.at("least")), r.greatest = number_or_nan(potential.at("greatest"));
        r.mean = number_or_nan(potential.at("mean"));
        r.notes = j.at("notes").get<std::vector<std::string>>();
    });
    return r;
}

}  // namespace kasane::run
