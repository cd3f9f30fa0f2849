#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/gauge/gauge_checkpoint.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <utility>

namespace kasane::run {
namespace {

/// Layout 1 has no tables.
constexpr std::uint32_t layout_version = 2;

std::uint64_t checksum(const GaugeCheckpoint& c) {
    io::Checksum sum;
    sum.add(c.field.extents.n, sizeof c.field.extents.n);
    sum.add(c.field.links);
    sum.add(&c.update, sizeof c.update);
    const std::uint64_t sizes[] = {c.updates.size(), c.record.size()};  // so that bytes that move from one field to the next change the sum
    sum.add(sizes, sizeof sizes);
    sum.add(c.updates);
    for (const auto& values : c.columns) sum.add(values);
    sum.add(c.record.data(), c.record.size());
    for (const auto& table : c.tables) {
        const auto words = fmt::format("{}:{}", table.name, fmt::join(table.columns, ","));
        const std::uint64_t shape[] = {words.size(), table.updates.size()};
        sum.add(shape, sizeof shape);
        sum.add(words.data(), words.size());
        sum.add(table.updates);
        for (const auto& values : table.values) sum.add(values);
    }
    return sum.value();
}

void write_tables(hdf5::File& file, const GaugeCheckpointLayout& layout, const std::vector<UpdateTable>& tables) {
    std::vector<std::string> names;
    for (const auto& table : tables) {
        const auto group = "/Tables/" + table.name;
        names.push_back(table.name);
        file.create_group(group);
        file.set_attribute(group, "Columns", fmt::format("{}", fmt::join(table.columns, ",")));
        file.write(fmt::format("{}/{}", group, layout.update), table.updates);
        std::vector<double> values;
        for (const auto& column : table.values) values.insert(values.end(), column.begin(), column.end());
        file.write_array<double>(group + "/Values", {table.columns.size(), table.updates.size()}, view(std::as_const(values)));
    }
    file.set_attribute("/Checkpoint", "Tables", fmt::format("{}", fmt::join(names, ",")));
}

std::vector<UpdateTable> read_tables(const hdf5::File& file, const GaugeCheckpointLayout& layout) {
    std::vector<UpdateTable> tables;
    for (const auto& name : split_at_commas(file.text_attribute("/Checkpoint", "Tables"))) {
        const auto group = "/Tables/" + name;
        UpdateTable table(name, split_at_commas(file.text_attribute(group, "Columns")));
        table.updates = file.read<std::int64_t>(fmt::format("{}/{}", group, layout.update));
        const auto rows = static_cast<std::ptrdiff_t>(table.updates.size());
        const auto values = file.read_array<double>(group + "/Values", {table.columns.size(), table.updates.size()});
        auto first = values.begin();
        for (auto& column : table.values) column.assign(first, first + rows), first += rows;
        tables.push_back(std::move(table));
    }
    return tables;
}

std::vector<std::uint64_t> shape_of(const lattice::Extents& n) {
    const auto extent = [&](int mu) { return static_cast<std::uint64_t>(n[mu]); };
    return {extent(3), extent(2), extent(1), extent(0), 4, 3, 3, 2};
}

}  // namespace

void write_gauge_checkpoint(const std::filesystem::path& path, const GaugeCheckpointLayout& layout, GaugeCheckpoint c) {
    std::erase_if(c.tables, [](const auto& table) { return table.empty(); });
    const auto links = c.field.links.size() * sizeof c.field.links[0];
    auto rows = c.updates.size() * (layout.columns.size() + 1) * sizeof(double);
    for (const auto& table : c.tables) rows += table.updates.size() * (table.columns.size() + 1) * sizeof(double);
    AtomicFile target(path, links + rows + c.record.size() + 65536);  // and HDF5's own
    auto file = hdf5::File::create(target.temporary());
    const std::string about = "/Checkpoint";
    file.create_group(about);
    file.set_attribute(about, "Problem", std::string(layout.problem));
    file.set_attribute(about, "Layout", c.tables.empty() ? 1 : layout_version);
    file.set_attribute(about, layout.update, c.update);
    file.set_attribute(about, "Extents", std::to_array(c.field.extents.n));
    file.set_attribute(about, "Checksum", checksum(c));
    // An Su3<double> is 18 doubles (su3.hpp).
    file.write_array<double>("/Links", shape_of(c.field.extents),
                             {reinterpret_cast<const double*>(c.field.links.data()), static_cast<index_t>(links / sizeof(double))});
    file.write(fmt::format("/Measurements/{}", layout.update), c.updates);
    for (std::size_t k = 0; k < layout.columns.size(); ++k) file.write(fmt::format("/Measurements/{}", layout.columns[k]), c.columns[k]);
    if (!c.tables.empty()) write_tables(file, layout, c.tables);
    file.write(about + "/Record", std::vector<std::uint8_t>(c.record.begin(), c.record.end()));
    file.close();
    target.commit();
}

GaugeCheckpoint read_gauge_checkpoint(const std::filesystem::path& path, const GaugeCheckpointLayout& layout) {
    const auto file = hdf5::File::open(path);
    const Where here{path.string(), 0, 0, ""};
    const std::string about = "/Checkpoint";
    KS_VALIDATE(file.exists(about) && file.has_attribute(about, "Problem") && file.text_attribute(about, "Problem") == layout.problem,
                fmt::format("is not a checkpoint of a run with problem = \"{}\" by kasane", layout.problem), here);
    const auto found = file.attribute<std::uint32_t>(about, "Layout");
    KS_VALIDATE(found >= 1 && found <= layout_version,
                fmt::format("was written by a newer version of kasane (layout {}, this one reads up to {}): use that version", found,
                            layout_version),
                here);
    const auto extents = file.attribute_array<int, 4>(about, "Extents");
    GaugeCheckpoint c;
    lattice::Extents n;
    std::copy(extents.begin(), extents.end(), n.n);
    lattice::check_extents(n, {path.string(), 0, 0, "/Checkpoint/Extents"});
    {
        const auto numbers = file.read_array<double>("/Links", shape_of(n));
        c.field = lattice::GaugeField(n);
        std::memcpy(c.field.links.data(), numbers.data(), numbers.size() * sizeof(double));
    }
    c.update = file.attribute<std::int64_t>(about, layout.update);
    c.updates = file.read<std::int64_t>(fmt::format("/Measurements/{}", layout.update));
    for (const char* column : layout.columns) {
        c.columns.push_back(file.read<double>(fmt::format("/Measurements/{}", column)));
        KS_VALIDATE(c.columns.back().size() == c.updates.size(), "is damaged: its measurements have columns of different lengths", here);
    }
    if (found >= 2) c.tables = read_tables(file, layout);
    const auto record = file.read<std::uint8_t>(about + "/Record");
    c.record.assign(record.begin(), record.end());
    KS_VALIDATE(checksum(c) == file.attribute<std::uint64_t>(about, "Checksum"), "is damaged: its checksum does not fit its content", here);
    return c;
}

}  // namespace kasane::run
