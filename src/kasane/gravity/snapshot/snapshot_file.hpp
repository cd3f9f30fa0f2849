// One file of a snapshot, opened and checked, and what its header says. Private to this folder: snapshot.cpp joins files to sets.
// Invariants: a SnapshotFile exists only if every block or data set that it will read is inside the file and as long as the header's
// counts say; reading its particles can then fail only by a value or a checksum.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <memory>
#include <string>

namespace kasane::gravity::snapshot {

using Counts = std::array<std::uint64_t, type_count>;

struct Header {
    SnapshotFormat format = SnapshotFormat::hdf5;
    Counts here{};
    Counts total{};
    std::array<double, type_count> mass_table{};  ///< not 0: the mass of every particle of the type
    double time = 0;
    double redshift = 0;
    int files = 1;
    Units units;
    bool states_units = false;  ///< else `units` are an assumption
    std::array<double, type_count> softening{};
    // HDF5 only, and only when it is written.
    SnapshotForceError force_error;
    std::vector<SnapshotComponent> components;
    std::string model;
};

class SnapshotFile {
   public:
    virtual ~SnapshotFile() = default;
    const Header& header() const { return header_; }
    bool has_acceleration() const { return has_acceleration_; }
    bool has_potential() const { return has_potential_; }
    /// Copies the particles of type t to first[t], first[t] + 1, ... of arrays that are large enough.
    virtual void read(Snapshot& into, const Counts& first) const = 0;

   protected:
    Header header_;
    bool has_acceleration_ = false;
    bool has_potential_ = false;
};

std::unique_ptr<SnapshotFile> open_hdf5(const std::filesystem::path& path);
/// GADGET format 1 or 2. @throws InputError also when the file begins like neither
std::unique_ptr<SnapshotFile> open_binary(const std::filesystem::path& path);

/// The particles of one file of a snapshot that is being written.
struct Part {
    const Snapshot* snapshot = nullptr;
    std::array<std::vector<std::size_t>, type_count> members;  ///< per type, in the order of the file
    Header header;
    SnapshotWriteOptions options;
};
/// Fills the temporary of `to`; the caller commits it. @throws ComputationError (disk full), InputError (the format cannot hold it)
void write_binary(AtomicFile& to, const Part& part);

/// @throws InputError for unusable times, masses, softenings and units
void check_header(const std::filesystem::path& path, const Header& header);

/// The system with these scales: galactic or N-body under their own names, else user units with the G given (0: from the scales).
Units units_from_scales(double length_cm, double mass_g, double velocity_cm_s, double G);

inline InputError bad(const std::filesystem::path& path, std::string where, std::string message) {
    return InputError(std::move(message), Where{path.string(), 0, 0, std::move(where)});
}

/// Sum that stays at the largest number instead of wrapping round.
constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
constexpr std::uint64_t sum(const Counts& counts) {
    std::uint64_t all = 0;
    for (const auto count : counts) all = sum(all, count);
    return all;
}

/// Components of positions and the like as the plain numbers that they are in memory.
inline double* components(Vec3<double>* v) {
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    return reinterpret_cast<double*>(v);
}

}  // namespace kasane::gravity::snapshot
