#include <kasane/lattice/file/solution_file.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/version.hpp>

#include <array>
#include <utility>

namespace kasane::lattice {
namespace {

std::vector<std::uint64_t> shape_of(const Extents& n, std::size_t columns) {
    std::vector<std::uint64_t> shape;
    for (int mu = 3; mu >= 0; --mu) shape.push_back(static_cast<std::uint64_t>(n[mu]));
    shape.insert(shape.end(), {4, 3});
    if (columns == 12) shape.insert(shape.end(), {4, 3});
    shape.push_back(2);
    return shape;
}

}  // namespace

std::uint64_t solution_file_bytes(const Extents& extents, int columns) {
    return static_cast<std::uint64_t>(extents.volume()) * 192 * static_cast<std::uint64_t>(columns) + 65'536;  // and HDF5's own memory
}

struct SolutionWriter::Impl {
    Extents extents;
    int columns;
    AtomicFile target;
    hdf5::File file;

    const char* dataset() const { return columns == 12 ? "/propagator" : "/solution"; }
};

SolutionWriter::SolutionWriter(const std::filesystem::path& path, const Extents& extents, int columns) {
    AtomicFile target(path, solution_file_bytes(extents, columns));
    auto file = hdf5::File::create(target.temporary());
    impl_ = std::make_unique<Impl>(Impl{extents, columns, std::move(target), std::move(file)});
    impl_->file.create_array<double>(impl_->dataset(), shape_of(extents, static_cast<std::size_t>(columns)));
}
SolutionWriter::~SolutionWriter() = default;

void SolutionWriter::write(index_t first, View<const std::complex<double>> rows) {
    impl_->file.write_part(impl_->dataset(), static_cast<std::uint64_t>(24 * impl_->columns * first),
                           View<const double>(reinterpret_cast<const double*>(rows.ptr), 2 * rows.n));
}

void SolutionWriter::finish(const SolutionFacts& facts) {
    auto& file = impl_->file;
    const auto& extents = impl_->extents;
    if (!facts.pion.empty()) file.write("/correlators/pion", facts.pion);
    if (!facts.vector.empty()) file.write("/correlators/vector", facts.vector);
    file.write("/relative_residuals", facts.relative_residuals);
    file.set_attribute("/", "lattice", std::array{extents[0], extents[1], extents[2], extents[3]});
    file.set_attribute("/", "kappa", facts.parameters.kappa);
    file.set_attribute("/", "csw", facts.parameters.csw);
    file.set_attribute("/", "plaquette", facts.plaquette);
    for (const auto& [name, text] : {std::pair<const char*, std::string>{"boundary", name(facts.parameters.boundary)},
                                     {"gamma_basis", name(facts.basis)},
                                     {"source", facts.source},
                                     {"gauge_file", facts.gauge_file},
                                     {"solver", facts.solver},
                                     {"commit", commit}})
        file.set_attribute("/", name, text);
    file.close();
    impl_->target.commit();
}

void write_solution(const std::filesystem::path& path, const std::vector<SpinorField>& columns, const SolutionFacts& facts) {
    SolutionWriter file(path, columns.front().extents, static_cast<int>(columns.size()));
    rows_of(columns, 1)([&](index_t first, View<std::complex<double>> rows) { file.write(first, rows); });
    file.finish(facts);
}

SolutionFile read_solution(const std::filesystem::path& path) {
    const auto file = hdf5::File::open(path);
    const bool propagator = file.exists("/propagator");
    KS_VALIDATE(propagator || file.exists("/solution"),
                "holds neither /propagator nor /solution: it is not a file of `kasane lattice solve`", {path.string(), 0, 0, ""});
    const auto n = file.attribute_array<int, 4>("/", "lattice");
    const Extents extents{{n[0], n[1], n[2], n[3]}};
    check_extents(extents, {path.string(), 0, 0, ""});
    SolutionFile out;
    const std::size_t count = propagator ? 12 : 1;
    const auto all = file.read_array<double>(propagator ? "/propagator" : "/solution", shape_of(extents, count));
    for (std::size_t c = 0; c < count; ++c) {
        out.columns.emplace_back(extents);
        parallel_for(Cpu{}, 12 * extents.volume(), [&](index_t i) {
            const auto row = static_cast<std::size_t>(i), at = 2 * (row * count + c);
            out.columns.back().values[row] = {all[at], all[at + 1]};
        });
    }
    auto& facts = out.facts;
    facts.parameters.kappa = file.attribute<double>("/", "kappa");
    facts.parameters.csw = file.attribute<double>("/", "csw");
    facts.plaquette = file.attribute<double>("/", "plaquette");
    facts.parameters.boundary =
        file.text_attribute("/", "boundary") == name(Boundary::periodic) ? Boundary::periodic : Boundary::antiperiodic;
    const auto basis = file.text_attribute("/", "gamma_basis");
    bool known = false;
    for (const auto candidate : gamma_bases)
        if (basis == name(candidate)) facts.basis = candidate, known = true;
    KS_VALIDATE(known, "the gamma basis '" + basis + "' is not known", {path.string(), 0, 0, "gamma_basis"});
    facts.source = file.text_attribute("/", "source");
    facts.gauge_file = file.text_attribute("/", "gauge_file");
    facts.solver = file.text_attribute("/", "solver");
    facts.relative_residuals = file.read<double>("/relative_residuals");
    if (file.exists("/correlators/pion")) facts.pion = file.read<double>("/correlators/pion");
    if (file.exists("/correlators/vector")) facts.vector = file.read<double>("/correlators/vector");
    return out;
}

}  // namespace kasane::lattice
