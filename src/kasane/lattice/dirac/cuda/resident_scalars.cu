#include <kasane/lattice/dirac/cuda/resident_steps.cuda.hpp>

namespace kasane::lattice {

using namespace device;

template <Precision P>
ResidentBicgstab<P>::ResidentBicgstab(std::shared_ptr<const Lattice<Cuda>> lattice)
    : state_(std::make_unique<ResidentState<State>>(std::move(lattice))) {}
template <Precision P>
ResidentBicgstab<P>::~ResidentBicgstab() = default;
template <Precision P>
void ResidentBicgstab<P>::begin(const State& state) {
    state_->begin(state);
}
template <Precision P>
void ResidentBicgstab<P>::direction(const Vector& r, const Vector& v, Vector& p) {
    state_->launch(DirectionStep<P>(r.view(), v.view(), p.view()));
}
template <Precision P>
void ResidentBicgstab<P>::first_half(const Vector& shadow, const Vector& v, Vector& r) {
    state_->launch(FirstProductStep<P>(v.view(), shadow.view()));
    state_->launch(HalfStep<P>(v.view(), r.view()));
}
template <Precision P>
void ResidentBicgstab<P>::second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
    state_->launch(SecondProductStep<P>(t.view(), r.view()));
    state_->launch(FinishStep<P>(p.view(), t.view(), shadow.view(), x.view(), r.view()));
}
template <Precision P>
void ResidentBicgstab<P>::iterate(const std::function<void()>& submit) {
    state_->iterate(submit);
}
template <Precision P>
krylov::RunReport ResidentBicgstab<P>::wait(int iteration) {
    return state_->wait(iteration);
}
template <Precision P>
typename ResidentBicgstab<P>::State ResidentBicgstab<P>::state() {
    return state_->state();
}

template <Precision P>
ResidentCg<P>::ResidentCg(std::shared_ptr<const Lattice<Cuda>> lattice)
    : state_(std::make_unique<ResidentState<State>>(std::move(lattice))) {}
template <Precision P>
ResidentCg<P>::~ResidentCg() = default;
template <Precision P>
void ResidentCg<P>::begin(const State& state) {
    low_ = state.course.low;
    state_->begin(state);
}
template <Precision P>
void ResidentCg<P>::direction(const Vector& s, Vector& p) {
    state_->launch(CgDirectionStep<P>(s.view(), p.view()));
}
template <Precision P>
void ResidentCg<P>::curvature(const Vector& image, double shift, const Vector& p) {
    shift_ = shift;
    state_->launch(CurvatureStep<P>(image.view(), p.view(), shift != 0));
}
template <Precision P>
void ResidentCg<P>::step(const Vector& p, const Vector& t, Vector& y, Vector& s) {
    if (low_)
        state_->launch(CgStep<P, true>(p.view(), t.view(), y.view(), s.view(), shift_));
    else
        state_->launch(CgStep<P, false>(p.view(), t.view(), y.view(), s.view(), shift_));
}
template <Precision P>
void ResidentCg<P>::along(const Vector& s, const Vector& t) {
    state_->launch(AlongStep<P>(s.view(), t.view()));
}
template <Precision P>
void ResidentCg<P>::iterate(const std::function<void()>& submit) {
    state_->iterate(submit);
}
template <Precision P>
krylov::RunReport ResidentCg<P>::wait(int iteration) {
    return state_->wait(iteration);
}
template <Precision P>
typename ResidentCg<P>::State ResidentCg<P>::state() {
    return state_->state();
}

template class ResidentBicgstab<Precision::half>;
template class ResidentBicgstab<Precision::single>;
template class ResidentBicgstab<Precision::double_>;
template class ResidentCg<Precision::half>;
template class ResidentCg<Precision::single>;
template class ResidentCg<Precision::double_>;

}  // namespace kasane::lattice
