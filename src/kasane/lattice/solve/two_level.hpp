// Inexact deflation by local coherence as a preconditioner of the even-odd system, in one precision [Luscher 2007]:
//   x = (P (P^+ D P)^-1 P^+ (r_e, 0))_e, approximately;   then some steps of a smoother on Dhat y = r - Dhat x, x += y.
// D is the operator of the whole lattice, because its little operator couples neighbouring blocks alone (9 matrices per block; that of Dhat
// has 33), and (D^-1)_ee is the inverse of Dhat in the asymmetric form. An application reads the even half of the basis only.
// Near-null vectors: random ones, relaxed by BiCGStab, then improved by inverse iteration with this preconditioner. Their odd half is
// kappa A_oo^-1 H_oe times the even one, so that D psi vanishes on odd sites. They are made orthonormal after every step of inverse
// iteration: where D has an eigenvalue close to 0, every step would make them more parallel to its eigenvector, until single precision
// does not hold what distinguishes them, and the little operator is made of rounding errors.
// Invariants: the set-up depends on links and options alone; the preconditioner is not linear (the little system is solved to a
// tolerance): it needs a flexible method.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>
#include <kasane/lattice/solve/little_deflation.hpp>
#include <kasane/lattice/solve/random_field.hpp>
#include <kasane/lattice/solve/schwarz_preconditioner.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::lattice {

template <Space S, Precision P>
class TwoLevelPreconditioner {
   public:
    using Vector = Field<S, P>;
    using Real = std::conditional_t<P == Precision::double_, double, float>;
    using Little = LittleVector<S, Real>;

    /// Computes the subspace. @param whole, smoother  must outlive the preconditioner; a null smoother: minimal residual
    /// @param options  chosen, without problems   @throws ComputationError where near-null vectors are linearly dependent in a block
    TwoLevelPreconditioner(const EvenOdd<S, P>& whole, const Links<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters,
                           Schur schur, const CoherentOptions& options, SchwarzPreconditioner<S, P>* smoother)
        : whole_(whole),
          smoother_(smoother),
          options_(options),
          multiplies_(schur == Schur::symmetric && A != nullptr),
          kappa_(parameters.kappa),
          algebra_(whole.lattice()),
          b_(whole.lattice()),
          x_(whole.lattice()),
          r_(whole.lattice()),
          q_(whole.lattice()),
          basis_(whole.lattice(), {{options.block[0], options.block[1], options.block[2], options.block[3]}}, options.vectors),
          little_algebra_(basis_.space(), basis_.layout()),
          little_(basis_.space(), basis_.layout()),
          c_(basis_.space(), basis_.layout()),
          z_(basis_.space(), basis_.layout()),
          between_(basis_.space(), basis_.layout()),
          deflation_(basis_.space(), basis_.layout()),
          gcr_(little_algebra_, c_, little_length) {
        Stopwatch watch;
        set_up(links, A, parameters);
        const auto& layout = basis_.layout();
        synchronize(AnySpace(basis_.space()));
        const double gcr_bytes = 2. * little_length * static_cast<double>(layout.coefficients()) * sizeof(Real);
        report_ = {options.vectors, layout.own,
                   layout.blocks(), 2 * layout.count * layout.blocks(),
                   watch.seconds(), basis_.bytes() + little_.bytes() + deflation_.bytes() + gcr_bytes,
                   independence_};
    }

    /// out = M^-1 in, approximately Dhat^-1 in. @param watch  of the outer method: an application counts as an inner iteration
    template <class High>
    void apply(High& high, const typename High::Vector& in, typename High::Vector& out, krylov::Watch& watch, double) {
        precondition_in(high, algebra_, in, out, b_, x_, watch, 1, "the deflation's preconditioner",
                        [&] { precondition(options_.little_rtol); });
    }

    const CoherentReport& report() const { return report_; }
    const BlockVectors<S, Real>& basis() const { return basis_; }
    const LittleOperator<S, Real>& little() const { return little_; }
    /// Iterations of the little system since the last call.
    std::uint64_t take_little_iterations() { return std::exchange(little_iterations_, 0); }

   private:
    static constexpr int little_length = coherent_little_length;  ///< vectors of the little system's GCR
    /// Of the little system in the set-up: inverse iteration needs less accuracy than a solve (with 0.7 solves failed, 12^4, kappa 0.1357).
    static constexpr double set_up_rtol = 0.4;
    static constexpr std::size_t share_of_own = 4;    ///< one in so many of the vectors that deflate the little operator is its own
    static constexpr double own_vectors_rtol = 0.05;  ///< of the little systems whose solutions they are
    static constexpr int own_vectors_limit = 512;     ///< and the limit of their iterations
    static constexpr double relaxation = 0.9;         ///< of minimal residual

    void set_up(const Links<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters) {
        std::vector<Vector> vectors;
        {
            krylov::BicgstabWorkspace<FieldAlgebra<S, P>> work(algebra_, b_);
            krylov::Options how;
            how.rtol = 1e-3;
            how.iteration_limit = options_.relaxation_steps;
            how.history = false;
            for (int k = 0; k < options_.vectors; ++k) {
                random_field(k, b_);
                algebra_.zero(x_);
                krylov::bicgstab(algebra_, whole_, krylov::NoPreconditioner{}, b_, x_, work, how);
                vectors.emplace_back(whole_.lattice());
                keep_normalised(vectors.back());
            }
        }
        for (int round = 0;; ++round) {
            deflation_.clear();
            make_orthonormal(vectors);
            for (int k = 0; k < options_.vectors; ++k) {
                const auto& even = vectors[static_cast<std::size_t>(k)];
                basis_.set(k, Parity::even, even);
                whole_.dirac().hop(HopForm::inverse, Parity::odd, false, kappa_, even, nullptr, q_);
                basis_.set(k, Parity::odd, q_);
            }
            independence_ = basis_.orthonormalise();
            little_.assemble(basis_, links, A, parameters);
            deflate_little(vectors, round == options_.rounds);
            if (round == options_.rounds) break;
            for (auto& even : vectors) {
                algebra_.copy(even, b_);
                precondition(set_up_rtol);
                keep_normalised(even);
            }
        }
    }
    /// Deflates the little system by the coefficients of the near-null vectors. @param completes  and before them by near-null vectors of
    /// the little operator itself: where D has an eigenvalue close to 0, the little operator has one close to that, but not the same, and
    /// what the coefficients miss of its eigenvector is where the little system's GCR stagnates
    void deflate_little(const std::vector<Vector>& vectors, bool completes) {
        Little u(basis_.space(), basis_.layout()), image(basis_.space(), basis_.layout());
        const auto add = [&](const Little& w) {
            for (const int chirality : {0, 1}) deflation_.add(little_algebra_, little_, w, chirality, u, image);
        };
        const auto add_all = [&] {
            for (const auto& even : vectors) {
                take_coefficients(even);
                add(c_);
            }
        };
        add_all();
        if (!completes) return;
        std::vector<Little> own;
        for (std::size_t k = 0; k < vectors.size() / share_of_own; ++k) {
            take_coefficients(vectors[k]);
            solve_little(own_vectors_rtol, own_vectors_limit);
            own.emplace_back(basis_.space(), basis_.layout());
            little_algebra_.copy(c_, own.back());
        }
        deflation_.clear();
        for (const auto& w : own) add(w);
        add_all();
    }
    /// c = P^+ (even, kappa A_oo^-1 H_oe even)
    void take_coefficients(const Vector& even) {
        basis_.restrict_to(Parity::even, even, false, c_.data.data());
        whole_.dirac().hop(HopForm::inverse, Parity::odd, false, kappa_, even, nullptr, q_);
        basis_.restrict_to(Parity::odd, q_, true, c_.data.data());
    }
    /// Modified Gram-Schmidt, twice; then a reflection, v_k -= 2 / N sum v_j, so that each has a part of the lowest modes, which are
    /// the first ones otherwise: inverse iteration gives as many independent approximations of them.
    void make_orthonormal(std::vector<Vector>& vectors) {
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t k = 0; k < vectors.size(); ++k) {
                for (std::size_t j = 0; j < k; ++j) algebra_.axpby(-algebra_.dot(vectors[j], vectors[k]), vectors[j], 1, vectors[k]);
                algebra_.copy(vectors[k], x_);
                keep_normalised(vectors[k]);
            }
        algebra_.zero(x_);
        for (const auto& v : vectors) algebra_.axpby(1, v, 1, x_);
        for (auto& v : vectors) algebra_.axpby(-2. / static_cast<double>(vectors.size()), x_, 1, v);
    }
    /// vector = x / |x|, or unchanged where x is not finite.
    void keep_normalised(Vector& vector) {
        const double norm = std::sqrt(algebra_.norm2(x_));
        if (norm > 0 && std::isfinite(norm)) algebra_.axpby(1 / norm, x_, 0, vector);
    }

    /// x = M^-1 b
    void precondition(double little_rtol) {
        correct(little_rtol);
        whole_.apply(algebra_, x_, r_);
        algebra_.axpby(1, b_, -1, r_);
        if (smoother_)
            smoother_->add_to(r_, x_);
        else
            smooth();
    }
    /// x = (P (P^+ D P)^-1 P^+ (b, 0))_e
    void correct(double little_rtol) {
        if (multiplies_) whole_.dirac().clover(Parity::even, false, b_, q_);
        basis_.restrict_to(Parity::even, multiplies_ ? q_ : b_, false, c_.data.data());
        solve_little(little_rtol, options_.little_iteration_limit);
        basis_.prolong(Parity::even, c_.data.data(), x_);
    }
    /// c = (P^+ D P)^-1 c, approximately.
    void solve_little(double rtol, int limit) {
        const double norm = std::sqrt(little_algebra_.norm2(c_));
        const auto along = deflation_.products(c_);
        deflation_.subtract_images(along, c_);
        const double rest = std::sqrt(little_algebra_.norm2(c_));
        little_algebra_.zero(z_);
        krylov::Options how;
        how.rtol = rest > 0 ? rtol * norm / rest : 1;
        how.iteration_limit = limit;
        how.history = false;
        const DeflatedLittleOperator<S, Real> A{little_, deflation_, between_};
        auto h = along;
        if (how.rtol < 1) {
            const auto log = krylov::gcr(little_algebra_, A, krylov::NoPreconditioner{}, c_, z_, gcr_, how);
            little_iterations_ += static_cast<std::uint64_t>(log.iterations);
            little_.apply_divided(z_, between_, c_);  // between = B^-1 z, c = A B^-1 z
            const auto part = deflation_.products(c_);
            for (std::size_t j = 0; j < h.size(); ++j) h[j] -= part[j];
            std::swap(between_, c_);
        } else {
            little_algebra_.zero(c_);
        }
        deflation_.add_vectors(h, c_);
    }
    /// Minimal residual [Saad 2003, algorithm 5.3] on Dhat y = r, x += y; r is changed.
    void smooth() {
        for (int step = 0; step < options_.smoother_steps; ++step) {
            whole_.apply(algebra_, r_, q_);
            const auto [product, q2] = algebra_.dot_norm2(q_, r_);
            if (!(q2 > 0)) return;
            const auto alpha = relaxation * product / q2;
            algebra_.axpby(alpha, r_, 1, x_);
            if (step + 1 < options_.smoother_steps) algebra_.axpby(-alpha, q_, 1, r_);
        }
    }

    const EvenOdd<S, P>& whole_;
    SchwarzPreconditioner<S, P>* smoother_;
    CoherentOptions options_;
    bool multiplies_;  ///< the residual of the symmetric form has to be multiplied by A_ee
    double kappa_;
    FieldAlgebra<S, P> algebra_;
    Vector b_, x_, r_, q_;  ///< right-hand side, solution, residual, work
    BlockVectors<S, Real> basis_;
    LittleAlgebra<S, Real> little_algebra_;
    LittleOperator<S, Real> little_;
    Little c_, z_, between_;
    LittleDeflation<S, Real> deflation_;
    krylov::GcrWorkspace<LittleAlgebra<S, Real>> gcr_;
    std::uint64_t little_iterations_ = 0;
    double independence_ = 0;
    CoherentReport report_;
};

}  // namespace kasane::lattice
