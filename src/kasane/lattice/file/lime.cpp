#include <kasane/core/base/error.hpp>
#include <kasane/core/io/number_text.hpp>
#include <kasane/lattice/file/lime.hpp>
#include <kasane/lattice/file/stored_links.hpp>

#include <fmt/format.h>

#include <array>

namespace kasane::lattice {
namespace {

constexpr std::size_t lime_header_bytes = 144, type_at = 16;
constexpr unsigned char begins = 0x80, ends = 0x40;

std::uint64_t padding_of(std::uint64_t length) { return (8 - length % 8) % 8; }

}  // namespace

std::vector<LimeRecord> lime_records(ByteSource& source) {
    constexpr std::size_t most_records = 10'000;
    std::vector<LimeRecord> records;
    source.seek(0);
    int message = 0;
    while (source.left() > 0) {
        const auto at = source.position();
        const auto refuse = [&](const std::string& why) {
            throw InputError(fmt::format("at byte {}, where a LIME record should begin, {}", at, why), {source.name(), 0, 0, ""});
        };
        std::array<unsigned char, lime_header_bytes> header{};
        if (source.read(header.data(), lime_header_bytes) < lime_header_bytes) refuse("the file ends: it is truncated");
        if (word_at(header.data(), true) != lime_magic) refuse("there is none: it is damaged");
        const int version = header[4] << 8 | header[5];
        if (version != 1) refuse(fmt::format("there is one of version {}, and 1 is read", version));
        LimeRecord record;
        record.length = long_word_at(header.data() + 8, true);
        const std::string_view type(reinterpret_cast<const char*>(header.data()) + type_at, lime_header_bytes - type_at);
        record.type = type.substr(0, type.find('\0'));
        record.position = source.position();
        if (record.length > source.left())
            refuse(fmt::format("there is one of type {} that states {} bytes, and {} follow: it is truncated", in_quotes(record.type),
                               record.length, source.left()));
        if (!records.empty() && (header[6] & begins)) ++message;
        record.message = message;
        record.ends_message = (header[6] & ends) != 0;
        if (records.size() == most_records)
            refuse(fmt::format("there are {} records before it already: it is not a gauge configuration", most_records));
        const auto length = record.length;
        records.push_back(std::move(record));
        source.skip(length);
        source.skip(padding_of(length));  // the last record's padding may be missing
    }
    return records;
}

std::string lime_text(ByteSource& source, const LimeRecord& record) {
    constexpr std::uint64_t most = 1 << 16;
    KS_VALIDATE(record.length <= most,
                fmt::format("its record {} has {} bytes, and such a text has at most {}: it is damaged", in_quotes(record.type),
                            record.length, most),
                {source.name(), 0, 0, ""});
    std::string text(static_cast<std::size_t>(record.length), '\0');
    source.seek(record.position);
    text.resize(source.read(text.data(), text.size()));
    return text.substr(0, text.find('\0'));
}

std::uint64_t lime_size(std::uint64_t length) { return lime_header_bytes + length + padding_of(length); }

std::string lime_header(std::string_view type, std::uint64_t length, bool begins_message, bool ends_message) {
    std::string header(lime_header_bytes, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(header.data());
    put_word(lime_magic, true, bytes);
    bytes[5] = 1;
    bytes[6] = static_cast<unsigned char>((begins_message ? begins : 0) | (ends_message ? ends : 0));
    put_word(length, true, bytes + 8);
    header.replace(type_at, type.size(), type);
    return header;
}

std::string lime_padding(std::uint64_t length) { return std::string(static_cast<std::size_t>(padding_of(length)), '\0'); }

}  // namespace kasane::lattice
