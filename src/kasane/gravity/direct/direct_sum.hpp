// Direct summation of any sources at any targets, in one call. The steps of a simulation use DirectForce (direct_force.hpp), which keeps
// origin and scale between calls; this class computes them in each call.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

#include <memory>

namespace kasane::gravity {

/// Keeps its scratch memory between calls. Cost: targets times sources interactions, 26 flops each in the convention of [MTM13].
template <Space S>
class DirectSum {
   public:
    /// @throws InputError: softening negative or not finite, or a variant that this space does not have
    DirectSum(S on, const Direct& options);
    ~DirectSum();
    DirectSum(DirectSum&&) noexcept;
    DirectSum& operator=(DirectSum&&) noexcept;

    /// Overwrites `out`. Asynchronous on Cuda. @param targets  0 or more   @param sources  0 or more
    /// @param softening [targets.n]  of the targets, where pairs combine softenings; empty: options.softening
    void operator()(View<const Vec3<double>> targets, const Sources& sources, Self self, const Field& out,
                    View<const double> softening = {});

    /// The variant that runs for these numbers of targets and sources.
    DirectVariant chosen(index_t targets, index_t sources, Self self, bool potential) const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
