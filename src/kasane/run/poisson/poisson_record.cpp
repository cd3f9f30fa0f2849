#include <kasane/run/poisson/poisson_record.hpp>

namespace kasane::run {
namespace {

using sparse::BoundaryKind;

template <class Fields, class Setup>
void list_setup(Fields& f, Setup& s) {
    f("rows", s.rows), f("nonzeros", s.nonzeros), f("padded_rows", s.padded_rows), f("stored_entries", s.stored_entries);
    f("device", s.device), f("ordering", s.ordering), f("numbering", s.numbering), f("format", s.format);
    f("precondition", s.precondition), f("iteration", s.iteration), f.text("launch", s.launch);
    f.later().part("decision", [&](auto& in) {  // the first records lack it
        in("by", s.decision.by), in("reason", s.decision.reason), in("trials", s.decision.trials), in("seconds", s.decision.seconds);
    });
    f("colors", s.colors), f("color_sizes", s.color_sizes), f("shift", s.shift), f("singular", s.singular), f("own_factor", s.own_factor);
    f("bytes", s.bytes), f("peak_bytes", s.peak_bytes), f("bytes_per_iteration", s.bytes_per_iteration);
    f("barriers_per_iteration", s.barriers_per_iteration);
    f("parts", s.seconds), f("seconds", s.total_seconds), f("notes", s.notes);
}

template <class Fields, class Log>
void list_log(Fields& f, Log& log) {
    std::string end(krylov::name(log.end));
    f("end", end), f.derived("converged", log.converged()), f("iterations", log.iterations);
    f("relative_residual", log.true_residual), f("recurrence_residual", log.residual), f("restarts", log.restarts);
    f("seconds", log.seconds), f("iteration_seconds", log.iteration_seconds), f("mean_removed", log.mean_removed);
    if constexpr (!std::is_const_v<Log>)
        for (int outcome = 0; outcome <= static_cast<int>(krylov::Outcome::stopped); ++outcome)
            if (krylov::name(krylov::Outcome{outcome}) == end) log.end = krylov::Outcome{outcome};
}

/// {"dirichlet": value}, {"neumann": flux}, {"robin": value, "transfer": h} or {"periodic": true}; a formula beside the value of 0.
void list_face(FieldWriter& f, const sparse::Boundary& face) {
    if (face.kind == BoundaryKind::periodic) return f("periodic", true);
    f(boundary_name(face.kind), face.value);
    if (face.kind == BoundaryKind::robin) f("transfer", face.transfer);
    if (!face.formula.empty()) f("formula", face.formula);
}
void list_face(FieldReader& f, sparse::Boundary& face) {
    face = {};
    for (const auto kind : {BoundaryKind::dirichlet, BoundaryKind::robin, BoundaryKind::periodic})
        if (f.has(boundary_name(kind))) face.kind = kind;
    if (face.kind == BoundaryKind::periodic) return;
    f(boundary_name(face.kind), face.value);
    if (face.kind == BoundaryKind::robin) f("transfer", face.transfer);
    if (f.has("formula")) f("formula", face.formula);
}

template <class Fields, class R>
void list_poisson_fields(Fields& f, R& r) {
    f("cells", r.cells), f("size", r.size), f("spacing", r.spacing);
    f.part("boundary", [&](auto& faces) {
        for (std::size_t i = 0; i < 6; ++i) faces.part(sparse::face_names[i], [&](auto& in) { list_face(in, r.boundary[i]); });
    });
    f("source", r.source), f("coefficient", r.coefficient), f.later()("tensor", r.tensor), f("rtol", r.rtol),
        f("max_iterations", r.iteration_limit);
    f.part("setup", [&](auto& in) { list_setup(in, r.setup); });
    f.part("solve", [&](auto& in) { list_log(in, r.log); });
    f("assembly_seconds", r.assembly_seconds);
    f.part("potential", [&](auto& in) { in("least", r.least), in("greatest", r.greatest), in("mean", r.mean); });
    f("notes", r.notes);
}

}  // namespace

const char* boundary_name(sparse::BoundaryKind kind) {
    switch (kind) {
        case BoundaryKind::neumann: return "neumann";
        case BoundaryKind::dirichlet: return "dirichlet";
        case BoundaryKind::robin: return "robin";
        case BoundaryKind::periodic: return "periodic";
    }
    return "";
}

io::Json part_of(const PoissonRecord& r) {
    FieldWriter fields;
    list_poisson_fields(fields, r);
    return fields.object;
}

PoissonRecord poisson_record_from_json(const std::string& text, const std::filesystem::path& file) {
    PoissonRecord r;
    read_record(text, file, "poisson", [&](const io::Json& object) {
        read_common(object, "iteration", r);
        FieldReader fields(object);
        list_poisson_fields(fields, r);
    });
    return r;
}

}  // namespace kasane::run
