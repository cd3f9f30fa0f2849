// The readers and writers of gauge_file.hpp, one pair per format, for bytes from any source and any limit of memory: fuzzing and
// tests use them.
#pragma once

#include <kasane/core/io/byte_source.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/part_reader.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <cstdint>
#include <string>

namespace kasane::lattice {

/// Recognises the format by the first bytes. @param memory  bytes that may be used; a larger file is refused with both numbers
/// @param part  the sites that are kept: the field has those of its box alone, the facts are of the whole file
GaugeFile read_gauge(ByteSource& source, std::uint64_t memory, PartReader& part);
/// Reads the whole file.
GaugeFile read_gauge(ByteSource& source, std::uint64_t memory);

bool is_nersc(const std::string& head);
GaugeFile read_nersc(ByteSource& source, std::uint64_t memory, PartReader& part);
void write_nersc(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored);

bool is_lime(const std::string& head);
GaugeFile read_ildg(ByteSource& source, std::uint64_t memory, PartReader& part);
void write_ildg(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored);

bool is_milc(const std::string& head);
GaugeFile read_milc(ByteSource& source, std::uint64_t memory, PartReader& part);
void write_milc(const std::filesystem::path& file, const GaugeField& field, bool big_endian);

/// @param length  of the whole file, which identifies the format
bool is_openqcd(const std::string& head, std::uint64_t length);
GaugeFile read_openqcd(ByteSource& source, std::uint64_t memory, PartReader& part);
void write_openqcd(const std::filesystem::path& file, const GaugeField& field);

}  // namespace kasane::lattice
