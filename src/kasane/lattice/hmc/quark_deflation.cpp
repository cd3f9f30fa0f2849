#include <kasane/lattice/hmc/quark_deflation.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/solve/two_level.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::lattice {
namespace {

constexpr int gcr_length = 16;
constexpr int most_cycles = 6;
/// Of each solve of Dhat, which takes 10 to 50 where the subspace contains the low modes. Beyond kappa's critical value none does.
constexpr int most_iterations = 128;
/// Iterations for a digit of the residual, in those of the first solves with a subspace, above which it is improved.
constexpr double slower = 1.5;
/// Share of the tolerance that each of the two solves may leave.
constexpr double share = 0.3;
/// Bound of |Dhat| where links are near those of a thermalised field; a larger norm takes a second cycle.
constexpr double norm_of_operator = 2.5;
constexpr double least_rtol = 1e-14;

}  // namespace

template <Space S>
struct QuarkDeflation<S>::Parts {
    static constexpr auto low = Precision::single;
    using Outer = SchurOperator<S, Precision::double_>;

    std::shared_ptr<const Lattice<S>> lattice;
    DiracParameters parameters;
    CoherentOptions options;
    FieldAlgebra<S, Precision::double_> algebra;
    std::optional<EvenOdd<S, low>> whole;
    std::unique_ptr<TwoLevelPreconditioner<S, low>> preconditioner;
    std::optional<krylov::GcrWorkspace<FieldAlgebra<S, Precision::double_>>> gcr;
    std::vector<Vector> work;
    bool current = false;       ///< the subspace was computed since forget()
    std::uint64_t packing = 0;  ///< of the present little operator
    double rate = 0;            ///< iterations for a digit in the first solve with the subspace as it is; 0: there was none
    bool slow = false;          ///< the last solve converged slower
    bool given_up = false;      ///< a solve since forget() did not converge
    int improvements = 0;

    Parts(std::shared_ptr<const Lattice<S>> of, const DiracParameters& given, const CoherentOptions& asked)
        : lattice(std::move(of)), parameters(given), options(chosen(asked, lattice->extents())), algebra(lattice) {
        std::vector<InputProblem> problems;
        for (auto& problem : problems_of(options, lattice->extents())) problems.push_back({std::move(problem), {}});
        if (!problems.empty()) throw InputError(std::move(problems));
    }

    void prepare(const Links<S>& u, const CloverTerm<S>* A, std::uint64_t number) {
        if (current && number == packing) return;
        const bool fresh = !current;
        current = false;  // where something throws
        if (whole)
            whole->pack(u, A);
        else
            whole.emplace(lattice, u, A, parameters, LinkStorage{.reals = LinkReals::two_rows}, Schur::asymmetric);
        if (!gcr) {
            gcr.emplace(algebra, Vector(lattice), gcr_length);
            while (work.size() < 4) work.emplace_back(lattice);
        }
        if (!preconditioner) {
            preconditioner =
                std::make_unique<TwoLevelPreconditioner<S, low>>(*whole, u, A, parameters, Schur::asymmetric, options, nullptr, true);
        } else if (fresh) {
            preconditioner->set_up(u, A, parameters);
        } else {
            preconditioner->update(u, A, parameters);
            if (slow) preconditioner->improve(u, A, parameters);
        }
        if (fresh || slow) rate = 0;
        improvements = fresh ? 0 : improvements + slow;
        slow = false;
        packing = number, current = true;
    }

    /// Dhat x = b from 0.
    krylov::SolveLog invert(const Outer& D, const Vector& b, Vector& x, double rtol, int limit) {
        krylov::Options how;
        how.rtol = std::clamp(rtol, least_rtol, 0.5);
        how.iteration_limit = std::min(limit, most_iterations);
        how.history = false;
        algebra.zero(x);
        return krylov::gcr(algebra, D, *preconditioner, b, x, *gcr, how);
    }
};

template <Space S>
QuarkDeflation<S>::QuarkDeflation(std::shared_ptr<const Lattice<S>> lattice, const DiracParameters& parameters,
                                  const CoherentOptions& options)
    : parts_(std::make_unique<Parts>(std::move(lattice), parameters, options)) {}
template <Space S>
QuarkDeflation<S>::~QuarkDeflation() = default;
template <Space S>
QuarkDeflation<S>::QuarkDeflation(QuarkDeflation&&) noexcept = default;

template <Space S>
void QuarkDeflation<S>::forget() {
    parts_->current = parts_->given_up = false;
}
template <Space S>
bool QuarkDeflation<S>::given_up() const {
    return parts_->given_up;
}
template <Space S>
int QuarkDeflation<S>::improvements() const {
    return parts_->improvements;
}

template <Space S>
krylov::SolveLog QuarkDeflation<S>::solve(const SchurOperator<S, Precision::double_>& D, const Links<S>& u, const CloverTerm<S>* A,
                                          std::uint64_t packing, const Vector& phi, Vector& x, double rtol, int iteration_limit) {
    auto& p = *parts_;
    p.given_up = true;  // unless it converges
    p.prepare(u, A, packing);
    auto &r = p.work[0], &y = p.work[1], &z = p.work[2], &best = p.work[3];
    krylov::SolveLog log;
    log.end = krylov::Outcome::stagnated;
    const double norm = std::sqrt(p.algebra.norm2(phi));
    if (!(norm > 0) || !std::isfinite(norm)) {
        p.algebra.zero(x);
        p.given_up = false;
        log.end = norm == 0 ? krylov::Outcome::converged : krylov::Outcome::not_finite;
        return log;
    }
    double digits = 0;
    bool exhausted = false;
    for (int cycle = 0;; ++cycle) {
        D.apply(x, z, false);
        D.apply(z, r, true);
        p.algebra.axpby(1, phi, -1, r);
        ++log.updates;
        const double found = std::sqrt(p.algebra.norm2(r)) / norm;
        log.residuals.push_back(found);
        if (cycle > 0 && !(found < log.true_residual)) {  // also where it is not finite
            p.algebra.copy(best, x);
            break;
        }
        const bool little = cycle > 0 && found > 0.5 * log.true_residual;
        log.true_residual = found;
        if (found <= rtol) {
            log.end = krylov::Outcome::converged;
            break;
        }
        if (little || cycle == most_cycles) break;
        if (exhausted || log.iterations >= iteration_limit) {
            log.end = krylov::Outcome::iteration_limit;
            break;
        }
        p.algebra.zero(y);
        add_i_gamma5(1, r, y);
        const auto first = p.invert(D, y, z, share * rtol / found, iteration_limit - log.iterations);
        p.algebra.zero(y);
        add_i_gamma5(-1, z, y);
        const double amplified = std::sqrt(p.algebra.norm2(y)) / (norm * found);
        const auto second = p.invert(D, y, z, share * rtol / (found * amplified * norm_of_operator),
                                     std::max(1, iteration_limit - log.iterations - first.iterations));
        for (const auto* part : {&first, &second}) {
            log.iterations += part->iterations;
            exhausted = exhausted || part->end == krylov::Outcome::iteration_limit;
            if (part->true_residual > 0 && part->true_residual < 1) digits -= std::log10(part->true_residual);
        }
        p.algebra.copy(x, best);
        p.algebra.axpby(1, z, 1, x);
    }
    p.given_up = !log.converged();
    if (digits > 1) {
        const double rate = log.iterations / digits;
        if (p.rate == 0) p.rate = rate;
        p.slow = rate > slower * p.rate;
    }
    return log;
}

template <Space S>
double QuarkDeflation<S>::bytes_per_site(const DiracParameters& parameters, const CoherentOptions& options, const Extents& lattice) {
    const double low = 12 * sizeof(float), high = 12 * sizeof(double);  // of fields of one parity
    const double packed = (8 * static_cast<int>(LinkReals::two_rows) + (parameters.csw != 0 ? 72 : 0)) * sizeof(float);
    // The near-null vectors; fields of the set-up, of four right-hand sides on a device, and of one; the pairs and r of GCR and four more.
    constexpr int set_up = 4 * 8 + 6;
    return coherent_bytes_per_site(options, lattice) + packed + (options.vectors + set_up) * low + (2 * gcr_length + 5) * high;
}

template class QuarkDeflation<Cpu>;
#if defined(KASANE_CUDA)
template class QuarkDeflation<Cuda>;
#endif

}  // namespace kasane::lattice
