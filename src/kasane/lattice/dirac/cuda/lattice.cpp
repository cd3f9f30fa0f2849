#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/tiling.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

Lattice<Cuda>::Lattice(Cuda on, const Extents& extents) : on_(on) {
    check_extents(extents, {"", 0, 0, "lattice"});
    const auto made = device::lattice_tiling(extents);
    tiles_ = made.tiles;
    lanes_ = to_space(on, made.lanes);
    neighbours_ = to_space(on, made.neighbours);
    tiles_.lanes = lanes_.data();
    tiles_.neighbours = neighbours_.data();
}

}  // namespace kasane::lattice
#endif
