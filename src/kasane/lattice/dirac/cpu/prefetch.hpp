// Which cache this processor fills faster by prefetches.
#pragma once

namespace kasane::lattice {

/// Whether prefetches to the second-level cache bring in data from memory at 1.3 times the rate of those to the first-level cache or more.
/// Measured at the first call, in a millisecond (docs/lattice-studies.md); false except on x86-64.
bool prefetch_to_second_cache_is_faster();

}  // namespace kasane::lattice
