// HDF5's file driver for files that are written: every write goes to the file at once, so that no image of the file is kept in memory.
// Invariants: the driver reports no error of the disk to HDF5, because HDF5 1.10 crashes at the end of the program after a full disk; the
// first error is kept, and hdf5::File throws it. Internal to core/io.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace kasane::hdf5 {

/// A file that HDF5 writes.
class OutputFile {
   public:
    /// @param descriptor  open for reading and writing
    explicit OutputFile(int descriptor) : descriptor_(descriptor) {}
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Writes, unless an earlier write has failed. Starts the disk on large parts while the next ones are copied to the system's cache.
    void write(std::uint64_t address, const void* bytes, std::uint64_t count);
    /// Writes parts of memory one after the other, unless an earlier write has failed, and does not start the disk.
    /// @param parts  changed
    void write(std::uint64_t address, std::span<iovec> parts);
    /// Lets the disk begin with neighbouring writes, from 8 MiB on. One other thread may call it beside write(): to start the disk takes
    /// nearly as long as the copy to the system's cache (0.11 and 0.13 s of 512 MiB on ext4).
    void start_disk(std::uint64_t address, std::uint64_t count);
    /// From now on HDF5 only allocates space for numbers that it writes from `source`, and the caller writes the content. Writes of another
    /// length than `bytes` are executed.
    void reserve_from(const void* source, std::uint64_t bytes);
    /// Ends the reservation. @returns the addresses, in the order of HDF5's writes
    std::vector<std::uint64_t> reserved();
    /// Reads what was written; zeros elsewhere.
    void read(std::uint64_t address, void* bytes, std::uint64_t count);
    /// Closes the file, which may report an error of earlier writes (NFS, quotas). HDF5 must have closed it.
    void close();
    /// Sets the length of the file.
    void resize(std::uint64_t length);

    /// Length that HDF5 has allocated, and that of the file [byte].
    std::uint64_t allocated = 0, length = 0;
    /// The errno of the first write that failed; 0: none has.
    int error() const { return error_; }

   private:
    void put(std::uint64_t address, const char* bytes, std::uint64_t count);

    int descriptor_;
    int error_ = 0;
    const void* reserved_from_ = nullptr;
    std::uint64_t reserved_bytes_ = 0;
    std::vector<std::uint64_t> reserved_;
    std::uint64_t written_begin_ = 0, written_end_ = 0;  ///< neighbouring writes with which the disk has not begun
};

/// Makes the files that are created with these access properties write to `file`, which must exist until they are closed.
herr_t set_output_driver(hid_t access, OutputFile& file);

}  // namespace kasane::hdf5
