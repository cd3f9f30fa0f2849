// Lattice<Cuda> and Field<Cuda, P>: the numbering of the sites on a device, and one parity of a quark field there. No CUDA headers.
// Invariant: a field holds whole blocks of 32 places; those after the last site are never read.
#pragma once

#include <kasane/lattice/dirac/cuda/memory.hpp>
#include <kasane/lattice/dirac/cuda/tiles.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice {

template <>
class Lattice<Cuda> {
   public:
    /// @throws InputError if check_extents does
    Lattice(Cuda on, const Extents& extents);

    const Extents& extents() const { return tiles_.extents; }
    Cuda space() const { return on_; }
    /// Work of fields and operators of this lattice is submitted to `stream` until `submit` returns: to capture it. One thread at a time.
    template <class Submit>
    void submit_to(CUstream_st* stream, Submit submit) const {
        struct Restore {
            Cuda &now, before;
            ~Restore() { now = before; }
        } restore{on_, on_};
        on_.stream = stream;
        submit();
    }
    const device::Tiles& tiles() const { return tiles_; }
    std::uint32_t sites() const { return static_cast<std::uint32_t>(tiles_.extents.half()); }  ///< of one parity
    std::uint32_t blocks() const { return (sites() + device::row - 1) / device::row; }

   private:
    mutable Cuda on_;
    device::Tiles tiles_;
    Buffer<device::LaneEntry, Cuda> lanes_;
    Buffer<device::TileEntry, Cuda> neighbours_;
};

template <Precision P>
class Field<Cuda, P> {
   public:
    explicit Field(std::shared_ptr<const Lattice<Cuda>> lattice)
        : lattice_(std::move(lattice)),
          data_(lattice_->space(), index_t{lattice_->blocks()} * device::spinor_chunks<P> * device::row),
          scale_(lattice_->space(), P == Precision::half ? index_t{lattice_->blocks()} * device::row : 0) {}

    const std::shared_ptr<const Lattice<Cuda>>& lattice() const { return lattice_; }
    std::uint64_t bytes() const {
        return static_cast<std::uint64_t>(data_.size()) * sizeof(device::Chunk) + static_cast<std::uint64_t>(scale_.size()) * sizeof(float);
    }
    device::FieldView<P> view() { return {data_.data(), scale_.data()}; }
    /// A view for reading only.
    device::FieldView<P> view() const { return {const_cast<device::Chunk*>(data_.data()), const_cast<float*>(scale_.data())}; }

   private:
    std::shared_ptr<const Lattice<Cuda>> lattice_;
    Buffer<device::Chunk, Cuda> data_;
    Buffer<float, Cuda> scale_;
};

}  // namespace kasane::lattice
#endif
