// The operator and the multigrid of a box that is divided into slabs (BoxOperator and BoxMultigrid on many workers). Large grids are
// divided: each worker has its planes and one plane of each neighbour. The first grid that is small, or whose slabs would cut coarse cells,
// and all grids after it are on every worker; all workers compute the same bits there. Boundary planes are computed first and sent while
// the other planes are computed. Invariants: the cycle is that of BoxMultigrid, with the same grids, to rounding.
#pragma once

#include <kasane/sparse/distributed/box_part.hpp>
#include <kasane/sparse/distributed/distributed_algebra.hpp>
#include <kasane/sparse/distributed/plane_exchange.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace kasane::sparse {

template <Space S>
class SlabOperator {
   public:
    /// Collective over the workers.
    SlabOperator(S on, comm::Worker& worker, const BoxPart& part);

    /// The interface of krylov: out = A in, of the own cells.
    void apply(DistributedAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const;

    /// The whole box, with the first plane in memory.
    const BoxCells& cells() const { return cells_; }
    Planes own() const { return own_; }
    BoxFaces<double> faces() const { return {cells_, {face_[0].data(), face_[1].data(), face_[2].data()}}; }
    std::uint64_t bytes() const;

   private:
    S on_;
    BoxCells cells_;
    Planes own_;
    Buffer<double, S> face_[3];
    mutable Buffer<double, S> below_, above_;  ///< numbers of the neighbours' planes
    mutable PlaneExchange<S> exchange_;
};

template <Space S>
class SlabMultigrid {
   public:
    /// Collective over the workers. @param A  its faces are copied
    SlabMultigrid(S on, comm::Worker& worker, const BoxPart& part, const SlabOperator<S>& A);

    /// The interface of krylov: out = M^-1 in, of the own cells.
    void apply(DistributedAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const;

    /// The grids, the finest first.
    std::vector<BoxCells> grids() const;
    /// Number of divided grids.
    std::size_t divided() const { return slabs_.size(); }
    std::uint64_t bytes() const;

   private:
    /// A divided grid.
    struct Slab {
        BoxCells cells;
        std::vector<std::int32_t> begin;              ///< first plane of each worker
        Planes own, there;                            ///< there: in memory, by with_neighbours()
        JoinedLine line[3] = {};                      ///< to the next grid
        Buffer<float, S> face[3], share[3], x, b, r;  ///< share, r: of one colour, as in BoxCycle
        BoxFaces<float> faces() const { return {cells, {face[0].data(), face[1].data(), face[2].data()}}; }
    };

    bool add_coarse(comm::Worker& worker);
    void exchange_faces(Slab& slab);
    void start_exchange(const Slab& slab, const Buffer<float, S>& values) const;
    template <class Body>
    void on_planes(const Slab& slab, const Buffer<float, S>& values, const Body& body) const;
    void smooth(const Slab& slab, int colour, bool from_zero) const;
    void cycle(std::size_t level) const;

    S on_;
    int worker_;
    double unit_;
    mutable PlaneExchange<S> exchange_;
    mutable std::vector<Slab> slabs_;
    std::unique_ptr<BoxCycle<S>> rest_;     ///< the grids that every worker has
    std::vector<std::int32_t> rest_begin_;  ///< first plane of each worker on the first of these
};

}  // namespace kasane::sparse
