#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/poisson/poisson_output.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

namespace kasane::run {
namespace {

constexpr std::uint32_t poisson_layout = 1;
constexpr std::uint64_t overhead = 65536;  // of HDF5, beside the numbers

struct History {
    std::vector<std::int64_t> iteration;
    std::vector<double> relative, preconditioned;

    explicit History(const std::vector<sparse::ResidualPoint>& points) {
        for (const auto& p : points)
            iteration.push_back(p.iteration), relative.push_back(p.relative), preconditioned.push_back(p.preconditioned);
    }
};

std::uint64_t checksum(const Solution& s) {
    io::Checksum sum;
    sum.add(s.cells.data(), sizeof s.cells);
    for (const auto& faces : s.faces) sum.add(faces);
    sum.add(s.potential);
    const History history(s.history);
    const std::uint64_t sizes[] = {s.history.size(), s.record.size()};  // so that bytes that move from one field to the next change the sum
    sum.add(sizes, sizeof sizes);
    sum.add(history.iteration);
    sum.add(history.relative);
    sum.add(history.preconditioned);
    sum.add(s.record.data(), s.record.size());
    return sum.value();
}

std::vector<std::uint64_t> shape_of(const std::array<index_t, 3>& cells) {
    return {static_cast<std::uint64_t>(cells[2]), static_cast<std::uint64_t>(cells[1]), static_cast<std::uint64_t>(cells[0])};
}

void write_text(hdf5::File& file, const std::string& dataset, const std::string& text) {
    file.write(dataset, std::vector<std::uint8_t>(text.begin(), text.end()));
}

void write_common(hdf5::File& file, const Solution& s) {
    file.set_attribute("/", "Problem", std::string("poisson"));
    file.set_attribute("/", "Layout", poisson_layout);
    file.set_attribute("/", "Cells", s.cells);
    file.set_attribute("/", "Checksum", checksum(s));
    file.write_array<double>("/Potential", shape_of(s.cells), view(s.potential));
    for (std::size_t d = 0; d < 3; ++d) file.write(fmt::format("/Faces/{}", "xyz"[d]), s.faces[d]);
    const History history(s.history);
    file.write("/Residual/Iteration", history.iteration);
    file.write("/Residual/Relative", history.relative);
    file.write("/Residual/Preconditioned", history.preconditioned);
    write_text(file, "/Run/Record", s.record);
}

std::uint64_t bytes_of(const Solution& s) {
    return s.potential.size() * sizeof(double) + s.history.size() * 24 + s.record.size() + overhead;
}

/// Components of tensors, those of a cell together.
std::vector<double> interleaved(const std::array<std::vector<double>, 6>& tensor, std::size_t cells) {
    std::vector<double> all(6 * cells);
    for (std::size_t c = 0; c < 6; ++c)
        for (std::size_t cell = 0; cell < cells && !tensor[c].empty(); ++cell)
            all[6 * cell + c] = tensor[c][tensor[c].size() == 1 ? 0 : cell];
    return all;
}

void write_facts(hdf5::File& file, const PoissonRecord& record) {
    file.set_attribute("/", "Title", record.title);
    file.create_group("/Boundary");
    for (std::size_t f = 0; f < 6; ++f) {
        const auto& face = record.boundary[f];
        auto text = fmt::format("{} {}", boundary_name(face.kind), face.formula.empty() ? fmt::to_string(face.value) : face.formula);
        if (face.kind == sparse::BoundaryKind::robin) text += fmt::format(", transfer {}", face.transfer);
        file.set_attribute("/Boundary", sparse::face_names[f], face.kind == sparse::BoundaryKind::periodic ? "periodic" : text);
    }
    const auto& [setup, log] = std::tie(record.setup, record.log);
    const std::string solver = "/Solver";
    file.create_group(solver);
    for (const auto& [name, text] : {std::pair{"Ordering", setup.ordering},
                                     {"Numbering", setup.numbering},
                                     {"Format", setup.format},
                                     {"Precondition", setup.precondition},
                                     {"Iteration", setup.iteration},
                                     {"Device", setup.device},
                                     {"End", std::string(krylov::name(log.end))}})
        file.set_attribute(solver, name, text);
    for (const auto& [name, count] : {std::pair{"Rows", setup.rows},
                                      {"Nonzeros", setup.nonzeros},
                                      {"Colors", index_t{setup.colors}},
                                      {"Iterations", index_t{log.iterations}},
                                      {"Converged", index_t{log.converged()}},
                                      {"Singular", index_t{setup.singular}}})
        file.set_attribute(solver, name, count);
    for (const auto& [name, value] : {std::pair{"RelativeTolerance", record.rtol},
                                      {"RelativeResidual", log.true_residual},
                                      {"Shift", setup.shift},
                                      {"MeanRemoved", log.mean_removed},
                                      {"SetupSeconds", setup.total_seconds},
                                      {"SolveSeconds", log.seconds},
                                      {"BytesPerIteration", setup.bytes_per_iteration}})
        file.set_attribute(solver, name, value);
    for (const auto& [part, seconds] : setup.seconds) file.set_attribute(solver, "Seconds of " + part, seconds);
}

}  // namespace

void write_iterate(const std::filesystem::path& path, const Solution& solution) {
    AtomicFile target(path, bytes_of(solution));
    auto file = hdf5::File::create(target.temporary());
    write_common(file, solution);
    file.close();
    target.commit();
}

void write_solution(const std::filesystem::path& path, const Solution& solution, const sparse::PoissonProblem& problem,
                    const PoissonRecord& record, const std::string& run_file) {
    const auto fields = problem.source.size() * (problem.has_tensor() ? 7 : 1) + problem.coefficient.size();
    AtomicFile target(path, bytes_of(solution) + fields * sizeof(double) + run_file.size());
    auto file = hdf5::File::create(target.temporary());
    write_common(file, solution);
    file.write_array<double>("/Source", shape_of(problem.cells), view(problem.source));
    if (!problem.coefficient.empty()) file.write_array<double>("/Coefficient", shape_of(problem.cells), view(problem.coefficient));
    if (problem.has_tensor()) {
        const auto all = interleaved(problem.tensor, problem.source.size());
        auto shape = shape_of(problem.cells);
        shape.push_back(6);
        file.write_array<double>("/Tensor", shape, view(all));
    }
    for (std::size_t d = 0; d < 3; ++d) {
        auto widths = problem.spacing[d];
        if (widths.size() == 1) widths.assign(static_cast<std::size_t>(problem.cells[d]), widths[0]);
        file.write(fmt::format("/Spacing/{}", "xyz"[d]), widths);
    }
    write_facts(file, record);
    write_text(file, "/Run/File", run_file);
    file.close();
    target.commit();
}

Solution read_solution(const std::filesystem::path& path) {
    const auto file = hdf5::File::open(path);
    const Where here{path.string(), 0, 0, ""};
    KS_VALIDATE(file.has_attribute("/", "Problem") && file.text_attribute("/", "Problem") == "poisson",
                "is not a solution of a Poisson problem by kasane", here);
    const auto found = file.attribute<std::uint32_t>("/", "Layout");
    KS_VALIDATE(
        found == poisson_layout,
        fmt::format("was written by a newer version of kasane (layout {}, this one reads {}): use that version", found, poisson_layout),
        here);
    Solution s;
    s.cells = file.attribute_array<index_t, 3>("/", "Cells");
    for (const auto n : s.cells) KS_VALIDATE(n > 0, "is damaged: it has no cells", here);
    s.potential = file.read_array<double>("/Potential", shape_of(s.cells));
    for (std::size_t d = 0; d < 3; ++d) {
        s.faces[d] = file.read<double>(fmt::format("/Faces/{}", "xyz"[d]));
        KS_VALIDATE(std::ssize(s.faces[d]) == s.cells[d] + 1, "is damaged: faces and cells do not fit", here);
    }
    const auto iteration = file.read<std::int64_t>("/Residual/Iteration");
    const auto relative = file.read<double>("/Residual/Relative"), preconditioned = file.read<double>("/Residual/Preconditioned");
    KS_VALIDATE(relative.size() == iteration.size() && preconditioned.size() == iteration.size(),
                "is damaged: its history has columns of different lengths", here);
    for (std::size_t i = 0; i < iteration.size(); ++i)
        s.history.push_back({static_cast<int>(iteration[i]), preconditioned[i], relative[i]});
    const auto record = file.read<std::uint8_t>("/Run/Record");
    s.record.assign(record.begin(), record.end());
    KS_VALIDATE(checksum(s) == file.attribute<std::uint64_t>("/", "Checksum"), "is damaged: its checksum does not fit its content", here);
    return s;
}

void write_xdmf(const std::filesystem::path& path, const std::string& hdf5, const sparse::PoissonProblem& problem,
                const std::string& title) {
    const auto [nx, ny, nz] = problem.cells;
    const auto item = [&](const std::string& dimensions, const std::string& dataset) {
        return fmt::format("<DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" Format=\"HDF\">{}:{}</DataItem>", dimensions,
                           report::escape(hdf5), dataset);
    };
    std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n";
    text += fmt::format("    <Grid Name=\"{}\" GridType=\"Uniform\">\n", report::escape(title));
    // Dimensions run z, y, x, as in the data sets; those of the topology count nodes. VXVYVZ lists the axes x, y, z.
    text += fmt::format("      <Topology TopologyType=\"3DRectMesh\" Dimensions=\"{} {} {}\"/>\n", nz + 1, ny + 1, nx + 1);
    text += "      <Geometry GeometryType=\"VXVYVZ\">\n";
    for (const auto& [axis, n] : {std::pair{'x', nx}, {'y', ny}, {'z', nz}})
        text += fmt::format("        {}\n", item(std::to_string(n + 1), fmt::format("/Faces/{}", axis)));
    text += "      </Geometry>\n";
    std::vector<std::string> fields{"Potential", "Source"};
    if (!problem.coefficient.empty()) fields.emplace_back("Coefficient");
    for (const auto& field : fields)
        text += fmt::format("      <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Cell\">\n        {}\n      </Attribute>\n",
                            field, item(fmt::format("{} {} {}", nz, ny, nx), "/" + field));
    if (problem.has_tensor())  // XDMF has the components in the same order
        text += fmt::format("      <Attribute Name=\"Tensor\" AttributeType=\"Tensor6\" Center=\"Cell\">\n        {}\n      </Attribute>\n",
                            item(fmt::format("{} {} {} 6", nz, ny, nx), "/Tensor"));
    write_atomically(path, text + "    </Grid>\n  </Domain>\n</Xdmf>\n");
}

}  // namespace kasane::run
