// The seams between DirectSum and its variants; internal to gravity/direct.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity::detail {

/// Any space, no scratch.
template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out);

/// Options that DirectSum<Cpu> and DirectForce<Cpu> refuse. @throws InputError
void validate_cpu(const Direct& options);
/// What DirectForce<Cpu> takes for so many targets.
std::uint64_t cpu_force_bytes(index_t targets, Precision precision);

#if defined(KASANE_CUDA)
/// What DirectForce<Cuda> takes, for so many own particles and so many in the largest source block.
std::uint64_t cuda_force_bytes(index_t own, index_t largest_block, const Direct& options);
#endif

/// Options that every space refuses. @throws InputError
void validate(const Direct& options);

}  // namespace kasane::gravity::detail
