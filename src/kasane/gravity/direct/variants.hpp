// The interfaces between DirectSum, DirectForce and their variants; internal to gravity/direct.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/softening/pair.body.hpp>

namespace kasane::gravity::detail {

/// The form of the pairs, a function of the options alone.
inline PairSoftening pair_softening(const Direct& options) {
    if (options.softening_kernel == SofteningKernel::spline) return PairSoftening::spline;
    if (options.softening_per_particle) return PairSoftening::plummer;
    return options.softening > 0 ? PairSoftening::common : PairSoftening::none;
}
inline DirectLayout layout_of(const Direct& options) { return {options.precision, own_softening(pair_softening(options))}; }

/// The variant `plain` on any space; needs no scratch memory.
/// @param softening  of each target, used where pairs combine softenings; empty: options.softening
template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out,
                  View<const double> softening);

/// Checks the options of DirectSum<Cpu> and DirectForce<Cpu>. @throws InputError
void validate_cpu(const Direct& options);
/// Scratch memory of DirectForce<Cpu>, without packed particles [byte].
std::uint64_t cpu_force_bytes(index_t targets, const Direct& options);

#if defined(KASANE_CUDA)
/// Scratch memory of DirectForce<Cuda>, without packed particles [byte]. @param largest_block  particles of the largest source block
std::uint64_t cuda_force_bytes(index_t own, index_t largest_block, const Direct& options);
#endif

/// Checks the options of direct summation on any space. @throws InputError
void validate(const Direct& options);

}  // namespace kasane::gravity::detail
