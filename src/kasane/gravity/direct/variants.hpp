// The interfaces between DirectSum, DirectForce and their variants; internal to gravity/direct.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity::detail {

/// The variant `plain` on any space; needs no scratch memory.
template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out);

/// Checks the options of DirectSum<Cpu> and DirectForce<Cpu>. @throws InputError
void validate_cpu(const Direct& options);
/// Scratch memory of DirectForce<Cpu>, without packed particles [byte].
std::uint64_t cpu_force_bytes(index_t targets, Precision precision);

#if defined(KASANE_CUDA)
/// Scratch memory of DirectForce<Cuda>, without packed particles [byte]. @param largest_block  particles of the largest source block
std::uint64_t cuda_force_bytes(index_t own, index_t largest_block, const Direct& options);
#endif

/// Checks the options of direct summation on any space. @throws InputError
void validate(const Direct& options);

}  // namespace kasane::gravity::detail
