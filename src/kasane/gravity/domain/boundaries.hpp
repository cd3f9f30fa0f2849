// Domains along the space-filling curve: contiguous ranges of keys, one per worker, with equal shares of the work ([OMBMN12] section 6.1,
// which gives each process the same number of particles).
// Invariants: boundaries are a function of the parts alone, in any order; equal keys belong to one domain; a domain may be empty.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// Consecutive particles on the curve: their first key and the sum of their work.
struct CurvePart {
    std::uint64_t key;
    double work;
};

/// Parts into which each of the `workers` divides its particles. Each boundary is off by at most the work of one part per worker, so that
/// the parts of all workers together determine the work of a domain to about 2 workers / parts of its share.
index_t parts_per_worker(int workers);

/// The first keys of the domains after the first one, ascending: domain d holds the keys in [boundary[d - 1], boundary[d]). Keys are below
/// 2^63.
/// @param parts  of all workers; work >= 0. If the sum of the work is not positive and finite, all parts count the same
/// @return [domains - 1]
std::vector<std::uint64_t> domain_boundaries(std::vector<CurvePart> parts, int domains);

/// The domain of a key.
int domain_of(std::uint64_t key, const std::vector<std::uint64_t>& boundary);

}  // namespace kasane::gravity
