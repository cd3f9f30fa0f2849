// Gauge configurations in files: NERSC, ILDG in LIME, MILC v5, openQCD.
// Invariants: a file is hostile until checked: lengths, dimensions and records are checked before memory is taken; checksums are
// verified; a file appears complete or not at all; a file that is read and written again in the same format has the same links,
// bit for bit.
#pragma once

#include <kasane/lattice/gauge_field.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Format of a file of links.
enum class GaugeFormat {
    nersc,    ///< NERSC archive
    ildg,     ///< ILDG in LIME
    milc,     ///< MILC version 5
    openqcd,  ///< openQCD
};
/// Its name: "nersc", "ildg", "milc" or "openqcd".
const char* name(GaugeFormat format);

/// Checksum of a file.
struct Checksum {
    std::string kind;      ///< "nersc", "scidac", "milc"; "plaquette" for openQCD, which has no other; "none"
    std::string stored;    ///< hexadecimal, empty where the file has none
    std::string computed;  ///< from the links, hexadecimal
    bool ok = true;        ///< both agree, or none is stored
};

/// Facts about a file besides the links: stated by it, and found by the reader.
struct GaugeFileFacts {
    GaugeFormat format{};                       ///< of the file
    int bits = 64;                              ///< of a stored real number
    int rows = 3;                               ///< of a stored matrix: 2 or 3
    bool big_endian = true;                     ///< byte order of the numbers
    std::optional<double> stored_plaquette{};   ///< mean Re tr / 3, where the file states it
    std::optional<double> stored_link_trace{};  ///< mean Re tr / 3, where the file states it
    Checksum checksum{};                        ///< of the links
    double worst_distance_from_su3 = 0;         ///< over all links, see distance_from_su3()
    std::vector<std::string> notes{};           ///< for the user: no checksum, records that are not used, ...
};

/// A configuration from a file.
struct GaugeFile {
    GaugeField field;      ///< its links
    GaugeFileFacts facts;  ///< facts about the file
};

/// Reads a configuration. The format is recognised from the first bytes (openQCD, which has no mark, from its extents and length).
/// @throws InputError: no such file, no known format, damaged, checksum, plaquette or link trace other than stated, links not in SU(3)
GaugeFile read_gauge(const std::filesystem::path& file);

/// The extents that the header of a configuration states. @throws InputError: no such file, no known format, a damaged header, or another
/// length of the links than the header requires
Extents read_extents(const std::filesystem::path& file);

/// Options of writing a configuration.
struct GaugeWriteOptions {
    GaugeFormat format = GaugeFormat::ildg;  ///< of the file
    int bits = 64;                           ///< 32 or 64 (openQCD: 64, MILC: 32)
    int rows = 3;                            ///< 2 or 3 (only NERSC: 2)
    bool big_endian = true;                  ///< of NERSC and MILC; ILDG files are big endian, openQCD files little endian
};
/// Writes a configuration; the file is replaced as a whole.
/// @throws InputError for values that the format cannot hold, and links that a reader would refuse
void write_gauge(const std::filesystem::path& file, const GaugeField& field, const GaugeWriteOptions& options);

}  // namespace kasane::lattice
