// The readers and writers behind gauge_file.hpp, one pair per format, for bytes from anywhere and any limit of memory: what fuzzing and
// tests drive.
#pragma once

#include <kasane/core/io/byte_source.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <cstdint>
#include <string>

namespace kasane::lattice {

/// Recognised by the first bytes. @param memory  bytes that may be taken; more is refused with both numbers
GaugeFile read_gauge(ByteSource& source, std::uint64_t memory);

bool is_nersc(const std::string& head);
GaugeFile read_nersc(ByteSource& source, std::uint64_t memory);
void write_nersc(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored);

bool is_lime(const std::string& head);
GaugeFile read_ildg(ByteSource& source, std::uint64_t memory);
void write_ildg(const std::filesystem::path& file, const GaugeField& field, const Encoding& stored);

bool is_milc(const std::string& head);
GaugeFile read_milc(ByteSource& source, std::uint64_t memory);

/// @param length  of the whole file, by which it is recognised
bool is_openqcd(const std::string& head, std::uint64_t length);
GaugeFile read_openqcd(ByteSource& source, std::uint64_t memory);
void write_openqcd(const std::filesystem::path& file, const GaugeField& field);

}  // namespace kasane::lattice
