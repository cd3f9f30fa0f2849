#include <kasane/lattice/hmc/quark_action_members.hpp>

namespace kasane::lattice {

void check_tolerances(const QuarkTolerances& tolerances) {
    for (const double rtol : {tolerances.value, tolerances.force})
        KS_VALIDATE(rtol >= 1e-15 && rtol < 1,
                    fmt::format("a tolerance of {:.1e} must lie between 1e-15, which double precision holds, and 1", rtol));
}

#define KS_DEFINE(S)                                                                                                                 \
    template class PseudofermionTerm<S>;                                                                                             \
    template class CloverDeterminantTerm<S>;                                                                                         \
    template std::vector<std::unique_ptr<ActionTerm<S>>> quark_action(std::shared_ptr<QuarkOperator<S>>, const std::vector<double>&, \
                                                                      const QuarkTolerances&);
KS_DEFINE(Cpu)
#if defined(KASANE_CUDA)
KS_DEFINE(Cuda)
#endif
#undef KS_DEFINE

}  // namespace kasane::lattice
