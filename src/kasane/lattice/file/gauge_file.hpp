// Gauge configurations in files: NERSC, ILDG in LIME, MILC v5 (read only), openQCD.
// Invariants: a file is hostile until checked: lengths, dimensions and records are looked at before memory is taken; checksums are
// verified; files are written whole or not at all; what was read and is written again in the same format is the same payload, bit by bit.
#pragma once

#include <kasane/core/io/atomic_file.hpp>
#include <kasane/lattice/gauge_field.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

enum class GaugeFormat { nersc, ildg, milc, openqcd };
const char* name(GaugeFormat format);

struct Checksum {
    std::string kind;    ///< "nersc", "scidac", "milc"; "plaquette" for openQCD, which has no other; "none"
    std::string stored;  ///< hexadecimal, empty where the file has none
    std::string computed;
    bool ok = true;
};

/// What a file says of itself beside the links.
struct GaugeFileFacts {
    GaugeFormat format{};
    int bits = 64;  ///< of a stored real number
    int rows = 3;   ///< of a stored matrix: 2 or 3
    bool big_endian = true;
    std::optional<double> stored_plaquette{}, stored_link_trace{};
    Checksum checksum{};
    double worst_distance_from_su3 = 0;
    std::vector<std::string> notes{};  ///< for the reader: no checksum, records passed over, …
};

struct GaugeFile {
    GaugeField field;
    GaugeFileFacts facts;
};

/// The format is recognised from the first bytes (openQCD, which has no mark, from its extents and length).
/// @throws InputError: no such file, no known format, damaged, checksum, plaquette or link trace other than said, links not in SU(3)
GaugeFile read_gauge(const std::filesystem::path& file);

struct GaugeWriteOptions {
    GaugeFormat format = GaugeFormat::ildg;
    int bits = 64;           ///< 32 or 64 (openQCD: 64)
    int rows = 3;            ///< 2 or 3 (NERSC alone: 2)
    bool big_endian = true;  ///< NERSC alone
};
/// Whole or not at all (atomic). @throws InputError for what the format cannot hold
void write_gauge(const std::filesystem::path& file, const GaugeField& field, const GaugeWriteOptions& options);

}  // namespace kasane::lattice
