#include <kasane/lattice/dirac/cuda/resident_steps.cuda.hpp>
#include <kasane/lattice/distributed/peer_bicgstab.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int slot_of_sums = 34;  // after that of halos

/// Zero: no ticket.
Buffer<PeerEntry, Cuda> entries_on(Cuda on) {
    return to_space(on, std::vector<PeerEntry>(sizeof(PeerEntries) / sizeof(PeerEntry), PeerEntry{0, 0}));
}

/// Collective.
PeerSums exchange(comm::Worker& worker, PeerEntry* mine) {
    PeerSums sums;
    sums.count = worker.size();
    sums.own = worker.index();
    for (int m = 0; m < sums.count; ++m) worker.hand(m, slot_of_sums, mine);
    for (int m = 0; m < sums.count; ++m) sums.entries[m] = static_cast<PeerEntries*>(const_cast<void*>(worker.take(m, slot_of_sums)));
    worker.barrier();
    return sums;
}

}  // namespace

template <Precision P>
struct PeerBicgstab<P>::Run {
    PeerHalo& halo;
    Buffer<PeerEntry, Cuda> entries;  ///< which the other devices write
    RunOnDevice<State, PeerSums> state;
    std::uint32_t hops = 0;  ///< of an iteration
    bool halves_fit, ends_fit;

    Run(std::shared_ptr<const Lattice<Cuda>> lattice, PeerHalo& of)
        : halo(of),
          entries(entries_on(lattice->space())),
          state(lattice, exchange(of.worker(), entries.data())),
          halves_fit(fits<FirstProductStep<P>, HalfStep<P>>()),
          ends_fit(fits<SecondProductStep<P>, FinishStep<P>>()) {}

    /// In double the two steps together would need too many registers.
    template <class Product, class Step>
    bool fits() const {
        if constexpr (P == Precision::double_)
            return false;
        else
            return state.template fits_together<Product, Step>();
    }

    /// A product, and the step that needs it: one launch where all its blocks are resident at once, which removes the start of a kernel and
    /// a load of the product's vectors.
    template <class Product, class Step>
    void launch(bool together, const Product& product, const Step& step) {
        if constexpr (P != Precision::double_) {
            if (together) {
                launched_by_all();
                state.launch(product, step);
                return launched_by_all();
            }
        }
        state.launch(product);
        launched_by_all();
        state.launch(step);
        launched_by_all();
    }
    /// In the first iteration of a run, an operation that waits for sums is launched after all workers have launched what sends them.
    void launched_by_all() {
        if (state.launched() == 0) halo.worker().barrier();
    }
    /// Graphs wait for each other, and so do the calls of the runtime that a host must make before it launches one, for the work of its
    /// device. Therefore no worker launches before all are ready to launch, and none goes on before all have launched.
    void iterate(const std::function<void()>& submit) {
        auto& worker = halo.worker();
        const auto stream = state.lattice().space().stream;
        if (state.launched() == 0) {
            const auto before = halo.hops();
            submit();
            hops = halo.hops() - before;
            state.count_launch();
            return;
        }
        if (state.launched() == 1) {
            halo.begin_capture(state.begun(), 2, hops);
            state.capture(submit);
            halo.end_capture();
            state.graph().upload(stream);
            worker.barrier();
        } else {
            halo.repeat(hops);
        }
        state.graph().launch(stream);
        state.count_launch();
        worker.barrier();
    }
};

template <Precision P>
bool PeerBicgstab<P>::serves(const PeerHalo& halo) {
    return halo.owns_device() && halo.worker().size() <= most_peers;
}

template <Precision P>
PeerBicgstab<P>::PeerBicgstab(std::shared_ptr<const Lattice<Cuda>> lattice, PeerHalo& halo)
    : run_(std::make_unique<Run>(std::move(lattice), halo)) {}
template <Precision P>
PeerBicgstab<P>::~PeerBicgstab() = default;
template <Precision P>
void PeerBicgstab<P>::begin(const State& state) {
    run_->state.begin(state);
}
template <Precision P>
void PeerBicgstab<P>::direction(const Vector& r, const Vector& v, Vector& p) {
    run_->state.launch(DirectionStep<P>(r.view(), v.view(), p.view()));
}
template <Precision P>
void PeerBicgstab<P>::first_half(const Vector& shadow, const Vector& v, Vector& r) {
    run_->launch(run_->halves_fit, FirstProductStep<P>(v.view(), shadow.view()), HalfStep<P>(v.view(), r.view()));
}
template <Precision P>
void PeerBicgstab<P>::second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
    run_->launch(run_->ends_fit, SecondProductStep<P>(t.view(), r.view()),
                 FinishStep<P>(p.view(), t.view(), shadow.view(), x.view(), r.view()));
}
template <Precision P>
void PeerBicgstab<P>::iterate(const std::function<void()>& submit) {
    run_->iterate(submit);
}
template <Precision P>
krylov::RunReport PeerBicgstab<P>::wait(int iteration) {
    return run_->state.wait(iteration);
}
template <Precision P>
typename PeerBicgstab<P>::State PeerBicgstab<P>::state() {
    return run_->state.state();
}

template class PeerBicgstab<Precision::half>;
template class PeerBicgstab<Precision::single>;
template class PeerBicgstab<Precision::double_>;

}  // namespace kasane::lattice
