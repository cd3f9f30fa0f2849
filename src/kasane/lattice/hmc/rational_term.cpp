#include <kasane/lattice/hmc/rational_term_members.hpp>

namespace kasane::lattice {

double weight_error(const RationalApproximation& R, const Extents& extents) {
    return -6 * static_cast<double>(extents.volume()) * std::log1p(-R.error);
}

RationalApproximation approximation_for(double least, double most, const Extents& extents, double bound) {
    return inverse_root_within(least, most, -std::expm1(-bound / (6 * static_cast<double>(extents.volume()))));
}

#define KS_DEFINE(S)                                                                                                                       \
    template class RationalTerm<S>;                                                                                                        \
    template std::vector<std::unique_ptr<ActionTerm<S>>> one_flavour_action(std::shared_ptr<QuarkOperator<S>>, int, RationalApproximation, \
                                                                            const QuarkTolerances&);
KS_DEFINE(Cpu)
#if defined(KASANE_CUDA)
KS_DEFINE(Cuda)
#endif
#undef KS_DEFINE

}  // namespace kasane::lattice
