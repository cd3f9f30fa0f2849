// A file that appears complete or not at all: written under a temporary name in the same directory, forced to disk, renamed.
// Invariants: until commit() returns the old file of that name is unchanged; a writer that fails or is dropped removes its temporary file;
// one that is killed leaves it, and the next writer of the same name removes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace kasane {

class AtomicFile {
   public:
    /// Creates the temporary file, empty. @param expected_bytes size of the content, if known: compared with the free space first.
    /// @throws InputError: no such directory, not writable, or the name is taken by something that is not a file
    /// @throws ComputationError: too little space for expected_bytes
    explicit AtomicFile(std::filesystem::path target, std::uint64_t expected_bytes = 0);
    ~AtomicFile();
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&& other) noexcept;

    /// Name for writing until commit(): through write(), or by opening this name (HDF5 does) and closing it before commit().
    const std::filesystem::path& temporary() const { return temporary_; }
    const std::filesystem::path& target() const { return target_; }
    /// The target of a temporary file, for messages; any other name is returned as it is.
    static std::filesystem::path target_of(const std::filesystem::path& temporary);

    /// Appends. @throws ComputationError (disk full)
    void write(const void* bytes, std::size_t count);
    void write(std::string_view text) { write(text.data(), text.size()); }

    /// Forces the data to disk, renames the file and forces the directory to disk. @throws ComputationError; the old file is then still
    /// there
    void commit();

   private:
    void discard() noexcept;

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
};

/// Writes `text` as the whole content of the file `target`, atomically.
void write_atomically(const std::filesystem::path& target, std::string_view text);

}  // namespace kasane
