// Collects small writes into large ones.
#pragma once

#include <kasane/core/io/atomic_file.hpp>

#include <vector>

namespace kasane::lattice {

/// Writes blocks of 1 MiB to a file, which must outlive it. Call flush() at the end.
class BlockWriter {
   public:
    explicit BlockWriter(AtomicFile& file) : file_(file) { bytes_.reserve(size); }
    /// Appends bytes.
    void put(const unsigned char* bytes, std::size_t count) {
        if (bytes_.size() + count > size) flush();
        bytes_.insert(bytes_.end(), bytes, bytes + count);
    }
    /// Writes the bytes that are not written yet. @throws ComputationError (disk full)
    void flush() {
        file_.write(bytes_.data(), bytes_.size());
        bytes_.clear();
    }

   private:
    static constexpr std::size_t size = std::size_t{1} << 20;
    AtomicFile& file_;
    std::vector<unsigned char> bytes_;
};

}  // namespace kasane::lattice
