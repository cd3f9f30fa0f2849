// XXH3, 64 bits: detects damaged files. It does not protect against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::io {

class Checksum {
   public:
    Checksum();
    ~Checksum();
    Checksum(const Checksum&) = delete;
    Checksum& operator=(const Checksum&) = delete;

    void add(const void* bytes, std::size_t count);
    /// The elements' bytes; T must have no padding.
    template <class T>
    void add(const std::vector<T>& values) {
        add(values.data(), values.size() * sizeof(T));
    }
    /// Adds the checksums of parts of 1 MiB, which all threads compute, in place of the bytes.
    void add_in_parts(const void* bytes, std::size_t count);
    template <class T>
    void add_in_parts(const std::vector<T>& values) {
        add_in_parts(values.data(), values.size() * sizeof(T));
    }
    std::uint64_t value() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::io
