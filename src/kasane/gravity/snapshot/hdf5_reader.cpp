// The reader of GADGET's HDF5 layout, written by kasane or other programs. All problems of a file are reported at once.
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/hdf5_layout.hpp>
#include <kasane/gravity/snapshot/snapshot_file.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::gravity::snapshot {

namespace {

/// Limit of the number of components; larger numbers come from damaged files.
constexpr std::uint64_t most_components = 1u << 16;

class Hdf5File final : public SnapshotFile {
   public:
    explicit Hdf5File(const std::filesystem::path& path) : path_(path), file_(hdf5::File::open(path)) {
        if (!has_header() && !has_particles())
            throw bad(path_, "/Header",
                      "is missing, and there is no group PartType0 to PartType5: this HDF5 file is not a GADGET snapshot");
        read_header();
        read_units();
        read_softening();
        check_datasets();
        if (!problems_.empty()) throw InputError(std::move(problems_));
    }

    void read(Snapshot& into, const Counts& first, const Counts& skip, const Counts& count) const override {
        auto& p = into.particles;
        for (std::size_t t = 0; t < type_count; ++t) {
            if (count[t] == 0) continue;
            const auto group = group_of(t);
            const auto part = [&](auto& all) { return View{all.data() + first[t], static_cast<index_t>(count[t])}; };
            const auto read = [&](const char* name, auto& all) {
                if (count[t] == header_.here[t])
                    file_.read(group + name, part(all));
                else
                    file_.read_rows(group + name, static_cast<index_t>(skip[t]), part(all));
            };
            if (!p.position.empty()) read("/Coordinates", p.position);
            if (!p.velocity.empty()) read("/Velocities", p.velocity);
            if (!p.id.empty()) read("/ParticleIDs", p.id);
            if (!p.mass.empty() && file_.exists(group + "/Masses")) {
                read("/Masses", p.mass);
            } else if (!p.mass.empty()) {
                for (auto& mass : part(p.mass)) mass = header_.mass_table[t];
            }
            if (!into.acceleration.empty()) read("/Acceleration", into.acceleration);
            if (!into.potential.empty()) read("/Potential", into.potential);
        }
    }

    void read_origin(Snapshot& into) const override {
        if (file_.has_attribute("/Header", "ForceErrorCount")) {
            into.force_error.count = file_.attribute<std::int64_t>("/Header", "ForceErrorCount");
            for (const auto& [name, to] : numbers_of(into.force_error)) *to = file_.attribute<double>("/Header", name);
        }
        read_components(into);
    }

   private:
    /// Reads one number per type. Files of codes with fewer or more than six types are accepted if the other types are empty.
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

    /// Executes one step of reading and stores its problems, so that all problems are reported at once.
    template <class Step>
    void collect(Step step) {
        try {
            step();
        } catch (const InputError& error) {
            problems_.insert(problems_.end(), error.problems().begin(), error.problems().end());
        }
    }
    void problem(std::string object, std::string message) {
        problems_.push_back({std::move(message), {path_.string(), 0, 0, std::move(object)}});
    }

    bool has_header() const { return file_.is_group("/Header"); }
    bool has_particles() const {
        for (std::size_t t = 0; t < type_count; ++t)
            if (file_.is_group(group_of(t))) return true;
        return false;
    }

    void read_header() {
        header_.format = SnapshotFormat::hdf5;
        if (!has_header()) {
            problem("/Header",
                    "is missing: a group with the attributes NumPart_ThisFile (6 integers, the particles of each type) and Time is "
                    "needed");
            return;
        }
        if (file_.has_attribute("/Header", "NumPart_ThisFile"))
            collect([&] { header_.here = per_type<std::uint64_t>("NumPart_ThisFile"), counted_ = true; });
        else
            problem("/Header@NumPart_ThisFile", "is missing: 6 integers, the particles of each type, are needed");
        header_.total = header_.here;
        collect([&] {
            if (file_.has_attribute("/Header", "NumPart_Total")) header_.total = per_type<std::uint64_t>("NumPart_Total");
            if (!file_.has_attribute("/Header", "NumPart_Total_HighWord")) return;
            const auto high = per_type<std::uint64_t>("NumPart_Total_HighWord");
            for (std::size_t t = 0; t < type_count; ++t) {
                if (high[t] > UINT32_MAX) throw bad(path_, "/Header@NumPart_Total_HighWord", "holds more than 32 bits");
                header_.total[t] = sum(header_.total[t], high[t] << 32);
            }
        });
        collect([&] {
            if (file_.has_attribute("/Header", "MassTable")) header_.mass_table = per_type<double>("MassTable");
        });
        if (file_.has_attribute("/Header", "Time"))
            collect([&] { header_.time = file_.attribute<double>("/Header", "Time"); });
        else
            problem("/Header@Time", "is missing: a number, the time of the particles, is needed");
        collect([&] { header_.redshift = header_or<double>("Redshift", 0); });
        collect([&] { header_.files = std::max(header_or<int>("NumFilesPerSnapshot", 1), 1); });
        collect([&] {
            if (file_.has_attribute("/Kasane", set_number)) header_.set = file_.attribute<std::uint64_t>("/Kasane", set_number);
        });
        collect([&] {
            if (file_.has_attribute("/Parameters", "ComovingIntegrationOn") &&
                file_.attribute<double>("/Parameters", "ComovingIntegrationOn") != 0)
                throw bad(path_, "/Parameters@ComovingIntegrationOn",
                          "is set: the coordinates are comoving, and kasane integrates in physical ones. Convert the snapshot first");
        });
    }

    void read_units() {
        header_.units = galactic_units();
        const auto number = [&](const char* group, const char* name) {
            double value = 1;
            collect([&] { value = file_.attribute<double>(group, name); });
            return value;
        };
        if (file_.has_attribute("/Kasane", "UnitsName")) {
            auto& units = header_.units;
            units.length_cm = number("/Kasane", "UnitLength_in_cm");
            units.mass_g = number("/Kasane", "UnitMass_in_g");
            units.velocity_cm_s = number("/Kasane", "UnitVelocity_in_cm_per_s");
            units.G = number("/Kasane", "G");
            for (const auto& [name, to] : names_of(units)) collect([&] { *to = file_.text_attribute("/Kasane", name); });
            header_.states_units = true;
            return;
        }
        for (const auto* group : {"/Units", "/Parameters", "/Header"}) {
            if (!file_.has_attribute(group, "UnitLength_in_cm")) continue;
            const auto* G = "GravityConstantInternal";
            header_.units = units_from_scales(number(group, "UnitLength_in_cm"), number(group, "UnitMass_in_g"),
                                              number(group, "UnitVelocity_in_cm_per_s"),
                                              file_.has_attribute("/Parameters", G) ? number("/Parameters", G) : 0);
            header_.states_units = true;
            return;
        }
        if (file_.has_attribute("/Units", "Unit length in cgs (U_L)")) {  // SWIFT
            const auto length = number("/Units", "Unit length in cgs (U_L)");
            header_.units = units_from_scales(length, number("/Units", "Unit mass in cgs (U_M)"),
                                              length / number("/Units", "Unit time in cgs (U_t)"), 0);
            header_.states_units = true;
        }
    }

    void read_softening() {
        if (file_.has_attribute("/Kasane", of_softening)) {
            collect([&] { header_.softening = file_.attribute_array<double, type_count>("/Kasane", of_softening); });
            return;
        }
        // GADGET-4 and AREPO: a class (or type) of softenings for each particle type, as Plummer-equivalent eps. SofteningMaxPhys...
        // has an effect in comoving coordinates alone, which read_header() refuses.
        for (std::size_t t = 0; t < type_count; ++t)
            for (const auto* group : {"Class", "Type"}) {
                const auto of_type = fmt::format("Softening{}OfPartType{}", group, t);
                if (!file_.has_attribute("/Parameters", of_type)) continue;
                collect([&] {
                    const auto eps = fmt::format("SofteningComoving{}{}", group, file_.attribute<int>("/Parameters", of_type));
                    if (file_.has_attribute("/Parameters", eps)) header_.softening[t] = file_.attribute<double>("/Parameters", eps);
                });
            }
    }

    void read_components(Snapshot& into) const {
        if (file_.has_attribute("/Kasane", model_text)) into.model = file_.text_attribute("/Kasane", model_text);
        if (!file_.has_attribute("/Kasane", number_of_components)) return;
        const auto n = file_.attribute<std::uint64_t>("/Kasane", number_of_components);
        if (n > most_components) throw bad(path_, "/Kasane@NumComponents", fmt::format("is {}: at most {} are read", n, most_components));
        into.components.clear();
        for (std::size_t i = 0; i < n; ++i) {
            const auto group = group_of_component(i);
            SnapshotComponent c;
            c.name = file_.text_attribute(group, "Name");
            c.law = file_.text_attribute(group, "Law");
            c.first_id = file_.attribute<std::uint64_t>(group, "FirstID");
            c.count = file_.attribute<std::uint64_t>(group, "Count");
            c.type = file_.attribute<std::uint8_t>(group, "Type");
            c.mass = file_.attribute<double>(group, "Mass");
            c.seed = file_.attribute<std::uint64_t>(group, "Seed");
            if (file_.has_attribute(group, "Softening")) c.softening = file_.attribute<double>(group, "Softening");
            into.components.push_back(std::move(c));
        }
    }

    void check_datasets() {
        bool any = false;
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto group = group_of(t);
            if (!counted_) collect([&] { header_.here[t] = rows_of(group); });  // so that all other problems are found too
            const auto n = header_.here[t];
            if (n == 0) continue;
            if (!file_.is_group(group)) {
                problem(group, fmt::format("is missing: the header counts {} particles of type {}", n, t));
                continue;
            }
            need_dataset(group + "/Coordinates", n, Shape::vectors);
            need_dataset(group + "/Velocities", n, Shape::vectors);
            need_dataset(group + "/ParticleIDs", n, Shape::integers);
            if (file_.exists(group + "/Masses"))
                check_dataset(group + "/Masses", n, Shape::numbers);
            else if (header_.mass_table[t] == 0)
                problem(
                    group + "/Masses",
                    "is missing, and MassTable of the header gives no mass for this type either: write (N) numbers, or the mass of every "
                    "particle of the type to /Header@MassTable (6 numbers)");
            const bool acceleration = file_.exists(group + "/Acceleration"), potential = file_.exists(group + "/Potential");
            if (acceleration) check_dataset(group + "/Acceleration", n, Shape::vectors);
            if (potential) check_dataset(group + "/Potential", n, Shape::numbers);
            has_acceleration_ = acceleration && (has_acceleration_ || !any);
            has_potential_ = potential && (has_potential_ || !any);
            any = true;
        }
        if (!any) has_acceleration_ = has_potential_ = true;  // an empty file of a set does not matter
    }

    enum class Shape { vectors, numbers, integers };
    static const char* wanted(Shape shape) {
        return shape == Shape::vectors ? "(N, 3) numbers are" : shape == Shape::numbers ? "(N) numbers are" : "(N) integers are";
    }

    static std::string text_of(const std::vector<std::uint64_t>& shape) {
        std::string text;
        for (const auto extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
        return text;
    }

    /// Number of rows of the first data set that a group of particles must have; 0: it is missing.
    std::uint64_t rows_of(const std::string& group) const {
        for (const auto* name : {"/Coordinates", "/Velocities", "/ParticleIDs"})
            if (file_.is_dataset(group + name)) return std::max<std::uint64_t>(file_.dataset(group + name).rows(), 1);
        return file_.is_group(group) ? 1 : 0;
    }

    void need_dataset(const std::string& name, std::uint64_t n, Shape shape) {
        if (file_.exists(name))
            check_dataset(name, n, shape);
        else
            problem(name, fmt::format("is missing: {} needed", wanted(shape)));
    }

    void check_dataset(const std::string& name, std::uint64_t n, Shape shape) {
        collect([&] {
            const auto info = file_.dataset(name);
            const bool fits = shape == Shape::vectors ? info.shape.size() == 2 && info.shape[1] == 3
                                                      : info.shape.size() == 1 || (info.shape.size() == 2 && info.shape[1] == 1);
            if (!fits) throw bad(path_, name, fmt::format("has the wrong shape ({}): {} needed", text_of(info.shape), wanted(shape)));
            if (shape == Shape::integers && !info.integer)
                throw bad(path_, name, fmt::format("holds floating-point numbers: {} needed", wanted(shape)));
            if (counted_ && info.rows() != n)
                throw bad(path_, name, fmt::format("has {} particles, but the header counts {}", info.rows(), n));
            if (info.stored_bytes == 0) throw bad(path_, name, "was declared but never written: the file is incomplete");
        });
    }

    std::filesystem::path path_;
    hdf5::File file_;
    bool counted_ = false;  // the header has the numbers of particles
    std::vector<InputProblem> problems_;
};

}  // namespace

std::unique_ptr<SnapshotFile> open_hdf5(const std::filesystem::path& path) { return std::make_unique<Hdf5File>(path); }

}  // namespace kasane::gravity::snapshot
