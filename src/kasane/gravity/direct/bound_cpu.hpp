// What the CPU's vector units allow direct summation: the arithmetic instructions of the inner loop, and nothing else.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

#include <string>

namespace kasane::gravity {

struct CpuDirectBound {
    double rate = 0;  ///< interactions per second
    std::string reason;
};

/// The rate at which this CPU executes the instruction mix of the variant `simd`, measured in 60 ms with every instruction
/// independent of the others and without loads. @param potential  is computed beside the acceleration
CpuDirectBound direct_bound(Cpu on, const Direct& options, bool potential);

}  // namespace kasane::gravity
