// Memory layout of the Dirac operator on a CUDA device: blocks of 32 places, and within a block a row of 32 chunks of 16 bytes for each
// part of a site's numbers, [place / 32][chunk][place % 32], so that a warp's access to a chunk is one whole row.
// Host and device code without CUDA headers; on the host the loads are plain ones.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/dirac/site.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

/// Arrays stay in registers only where every index is a constant.
#if defined(__CUDACC__)
#define KS_UNROLL _Pragma("unroll")
#else
#define KS_UNROLL
#endif

namespace kasane::lattice::device {

inline constexpr std::uint32_t row = 32;  ///< places of a block

struct alignas(16) Chunk {
    std::uint32_t word[4];
};

/// Type of one number in registers.
template <Precision P>
using Real = std::conditional_t<P == Precision::double_, double, float>;

/// Chunks of a spinor.
template <Precision P>
inline constexpr int spinor_chunks = P == Precision::double_  ? 12
                                     : P == Precision::single ? 6
                                                              : 3;

/// One parity of a quark field: component k = 3 spin + colour is the k-th pair of reals; half: of 16-bit words, with a scale per site.
template <Precision P>
struct FieldView {
    Chunk* data = nullptr;
    float* scale = nullptr;  ///< half alone
    KS_FN Chunk* at(std::uint32_t place) const {
        return data + (static_cast<index_t>(place / row) * (spinor_chunks<P> * row) + place % row);  // chunk c: + c row
    }
};

/// Loads data that one thread reads once: bypasses the first-level cache, which is left to shared data.
KS_FN Chunk load_once(const Chunk* from) {
#if defined(__CUDA_ARCH__)
    Chunk c;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(c.word[0]), "=r"(c.word[1]), "=r"(c.word[2]), "=r"(c.word[3])
        : "l"(from));
    return c;
#else
    return *from;
#endif
}
KS_FN void load_once(const char* from, std::uint32_t (&word)[2]) {
#if defined(__CUDA_ARCH__)
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(from));
#else
    std::memcpy(word, from, 8);
#endif
}
KS_FN void load_once(const char* from, std::uint32_t& word) {
#if defined(__CUDA_ARCH__)
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(word) : "l"(from));
#else
    std::memcpy(&word, from, 4);
#endif
}
/// Stores aligned words; std::memcpy to an address of unknown alignment is byte by byte on a device.
KS_FN void store(char* to, std::uint32_t first, std::uint32_t second) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<uint2*>(to) = make_uint2(first, second);
#else
    std::memcpy(to, &first, 4);
    std::memcpy(to + 4, &second, 4);
#endif
}
KS_FN void store(char* to, std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<std::uint32_t*>(to) = word;
#else
    std::memcpy(to, &word, 4);
#endif
}
/// Prefetches memory into the second-level cache; one thread for all of a multiple of 16 bytes. Does nothing before sm_90.
KS_FN void prefetch([[maybe_unused]] const char* from, [[maybe_unused]] int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
}
/// Loads data that several threads read and this kernel does not write.
KS_FN Chunk load_shared(const Chunk* from) {
#if defined(__CUDA_ARCH__)
    const uint4 c = __ldg(reinterpret_cast<const uint4*>(from));
    return {{c.x, c.y, c.z, c.w}};
#else
    return *from;
#endif
}
KS_FN float load_shared(const float* from) {
#if defined(__CUDA_ARCH__)
    return __ldg(from);
#else
    return *from;
#endif
}
/// Number of readers of links and clover terms: one thread, or threads of several columns, which find them in the first-level cache.
enum class Readers { one, several };
template <Readers readers>
KS_FN Chunk load(const Chunk* from) {
    return readers == Readers::one ? load_once(from) : load_shared(from);
}
template <Readers readers>
KS_FN void load(const char* from, std::uint32_t (&word)[2]) {
#if defined(__CUDA_ARCH__)
    if constexpr (readers == Readers::several) {
        const uint2 pair = __ldg(reinterpret_cast<const uint2*>(from));
        word[0] = pair.x, word[1] = pair.y;
        return;
    }
#endif
    load_once(from, word);
}
template <Readers readers>
KS_FN void load(const char* from, std::uint32_t& word) {
#if defined(__CUDA_ARCH__)
    if constexpr (readers == Readers::several) {
        word = __ldg(reinterpret_cast<const unsigned*>(from));
        return;
    }
#endif
    load_once(from, word);
}
/// Stores data that is written once: leaves the second-level cache first.
KS_FN void store_once(Chunk* to, const Chunk& c) {
#if defined(__CUDA_ARCH__)
    __stcs(reinterpret_cast<uint4*>(to), make_uint4(c.word[0], c.word[1], c.word[2], c.word[3]));
#else
    *to = c;
#endif
}

/// The numbers of a chunk: 4 floats or 2 doubles.
template <class V>
KS_FN V number(const Chunk& c, int i) {
    if constexpr (std::same_as<V, float>)
        return std::bit_cast<float>(c.word[i]);
    else
        return std::bit_cast<double>(static_cast<std::uint64_t>(c.word[2 * i + 1]) << 32 | c.word[2 * i]);
}
template <class V>
KS_FN void set_number(Chunk& c, int i, V value) {
    if constexpr (std::same_as<V, float>)
        c.word[i] = std::bit_cast<std::uint32_t>(value);
    else {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        c.word[2 * i] = static_cast<std::uint32_t>(bits);
        c.word[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
    }
}

}  // namespace kasane::lattice::device
