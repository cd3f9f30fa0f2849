#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/run/poisson/poisson_file.hpp>
#include <kasane/sparse/poisson_solver.hpp>
#include <kasane/run/driver/run_workers.hpp>
#include <kasane/sparse/distributed/box_part.hpp>
#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace kasane::run {

std::string cell_text(const sparse::PoissonProblem& problem) {
    return fmt::format("{} x {} x {}", problem.cells[0], problem.cells[1], problem.cells[2]);
}

namespace {

namespace fs = std::filesystem;
using sparse::Boundary, sparse::BoundaryKind;

/// HDF5 needs absolute paths.
std::string absolute(const std::string& object) { return object.starts_with('/') ? object : "/" + object; }

/// Widths from the data sets x, y, z of a group, as solutions hold them.
void read_widths(io::Section& grid, const fs::path& directory, PoissonFile& file) {
    const auto given = grid.text("file", {.help = "HDF5 file with the widths of all cells"});
    const auto group = absolute(grid.text("group", {.help = "of the file, holding x, y and z", .fallback = "/Spacing"}));
    if (grid.has("spacing")) grid.problem("spacing", "is given beside file: take one of the two");
    const auto path = file_of(grid, "file", given, directory);
    grid.resolve("file", path.string());
    file.cells = grid.where("file");
    bool good = true;
    try {
        const auto widths = hdf5::File::open(path);
        for (std::size_t d = 0; d < 3; ++d) {
            auto& h = file.problem.spacing[d];
            const auto dataset = (group == "/" ? "" : group) + "/" + "xyz"[d];
            h = widths.read<double>(dataset);
            file.problem.cells[d] = std::ssize(h);
            const auto bad = std::ranges::find_if_not(h, [](double width) { return width > 0 && std::isfinite(width); });
            KS_VALIDATE(!h.empty(), fmt::format("holds no widths along {}", "xyz"[d]), {path.string(), 0, 0, dataset});
            KS_VALIDATE(
                bad == h.end(),
                fmt::format("has the width {} along {} in cell {}: it must be positive and finite", *bad, "xyz"[d], bad - h.begin() + 1),
                {path.string(), 0, 0, dataset});
        }
    } catch (const InputError& error) {
        grid.problem("file", at_key(error));
        good = false;
    }
    const auto& found = file.problem.cells;
    const auto cells =
        grid.integers("cells", {.help = "along x, y, z", .fallback = std::vector<std::int64_t>(found.begin(), found.end()), .least = 1});
    if (good && !std::ranges::equal(cells, found))
        grid.problem("cells", fmt::format("are [{}, {}, {}], and the file has widths of {} cells", cells[0], cells[1], cells[2],
                                          cell_text(file.problem)));
}

void read_grid(io::Section grid, const fs::path& directory, PoissonFile& file) {
    auto& problem = file.problem;
    if (grid.has("file")) {
        read_widths(grid, directory, file);
    } else {
        const auto cells = grid.integers("cells", {.help = "along x, y, z", .least = 1, .most = sparse::most_rows});
        std::ranges::copy(cells, problem.cells.begin());
        auto widths = grid.number_lists("spacing", {.help = "cell widths: one number, or for x, y, z one each, or one of each cell",
                                                    .unit = "length",
                                                    .fallback = 1.0,
                                                    .range = io::above(0)});
        std::ranges::move(widths, problem.spacing.begin());
        file.cells = grid.where("cells");
        if (grid.has("group")) grid.problem("group", "has no effect here: it belongs to file, where widths come from");
    }
    if (grid.faulty("grid")) return;
    try {  // the check of the library: widths against cells, cells against 32-bit indices
        auto counts = problem;
        counts.boundary = {};
        counts.boundary[0].kind = BoundaryKind::dirichlet;
        sparse::validate(counts);
    } catch (const InputError& error) {
        for (const auto& each : error.problems())
            grid.problem(grid.has(each.where.key) ? each.where.key : grid.has("file") ? "file" : "cells", each.message);
    }
}

/// A number, or a formula of the position on the face.
void read_value(io::Section& face, const char* key, const char* help, double fallback, Boundary& condition) {
    if (!face.peek(key)) {
        condition.value = face.number(key, {.help = help, .fallback = fallback});
        return;
    }
    condition.formula = face.text(key, {.help = help});
    try {
        sparse::check_formula(condition.formula);
    } catch (const InputError& error) {
        face.problem(key, error.problems()[0].message);
        condition.formula.clear();
    }
}

Boundary read_face(io::Section face, const std::string& name, const Boundary& fallback) {
    const bool dirichlet = face.has("dirichlet"), neumann = face.has("neumann"), robin = face.has("robin"), periodic = face.has("periodic");
    if (dirichlet && neumann) face.problem("neumann", "is given beside dirichlet: a face has one of the two");
    if (robin && (dirichlet || neumann))
        face.problem("robin", fmt::format("is given beside {}: a face has one of the two", dirichlet ? "dirichlet" : "neumann"));
    if (periodic && (dirichlet || neumann || robin)) face.problem("periodic", "is given beside another condition: a face has one of them");
    if (face.present() && !dirichlet && !neumann && !robin && !periodic)
        face.problem(
            "", fmt::format("is empty: write {0} = {{ dirichlet = VALUE }}, {{ neumann = FLUX }}, {{ robin = OUTSIDE, transfer = H }} or "
                            "{{ periodic = true }}",
                            name));
    if (face.has("transfer") && !robin) face.problem("transfer", "has no effect here: it belongs to robin");
    Boundary condition;
    condition.kind = dirichlet ? BoundaryKind::dirichlet : robin ? BoundaryKind::robin : neumann ? BoundaryKind::neumann : fallback.kind;
    if (periodic) {
        if (!face.flag("periodic", {.help = "the opposite face is the same one"}))
            face.problem("periodic", "is false: leave it out, or give the face another condition");
        condition.kind = BoundaryKind::periodic;
        return condition;
    }
    const double value = condition.kind == fallback.kind ? fallback.value : 0;
    switch (condition.kind) {
        case BoundaryKind::dirichlet: read_value(face, "dirichlet", "phi on the face: a number or a formula", value, condition); break;
        case BoundaryKind::robin:
            read_value(face, "robin", "phi outside: a number or a formula; -c dphi/dn = transfer (phi - robin)", value, condition);
            condition.transfer = face.number("transfer", {.help = "of robin", .range = io::above(0)});
            break;
        default:
            read_value(face, "neumann", "flux density -c dphi/dn that leaves through the face: a number or a formula", value, condition);
    }
    return condition;
}

/// A direction is periodic by both faces, and geometric multigrid takes an even number of cells along it.
void check_periodic(io::Section& table, const PoissonFile& file) {
    const auto& boundary = file.problem.boundary;
    for (std::size_t f = 0; f < 6; ++f) {
        if (boundary[f].kind != BoundaryKind::periodic) continue;
        const auto opposite = f ^ 1;
        if (boundary[opposite].kind != BoundaryKind::periodic)
            table.problem(sparse::face_names[f],
                          fmt::format("is periodic, and {0} is not: write {0} = {{ periodic = true }} too", sparse::face_names[opposite]));
        else if (f % 2 == 0 && file.problem.cells[f / 2] < 3)
            table.problem(sparse::face_names[f],
                          fmt::format("is periodic with {} cells along {}: at least 3 are needed. With one cell, closed faces are the same",
                                      file.problem.cells[f / 2], "xyz"[f / 2]));
        else if (f % 2 == 0 && file.multigrid && sparse::odd_period(file.problem, f / 2))
            table.problem(
                sparse::face_names[f],
                fmt::format("is periodic with {} cells along {}, and geometric multigrid, which several workers take, needs an even "
                            "number of them: take one cell more or less, or one worker",
                            file.problem.cells[f / 2], "xyz"[f / 2]));
    }
}

/// Without the table the library's default holds; in a given table, faces that are not named have zero flux.
void read_boundary(io::Section table, PoissonFile& file) {
    if (table.present()) file.problem.boundary = {};
    for (std::size_t f = 0; f < 6; ++f) {
        file.faces[f] = table.where(sparse::face_names[f]);
        auto& face = file.problem.boundary[f];
        face = read_face(table.table(sparse::face_names[f]), sparse::face_names[f], face);
    }
}

/// @param fallback  of the formula; empty: one of the two must be given   @param tensor  set where the data set has six numbers for each
/// cell; null: it must have one
CellField read_field(io::Section& table, const std::string& what, const std::string& fallback, const std::string& dataset,
                     const fs::path& directory, const sparse::PoissonProblem& problem, bool* tensor = nullptr) {
    CellField field;
    if (!table.has("file")) {
        field.formula = table.text("formula", {.help = what + ": in i j k, x y z, pi, numbers, + - * / ^ ( ), < <= > >= == != && ||, "
                                                              "a ? b : c, sin cos exp log sqrt abs",
                                               .fallback = fallback.empty() ? std::nullopt : std::optional(fallback)});
        field.where = table.where("formula");
        if (table.has("dataset")) table.problem("dataset", "has no effect here: it belongs to file");
        if (const auto given = table.peek("formula")) {
            try {
                sparse::check_formula(*given);
            } catch (const InputError& error) {
                table.problem("formula", error.problems()[0].message);
            }
        }
        return field;
    }
    if (table.has("formula")) table.problem("formula", "is given beside file: take one of the two");
    const auto given = table.text("file", {.help = what + ": HDF5 file"});
    field.dataset = absolute(table.text("dataset", {.help = "of shape (nz, ny, nx) or (nz ny nx)", .fallback = dataset}));
    field.file = file_of(table, "file", given, directory);
    field.where = table.where("file");
    table.resolve("file", field.file.string());
    if (table.faulty("grid")) return field;  // without cells there is no shape to compare with
    try {
        const auto shape = hdf5::File::open(field.file).dataset(field.dataset).shape;
        const auto [nx, ny, nz] = problem.cells;
        const auto as = [](auto... extents) { return std::vector<std::uint64_t>{static_cast<std::uint64_t>(extents)...}; };
        if (tensor && shape == as(nz, ny, nx, 6)) {
            *tensor = true;
        } else if (shape != as(nz, ny, nx) && shape != as(nx * ny * nz)) {
            std::string text;
            for (const auto extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
            table.problem("file", fmt::format("{} has {} of shape ({}), and the grid needs ({}, {}, {}) or ({}){}", field.file.string(),
                                              field.dataset, text, nz, ny, nx, nx * ny * nz,
                                              tensor ? fmt::format(", or ({}, {}, {}, 6) of a tensor", nz, ny, nx) : ""));
        }
    } catch (const InputError& error) {
        table.problem("file", at_key(error));
    }
    return field;
}

/// One component of the tensor: a number or a formula.
CellField read_component(io::Section& table, const char* key, bool required) {
    CellField field;
    field.where = table.where(key);
    const std::string help = std::string("component of K: a number or a formula");
    if (table.has(key) && !table.peek(key)) {
        field.formula = fmt::format("{}", table.number(key, {.help = help}));
        return field;
    }
    field.formula = table.text(key, {.help = help, .fallback = required ? std::nullopt : std::optional<std::string>("0")});
    if (table.has(key)) {
        try {
            sparse::check_formula(field.formula);
        } catch (const InputError& error) {
            table.problem(key, error.problems()[0].message);
        }
    }
    return field;
}

/// A scalar by a formula or a file, or a tensor by formulas of its components or a file.
void read_coefficient(io::Section table, const fs::path& directory, PoissonFile& file) {
    const bool by_components = std::ranges::any_of(sparse::tensor_names, [&](const char* key) { return table.has(key); });
    const auto is_diagonal = [](std::size_t c) { return c == 0 || c == 3 || c == 5; };
    if (!by_components) {
        bool tensor = false;
        file.coefficient = read_field(table, "c", "1", "/Coefficient", directory, file.problem, &tensor);
        if (tensor)
            for (std::size_t c = 0; c < 6; ++c) file.problem.tensor[c] = {is_diagonal(c) ? 1. : 0.};
        return;
    }
    for (const char* key : {"formula", "file", "dataset"})
        if (table.has(key)) table.problem(key, "is given beside components of a tensor: take one of the two");
    for (std::size_t c = 0; c < 6; ++c) {
        file.tensor[c] = read_component(table, sparse::tensor_names[c], is_diagonal(c));
        if (is_diagonal(c) || file.tensor[c].formula != "0") file.problem.tensor[c] = {is_diagonal(c) ? 1. : 0.};
    }
    file.coefficient.where = table.where(sparse::tensor_names[0]);
}

/// A choice by its name, which the library parses.
template <class Parse>
auto choice(io::Section& table, const char* key, const char* help, const std::string& fallback, Parse parse) {
    const auto text = table.text(key, {.help = help, .fallback = fallback});
    try {
        return parse(text);
    } catch (const InputError& error) {
        table.problem(key, error.problems()[0].message);
        return parse(fallback);
    }
}

constexpr std::array of_triangles{"ordering",   "numbering",     "format", "iteration",  "launch",
                                  "ssor_omega", "single_factor", "tune",   "tuning_file"};
constexpr std::array of_fill{"drop_tolerance", "fill", "level"};

/// Refuses the given ones of `keys`, which `method` does not have, in one message.
void refuse_keys(io::Section& table, std::vector<const char*> keys, const std::string& method, const char* remedy) {
    std::erase_if(keys, [&](const char* key) { return !table.has(key); });
    if (keys.empty()) return;
    const bool one = keys.size() == 1;
    table.problem(keys[0], fmt::format("has no effect here{}{}: {} has no such {}. Remove {}{}", one ? "" : ", nor have ",
                                       fmt::join(keys.begin() + 1, keys.end(), ", "), method, one ? "option" : "options",
                                       one ? "it" : "them", remedy));
}

constexpr const char* or_ic0 = ", or take precondition = \"ic0\"";

/// Reads what ict and ick use of the options of a solver.
void read_filled(io::Section& table, sparse::SolverOptions& o) {
    refuse_keys(table, {of_triangles.begin(), of_triangles.end()}, fmt::format("precondition = \"{}\"", name(o.precondition)), or_ic0);
    const bool levels = o.precondition == sparse::Precondition::ick;
    const auto belongs = [&](const char* key, const char* to) {
        if (table.has(key)) table.problem(key, fmt::format("has no effect here: it belongs to precondition = \"{}\"", to));
    };
    if (levels) {
        o.level = static_cast<int>(table.integer("level", {.help = "levels of fill", .fallback = o.level, .least = 0, .most = 9}));
        belongs("drop_tolerance", "ict"), belongs("fill", "ict");
        return;
    }
    o.drop_tolerance =
        table.number("drop_tolerance", {.help = "entries below this part of the square root of the diagonal entry are dropped",
                                        .fallback = o.drop_tolerance,
                                        .range = io::at_least(0)});
    if (o.drop_tolerance >= 1) table.problem("drop_tolerance", fmt::format("is {}: it must be below 1. Try 1e-3", o.drop_tolerance));
    o.fill = static_cast<int>(
        table.integer("fill", {.help = "entries of a row beyond those of the matrix", .fallback = o.fill, .least = 0, .most = 1'000'000}));
    belongs("level", "ick");
}

/// Reads the options of the others: none, Jacobi, and products and substitutions with triangles.
void read_triangles(io::Section& table, const fs::path& directory, sparse::SolverOptions& o) {
    for (const auto& [key, to] : {std::pair{"drop_tolerance", "ict"}, {"fill", "ict"}, {"level", "ick"}})
        if (table.has(key))
            table.problem(key, fmt::format("has no effect here: it belongs to precondition = \"{}\", and this run has \"{}\"", to,
                                           name(o.precondition)));
    o.ordering = choice(table, "ordering", "auto | natural | mc:K | cm | rcm | cm-rcm:K | block:B:K, K colours", o.ordering.text(),
                        sparse::Ordering::parse);
    o.numbering = choice(table, "numbering", "auto | coalesced | sequential", name(o.numbering), sparse::parse_numbering);
    o.format = choice(table, "format", "auto | csr | ell | sliced-ell | sell:C:SIGMA", o.format.text(), sparse::Format::parse);
    o.iteration = choice(table, "iteration", "auto | plain | eisenstat | reduced", name(o.iteration), sparse::parse_iteration);
    o.launch = choice(table, "launch", "of a CUDA device: auto | cooperative | graph", name(o.launch), sparse::parse_launch);
    if (o.precondition == sparse::Precondition::ssor) {
        o.ssor_omega =
            table.number("ssor_omega", {.help = "relaxation, above 0 and below 2", .fallback = o.ssor_omega, .range = io::above(0)});
        if (o.ssor_omega >= 2)
            table.problem("ssor_omega", fmt::format("is {}: the preconditioner is positive definite only below 2", o.ssor_omega));
    } else if (table.has("ssor_omega"))
        table.problem("ssor_omega", fmt::format("has no effect here: it belongs to precondition = \"ssor\", and this run has \"{}\"",
                                                name(o.precondition)));
    o.single_factor =
        table.flag("single_factor", {.help = "the preconditioner's triangles in single precision", .fallback = o.single_factor});
    // Read only where it is given, because the default is neither true nor false.
    if (table.has("tune"))
        o.tune = table.flag("tune", {.help = "true: time all candidates of the options that are auto first; false: choose by rule"})
                     ? sparse::Tuning::full
                     : sparse::Tuning::off;
    const bool off = o.tune == sparse::Tuning::off;
    const auto kept =
        table.text("tuning_file", {.help = "where times and choices are kept; empty: in the user's cache directory", .fallback = ""});
    if (!off) o.tuning_file = kept.empty() ? sparse::default_tuning_file() : file_of(table, "tuning_file", kept, directory);
    if (!kept.empty()) table.resolve("tuning_file", o.tuning_file.string());
    if (const auto why_not = kept.empty() ? "" : sparse::why_tuning_kept(o.tuning_file); !why_not.empty())
        table.problem("tuning_file", o.tuning_file.string() + " " + why_not);
    if (off && !kept.empty()) table.problem("tuning_file", "has no effect with tune = false: leave one of them out");
}

/// @param workers  on all ranks: several solve with multigrid, also where the run file is for one worker: it has "ic0" with its options,
/// or any preconditioner and the run is resumed. The options are read then, and a note says that they have no effect.
sparse::SolverOptions read_solver(io::Section table, const RunSource& source, int workers, PoissonFile& file) {
    const auto directory = fs::absolute(source.path).parent_path();
    auto& multigrid = file.multigrid;
    sparse::SolverOptions o;
    o.rtol = table.number("rtol", {.help = "of ||b - A x|| / ||b||", .fallback = o.rtol});
    if (!(o.rtol >= sparse::least_rtol && o.rtol < 1))
        table.problem("rtol", fmt::format("is {}: it must be at least {} and below 1. Try 1e-8", o.rtol, sparse::least_rtol));
    o.iteration_limit = static_cast<int>(
        table.integer("max_iterations", {.help = "of one solve", .fallback = o.iteration_limit, .least = 1, .most = 1'000'000'000}));
    constexpr const char* of_grid = "multigrid";
    o.precondition =
        choice(table, "precondition", "none | jacobi | ssor | ic0 | ict | ick | multigrid", workers > 1 ? of_grid : name(o.precondition),
               [&](const std::string& text) {
                   multigrid = text == of_grid;
                   KS_VALIDATE(multigrid || workers == 1 || text == "ic0" || source.from,
                               fmt::format("\"{}\" is for one worker, and there are {}: take \"multigrid\"", text, workers));
                   KS_VALIDATE(text != "auto", "\"auto\" is not known here: a run names its preconditioner. Take \"ic0\" or \"multigrid\"");
                   if (multigrid) return o.precondition;
                   try {
                       return sparse::parse_precondition(text);
                   } catch (const InputError& error) {
                       auto message = error.problems().front().message;
                       constexpr std::string_view by_rule = ", auto";
                       if (const auto at = message.rfind(by_rule); at != std::string::npos) message.erase(at, by_rule.size());
                       throw InputError(message);
                   }
               });
    if (multigrid) {
        std::vector<const char*> keys(of_triangles.begin(), of_triangles.end());
        keys.insert(keys.end(), of_fill.begin(), of_fill.end());
        const bool several = workers > 1;
        refuse_keys(table, keys, several ? "the multigrid of several workers" : "precondition = \"multigrid\"", several ? "" : or_ic0);
    } else if (o.precondition == sparse::Precondition::ict || o.precondition == sparse::Precondition::ick) {
        read_filled(table, o);
    } else {
        read_triangles(table, directory, o);
    }
    if (workers > 1 && !multigrid) {
        multigrid = true;
        file.notes.push_back(fmt::format("precondition = \"{}\" and its options are for one worker: several workers solve with multigrid",
                                         name(o.precondition)));
    }
    return o;
}

/// The grids of geometric multigrid have an even number of cells along periodic directions: other problems take the multigrid of their
/// matrix, on one worker. With a tensor PoissonRun decides when its values are known.
void choose_multigrid(int workers, PoissonFile& file) {
    if (!file.multigrid || workers > 1) return;
    const auto& problem = file.problem;
    const bool odd = odd_period(problem, 0) || odd_period(problem, 1) || odd_period(problem, 2);
    if (odd) file.multigrid = false;
    if (odd || problem.has_tensor()) file.solver.precondition = sparse::Precondition::multigrid;
}

/// Every worker needs planes of cells of its own.
void check_slabs(io::Section& grid, const PoissonFile& file, int workers) {
    try {
        sparse::slabs_of(file.problem.cells[2], workers);
    } catch (const InputError& error) {
        grid.problem("cells", error);
    }
}

/// Memory of vectors of one number per cell.
std::uint64_t vectors(const sparse::PoissonProblem& problem, std::uint64_t count) {
    return count * sizeof(double) * static_cast<std::uint64_t>(problem.rows());
}

/// Fields of the coefficient in memory, and of a file of tensors while it is read.
std::uint64_t coefficient_fields(const PoissonFile& file) {
    if (!file.problem.has_tensor()) return file.coefficient.formula != "1" ? 1 : 0;
    std::uint64_t count = 0;
    for (const auto& values : file.problem.tensor) count += values.empty() ? 0 : 1;
    return file.coefficient.file.empty() ? count : 12;
}

/// Memory of the matrix on the host.
std::uint64_t matrix_bytes(const sparse::PoissonProblem& problem) {
    return static_cast<std::uint64_t>(problem.rows() + 1) * sizeof(index_t) +
           static_cast<std::uint64_t>(sparse::poisson_nonzeros(problem)) * (sizeof(std::int32_t) + sizeof(double));
}

/// Whether multigrid is known to be geometric before fields are read: no tensor, or one of numbers alone.
bool surely_geometric(const PoissonFile& file) {
    auto problem = file.problem;
    if (!file.multigrid || !problem.has_tensor()) return file.multigrid;
    for (std::size_t c = 0; c < 6; ++c) {
        if (problem.tensor[c].empty()) continue;
        const auto& text = file.tensor[c].formula;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), problem.tensor[c][0]);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return false;
    }
    return sparse::geometric_multigrid_pays(problem);
}

std::vector<double> values(const CellField& field, const sparse::PoissonProblem& problem) {
    try {
        if (!field.formula.empty()) return sparse::source_of(problem, field.formula);
        auto all = hdf5::File::open(field.file).read_array<double>(field.dataset);
        for (std::size_t i = 0; i < all.size(); ++i)
            KS_VALIDATE(std::isfinite(all[i]), fmt::format("{}: number {} is {}: it must be finite", field.dataset, i + 1, all[i]),
                        {field.file.string(), 0, 0, ""});
        return all;
    } catch (const InputError& error) {
        throw InputError(at_key(error).problems()[0].message, field.where);
    }
}

}  // namespace

PoissonFile read_poisson_file(const RunSource& source) {
    const auto& path = source.path;
    io::RunFileReader reader(path, source.settings);
    auto root = reader.root();
    const auto directory = fs::absolute(path).parent_path();
    PoissonFile file;
    auto parallel = root.table("parallel", "several GPUs and ranks; they solve with multigrid");
    const int workers = read_workers(reader, parallel, "poisson", source, file);
    auto grid = root.table("grid", "a box of cells with its lower corner at the origin");
    read_grid(grid, directory, file);
    auto boundary = root.table("boundary", "faces that are not named have zero flux; without this table phi = 0 on z_max");
    read_boundary(boundary, file);
    if (!grid.faulty("grid") && file.problem.rows() == 1 && file.problem.singular())
        grid.problem("cells", "leave a single cell without a Dirichlet face: its equation is empty. Give one face a Dirichlet value");
    auto coefficient = root.table("coefficient", "c of -div(c grad phi) = f, above 0, or the tensor K in its place");
    read_coefficient(coefficient, directory, file);
    auto source_table = root.table("source", "f of -div(c grad phi) = f, per volume");
    file.source = read_field(source_table, "f", "", "/Source", directory, file.problem);
    file.solver = read_solver(root.table("solver", "conjugate gradients"), source, workers, file);
    choose_multigrid(workers, file);
    if (!grid.faulty("grid")) check_periodic(boundary, file);
    if (workers > 1 && !grid.faulty("grid")) check_slabs(grid, file, workers);
    auto output = root.table("output", "what is written");
    file.directory = read_output_directory(output);
    file.checkpoint_every =
        output.number("checkpoint_every", {.help = "wall time after which the iterate is saved; 0: only when interrupted",
                                           .unit = "s",
                                           .fallback = 0.0,
                                           .range = io::at_least(0)});
    if (file.checkpoint_every == 0) file.checkpoint_every = std::numeric_limits<double>::infinity();
    file.report = read_report_flag(output);
    finish(reader, file);
    if (file.problem.singular())
        file.notes.emplace_back("no face holds phi, so it is known up to a constant: the solution of mean zero is taken");
    file.papers = papers(file.multigrid, file.solver);
    return file;
}

namespace {

/// Replaces the placeholders of the tensor. Components that are 0 everywhere are left out.
void load_tensor(const PoissonFile& file, sparse::PoissonProblem& problem) {
    auto tensor = std::exchange(problem.tensor, {});
    const auto rows = static_cast<std::size_t>(problem.rows());
    std::vector<double> all;
    if (!file.coefficient.file.empty()) all = values(file.coefficient, problem);
    for (std::size_t c = 0; c < 6; ++c) {
        if (tensor[c].empty()) continue;
        if (all.empty()) {
            tensor[c] = values(file.tensor[c], problem);
        } else {
            tensor[c].resize(rows);
            for (std::size_t row = 0; row < rows; ++row) tensor[c][row] = all[6 * row + c];
        }
        if (std::ranges::all_of(tensor[c], [](double value) { return value == 0; })) tensor[c].clear();
    }
    problem.tensor = std::move(tensor);
    // A diagonal of zeros is refused as a value, not as a component that is missing.
    for (const std::size_t c : {0, 3, 5})
        if (problem.tensor[c].empty()) problem.tensor[c] = {0.};
}

/// Where no face holds phi, the sources must balance the fluxes through the faces.
void check_balance(const PoissonFile& file, const sparse::PoissonProblem& problem, const std::vector<double>& b) {
    const auto [least, most] = std::ranges::minmax(b);
    const double unit = std::max({std::abs(least), std::abs(most), std::numeric_limits<double>::min()});  // squares do not overflow
    CompensatedSum<double> sum, squares;
    for (const double value : b) {
        sum.add(value / unit);
        squares.add(value / unit * (value / unit));
    }
    const double share = std::abs(sum.value()) / std::sqrt(squares.value() * static_cast<double>(b.size()));
    if (!(share > file.solver.rtol)) return;
    double volume = 1;
    for (const int d : {0, 1, 2}) volume *= sparse::cell_faces(problem, d).back();
    throw InputError(
        fmt::format("does not balance: no face holds phi, and sources and boundary fluxes add up to {:.6g} instead of 0, so that no "
                    "phi solves the problem ({:.2g} of the right-hand side remain). Give one face a dirichlet value, or subtract {:.15g} "
                    "from the source",
                    sum.value() * unit, share, sum.value() * unit / volume),
        file.source.where);
}

/// The problems that validate() found, with their places in the run file.
InputError placed(const PoissonFile& file, const InputError& error) {
    auto problems = error.problems();
    for (auto& problem : problems) {
        const auto face = std::ranges::find(sparse::face_names, problem.where.key);
        const bool coefficient = problem.where.key == "coefficient" || problem.where.key == "tensor";
        problem.where = coefficient                        ? file.coefficient.where
                        : face != sparse::face_names.end() ? file.faces[static_cast<std::size_t>(face - sparse::face_names.begin())]
                                                           : file.cells;
    }
    return InputError(std::move(problems));
}

}  // namespace

sparse::PoissonProblem load(const PoissonFile& file) {
    auto problem = file.problem;
    if (problem.has_tensor())
        load_tensor(file, problem);
    else if (file.coefficient.formula != "1")
        problem.coefficient = values(file.coefficient, problem);
    try {
        sparse::validate(problem);
    } catch (const InputError& error) {
        throw placed(file, error);
    }
    problem.source = values(file.source, problem);
    std::vector<double> b;
    try {
        b = sparse::poisson_rhs(problem);
    } catch (const InputError& error) {
        if (!error.problems()[0].where.key.empty()) throw placed(file, error);
        throw InputError(at_key(error).problems()[0].message, file.source.where);
    }
    if (problem.singular()) check_balance(file, problem, b);
    return problem;
}

std::vector<RunMemory> memory_on_workers(const PoissonFile& file, const RankCoordinator& ranks) {
    const bool on_cpu = name(file.space) == "cpu";
    const auto workers = static_cast<std::uint64_t>(file.workers()), all = workers * static_cast<std::uint64_t>(ranks.size());
    const auto part = sparse::distributed_poisson_memory(file.problem, static_cast<int>(all));
    const auto rows = file.problem.couples_directions() ? matrix_bytes(file.problem) / all : 0;
    std::vector<RunMemory> memory(static_cast<std::size_t>(ranks.size()));
    for (std::size_t r = 0; r < memory.size(); ++r) {
        const auto free = ranks.size() > 1 ? ranks.free()[r] : RankCoordinator::free_here(file.here, 1);
        // A worker's conductances, rows of a tensor and vectors on the host while they travel; on the root rank also those of the whole
        // problem, and the rows of one worker twice while they are divided.
        const auto each = workers * (vectors(file.problem, 5) / all + rows + (on_cpu ? part : 0));
        memory[r].host_bytes = each + (r == 0 ? vectors(file.problem, coefficient_fields(file) + 10) + rows * (all - workers + 1) : 0);
        memory[r].host_available = free.host - std::min(free.host, static_cast<std::uint64_t>(free.sharing - 1) * each);
        if (!on_cpu) memory[r].device_bytes = part, memory[r].device_available = free.device;
    }
    return memory;
}

RunMemory memory(const PoissonFile& file) {
    const auto& problem = file.problem;
    const bool geometric = surely_geometric(file);
    if (geometric && !problem.couples_directions()) {
        // The fields of the problem, b and x on the host, and one direction's conductances during the set-up.
        RunMemory memory{.host_bytes = vectors(problem, coefficient_fields(file) + 4), .host_available = available_memory(Cpu{})};
        const auto bytes = sparse::poisson_solver_memory(problem);
        (name(file.space) == "cpu" ? memory.host_bytes : memory.device_bytes) += bytes;
        if (name(file.space) != "cpu") memory.device_available = available_memory(file.space);
        return memory;
    }
    // The multigrid of a tensor is one of two, of which only the values decide.
    const auto of_matrix =
        geometric ? std::uint64_t{0} : sparse::memory_estimate(problem.rows(), sparse::poisson_nonzeros(problem), file.solver);
    const auto solver = std::max(of_matrix, file.multigrid ? sparse::poisson_solver_memory(problem) : std::uint64_t{0});
    const auto order = file.solver.ordering.kind;
    const bool on_host = name(file.space) == "cpu" || (order != sparse::OrderingKind::automatic && order != sparse::OrderingKind::cm_rcm);
    // The problem's fields, b and x are in memory as long as the solver; the matrix until the set-up ends. The output is written after
    // both.
    RunMemory memory{.host_bytes = vectors(problem, coefficient_fields(file) + 3) + matrix_bytes(problem),
                     .host_available = available_memory(Cpu{})};
    if (on_host) memory.host_bytes += solver;  // also of a device, where its rows are ordered by the host
    if (name(file.space) != "cpu")
        memory.device_bytes = solver + vectors(problem, 2), memory.device_available = available_memory(file.space);
    return memory;
}

std::string field_text(const CellField& field) {
    return field.formula.empty() ? fmt::format("{} of {}", field.dataset, field.file.filename().string()) : field.formula;
}

std::string coefficient_text(const PoissonFile& file) {
    if (!file.problem.has_tensor() || !file.coefficient.file.empty()) return field_text(file.coefficient);
    std::string all;
    for (std::size_t c = 0; c < 6; ++c)
        if (!file.problem.tensor[c].empty())
            all += fmt::format("{}{} = {}", all.empty() ? "" : "; ", sparse::tensor_names[c], field_text(file.tensor[c]));
    return all;
}

std::vector<std::string> papers(bool multigrid, const sparse::SolverOptions& solver) {
    using sparse::OrderingKind, sparse::Precondition, sparse::Iteration, sparse::FormatKind;
    std::vector<std::string> all{
        "[HOHNI17] T. Hoshino, S. Ohshima, T. Hanawa, K. Nakajima, A. Ida, Performance evaluation of an ICCG solver with OpenACC on Pascal "
        "GPUs (in Japanese), 2017 (the problem, its numberings and formats)",
        "M. R. Hestenes, E. Stiefel, J. Res. Natl. Bur. Stand. 49, 409 (1952) (conjugate gradients)"};
    if (multigrid) {
        all.emplace_back("U. Trottenberg, C. W. Oosterlee, A. Schueller, Multigrid, Academic Press 2001 (geometric multigrid)");
        return all;
    }
    const auto any = [](auto value, auto... of) { return ((value == of) || ...); };
    if (solver.precondition == Precondition::ic0)
        all.emplace_back("J. A. Meijerink, H. A. van der Vorst, Math. Comp. 31, 148 (1977) (incomplete Cholesky factorisation)");
    if (solver.precondition == Precondition::ict || solver.precondition == Precondition::ick)
        all.emplace_back(
            "Y. Saad, Iterative Methods for Sparse Linear Systems, SIAM 2003, 10.3 and 10.8 (incomplete factorisations with fill)");
    if (solver.precondition == Precondition::multigrid)
        all.emplace_back("P. Vanek, J. Mandel, M. Brezina, Computing 56, 179 (1996) (smoothed aggregation)");
    if (any(solver.precondition, Precondition::ict, Precondition::ick, Precondition::multigrid)) return all;
    if (solver.precondition == Precondition::ssor) all.emplace_back("O. Axelsson, BIT 12, 443 (1972) (SSOR preconditioning)");
    if (any(solver.precondition, Precondition::ic0, Precondition::ssor)) {
        if (any(solver.iteration, Iteration::automatic, Iteration::eisenstat, Iteration::reduced))
            all.emplace_back("S. C. Eisenstat, SIAM J. Sci. Stat. Comput. 2, 1 (1981) (the product out of the substitutions)");
        const auto ordering = solver.ordering.kind;
        if (any(ordering, OrderingKind::cuthill_mckee, OrderingKind::reverse_cuthill_mckee, OrderingKind::cm_rcm, OrderingKind::automatic))
            all.emplace_back("E. Cuthill, J. McKee, Proc. 24th ACM Nat. Conf., 157 (1969) (Cuthill-McKee ordering)");
        if (any(ordering, OrderingKind::cm_rcm, OrderingKind::automatic))
            all.emplace_back("T. Washio, K. Maruyama, T. Osoda, F. Shimizu, S. Doi, Proc. SNA 2000 (cyclic multicolouring: CM-RCM)");
        if (any(ordering, OrderingKind::block, OrderingKind::automatic))
            all.emplace_back("T. Iwashita, H. Nakashima, Y. Takahashi, Proc. IPDPS 2012, 474 (algebraic block multicolouring)");
    }
    if (any(solver.format.kind, FormatKind::sell, FormatKind::automatic))
        all.emplace_back("M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop, SIAM J. Sci. Comput. 36, C401 (2014) (SELL-C-sigma)");
    return all;
}

}  // namespace kasane::run
