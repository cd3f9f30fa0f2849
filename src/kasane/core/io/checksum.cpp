#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/core/io/checksum.hpp>

#include <xxhash.h>

#include <algorithm>
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
void Checksum::add_in_parts(const void* bytes, std::size_t count) {
    constexpr std::size_t piece = 1 << 20;
    std::vector<std::uint64_t> sums((count + piece - 1) / piece);
    for_each_part(thread_count(Cpu{}), std::ssize(sums), [&](index_t part) {
        const auto k = static_cast<std::size_t>(part);
        sums[k] = XXH3_64bits(static_cast<const unsigned char*>(bytes) + k * piece, std::min(piece, count - k * piece));
    });
    add(sums);
}
std::uint64_t Checksum::value() const { return XXH3_64bits_digest(state_->xxh); }

}  // namespace kasane::io
