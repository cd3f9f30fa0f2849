// Names of kasane's own attributes in GADGET's HDF5 layout, and the writer of one such file. Private to this folder.
// [Springel et al. 2021, GADGET-4 documentation, "snapshot format"]
// Invariants of written files: no HubbleParam, Omega0 or OmegaLambda (their presence alone makes yt and pynbody read comoving
// coordinates per h); strings of fixed length (yt fails on others); the same particles in the same blocks make the same bytes.
#pragma once

#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/snapshot/snapshot_file.hpp>

namespace kasane::gravity::snapshot {

inline constexpr auto of_softening = "Softening";
inline constexpr auto model_text = "Model";
inline constexpr auto number_of_components = "NumComponents";
inline constexpr auto set_number = "SetNumber";

template <class ForceError>
auto numbers_of(ForceError& error) {
    return std::array{std::pair{"ForceErrorMedian", &error.median}, std::pair{"ForceErrorP99", &error.p99},
                      std::pair{"ForceErrorMax", &error.max}};
}

/// The texts of a system of units and the names of their attributes.
template <class SomeUnits>
auto names_of(SomeUnits& units) {
    return std::array{std::pair{"UnitsName", &units.name}, std::pair{"LengthName", &units.length_name},
                      std::pair{"MassName", &units.mass_name}, std::pair{"VelocityName", &units.velocity_name},
                      std::pair{"TimeName", &units.time_name}};
}

inline std::string group_of(std::size_t type) { return "/PartType" + std::to_string(type); }
inline std::string group_of_component(std::size_t i) { return "/Kasane/Component" + std::to_string(i); }

/// Arrays from which particles are written; acceleration and potential may be null.
struct Columns {
    const Vec3<double>* position = nullptr;
    const Vec3<double>* velocity = nullptr;
    const double* mass = nullptr;
    const std::uint64_t* id = nullptr;
    const Vec3<double>* acceleration = nullptr;
    const double* potential = nullptr;
};
Columns columns_of(const Particles& particles);

/// One file, filled block by block. The rows of a type have the order of the calls of append().
class Hdf5Writer {
   public:
    /// @param header  of this file; `here` is the number of particles to come   @param kinds  columns that are not null will be written
    Hdf5Writer(AtomicFile& to, const Header& header, const SnapshotWriteOptions& options, const Columns& kinds);
    /// Appends the particles `members` of the columns, all of one type. @throws ComputationError: more than announced, or another mass
    void append(std::size_t type, const Columns& from, const Members& members);
    /// Completes the file. @throws ComputationError: fewer particles than announced, disk full
    void close();

   private:
    template <class T>
    void write(const std::string& name, std::size_t type, const T* all, const Members& members, std::vector<T>& selected);

    hdf5::File file_;
    Counts announced_, written_{};
    std::array<double, type_count> mass_table_;
    std::string target_;
    std::vector<Vec3<double>> vectors_;
    std::vector<double> numbers_;
    std::vector<std::uint64_t> ids_;
};

}  // namespace kasane::gravity::snapshot
