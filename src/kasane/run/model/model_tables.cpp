#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/run/model/model_facts.hpp>
#include <kasane/run/model/model_tables.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

namespace kasane::run {
namespace {

/// "1e10 Msun/kpc^3" out of names and powers; empty where the units have no names.
struct UnitNames {
    std::string length, mass, velocity, time;
    explicit UnitNames(const gravity::Units& u) : length(u.length_name), mass(u.mass_name), velocity(u.velocity_name), time(u.time_name) {}
    std::string per_length(int power) const { return mass.empty() ? "" : fmt::format("{}/{}^{}", mass, length, power); }
    std::string energy() const { return velocity.empty() ? "" : "(" + velocity + ")^2"; }
    std::string phase_space() const { return mass.empty() ? "" : fmt::format("{}/({} {})^3", mass, length, velocity); }
};

class GroupWriter {
   public:
    GroupWriter(hdf5::File& file, std::string group) : file_(&file), group_(std::move(group)) { file_->create_group(group_); }

    void column(const char* name, const std::vector<double>& values, const std::string& unit, const std::string& description) {
        if (values.empty()) return;
        const auto path = group_ + "/" + name;
        file_->write(path, values);
        file_->set_attribute(path, "unit", unit);
        file_->set_attribute(path, "description", description);
    }
    void text(const char* name, const std::string& value) { file_->set_attribute(group_, name, value); }
    /// Numbers that do not exist are left out.
    template <class Facts>
    void numbers(const Facts& facts) {
        for_each_number(facts, [&](const char* name, double value) {
            if (value != 0) file_->set_attribute(group_, name, value);
        });
    }
    void count(const char* name, index_t value) { file_->set_attribute(group_, name, value); }

   private:
    hdf5::File* file_;
    std::string group_;
};

void write_component(hdf5::File& file, const std::string& group, const gravity::ComponentTable& t, const gravity::ComponentFacts& f,
                     const UnitNames& unit) {
    GroupWriter to(file, group);
    to.text("name", f.label);
    to.text("law", f.law);
    to.count("n", f.count);
    to.numbers(f);
    const bool disk = !t.surface_density.empty();
    to.column("density", t.density, unit.per_length(3), disk ? "density in the plane" : "density");
    to.column("surface_density", t.surface_density, unit.per_length(2), "mass per area of the plane");
    to.column("mass", t.mass, unit.mass, disk ? "mass inside a cylinder" : "mass inside a sphere");
    to.column("sigma_radial", t.sigma_radial, unit.velocity, "velocity dispersion along the radius");
    to.column("sigma_tangential", t.sigma_tangential, unit.velocity, "velocity dispersion along one tangential direction");
    to.column("sigma_R", t.sigma_R, unit.velocity, "velocity dispersion along the radius, in the plane");
    to.column("sigma_phi", t.sigma_phi, unit.velocity, "velocity dispersion around the axis, in the plane");
    to.column("sigma_z", t.sigma_z, unit.velocity, "velocity dispersion across the plane");
    to.column("rotation", t.rotation, unit.velocity, "mean velocity around the axis, prograde part, in the plane");
    to.column("height", t.height, unit.length, "where the density has fallen by e");
    to.column("toomre_q", t.toomre_q, "", "sigma_R kappa / (3.36 G Sigma)");
    to.column("rotation_speed", t.rotation_speed, unit.velocity, "circular speed of the component alone");
    to.column("energy", t.energy, unit.energy(), "binding energy per mass");
    to.column("distribution", t.distribution, unit.phase_space(), "distribution function at the energy");
}

void write_galaxy(hdf5::File& file, const std::string& group, const GalaxyPart& part, const UnitNames& unit) {
    GroupWriter to(file, group);
    const auto& f = part.facts;
    to.text("name", part.name);
    to.count("n", f.count);
    to.numbers(f);
    const auto& t = part.tables;
    to.column("radius", t.radius, unit.length, "radius; of disks, in the plane");
    to.column("mass", t.mass, unit.mass, "mass of everything inside a sphere");
    to.column("potential", t.potential, unit.energy(), "potential of everything, in the plane of disks");
    to.column("circular_speed", t.circular_speed, unit.velocity, "circular speed of everything, in the plane of disks");
    to.column("escape_speed", t.escape_speed, unit.velocity, "escape speed, in the plane of disks");
    for (std::size_t k = 0; k < t.components.size(); ++k)
        write_component(file, fmt::format("{}/component{}", group, k), t.components[k], f.components[k], unit);
}

}  // namespace

void write_model_tables(const std::filesystem::path& hdf5, const ModelReport& report) {
    AtomicFile target(hdf5);
    auto file = hdf5::File::create(target.temporary());
    file.set_attribute("/", "kasane", std::string(version));
    file.set_attribute("/", "title", report.title);
    file.set_attribute("/", "units", report.units.name);
    file.set_attribute("/", "length_cm", report.units.length_cm);
    file.set_attribute("/", "mass_g", report.units.mass_g);
    file.set_attribute("/", "velocity_cm_s", report.units.velocity_cm_s);
    file.set_attribute("/", "G", report.units.G);
    file.set_attribute("/", "time_unit", report.units.time_name);
    const UnitNames unit(report.units);
    for (std::size_t k = 0; k < report.galaxies.size(); ++k) write_galaxy(file, fmt::format("/galaxy{}", k), report.galaxies[k], unit);
    file.close();
    target.commit();
}

}  // namespace kasane::run
