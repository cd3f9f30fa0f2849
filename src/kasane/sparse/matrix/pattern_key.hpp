// A number that identifies the pattern of a matrix, so that new values can be checked to belong to it.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/matrix/kind.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// Hash of offsets and columns, in their order; never 0. Different patterns have the same key with a probability of 2^-64.
/// @param A  offsets and columns are checked
inline std::uint64_t pattern_key(const CsrView& A) {
    constexpr index_t rows_of_part = 4096;
    const auto add = [](std::uint64_t& key, std::uint64_t number) {  // [Steele, Lea & Flood 2014]: the finaliser of SplitMix64
        key += number + 0x9e3779b97f4a7c15;
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
        key = (key ^ key >> 27) * 0x94d049bb133111eb;
        key ^= key >> 31;
    };
    std::vector<std::uint64_t> parts(static_cast<std::size_t>((A.n + rows_of_part - 1) / rows_of_part));
    for_each_part(thread_count(Cpu{}), std::ssize(parts), [&](index_t part) {
        const auto first = part * rows_of_part, last = std::min(first + rows_of_part, A.n);
        std::uint64_t chain[4] = {1, 2, 3, 4};  // independent, so that one does not wait for the products of another
        index_t e = A.begin(first);
        for (const index_t end = A.begin(last) - 3; e < end; e += 4)
            for (int k = 0; k < 4; ++k) add(chain[k], static_cast<std::uint64_t>(A.column(e + k)));
        for (; e < A.begin(last); ++e) add(chain[0], static_cast<std::uint64_t>(A.column(e)));
        for (index_t row = first; row < last; ++row) add(chain[row % 4], static_cast<std::uint64_t>(A.end(row)));
        auto& its_key = parts[static_cast<std::size_t>(part)];
        its_key = chain[0];
        for (int k = 1; k < 4; ++k) add(its_key, chain[k]);
    });
    std::uint64_t key = 0x9e3779b97f4a7c15;
    add(key, static_cast<std::uint64_t>(A.n));
    for (const auto part : parts) add(key, part);
    return key != 0 ? key : 1;
}

/// @throws LogicError where A has another key
inline void require_pattern(const CsrView& A, std::uint64_t key) {
    KS_REQUIRE(pattern_key(A) == key,
               "the matrix has another pattern than the one that the solver was made for: make another solver for it.");
}

/// @throws LogicError where the kind has another size than A
inline void require_kind_of(const CsrView& A, const MatrixKind& kind) {
    KS_REQUIRE(A.n > 0 && kind.rows == A.n && kind.nonzeros == A.begin(A.n), "the kind is that of another matrix: take kind_of(A).");
}

/// @throws LogicError where a solver's last update() failed
inline void require_ready(bool ready) {
    KS_REQUIRE(ready, "the last update() of the matrix failed: call update() with values that can be solved.");
}

}  // namespace kasane::sparse
