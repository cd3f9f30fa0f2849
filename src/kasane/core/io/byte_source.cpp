#include <kasane/core/base/error.hpp>
#include <kasane/core/io/byte_source.hpp>
#include <kasane/core/io/input_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kasane {

ByteSource::ByteSource(const std::filesystem::path& path) : name_(path.string()) {
    const Where where{name_, 0, 0, ""};
    io::check_regular_file(path, "a file whose length is known");
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    KS_VALIDATE(descriptor_ >= 0, fmt::format("cannot be read: {}", std::strerror(errno)), where);
    struct stat facts{};
    if (::fstat(descriptor_, &facts) == 0) size_ = static_cast<std::uint64_t>(facts.st_size);
}

ByteSource::~ByteSource() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t ByteSource::read_at(std::uint64_t position, void* to, std::size_t count) const {
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - std::min(size_, position)));
    if (count == 0) return 0;
    if (descriptor_ < 0) {
        std::memcpy(to, bytes_.ptr + position, count);
        return count;
    }
    std::size_t done = 0;
    while (done < count) {
        const auto came = ::pread(descriptor_, static_cast<char*>(to) + done, count - done, static_cast<off_t>(position + done));
        if (came < 0 && errno == EINTR) continue;
        KS_VALIDATE(came >= 0, fmt::format("cannot be read: {}", std::strerror(errno)), {name_, 0, 0, ""});
        if (came == 0) break;
        done += static_cast<std::size_t>(came);
    }
    return done;
}

std::size_t ByteSource::read(void* to, std::size_t count) {
    const auto came = read_at(position_, to, count);
    position_ += came;
    return came;
}

void ByteSource::skip(std::uint64_t count) { position_ += std::min(count, left()); }

std::string ByteSource::head() const {
    std::string bytes(64, '\0');
    bytes.resize(read_at(0, bytes.data(), bytes.size()));
    return bytes;
}

std::string_view how_to_unpack(std::string_view head) {
    using namespace std::string_view_literals;
    constexpr std::string_view known[][2] = {
        {"\x1f\x8b"sv, "is compressed with gzip: unpack it first (gunzip -k FILE)"sv},
        {"BZh"sv, "is compressed with bzip2: unpack it first (bunzip2 -k FILE)"sv},
        {"\xfd"
         "7zXZ"sv,
         "is compressed with xz: unpack it first (unxz -k FILE)"sv},
        {"\x28\xb5\x2f\xfd"sv, "is compressed with zstd: unpack it first (unzstd FILE)"sv},
        {"PK\x03\x04"sv, "is a zip archive: unpack it first"sv},
    };
    for (const auto& [magic, how] : known)
        if (head.starts_with(magic)) return how;
    return "";
}

}  // namespace kasane
