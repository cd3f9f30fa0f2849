#include <kasane/core/device/holds_for_all.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/snapshot/hdf5_layout.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::gravity::snapshot {

namespace {

constexpr double gigayear_s = 3.15576e16;  // 1e9 Julian years

/// Dimension of a data set, as powers of the three scales; both cosmological exponents are 0.
struct Scaling {
    int length = 0, mass = 0, velocity = 0;
};

void write_header(hdf5::File& file, const Header& header, bool double_precision) {
    std::array<std::uint32_t, type_count> here{}, low{}, high{};
    for (std::size_t t = 0; t < type_count; ++t) {
        here[t] = static_cast<std::uint32_t>(header.here[t]);
        low[t] = static_cast<std::uint32_t>(header.total[t]);
        high[t] = static_cast<std::uint32_t>(header.total[t] >> 32);
    }
    file.create_group("/Header");
    file.set_attribute("/Header", "NumPart_ThisFile", here);
    file.set_attribute("/Header", "NumPart_Total", low);
    file.set_attribute("/Header", "NumPart_Total_HighWord", high);
    file.set_attribute("/Header", "MassTable", header.mass_table);
    file.set_attribute("/Header", "Time", header.time);
    file.set_attribute("/Header", "Redshift", 0.0);
    file.set_attribute("/Header", "BoxSize", 0.0);
    file.set_attribute("/Header", "NumFilesPerSnapshot", std::int32_t{header.files});
    file.set_attribute("/Header", "Dimension", std::int32_t{3});
    for (const auto* flag : {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback", "Flag_Entropy_ICs"}) {
        file.set_attribute("/Header", flag, std::int32_t{0});
    }
    file.set_attribute("/Header", "Flag_DoublePrecision", std::int32_t{double_precision});
    if (const auto& error = header.force_error; error.count > 0) {
        file.set_attribute("/Header", "ForceErrorCount", error.count);
        for (const auto& [name, value] : numbers_of(error)) file.set_attribute("/Header", name, *value);
    }
}

/// Scales for other programs: for a system without scales they are 1 cm, 1 g, 1 cm/s; the group /Kasane has the actual units.
Units visible(Units units) {
    if (units.velocity_cm_s == 0) units.length_cm = units.mass_g = units.velocity_cm_s = 1;
    return units;
}

void write_units(hdf5::File& file, const Header& header) {
    const auto& units = header.units;
    const auto scales = [&](const char* group, const Units& u) {
        file.create_group(group);
        file.set_attribute(group, "UnitLength_in_cm", u.length_cm);
        file.set_attribute(group, "UnitMass_in_g", u.mass_g);
        file.set_attribute(group, "UnitVelocity_in_cm_per_s", u.velocity_cm_s);
    };
    const auto shown = visible(units);
    scales("/Units", shown);
    scales("/Parameters", shown);
    file.set_attribute("/Parameters", "Time_GYR", header.time * (shown.time_s() / gigayear_s));
    file.set_attribute("/Parameters", "GravityConstantInternal", units.G);
    file.set_attribute("/Parameters", "ComovingIntegrationOn", std::int32_t{0});
    for (int t = 0; t < type_count; ++t) {
        const auto softening = header.softening[static_cast<std::size_t>(t)];
        file.set_attribute("/Parameters", fmt::format("SofteningClassOfPartType{}", t), std::int32_t{t});
        file.set_attribute("/Parameters", fmt::format("SofteningComovingClass{}", t), softening);
        file.set_attribute("/Parameters", fmt::format("SofteningMaxPhysClass{}", t), softening);
    }
    scales("/Kasane", units);
    file.set_attribute("/Kasane", "G", units.G);
    for (const auto& [name, text] : names_of(units)) file.set_attribute("/Kasane", name, *text);
    file.set_attribute("/Kasane", of_softening, header.softening);
    file.set_attribute("/Kasane", "Version", std::string(version));
    file.set_attribute("/Kasane", "Commit", std::string(commit));
    if (header.set != 0) file.set_attribute("/Kasane", set_number, header.set);
}

void write_origin(hdf5::File& file, const Header& header) {
    if (!header.model.empty()) file.set_attribute("/Kasane", model_text, header.model);
    if (header.components.empty()) return;
    file.set_attribute("/Kasane", number_of_components, static_cast<std::uint64_t>(header.components.size()));
    for (std::size_t i = 0; i < header.components.size(); ++i) {
        const auto& c = header.components[i];
        const auto group = group_of_component(i);
        file.create_group(group);
        file.set_attribute(group, "Name", c.name);
        file.set_attribute(group, "Law", c.law);
        file.set_attribute(group, "FirstID", c.first_id);
        file.set_attribute(group, "Count", c.count);
        file.set_attribute(group, "Type", c.type);
        file.set_attribute(group, "Mass", c.mass);
        file.set_attribute(group, "Seed", c.seed);
        file.set_attribute(group, "Softening", c.softening);
    }
}

template <class T>
void declare(hdf5::File& file, const std::string& name, std::uint64_t rows, const SnapshotWriteOptions& options, const Units& shown,
             const Scaling& scaling) {
    file.create_dataset<T>(name, static_cast<index_t>(rows),
                           {.checksum = true, .compress = options.compress, .single_precision = !options.double_precision});
    file.set_attribute(name, "a_scaling", 0.0);
    file.set_attribute(name, "h_scaling", 0.0);
    file.set_attribute(name, "length_scaling", double(scaling.length));
    file.set_attribute(name, "mass_scaling", double(scaling.mass));
    file.set_attribute(name, "velocity_scaling", double(scaling.velocity));
    file.set_attribute(
        name, "to_cgs",
        std::pow(shown.length_cm, scaling.length) * std::pow(shown.mass_g, scaling.mass) * std::pow(shown.velocity_cm_s, scaling.velocity));
}

}  // namespace

Columns columns_of(const Particles& p) { return {p.position.data(), p.velocity.data(), p.mass.data(), p.id.data()}; }

Hdf5Writer::Hdf5Writer(AtomicFile& to, const Header& header, const SnapshotWriteOptions& options, const Columns& kinds)
    : file_(hdf5::File::create(to.temporary())), announced_(header.here), mass_table_(header.mass_table), target_(to.target().string()) {
    write_header(file_, header, options.double_precision);
    write_units(file_, header);
    write_origin(file_, header);
    const auto shown = visible(header.units);
    for (std::size_t t = 0; t < type_count; ++t) {
        const auto n = header.here[t];
        if (n == 0) continue;
        const auto vectors = [&](const char* name, const Scaling& scaling) {
            declare<Vec3<double>>(file_, group_of(t) + name, n, options, shown, scaling);
        };
        const auto numbers = [&](const char* name, const Scaling& scaling) {
            declare<double>(file_, group_of(t) + name, n, options, shown, scaling);
        };
        vectors("/Coordinates", {.length = 1});
        vectors("/Velocities", {.velocity = 1});
        declare<std::uint64_t>(file_, group_of(t) + "/ParticleIDs", n, options, shown, {});
        if (mass_table_[t] == 0) numbers("/Masses", {.mass = 1});
        if (kinds.acceleration != nullptr) vectors("/Acceleration", {.length = -1, .velocity = 2});
        if (kinds.potential != nullptr) numbers("/Potential", {.velocity = 2});
    }
}

template <class T>
void Hdf5Writer::write(const std::string& name, std::size_t type, const T* all, const Members& members, std::vector<T>& selected) {
    const auto name_of_set = group_of(type) + name;
    const auto first_row = static_cast<index_t>(written_[type]), rows = static_cast<index_t>(members.count);
    if (!members.list) {
        file_.write_rows(name_of_set, first_row, View<const T>(all + members.first, rows));
        return;
    }
    selected.resize(members.count);
    parallel_for(Cpu{}, rows, [&](index_t k) { selected[static_cast<std::size_t>(k)] = all[members[static_cast<std::size_t>(k)]]; });
    file_.write_rows(name_of_set, first_row, View<const T>(view(selected)));
}

void Hdf5Writer::append(std::size_t type, const Columns& from, const Members& members) {
    const auto refuse = [&](const std::string& what) { return ComputationError(fmt::format("cannot write {}: {}", target_, what)); };
    if (members.count > announced_[type] - written_[type]) {
        throw refuse(fmt::format("there are more than the {} announced particles of type {}", announced_[type], type));
    }
    const double mass = mass_table_[type];
    const auto has_mass = [&](index_t k) { return from.mass[members[static_cast<std::size_t>(k)]] == mass; };
    if (mass != 0 && !holds_for_all(Cpu{}, static_cast<index_t>(members.count), has_mass)) {
        index_t k = 0;
        while (has_mass(k)) ++k;
        throw refuse(fmt::format("a particle of type {} has mass {}, but {} was announced for all", type,
                                 from.mass[members[static_cast<std::size_t>(k)]], mass));
    }
    // Written in parts that end with a chunk; those of a list are small enough for a cache, since they are copied first.
    const std::uint64_t most = (members.list ? 16 : 1024) * hdf5::chunk_rows;
    for (std::uint64_t first = 0; first < members.count;) {
        const auto until_chunk = most - written_[type] % hdf5::chunk_rows;
        const auto part = members.part(first, std::min(until_chunk, members.count - first));
        first += part.count;
        write("/Coordinates", type, from.position, part, vectors_);
        write("/Velocities", type, from.velocity, part, vectors_);
        write("/ParticleIDs", type, from.id, part, ids_);
        if (mass == 0) write("/Masses", type, from.mass, part, numbers_);
        if (from.acceleration != nullptr) write("/Acceleration", type, from.acceleration, part, vectors_);
        if (from.potential != nullptr) write("/Potential", type, from.potential, part, numbers_);
        written_[type] += part.count;
    }
}

void Hdf5Writer::close() {
    for (std::size_t t = 0; t < type_count; ++t) {
        if (written_[t] == announced_[t]) continue;
        throw ComputationError(fmt::format("cannot write {}: there are {} particles of type {}, but {} were announced", target_,
                                           written_[t], t, announced_[t]));
    }
    file_.close();
}

}  // namespace kasane::gravity::snapshot
