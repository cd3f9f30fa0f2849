// Whether this processor's gather instructions are slower than one load for each lane.
#pragma once

namespace kasane::sparse {

/// Measured at the first call, in less than a millisecond: on AMD processors, and on Intel processors with microcode against gather data
/// sampling, loads are faster (docs/sparse-studies.md).
bool gathers_are_slow();

}  // namespace kasane::sparse
