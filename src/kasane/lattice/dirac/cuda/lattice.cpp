#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/tiling.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

Lattice<Cuda>::Lattice(Cuda on, const Extents& extents) : on_(on) {
    check_extents(extents, "lattice");
    // 256 sites, 8 x 4 x 4 x 4: two blocks of threads share a tile.
    const auto made = device::tiling(extents, 256);
    tiles_ = made.tiles;
    lanes_ = to_space(on, made.lanes);
    neighbours_ = to_space(on, made.neighbours);
    tiles_.lanes = lanes_.data();
    tiles_.neighbours = neighbours_.data();
}

}  // namespace kasane::lattice
#endif
