// Bytes of a file or of memory, read in order from any position.
// Invariants: the number of bytes is known before the first is read; a file that shrinks while it is read only ends early.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kasane {

class ByteSource {
   public:
    /// @throws InputError: no such file, a directory, something without a length (a pipe), no permission
    explicit ByteSource(const std::filesystem::path& path);
    /// @param bytes  not copied   @param name  for messages
    ByteSource(View<const char> bytes, std::string name)
        : name_(std::move(name)), bytes_(bytes), size_(static_cast<std::uint64_t>(bytes.n)) {}
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }
    std::uint64_t position() const { return position_; }
    std::uint64_t left() const { return size_ - position_; }
    /// @returns how many bytes were read: fewer than requested only at the end   @throws InputError when the system cannot read
    std::size_t read(void* to, std::size_t count);
    /// Does the same from any position; the position of read() does not change. Several threads may call it at a time.
    std::size_t read_at(std::uint64_t position, void* to, std::size_t count) const;
    /// Skips this number of bytes, at most to the end.
    void skip(std::uint64_t count);
    /// Continues at this position, at most at the end.
    void seek(std::uint64_t position) { position_ = position < size_ ? position : size_; }
    /// The first bytes of the file, 64 at most; the position does not change.
    std::string head() const;

   private:
    std::string name_;
    View<const char> bytes_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0, position_ = 0;
};

/// Returns how to unpack a file whose first bytes are those of a compressed file, as part of a message; empty for other files.
std::string_view how_to_unpack(std::string_view head);

}  // namespace kasane
