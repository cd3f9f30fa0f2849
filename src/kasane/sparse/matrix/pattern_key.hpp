// A number that identifies the pattern of a matrix, so that new values can be checked to belong to it.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>

namespace kasane::sparse {

/// Hash of offsets and columns, in their order; never 0. Different patterns have the same key with a probability of 2^-64.
/// @param A  offsets and columns are checked
inline std::uint64_t pattern_key(const CsrView& A) {
    std::uint64_t key = 0x9e3779b97f4a7c15;
    const auto add = [&key](index_t number) {  // [Steele, Lea & Flood 2014]: the finaliser of SplitMix64
        key += static_cast<std::uint64_t>(number) + 0x9e3779b97f4a7c15;
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
        key = (key ^ key >> 27) * 0x94d049bb133111eb;
        key ^= key >> 31;
    };
    add(A.n);
    for (index_t row = 0; row < A.n; ++row) {
        add(A.end(row));
        for (index_t e = A.begin(row); e < A.end(row); ++e) add(A.column(e));
    }
    return key != 0 ? key : 1;
}

/// @throws LogicError where A has another key
inline void require_pattern(const CsrView& A, std::uint64_t key) {
    KS_REQUIRE(pattern_key(A) == key,
               "the matrix has another pattern than the one that the solver was made for: make another solver for it.");
}

/// @throws LogicError where a solver's last update() failed
inline void require_ready(bool ready) {
    KS_REQUIRE(ready, "the last update() of the matrix failed: call update() with values that can be solved.");
}

}  // namespace kasane::sparse
