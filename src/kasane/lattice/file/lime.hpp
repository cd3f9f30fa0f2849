// LIME, the container of ILDG and SciDAC files: records of a type and a length, in messages of one or more.
// A record: 144 bytes (magic number, version, flags, length, type; big endian), then its data, padded to a multiple of 8.
// Invariant: a listed record is in the file with its whole length.
#pragma once

#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/byte_source.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::lattice {

inline constexpr std::uint32_t lime_magic = 0x456789ab;

struct LimeRecord {
    std::string type;
    std::uint64_t position = 0;  ///< of its data in the file
    std::uint64_t length = 0;    ///< of its data
    int message = 0;             ///< counted from 0
    bool ends_message = false;
};

/// All records, of which only the headers are read.
/// @throws InputError naming the byte: not LIME, an unknown version, a record that reaches beyond the end, more than
///   10,000 records
std::vector<LimeRecord> lime_records(ByteSource& source);

/// The text of a record, without the zeros that some writers append. @throws InputError for more than 64 KiB
std::string lime_text(ByteSource& source, const LimeRecord& record);

/// Bytes of a record with its header and padding.
std::uint64_t lime_size(std::uint64_t length);
std::string lime_header(std::string_view type, std::uint64_t length, bool begins_message, bool ends_message);
/// Zeros after that many bytes of data.
std::string lime_padding(std::uint64_t length);

}  // namespace kasane::lattice
