// The seams between DirectSum and its variants; internal to gravity/direct.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity::detail {

/// Any space, no scratch.
template <Space S>
void direct_plain(S on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out);

/// CPU: explicit SIMD; keeps its packed copies of the particles between calls.
class DirectSimd {
   public:
    void operator()(Cpu on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self,
                    const Field& out);
    static std::uint64_t memory(index_t targets, index_t sources, Precision precision);

   private:
    template <class Real>
    void run(Cpu on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out);

    Buffer<unsigned char, Cpu> scratch_;
};

#if defined(KASANE_CUDA)
/// What DirectSum<Cuda> takes on the device beside its input and output.
std::uint64_t cuda_scratch_bytes(index_t targets, index_t sources, const Direct& options);
#endif

/// Options that every space refuses. @throws InputError
void validate(const Direct& options);

}  // namespace kasane::gravity::detail
