#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace kasane::run {
namespace {

constexpr std::uint32_t layout = 1;

/// The columns of the measurements beside the sweep: one list for writing, reading and the checksum.
template <class Visit>
void for_each_column(Visit visit) {
    visit("PlaquetteSpace", &Measurement::plaquette_space);
    visit("PlaquetteTime", &Measurement::plaquette_time);
    visit("PolyakovRe", &Measurement::polyakov_re);
    visit("PolyakovIm", &Measurement::polyakov_im);
}

std::vector<std::int64_t> sweeps_of(const std::vector<Measurement>& rows) {
    std::vector<std::int64_t> sweeps;
    for (const auto& row : rows) sweeps.push_back(row.sweep);
    return sweeps;
}

std::uint64_t checksum(const QuenchedCheckpoint& c) {
    io::Checksum sum;
    sum.add(c.field.extents.n, sizeof c.field.extents.n);
    sum.add(c.field.links);
    sum.add(&c.sweep, sizeof c.sweep);
    const std::uint64_t sizes[] = {c.measurements.size(),
                                   c.record.size()};  // so that bytes that move from one field to the next change the sum
    sum.add(sizes, sizeof sizes);
    sum.add(sweeps_of(c.measurements));
    for_each_column([&](const char*, auto member) { sum.add(column(c.measurements, [&](const auto& row) { return row.*member; })); });
    sum.add(c.record.data(), c.record.size());
    return sum.value();
}

std::vector<std::uint64_t> shape_of(const lattice::Extents& n) {
    const auto extent = [&](int mu) { return static_cast<std::uint64_t>(n[mu]); };
    return {extent(3), extent(2), extent(1), extent(0), 4, 3, 3, 2};
}

}  // namespace

void write_quenched_checkpoint(const std::filesystem::path& path, const QuenchedCheckpoint& c) {
    const auto links = c.field.links.size() * sizeof c.field.links[0];
    AtomicFile target(path, links + c.measurements.size() * sizeof(Measurement) + c.record.size() + 65536);  // and HDF5's own
    auto file = hdf5::File::create(target.temporary());
    const std::string about = "/Checkpoint";
    file.create_group(about);
    file.set_attribute(about, "Problem", std::string("quenched"));
    file.set_attribute(about, "Layout", layout);
    file.set_attribute(about, "Sweep", c.sweep);
    file.set_attribute(about, "Extents", std::to_array(c.field.extents.n));
    file.set_attribute(about, "Checksum", checksum(c));
    // An Su3<double> is 18 doubles (su3.hpp).
    file.write_array<double>("/Links", shape_of(c.field.extents),
                             {reinterpret_cast<const double*>(c.field.links.data()), static_cast<index_t>(links / sizeof(double))});
    file.write("/Measurements/Sweep", sweeps_of(c.measurements));
    for_each_column([&](const char* name, auto member) {
        file.write(fmt::format("/Measurements/{}", name), column(c.measurements, [&](const auto& row) { return row.*member; }));
    });
    file.write(about + "/Record", std::vector<std::uint8_t>(c.record.begin(), c.record.end()));
    file.close();
    target.commit();
}

QuenchedCheckpoint read_quenched_checkpoint(const std::filesystem::path& path) {
    const auto file = hdf5::File::open(path);
    const Where here{path.string(), 0, 0, ""};
    const std::string about = "/Checkpoint";
    KS_VALIDATE(file.exists(about) && file.has_attribute(about, "Problem") && file.text_attribute(about, "Problem") == "quenched",
                "is not a checkpoint of a quenched run by kasane", here);
    const auto found = file.attribute<std::uint32_t>(about, "Layout");
    KS_VALIDATE(found == layout,
                fmt::format("was written by a newer version of kasane (layout {}, this one reads {}): use that version", found, layout),
                here);
    const auto extents = file.attribute_array<int, 4>(about, "Extents");
    QuenchedCheckpoint c;
    lattice::Extents n;
    std::copy(extents.begin(), extents.end(), n.n);
    lattice::check_extents(n, "is damaged");
    {
        const auto numbers = file.read_array<double>("/Links", shape_of(n));
        c.field = lattice::GaugeField(n);
        std::memcpy(c.field.links.data(), numbers.data(), numbers.size() * sizeof(double));
    }
    c.sweep = file.attribute<std::int64_t>(about, "Sweep");
    for (const auto sweep : file.read<std::int64_t>("/Measurements/Sweep")) c.measurements.emplace_back().sweep = sweep;
    for_each_column([&](const char* name, auto member) {
        const auto values = file.read<double>(fmt::format("/Measurements/{}", name));
        KS_VALIDATE(values.size() == c.measurements.size(), "is damaged: its measurements have columns of different lengths", here);
        for (std::size_t i = 0; i < values.size(); ++i) c.measurements[i].*member = values[i];
    });
    const auto record = file.read<std::uint8_t>(about + "/Record");
    c.record.assign(record.begin(), record.end());
    KS_VALIDATE(checksum(c) == file.attribute<std::uint64_t>(about, "Checksum"), "is damaged: its checksum does not fit its content", here);
    return c;
}

}  // namespace kasane::run
