// One file of a snapshot, opened and checked, and its header. Private to this folder: snapshot.cpp combines the files of a set.
// Invariants: a SnapshotFile exists only if every block or data set that it will read is inside the file and has the length that follows
// from the header's counts; reading its particles can then fail only because of a value or a checksum.
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
    std::array<double, type_count> mass_table{};  ///< mass of every particle of the type; 0: particles have their own
    double time = 0;
    double redshift = 0;
    int files = 1;
    std::uint64_t set = 0;  ///< the same number in all files of a set that was written together; 0: not stated
    Units units;
    bool states_units = false;  ///< the file states its units; otherwise `units` are the default
    std::array<double, type_count> softening{};
    // Used only for writing HDF5.
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
    /// Copies the particles skip[t], ..., skip[t] + count[t] - 1 of each type t to first[t], first[t] + 1, ... of arrays that are large
    /// enough. Empty arrays stay empty.
    virtual void read(Snapshot& into, const Counts& first, const Counts& skip, const Counts& count) const = 0;
    /// Reads force errors, model and components, where the format has them.
    virtual void read_origin(Snapshot&) const {}

   protected:
    Header header_;
    bool has_acceleration_ = false;
    bool has_potential_ = false;
};

std::unique_ptr<SnapshotFile> open_hdf5(const std::filesystem::path& path);
/// Opens a file of GADGET format 1 or 2. @throws InputError: also if the file begins as neither of them
std::unique_ptr<SnapshotFile> open_binary(const std::filesystem::path& path);

/// Particles of one type among all, in their order: neighbours in memory, or those of a list.
struct Members {
    std::size_t first = 0;              ///< of neighbours
    const std::size_t* list = nullptr;  ///< null: neighbours
    std::size_t count = 0;

    std::size_t operator[](std::size_t k) const { return list ? list[k] : first + k; }
    Members part(std::size_t begin, std::size_t n) const { return {first + begin, list ? list + begin : nullptr, n}; }
};
using MemberLists = std::array<std::vector<std::size_t>, type_count>;

/// The particles of each type. @param lists  keeps the lists of the types whose particles are no neighbours
/// @throws std::out_of_range: an unknown type
std::array<Members, type_count> members_of(const std::vector<std::uint8_t>& type, MemberLists& lists);

/// The particles of one file of a snapshot that is being written.
struct Part {
    const Particles* particles = nullptr;
    std::array<Members, type_count> members;  ///< in the order of the file
    Header header;
    SnapshotWriteOptions options;
};
/// Writes the temporary file of `to`; the caller commits it. @throws ComputationError: disk full; InputError: not possible in the format
void write_binary(AtomicFile& to, const Part& part);

/// The name of one file of a set: "snap.3.hdf5" of "snap.hdf5" and 3.
std::filesystem::path numbered_path(const std::filesystem::path& path, int number);

/// Checks times, masses, softenings and units. @throws InputError with all problems
void check_header(const std::filesystem::path& path, const Header& header);

/// The system of units with these scales: galactic or N-body units by name, otherwise user units with this G (0: from the scales).
Units units_from_scales(double length_cm, double mass_g, double velocity_cm_s, double G);

inline InputError bad(const std::filesystem::path& path, std::string where, std::string message) {
    return InputError(std::move(message), Where{path.string(), 0, 0, std::move(where)});
}

/// Sum that is at most the largest number, without overflow.
constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
constexpr std::uint64_t sum(const Counts& counts) {
    std::uint64_t all = 0;
    for (const auto count : counts) all = sum(all, count);
    return all;
}

/// The components of vectors as an array of numbers.
inline double* components(Vec3<double>* v) {
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    return reinterpret_cast<double*>(v);
}

}  // namespace kasane::gravity::snapshot
