// GADGET's HDF5 layout: /Header, /PartType0 to 5, scales in /Parameters and /Units, and kasane's own words in /Kasane, from which
// units and softening come back exactly. [Springel et al. 2021, GADGET-4 documentation, "snapshot format"]
// Invariants of what is written: no HubbleParam, Omega0 or OmegaLambda (their presence alone makes yt and pynbody read comoving
// coordinates per h); strings of fixed length (yt fails on others); the same particles make the same bytes.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot_file.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::gravity::snapshot {

namespace {

constexpr double gigayear_s = 3.15576e16;  // 1e9 Julian years
constexpr auto of_softening = "Softening";

template <class ForceError>
auto numbers_of(ForceError& error) {
    return std::array{std::pair{"ForceErrorMedian", &error.median}, std::pair{"ForceErrorP99", &error.p99},
                      std::pair{"ForceErrorMax", &error.max}};
}

std::string group_of(std::size_t type) { return "/PartType" + std::to_string(type); }

class Hdf5File final : public SnapshotFile {
   public:
    explicit Hdf5File(const std::filesystem::path& path) : path_(path), file_(hdf5::File::open(path)) {
        read_header();
        read_units();
        read_softening();
        check_datasets();
    }

    void read(Snapshot& into, const Counts& first) const override {
        if (file_.has_attribute("/Header", "ForceErrorCount")) {
            into.force_error.count = file_.attribute<std::int64_t>("/Header", "ForceErrorCount");
            for (const auto& [name, to] : numbers_of(into.force_error)) *to = file_.attribute<double>("/Header", name);
        }
        auto& p = into.particles;
        const auto part = [&](std::size_t t, auto& all) { return View{all.data() + first[t], static_cast<index_t>(header_.here[t])}; };
        for (std::size_t t = 0; t < type_count; ++t) {
            if (header_.here[t] == 0) continue;
            const auto group = group_of(t);
            file_.read(group + "/Coordinates", part(t, p.position));
            file_.read(group + "/Velocities", part(t, p.velocity));
            file_.read(group + "/ParticleIDs", part(t, p.id));
            if (file_.exists(group + "/Masses")) {
                file_.read(group + "/Masses", part(t, p.mass));
            } else {
                for (auto& mass : part(t, p.mass)) mass = header_.mass_table[t];
            }
            if (!into.acceleration.empty()) file_.read(group + "/Acceleration", part(t, into.acceleration));
            if (!into.potential.empty()) file_.read(group + "/Potential", part(t, into.potential));
        }
    }

   private:
    /// One number per type; codes that know fewer or more than six types are understood as long as the others are empty.
    template <class T>
    std::array<T, type_count> per_type(const std::string& name) const {
        const auto given = file_.attribute_values<T>("/Header", name);
        std::array<T, type_count> values{};
        for (std::size_t t = 0; t < given.size(); ++t) {
            if (t < values.size())
                values[t] = given[t];
            else if (given[t] != T{})
                throw bad(path_, "/Header@" + name, fmt::format("uses type {}: types are 0 to {}", t, type_count - 1));
        }
        return values;
    }
    template <class T>
    T header_or(const std::string& name, T otherwise) const {
        return file_.has_attribute("/Header", name) ? file_.attribute<T>("/Header", name) : otherwise;
    }

    void read_header() {
        if (!file_.is_group("/Header")) throw bad(path_, "/Header", "is missing: this HDF5 file is no GADGET snapshot");
        header_.format = SnapshotFormat::hdf5;
        header_.here = per_type<std::uint64_t>("NumPart_ThisFile");
        header_.total = file_.has_attribute("/Header", "NumPart_Total") ? per_type<std::uint64_t>("NumPart_Total") : header_.here;
        if (file_.has_attribute("/Header", "NumPart_Total_HighWord")) {
            const auto high = per_type<std::uint64_t>("NumPart_Total_HighWord");
            for (std::size_t t = 0; t < type_count; ++t) {
                if (high[t] > UINT32_MAX) throw bad(path_, "/Header@NumPart_Total_HighWord", "holds more than 32 bits");
                header_.total[t] = sum(header_.total[t], high[t] << 32);
            }
        }
        if (file_.has_attribute("/Header", "MassTable")) header_.mass_table = per_type<double>("MassTable");
        header_.time = file_.attribute<double>("/Header", "Time");
        header_.redshift = header_or<double>("Redshift", 0);
        header_.files = std::max(header_or<int>("NumFilesPerSnapshot", 1), 1);
        if (file_.has_attribute("/Parameters", "ComovingIntegrationOn") &&
            file_.attribute<double>("/Parameters", "ComovingIntegrationOn") != 0) {
            throw bad(path_, "/Parameters@ComovingIntegrationOn",
                      "is set: the coordinates are comoving, and kasane integrates in physical ones. Convert the snapshot first");
        }
    }

    void read_units() {
        const auto number = [&](const char* group, const char* name) { return file_.attribute<double>(group, name); };
        if (file_.has_attribute("/Kasane", "UnitsName")) {
            auto& units = header_.units;
            units.length_cm = number("/Kasane", "UnitLength_in_cm");
            units.mass_g = number("/Kasane", "UnitMass_in_g");
            units.velocity_cm_s = number("/Kasane", "UnitVelocity_in_cm_per_s");
            units.G = number("/Kasane", "G");
            for (const auto& [name, to] : names(units)) *to = file_.text_attribute("/Kasane", name);
            return;
        }
        for (const auto* group : {"/Units", "/Parameters", "/Header"}) {
            if (!file_.has_attribute(group, "UnitLength_in_cm")) continue;
            const auto* G = "GravityConstantInternal";
            header_.units = units_from_scales(number(group, "UnitLength_in_cm"), number(group, "UnitMass_in_g"),
                                              number(group, "UnitVelocity_in_cm_per_s"),
                                              file_.has_attribute("/Parameters", G) ? number("/Parameters", G) : 0);
            return;
        }
        if (file_.has_attribute("/Units", "Unit length in cgs (U_L)")) {  // SWIFT
            const auto length = number("/Units", "Unit length in cgs (U_L)");
            header_.units = units_from_scales(length, number("/Units", "Unit mass in cgs (U_M)"),
                                              length / number("/Units", "Unit time in cgs (U_t)"), 0);
            return;
        }
        header_.units = galactic_units();
    }

    void read_softening() {
        if (file_.has_attribute("/Kasane", of_softening)) {
            header_.softening = file_.attribute_array<double, type_count>("/Kasane", of_softening);
            return;
        }
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto of_type = fmt::format("SofteningClassOfPartType{}", t);
            if (!file_.has_attribute("/Parameters", of_type)) continue;
            const auto of_class = fmt::format("SofteningComovingClass{}", file_.attribute<int>("/Parameters", of_type));
            if (file_.has_attribute("/Parameters", of_class)) header_.softening[t] = file_.attribute<double>("/Parameters", of_class);
        }
    }

    void check_datasets() {
        bool any = false;
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto n = header_.here[t];
            if (n == 0) continue;
            const auto group = group_of(t);
            check_shape(group + "/Coordinates", n, true);
            check_shape(group + "/Velocities", n, true);
            check_shape(group + "/ParticleIDs", n, false);
            const bool masses = file_.exists(group + "/Masses");
            if (masses) check_shape(group + "/Masses", n, false);
            if (!masses && header_.mass_table[t] == 0) {
                throw bad(path_, group + "/Masses", "is missing, and MassTable of the header gives no mass for this type either");
            }
            const bool acceleration = file_.exists(group + "/Acceleration"), potential = file_.exists(group + "/Potential");
            if (acceleration) check_shape(group + "/Acceleration", n, true);
            if (potential) check_shape(group + "/Potential", n, false);
            has_acceleration_ = acceleration && (has_acceleration_ || !any);
            has_potential_ = potential && (has_potential_ || !any);
            any = true;
        }
        if (!any) has_acceleration_ = has_potential_ = true;  // an empty file of a set stands in nobody's way
    }

    void check_shape(const std::string& name, std::uint64_t n, bool vector) const {
        const auto info = file_.dataset(name);
        const bool fits = vector ? info.shape.size() == 2 && info.shape[1] == 3
                                 : info.shape.size() == 1 || (info.shape.size() == 2 && info.shape[1] == 1);
        if (!fits) throw bad(path_, name, fmt::format("has the wrong shape: {} wanted", vector ? "(N, 3) is" : "(N) is"));
        if (info.rows() != n) throw bad(path_, name, fmt::format("holds {} particles, and the header counts {}", info.rows(), n));
        if (info.stored_bytes == 0) throw bad(path_, name, "was declared but never written: the file is incomplete");
    }

    /// The texts of a system of units, and under which names they are kept.
    static std::array<std::pair<const char*, std::string*>, 5> names(Units& units) {
        return {{{"UnitsName", &units.name},
                 {"LengthName", &units.length_name},
                 {"MassName", &units.mass_name},
                 {"VelocityName", &units.velocity_name},
                 {"TimeName", &units.time_name}}};
    }

    std::filesystem::path path_;
    hdf5::File file_;
};

/// What a data set measures, as powers of the three scales; both exponents of cosmology are 0.
struct Scaling {
    int length = 0, mass = 0, velocity = 0;
};

void write_header(hdf5::File& file, const Part& part) {
    const auto& header = part.header;
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
    file.set_attribute("/Header", "Flag_DoublePrecision", std::int32_t{part.options.double_precision});
    if (const auto& error = part.snapshot->force_error; error.count > 0) {
        file.set_attribute("/Header", "ForceErrorCount", error.count);
        for (const auto& [name, value] : numbers_of(error)) file.set_attribute("/Header", name, *value);
    }
}

/// Scales as other programs read them: a system without a scale says 1 cm, 1 g, 1 cm/s there, and the truth in /Kasane.
Units visible(Units units) {
    if (units.velocity_cm_s == 0) units.length_cm = units.mass_g = units.velocity_cm_s = 1;
    return units;
}

void write_units(hdf5::File& file, const Part& part) {
    const auto& units = part.header.units;
    const auto scales = [&](const char* group, const Units& u) {
        file.create_group(group);
        file.set_attribute(group, "UnitLength_in_cm", u.length_cm);
        file.set_attribute(group, "UnitMass_in_g", u.mass_g);
        file.set_attribute(group, "UnitVelocity_in_cm_per_s", u.velocity_cm_s);
    };
    const auto shown = visible(units);
    scales("/Units", shown);
    scales("/Parameters", shown);
    file.set_attribute("/Parameters", "Time_GYR", part.header.time * (shown.time_s() / gigayear_s));
    file.set_attribute("/Parameters", "GravityConstantInternal", units.G);
    file.set_attribute("/Parameters", "ComovingIntegrationOn", std::int32_t{0});
    for (int t = 0; t < type_count; ++t) {
        const auto softening = part.header.softening[static_cast<std::size_t>(t)];
        file.set_attribute("/Parameters", fmt::format("SofteningClassOfPartType{}", t), std::int32_t{t});
        file.set_attribute("/Parameters", fmt::format("SofteningComovingClass{}", t), softening);
        file.set_attribute("/Parameters", fmt::format("SofteningMaxPhysClass{}", t), softening);
    }
    scales("/Kasane", units);
    file.set_attribute("/Kasane", "G", units.G);
    file.set_attribute("/Kasane", "UnitsName", units.name);
    file.set_attribute("/Kasane", "LengthName", units.length_name);
    file.set_attribute("/Kasane", "MassName", units.mass_name);
    file.set_attribute("/Kasane", "VelocityName", units.velocity_name);
    file.set_attribute("/Kasane", "TimeName", units.time_name);
    file.set_attribute("/Kasane", of_softening, part.header.softening);
    file.set_attribute("/Kasane", "Version", std::string(version));
    file.set_attribute("/Kasane", "Commit", std::string(commit));
}

template <class T>
void write_members(hdf5::File& file, const std::string& name, const std::vector<T>& all, const std::vector<std::size_t>& members,
                   const Part& part, const Scaling& scaling) {
    std::vector<T> selected;
    selected.reserve(members.size());
    for (const auto i : members) selected.push_back(all[i]);
    file.write(name, selected, {.checksum = true, .single_precision = !part.options.double_precision});
    const auto shown = visible(part.header.units);
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

std::unique_ptr<SnapshotFile> open_hdf5(const std::filesystem::path& path) { return std::make_unique<Hdf5File>(path); }

void write_hdf5(AtomicFile& to, const Part& part) {
    const auto& snapshot = *part.snapshot;
    const auto& particles = snapshot.particles;
    auto file = hdf5::File::create(to.temporary());
    write_header(file, part);
    write_units(file, part);
    for (std::size_t t = 0; t < type_count; ++t) {
        const auto& members = part.members[t];
        if (members.empty()) continue;
        const auto group = group_of(t);
        write_members(file, group + "/Coordinates", particles.position, members, part, {.length = 1});
        write_members(file, group + "/Velocities", particles.velocity, members, part, {.velocity = 1});
        write_members(file, group + "/ParticleIDs", particles.id, members, part, {});
        if (part.header.mass_table[t] == 0) write_members(file, group + "/Masses", particles.mass, members, part, {.mass = 1});
        if (!snapshot.acceleration.empty()) {
            write_members(file, group + "/Acceleration", snapshot.acceleration, members, part, {.length = -1, .velocity = 2});
        }
        if (!snapshot.potential.empty()) {
            write_members(file, group + "/Potential", snapshot.potential, members, part, {.velocity = 2});
        }
    }
    file.close();
}

}  // namespace kasane::gravity::snapshot
