#include <kasane/lattice/distributed/divided_quark_lattice.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/chronological_guess_members.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/quark_action_members.hpp>
#include <kasane/lattice/hmc/quark_operator_members.hpp>
#include <kasane/lattice/hmc/rational_term_members.hpp>
#include <kasane/lattice/hmc/spectrum_members.hpp>

#include <cmath>
#include <limits>

namespace kasane::lattice {

template <Space S>
DividedQuarkLattice<S>::Memory::Memory(LinkHalo<S>& of, HaloExchange<S>& faces)
    : halo(of),
      exchange(faces),
      lattice(std::make_shared<const Lattice<S>>(of.space(), of.sites().local)),
      links(of.space(), of.sites().local),
      interior(of.space(), of.sites().local),
      force(of.space(), of.sites().local) {
    const auto& grid = of.grid();
    if (grid.place(of.worker().index())[3] + 1 == grid.shape()[3]) all_signs[1][3] = -1;
}

template <Space S>
double DividedQuarkLattice<S>::log_determinant(const CloverTerm<S>& A, Parity parity, double mu) const {
    double sum = 0;
    std::string problem;
    try {
        sum = mu == 0 ? lattice::log_determinant(A, parity) : twisted_log_determinant(A, parity, mu);
    } catch (const ComputationError& error) {  // perhaps on this worker alone: a NaN in the sum ends the others
        sum = std::numeric_limits<double>::quiet_NaN();
        problem = error.what();
    }
    memory_->halo.worker().all_reduce({&sum, 1}, comm::Reduce::sum);
    if (std::isnan(sum))
        throw ComputationError(problem.empty() ? "the clover term of another worker is not positive definite on some site" : problem);
    return sum;
}

template <Space S>
void DividedQuarkLattice<S>::add_hop_force(const Operator<Precision::double_>& D, const Links<S>& u, double kappa, Boundary boundary,
                                           const ResidentField<S>& x, const ResidentField<S>& y, double factor, Links<S>& force) const {
    auto& m = *memory_;
    set_zero(m.force);
    lattice::add_hop_force(m.interior, kappa, boundary, x, y, factor, m.force);
    const auto faces = [&](HopForceTerm term, const ResidentField<S>& ahead, const ResidentField<S>& here) {
        for (const auto parity : {Parity::even, Parity::odd}) {
            const bool even = parity == Parity::even;
            const auto* halo = D.halo(other(parity), term == HopForceTerm::y_ahead, even ? ahead.odd : ahead.even);
            add_face_force(m.exchange.layout(), m.links, term, parity, -kappa * factor, m.signs(boundary), even ? here.even : here.odd,
                           halo, m.force);
        }
    };
    faces(HopForceTerm::x_ahead, x, y);
    faces(HopForceTerm::y_ahead, y, x);
    add_to_extended(u.space(), m.halo.sites(), numbers_of(m.force), numbers_of(force));
}

template <Space S>
void DividedQuarkLattice<S>::add_clover_force(const Links<S>& u, double kappa_csw, const CloverWeights<S>& weights, double factor,
                                              Links<S>& force) const {
    auto& m = *memory_;
    if (!m.weights) m.weights.emplace(u.space(), u.extents);
    copy_to_extended(u.space(), m.halo.sites(), numbers_of(weights), numbers_of(*m.weights));
    m.halo.exchange(numbers_of(*m.weights), 1);
    lattice::add_clover_force(u, kappa_csw, *m.weights, factor, force);  // as if the extended lattice were periodic
}

#define KS_DEFINE(S)                                                                                                                   \
    template class DividedQuarkLattice<S>;                                                                                             \
    template class QuarkOperator<S, DividedQuarkLattice<S>>;                                                                           \
    template class ChronologicalGuess<S, DividedQuarkLattice<S>>;                                                                      \
    template class PseudofermionTerm<S, DividedQuarkLattice<S>>;                                                                       \
    template class CloverDeterminantTerm<S, DividedQuarkLattice<S>>;                                                                   \
    template std::vector<std::unique_ptr<ActionTerm<S>>> quark_action(std::shared_ptr<QuarkOperator<S, DividedQuarkLattice<S>>>,       \
                                                                      const std::vector<double>&, const QuarkTolerances&);             \
    template class RationalTerm<S, DividedQuarkLattice<S>>;                                                                            \
    template std::vector<std::unique_ptr<ActionTerm<S>>> one_flavour_action(std::shared_ptr<QuarkOperator<S, DividedQuarkLattice<S>>>, \
                                                                            int, RationalApproximation, const QuarkTolerances&);       \
    template Spectrum measure_spectrum(const QuarkOperator<S, DividedQuarkLattice<S>>&, std::uint64_t, std::uint64_t,                  \
                                       const SpectrumOptions&);
KS_DEFINE(Cpu)
#if defined(KASANE_CUDA)
KS_DEFINE(Cuda)
#endif
#undef KS_DEFINE

}  // namespace kasane::lattice
