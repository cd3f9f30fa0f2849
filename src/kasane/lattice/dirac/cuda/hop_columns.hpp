// A hop of several right-hand sides ("columns") in one launch, for host code. Instantiated in hop_columns_*.cu for the links that solvers
// read by default; other storages go column by column.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Columns of a launch.
inline constexpr int most_columns = 12;

template <Precision P>
struct HopColumnsTask {
    HopTask<P> hop;  ///< of every column; its in, x and out are not used
    int columns = 0;
    struct {
        FieldView<P> in, x, out;
    } column[most_columns];
};

/// Whether launch_hop_columns has a kernel.
template <Precision P, LinkReals R, bool half_links>
inline constexpr bool has_hop_columns = R != LinkReals::parameters && half_links == (P == Precision::half);

/// Launches a hop of several columns on on.stream; does not wait. Each column has the bits of a separate hop.
template <Precision P, LinkReals R>
void launch_hop_columns(Cuda on, HopForm form, const HopColumnsTask<P>& task);

}  // namespace kasane::lattice::device
#endif
