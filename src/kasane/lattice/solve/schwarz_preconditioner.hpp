// Schwarz preconditioners of the even-odd preconditioned system, in one precision [Luscher 2004; Ish09, slides 36 to 41].
//   For every colour of blocks in turn:  r = b - D x;  D_i y_i = r on block i (extended by the overlap, Dirichlet boundary), by a few steps
//   of minimal residual;  x += y_i on the block's own region. Repeated for a number of cycles.
// Here b = (b_e, 0), and the odd half of x is eliminated: x_o = kappa A_oo^-1 H_oe x_e before every residual, so that r_o = 0 and
// A_ee^-1 r_e = A_ee^-1 b_e - Dhat x_e, Dhat the symmetric operator. So blocks exchange even halves alone; x_e approximates Dhat^-1 A_ee^-1
// b_e.
//
// Invariants: no sum over the lattice but the first norm; every block's result depends on its residual alone, so results do not depend on
// threads. The preconditioner is not linear: it needs a flexible method.
#pragma once

#include <kasane/lattice/solve/block_batch.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/low_precision.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace kasane::lattice {

/// The blocks of each batch of a colour: all of them on a device, where they can be stacked; otherwise one.
template <Space S>
std::vector<std::vector<index_t>> batches_of(const BlockGrid& grid, int colour) {
    std::vector<std::vector<index_t>> batches;
    const bool together = !std::same_as<S, Cpu> && grid.stacked_direction() >= 0;
    for (index_t block = 0; block < grid.blocks(); ++block) {
        if (grid.colour(block) != colour) continue;
        if (!together || batches.empty()) batches.emplace_back();
        batches.back().push_back(block);
    }
    return batches;
}

/// Data beyond one worker's part of the lattice that blocks read. Collective over the workers.
template <Space S, Precision P>
struct BlockBorder {
    std::shared_ptr<const Lattice<S>> lattice;  ///< of links, clover term and residuals: the part and a border; null: the part alone
    std::function<const Field<S, P>&(const Field<S, P>&)> extended;  ///< the residual there, of that of the part
};

/// @tparam Operator, Algebra  of the whole lattice
template <Space S, Precision P, class Operator = Dirac<S, P>, class Algebra = FieldAlgebra<S, P>>
class SchwarzPreconditioner {
   public:
    using Vector = Field<S, P>;

    /// Makes the preconditioner of a lattice on one device.
    /// @param whole    the operator of the whole lattice in this precision, which must outlive the preconditioner
    /// @param links, A, parameters, storage  of the same operator; links in 8 numbers are stored in 12, which can hold the zero of a face
    /// @param options  chosen, without problems (block_grid.hpp)
    SchwarzPreconditioner(const EvenOdd<S, P, Operator>& whole, const Links<S>& links, const CloverTerm<S>* A,
                          const DiracParameters& parameters, LinkStorage storage, Schur schur, const SchwarzOptions& options)
        : SchwarzPreconditioner(Algebra(whole.lattice()), block_grid(whole.lattice()->extents(), options), whole, links, A, parameters,
                                storage, schur, options) {}
    /// Makes the preconditioner of the blocks of this grid. @param links, A  of the border's lattice; without a border the links that leave
    /// `whole`'s lattice are zero
    SchwarzPreconditioner(Algebra algebra, const BlockGrid& grid, const EvenOdd<S, P, Operator>& whole, const Links<S>& links,
                          const CloverTerm<S>* A, const DiracParameters& parameters, LinkStorage storage, Schur schur,
                          const SchwarzOptions& options, BlockBorder<S, P> border = {})
        : whole_(whole),
          options_(options),
          divides_(schur == Schur::asymmetric && A != nullptr),
          kappa_(parameters.kappa),
          algebra_(std::move(algebra)),
          border_(std::move(border)),
          b_(whole.lattice()),
          x_(whole.lattice()),
          odd_(whole.lattice()),
          r_(whole.lattice()) {
        const auto& lattice = *whole.lattice();
        const BlockLattices<S> lattices{border_.lattice ? *border_.lattice : lattice, lattice};
        KS_REQUIRE(lattices.residuals.extents().half() < static_cast<index_t>(own_place),
                   "a Schwarz preconditioner numbers the sites of a parity in 30 bits: the lattice has too many");
        if (storage.reals == LinkReals::parameters) storage.reals = LinkReals::two_rows;
        storage.temporal_gauge = false;
        std::shared_ptr<const Lattice<S>> stack;
        for (int colour = 0; colour < grid.colours; ++colour) {
            const auto all = batches_of<S>(grid, colour);
            if (all.empty() && !grid.divided) continue;  // one block has one colour
            auto& batches = colours_.emplace_back();
            for (const auto& blocks : all) {
                const auto extents = stacked_blocks(grid, static_cast<index_t>(blocks.size()), nullptr).stack;
                if (!stack || !(stack->extents() == extents)) stack = std::make_shared<const Lattice<S>>(lattice.space(), extents);
                batches.emplace_back(grid, blocks, lattices, stack, links, A, parameters, storage);
                if (workspaces_.empty() || !(workspaces_.front().y.lattice()->extents() == extents)) {
                    workspaces_.clear();
                    const auto places = block_places(grid, *stack, static_cast<index_t>(blocks.size()));
                    for (int thread = 0; thread < threads(); ++thread)
                        workspaces_.emplace_back(stack, static_cast<index_t>(blocks.size()), places);
                }
            }
        }
    }

    /// out = M^-1 in, approximately Dhat^-1 in, Dhat in the solver's form. @param watch  of the outer method: a cycle counts as an inner
    /// iteration
    template <class High>
    void apply(High& high, const typename High::Vector& in, typename High::Vector& out, krylov::Watch& watch, double) {
        precondition_in(high, algebra_, in, out, b_, x_, watch, options_.cycles, "the Schwarz preconditioner", [&] { sweep(); });
    }
    /// x += M^-1 r, in the precision of the preconditioner.
    void add_to(const Vector& r, Vector& x) {
        algebra_.copy(r, b_);
        sweep();
        algebra_.axpby(1, x_, 1, x);
    }

    /// Applications of the blocks' operators and the lattice's since the last call, in applications of the lattice's operator.
    double take_applications() {
        double work = std::exchange(residuals_, 0) * static_cast<double>(sites());
        for (const auto& batches : colours_)
            for (const auto& batch : batches) work += batch.take_work();
        return work / static_cast<double>(sites());
    }

   private:
    index_t sites() const { return whole_.lattice()->extents().half(); }
    int threads() const {
        if constexpr (std::same_as<S, Cpu>)
            return thread_count(whole_.lattice()->space());
        else
            return 1;
    }

    /// Places of the even sites of every block of the stack.
    static std::vector<std::uint32_t> block_places(const BlockGrid& grid, const Lattice<S>& stack, index_t blocks) {
        std::vector<std::uint32_t> places;
        if (blocks == 1 && std::same_as<S, Cpu>) return places;
        const auto here = stacked_blocks(grid, blocks, nullptr);
        const index_t sites = here.extended.half();
        places.resize(static_cast<std::size_t>(blocks * sites));
        std::vector<index_t> filled(static_cast<std::size_t>(blocks));
        for (index_t place = 0; place < places_of(stack); ++place) {
            index_t block = 0;
            here.local(site_of(stack, Parity::even, place), block);
            places[static_cast<std::size_t>(block * sites + filled[static_cast<std::size_t>(block)]++)] = static_cast<std::uint32_t>(place);
        }
        return places;
    }

    /// x = M^-1 b; divides b by A_ee.
    void sweep() {
        if (divides_) whole_.dirac().clover(Parity::even, true, b_, b_);
        algebra_.zero(x_);
        const Vector* r = &b_;
        for (int cycle = 0; cycle < options_.cycles; ++cycle)
            for (const auto& batches : colours_) {
                if (r == &r_) residual();
                const Vector& read = border_.lattice ? border_.extended(*r) : *r;
                for_each_part(threads(), static_cast<index_t>(batches.size()), [&](index_t i, int thread) {
                    batches[static_cast<std::size_t>(i)].solve(read, options_.block_steps, workspaces_[static_cast<std::size_t>(thread)],
                                                               x_);
                });
                r = &r_;
            }
    }
    /// r = b - Dhat x
    void residual() {
        ++residuals_;
        const auto& dirac = whole_.dirac();
        dirac.hop(HopForm::inverse, Parity::odd, false, 1, x_, nullptr, odd_);
        dirac.hop(HopForm::inverse, Parity::even, false, kappa_ * kappa_, odd_, &b_, r_);
        algebra_.axpby(-1, x_, 1, r_);
    }

    const EvenOdd<S, P, Operator>& whole_;
    SchwarzOptions options_;
    bool divides_;  ///< the residual has to be divided by A_ee
    double kappa_;
    Algebra algebra_;
    BlockBorder<S, P> border_;
    Vector b_, x_, odd_, r_;  ///< right-hand side, solution, A_oo^-1 H_oe x, residual
    int residuals_ = 0;       ///< computed since take_applications()
    std::vector<std::vector<BlockBatch<S, P>>> colours_;
    std::vector<BlockWorkspace<S, P>> workspaces_;  ///< of each thread
};

}  // namespace kasane::lattice
