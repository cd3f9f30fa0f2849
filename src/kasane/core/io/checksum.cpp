#include <kasane/core/io/checksum.hpp>

#include <xxhash.h>

#include <new>

namespace kasane::io {

struct Checksum::State {
    XXH3_state_t* xxh = XXH3_createState();  // must be aligned to 64 bytes, as the library's own allocation is
    State() {
        if (!xxh) throw std::bad_alloc();
        XXH3_64bits_reset(xxh);
    }
    ~State() { XXH3_freeState(xxh); }
};

Checksum::Checksum() : state_(std::make_unique<State>()) {}
Checksum::~Checksum() = default;
void Checksum::add(const void* bytes, std::size_t count) {
    if (count > 0) XXH3_64bits_update(state_->xxh, bytes, count);
}
std::uint64_t Checksum::value() const { return XXH3_64bits_digest(state_->xxh); }

}  // namespace kasane::io
