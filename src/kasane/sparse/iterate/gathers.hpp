// Whether this processor's gather instructions are slower than one load for each lane.
#pragma once

namespace kasane::sparse {

/// True on AMD processors: docs/sparse-studies.md has the measurement.
inline bool gathers_are_slow() {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

}  // namespace kasane::sparse
