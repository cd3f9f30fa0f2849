#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace kasane {

namespace {

std::filesystem::path directory_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::uint64_t free_bytes(const std::filesystem::path& directory) {
    struct statvfs volume{};
    if (::statvfs(directory.c_str(), &volume) != 0 || volume.f_blocks == 0) return UINT64_MAX;  // a file system without blocks (/proc)
    return static_cast<std::uint64_t>(volume.f_bavail) * volume.f_frsize;
}

std::string size_text(std::uint64_t bytes) {
    const double kib = static_cast<double>(bytes) / 1024;
    return kib < 1024 ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.1f} MiB", kib / 1024);
}

[[noreturn]] void fail_writing(const std::filesystem::path& target, int error) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    const auto space = free_bytes(directory_of(target));
    throw ComputationError(fmt::format("cannot write {}: {}{}; {}", target.string(), std::strerror(error),
                                       full && space != UINT64_MAX ? fmt::format(" ({} free there)", size_text(space)) : std::string(),
                                       full ? "an older file of this name is untouched. Free some space, or write to another disk"
                                            : "an older file of this name is untouched"));
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target, std::uint64_t expected_bytes) : target_(std::move(target)) {
    const auto directory = directory_of(target_);
    const auto name = target_.filename().string();
    const Where where{target_.string(), 0, 0, {}};
    KS_VALIDATE(!name.empty() && name != "." && name != "..", "is not a file name: give a name", where);
    std::error_code ignored;
    KS_VALIDATE(std::filesystem::is_directory(directory, ignored),
                fmt::format("cannot be written: there is no directory {}. Create it first", directory.string()), where);
    const auto status = std::filesystem::status(target_, ignored);
    KS_VALIDATE(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status),
                std::filesystem::is_directory(status) ? "cannot be written: it is a directory. Give a file name"
                                                      : "cannot be written: it exists and is not a regular file",
                where);
    const auto space = free_bytes(directory);
    if (expected_bytes > space) {
        throw ComputationError(
            fmt::format("cannot write {}: disk full: {} are needed and {} are free; an older file of "
                        "this name is untouched. Free some space, or write to another disk",
                        target_.string(), size_text(expected_bytes), size_text(space)));
    }
    // One temporary name per target, so that the remains of a killed run are removed here and never accumulate.
    temporary_ = directory / ("." + name + ".tmp");
    ::unlink(temporary_.c_str());
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        const int error = errno;
        if (error == ENOSPC || error == EDQUOT || error == EIO) fail_writing(target_, error);
        throw InputError(fmt::format("cannot be written: {}. Choose a directory in which you may create files", std::strerror(error)),
                         where);
    }
}

std::filesystem::path AtomicFile::target_of(const std::filesystem::path& temporary) {
    const auto name = temporary.filename().string();
    if (name.size() < 6 || !name.starts_with('.') || !name.ends_with(".tmp")) return temporary;
    return temporary.parent_path() / name.substr(1, name.size() - 5);
}

AtomicFile::~AtomicFile() { discard(); }

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)), temporary_(std::move(other.temporary_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
    if (this != &other) {
        discard();
        target_ = std::move(other.target_);
        temporary_ = std::move(other.temporary_);
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

void AtomicFile::discard() noexcept {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    descriptor_ = -1;
    ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t count) {
    KS_EXPECT(descriptor_ >= 0);
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const auto written = ::write(descriptor_, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail_writing(target_, errno);
        at += written;
        count -= static_cast<std::size_t>(written);
    }
}

void AtomicFile::commit() {
    KS_EXPECT(descriptor_ >= 0);
    struct stat mine{};
    struct stat named{};
    if (::fsync(descriptor_) != 0 || ::fstat(descriptor_, &mine) != 0) fail_writing(target_, errno);
    if (::stat(temporary_.c_str(), &named) != 0 || mine.st_ino != named.st_ino || mine.st_dev != named.st_dev) {
        ::close(std::exchange(descriptor_, -1));  // the name belongs to the other process now
        throw ComputationError(
            fmt::format("cannot write {}: another process is writing the same file. Give each run its own "
                        "directory",
                        target_.string()));
    }
    struct stat replaced{};  // a file that others may not read stays so; a file system without permissions refuses, which changes nothing
    if (::stat(target_.c_str(), &replaced) == 0 && ::fchmod(descriptor_, replaced.st_mode & 0777) != 0) errno = 0;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
    ::close(std::exchange(descriptor_, -1));

    // The rename itself is durable only once the directory is on disk; file systems that cannot sync one say EINVAL.
    const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;  // may be write-only for us; the file is in place
    const int error = ::fsync(directory) == 0 ? 0 : errno;
    ::close(directory);
    if (error != 0 && error != EINVAL) {
        throw ComputationError(
            fmt::format("{} is written, but its directory could not be forced to disk: {}", target_.string(), std::strerror(error)));
    }
}

void write_atomically(const std::filesystem::path& target, std::string_view text) {
    AtomicFile file(target, text.size());
    file.write(text);
    file.commit();
}

}  // namespace kasane
