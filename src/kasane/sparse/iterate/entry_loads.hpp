// How this processor loads the entries of a matrix and what they multiply: by gathers or lane by lane, with prefetches or without.
#pragma once

namespace kasane::sparse {

/// Measured at the first call, in less than a millisecond: on AMD processors, and on Intel processors with microcode against gather data
/// sampling, loads are faster (docs/sparse-studies.md).
bool gathers_are_slow();

/// Whether the processor itself fetches a matrix from memory in time, so that prefetch instructions only cost: AMD (Zen 4). Intel
/// processors are a fifth faster with prefetches (docs/sparse-studies.md).
bool prefetchers_suffice();

}  // namespace kasane::sparse
