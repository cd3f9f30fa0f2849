// Inexact deflation by local coherence as a preconditioner of the even-odd system, in one precision [Luscher 2007]:
//   x = (P (P^+ D P)^-1 P^+ (r_e, 0))_e, approximately;   then some steps of a smoother on Dhat y = r - Dhat x, x += y.
// D is the operator of the whole lattice, because its little operator couples neighbouring blocks alone (9 matrices per block; that of Dhat
// has 33), and (D^-1)_ee is the inverse of Dhat in the asymmetric form. An application reads the even half of the basis only.
// Near-null vectors: random ones, relaxed by BiCGStab, then improved by inverse iteration with this preconditioner. Their odd half is
// kappa A_oo^-1 H_oe times the even one, so that D psi vanishes on odd sites. The set-up treats some of them at once. They are made
// orthonormal after every step of inverse iteration: where D has an eigenvalue close to 0, every step would make them more parallel to its
// eigenvector, until single precision cannot distinguish them, and the little operator consists of rounding errors.
// Invariants: the set-up depends on links and options alone; the preconditioner is not linear (the little system is solved to a
// tolerance): it needs a flexible method.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/bicgstab_columns.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>
#include <kasane/lattice/solve/even_odd_columns.hpp>
#include <kasane/lattice/solve/little_deflation.hpp>
#include <kasane/lattice/solve/random_field.hpp>
#include <kasane/lattice/solve/schwarz_preconditioner.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::lattice {

/// Parts of the preconditioner of a lattice on one device. DistributedSubspace (lattice/distributed/) has the same members for one worker's
/// part of a lattice.
template <Space S, Precision P>
struct DeviceSubspace {
    using Real = std::conditional_t<P == Precision::double_, double, float>;
    using Operator = Dirac<S, P>;
    using Algebra = FieldAlgebra<S, P>;
    using Columns = ColumnAlgebra<S, P>;
    using Smoother = SchwarzPreconditioner<S, P>;
    using Little = LittleOperator<S, Real>;
    using LittleSums = LittleAlgebra<S, Real>;
    using Deflation = LittleDeflation<S, Real>;
    using LinksOf = Links<S>;  ///< from which the little operator is made

    /// Near-null vectors that the set-up treats at once: a CPU is faster with one (docs/lattice-columns.md).
    static constexpr int together = std::same_as<S, Cpu> ? 1 : 4;

    std::shared_ptr<const Lattice<S>> lattice;

    Algebra algebra() const { return Algebra(lattice); }
    Columns columns() const { return Columns(lattice); }
    Little little(const BlockLayout& layout) const { return {lattice->space(), layout}; }
    LittleSums little_algebra(const BlockLayout& layout) const { return {lattice->space(), layout}; }
    Deflation deflation(const BlockLayout& layout, int most) const { return {lattice->space(), layout, most}; }
    void random(int number, Field<S, P>& even) const { random_field(number, even); }
    /// The smallest value of all parts of the lattice, and their number.
    double least(double here) const { return here; }
    int parts() const { return 1; }
};

/// @tparam Subspace  DeviceSubspace, or a class with its members
template <Space S, Precision P, class Subspace = DeviceSubspace<S, P>>
class TwoLevelPreconditioner {
   public:
    using Vector = Field<S, P>;
    using Real = typename Subspace::Real;
    using Little = LittleVector<S, Real>;
    using Columns = FieldColumns<S, P>;
    using Operator = EvenOdd<S, P, typename Subspace::Operator>;
    using LinksOf = typename Subspace::LinksOf;
    using Smoother = typename Subspace::Smoother;

    /// Computes the subspace of a lattice on one device. @param whole, smoother  must outlive the preconditioner; a null smoother: minimal
    /// residual
    /// @param options  chosen, without problems   @throws ComputationError where near-null vectors are linearly dependent in a block
    /// @param keeps    the near-null vectors, for update() and improve()
    TwoLevelPreconditioner(const Operator& whole, const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters,
                           Schur schur, const CoherentOptions& options, Smoother* smoother, bool keeps = false)
        : TwoLevelPreconditioner(Subspace{whole.lattice()}, whole, links, A, parameters, schur, options, smoother, keeps) {}
    /// Does the same for a subspace with these parts.
    TwoLevelPreconditioner(Subspace subspace, const Operator& whole, const LinksOf& links, const CloverTerm<S>* A,
                           const DiracParameters& parameters, Schur schur, const CoherentOptions& options, Smoother* smoother,
                           bool keeps = false)
        : subspace_(std::move(subspace)),
          whole_(whole),
          smoother_(smoother),
          options_(options),
          multiplies_(schur == Schur::symmetric && A != nullptr),
          kappa_(parameters.kappa),
          algebra_(subspace_.algebra()),
          columns_(subspace_.columns()),
          one_(whole, 1),
          basis_(whole.lattice(), {{options.block[0], options.block[1], options.block[2], options.block[3]}}, options.vectors),
          little_(subspace_.little(basis_.layout())),
          little_algebra_(subspace_.little_algebra(little_.layout())),
          c_(little_vector()),
          z_(little_vector()),
          between_(little_vector()),
          deflation_(subspace_.deflation(little_.layout(), 2 * (options.vectors + coherent_own_vectors(options.vectors)))),
          gcr_(little_algebra_, c_, little_length) {
        Stopwatch watch;
        set_up(links, A, parameters);
        if (!keeps) vectors_.clear(), deflating_.clear();
        const auto& layout = basis_.layout();
        synchronize(AnySpace(basis_.space()));
        const double gcr_bytes = 2. * little_length * static_cast<double>(little_.layout().coefficients()) * sizeof(Real);
        const index_t blocks = layout.blocks() * subspace_.parts();
        report_ = {options.vectors, layout.own,
                   blocks,          2 * layout.count * blocks,
                   watch.seconds(), (basis_.bytes() + little_.bytes() + deflation_.bytes() + gcr_bytes) * subspace_.parts(),
                   independence_};
    }

    /// Computes the subspace of other links, in the memory of the present one: the same bits as the constructor. `whole` has these links.
    /// @throws ComputationError as the constructor
    void set_up(const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters) {
        while (std::ssize(vectors_) < options_.vectors) vectors_.emplace_back(whole_.lattice());
        for (auto& vector : vectors_) algebra_.zero(vector);
        Work work(whole_, std::min(together, options_.vectors));
        relax(work);
        build(work, links, A, parameters, false);
        for (int round = 1; round <= options_.rounds; ++round) {
            iterate(work);
            build(work, links, A, parameters, round == options_.rounds);
        }
    }
    /// Takes links that differ little: the same subspace and vectors of the little system, with the little operator of these links.
    /// `whole` has these links. @throws ComputationError as the constructor
    void update(const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters) {
        assemble(links, A, parameters);
        deflation_.clear();
        Little u = little_vector(), image = little_vector();
        for (const auto& w : deflating_) add_to_deflation(w, u, image);
    }
    /// Improves the subspace by one step of inverse iteration, after update() with the same links.
    void improve(const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters) {
        Work work(whole_, std::min(together, options_.vectors));
        iterate(work);
        build(work, links, A, parameters, true);
    }

    /// out = M^-1 in, approximately Dhat^-1 in. @param watch  of the outer method: an application counts as an inner iteration
    template <class High>
    void apply(High& high, const typename High::Vector& in, typename High::Vector& out, krylov::Watch& watch, double) {
        precondition_in(high, algebra_, in, out, one_.b[0], one_.x[0], watch, 1, "the deflation's preconditioner",
                        [&] { precondition(one_, {0}, options_.little_rtol); });
    }

    const CoherentReport& report() const { return report_; }
    const BlockVectors<S, Real>& basis() const { return basis_; }
    const typename Subspace::Little& little() const { return little_; }
    /// Iterations of the little system since the last call.
    std::uint64_t take_little_iterations() { return std::exchange(little_iterations_, 0); }

   private:
    using ColumnSums = typename Subspace::Columns;
    static constexpr int little_length = coherent_little_length;  ///< vectors of the little system's GCR
    /// Tolerance of the little system in the set-up: inverse iteration needs less accuracy than a solve (with 0.7 solves failed, 12^4,
    /// kappa 0.1357).
    static constexpr double set_up_rtol = 0.4;
    static constexpr double own_vectors_rtol = 0.05;  ///< of the little systems whose solutions are its near-null vectors
    static constexpr int own_vectors_limit = 512;     ///< and the limit of their iterations
    static constexpr double relaxation = 0.9;         ///< of minimal residual
    static constexpr double relaxed = 1e-3;           ///< residual at which BiCGStab ends for the first near-null vectors
    static constexpr int together = Subspace::together;
    /// Whether the little system has the blocks of all workers, and the basis those of one.
    static constexpr bool collects = requires(typename Subspace::Little& little, Little& c) { little.collect(c, c); };

    /// Fields of the preconditioner, of some right-hand sides.
    struct Work {
        Columns b, x, r, q;  ///< right-hand sides, solutions, residuals, work
        EvenOddColumns<S, P, typename Subspace::Operator> A;
        Work(const Operator& whole, int columns)
            : b(whole.lattice(), columns),
              x(whole.lattice(), columns),
              r(whole.lattice(), columns),
              q(whole.lattice(), columns),
              A(columns == 1 ? decltype(A)(whole) : decltype(A)(whole, columns)) {}
    };

    /// The basis of the near-null vectors, which become orthonormal, and the little operator. @param completes  its deflation
    void build(Work& work, const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters, bool completes) {
        make_orthonormal(work, vectors_);
        each_set([&](int first, const ColumnSet& set) {
            std::vector<const Vector*> even;
            for (const int c : set) even.push_back(&vectors_[static_cast<std::size_t>(first + c)]);
            const auto odd = work.q.of(set);
            basis_.set(first, Parity::even, even);
            whole_.dirac().hop(HopForm::inverse, Parity::odd, false, kappa_, even, {}, odd);
            basis_.set(first, Parity::odd, std::vector<const Vector*>(odd.begin(), odd.end()));
        });
        independence_ = subspace_.least(basis_.orthonormalise());
        assemble(links, A, parameters);
        deflate_little(work.q[0], completes);
    }
    void assemble(const LinksOf& links, const CloverTerm<S>* A, const DiracParameters& parameters) {
        little_.assemble(basis_, links, A, parameters);
        if constexpr (!std::same_as<S, Cpu>) little_.narrow();
    }
    /// A step of inverse iteration of the near-null vectors, by the preconditioner.
    void iterate(Work& work) {
        each_set([&](int first, const ColumnSet& set) {
            for (const int c : set) algebra_.copy(vectors_[static_cast<std::size_t>(first + c)], work.b[c]);
            precondition(work, set, set_up_rtol);
            for (const int c : set) keep_normalised(work.x[c], vectors_[static_cast<std::size_t>(first + c)]);
        });
    }
    /// Calls body(first, {0, 1, ...}) for the near-null vectors from `first` on, as many as are treated at once.
    template <class Body>
    void each_set(const Body& body) const {
        for (int first = 0; first < options_.vectors; first += together) {
            ColumnSet set(static_cast<std::size_t>(std::min(together, options_.vectors - first)));
            std::iota(set.begin(), set.end(), 0);
            body(first, set);
        }
    }
    /// The first near-null vectors: x of some iterations of BiCGStab for Dhat x = a random vector.
    void relax(Work& work) {
        const int columns = work.b.size();
        const auto fields = [&](Columns& of) {
            ColumnSet all(static_cast<std::size_t>(columns));
            std::iota(all.begin(), all.end(), 0);
            return Columns(of.of(all));
        };
        krylov::ColumnsWorkspace<ColumnSums> vectors_of{fields(work.b), Columns(whole_.lattice(), columns),
                                                        Columns(whole_.lattice(), columns), fields(work.r), fields(work.q)};
        krylov::BicgstabColumns<ColumnSums> it(columns_, vectors_of, columns);
        each_set([&](int first, ColumnSet set) {
            for (const int c : set) subspace_.random(first + c, work.b[c]);
            columns_.zero(set, work.x);
            auto norms = columns_.norm2(set, work.b);
            for (double& norm : norms) norm = std::sqrt(norm);
            it.start(set, norms);
            auto enough = norms;
            for (double& norm : enough) norm *= relaxed;
            for (int step = 0; step < options_.relaxation_steps && !set.empty(); ++step) {
                const auto& p = it.direction(set);
                work.A.apply(columns_, set, p, it.v());
                set = it.half_step(set, p, work.x, enough);
                if (set.empty()) break;
                work.A.apply(columns_, set, it.r(), it.t());
                set = krylov::divided(it.full_step(set, it.r(), work.x), [&](int c) {
                          return it.scalars().of(c).norm() > enough[static_cast<std::size_t>(c)];
                      }).first;
            }
            for (int c = 0; c < columns && first + c < options_.vectors; ++c)
                keep_normalised(work.x[c], vectors_[static_cast<std::size_t>(first + c)]);
        });
        whole_.applied(static_cast<int>(work.A.take_applications()));
    }
    /// Deflates the little system by the coefficients of the near-null vectors. @param completes  deflates also by near-null vectors of the
    /// little operator itself. Where D has an eigenvalue close to 0, the little operator has a similar one, but not the same. Its GCR
    /// stagnates at the part of that eigenvector that the coefficients miss. Each vector is deflated before the next is computed.
    /// @param odd  work
    void deflate_little(Vector& odd, bool completes) {
        Little u = little_vector(), image = little_vector();
        deflation_.clear();
        deflating_.clear();
        const auto add = [&] {
            add_to_deflation(c_, u, image);
            if (completes) little_algebra_.copy(c_, deflating_.emplace_back(little_vector()));
        };
        for (const auto& even : vectors_) {
            take_coefficients(even, odd);
            add();
        }
        for (int k = 0; completes && k < coherent_own_vectors(options_.vectors); ++k) {
            take_coefficients(vectors_[static_cast<std::size_t>(k)], odd);
            solve_little(own_vectors_rtol, own_vectors_limit);
            add();
        }
    }
    /// @param u, image  work
    void add_to_deflation(const Little& w, Little& u, Little& image) {
        for (const int chirality : {0, 1}) deflation_.add(little_algebra_, little_, w, chirality, u, image);
    }
    /// c = P^+ (even, kappa A_oo^-1 H_oe even)
    void take_coefficients(const Vector& even, Vector& odd) {
        Little& c = own_coefficients();
        basis_.restrict_to(Parity::even, even, false, c.data.data());
        whole_.dirac().hop(HopForm::inverse, Parity::odd, false, kappa_, even, nullptr, odd);
        basis_.restrict_to(Parity::odd, odd, true, c.data.data());
        if constexpr (collects) little_.collect(c, c_);
    }
    /// Modified Gram-Schmidt, twice; then a reflection, v_k -= 2 / N sum v_j, so that each has a part of the lowest modes, which are
    /// the first ones otherwise: inverse iteration gives as many independent approximations of them.
    void make_orthonormal(Work& work, std::vector<Vector>& vectors) {
        std::vector<Vector*> fields;
        for (auto& v : vectors) fields.push_back(&v);
        Columns all(fields);
        const auto repeated = [&](Vector& v) { return Columns(std::vector<Vector*>(vectors.size(), &v)); };
        using Scalars = typename ColumnSums::Scalars;
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t k = 0; k < vectors.size(); ++k) {  // vector k is taken out of all later ones
                algebra_.copy(vectors[k], work.x[0]);
                keep_normalised(work.x[0], vectors[k]);
                ColumnSet later(vectors.size() - k - 1);
                std::iota(later.begin(), later.end(), static_cast<int>(k) + 1);
                const auto same = repeated(vectors[k]);
                auto products = columns_.dot(later, same, all);
                for (auto& z : products) z = -z;
                columns_.axpby(later, products, same, Scalars(later.size(), 1), all);
            }
        algebra_.zero(work.x[0]);
        for (const auto& v : vectors) algebra_.axpby(1, v, 1, work.x[0]);
        ColumnSet every(vectors.size());
        std::iota(every.begin(), every.end(), 0);
        columns_.axpby(every, Scalars(every.size(), -2. / static_cast<double>(vectors.size())), repeated(work.x[0]),
                       Scalars(every.size(), 1), all);
    }
    /// vector = x / |x|, or unchanged where x is not finite.
    void keep_normalised(const Vector& x, Vector& vector) {
        const double norm = std::sqrt(algebra_.norm2(x));
        if (norm > 0 && std::isfinite(norm)) algebra_.axpby(1 / norm, x, 0, vector);
    }

    /// x = M^-1 b of the columns of a set
    void precondition(Work& work, const ColumnSet& set, double little_rtol) {
        for (const int c : set) correct(work.b[c], work.x[c], work.q[c], little_rtol);
        work.A.apply(columns_, set, work.x, work.r);
        columns_.axpby(set, ones(set), work.b, ones(set, -1), work.r);
        if (smoother_)
            for (const int c : set) smoother_->add_to(work.r[c], work.x[c]);
        else
            smooth(work, set);
        whole_.applied(static_cast<int>(work.A.take_applications()));
    }
    static std::vector<std::complex<double>> ones(const ColumnSet& set, double value = 1) {
        return std::vector<std::complex<double>>(set.size(), value);
    }
    /// x = (P (P^+ D P)^-1 P^+ (b, 0))_e. @param q  work
    void correct(const Vector& b, Vector& x, Vector& q, double little_rtol) {
        if (multiplies_) whole_.dirac().clover(Parity::even, false, b, q);
        Little& c = own_coefficients();
        basis_.restrict_to(Parity::even, multiplies_ ? q : b, false, c.data.data());
        if constexpr (collects) little_.collect(c, c_);
        solve_little(little_rtol, options_.little_iteration_limit);
        if constexpr (collects) little_.select(c_, c);
        basis_.prolong(Parity::even, c.data.data(), x);
    }
    Little little_vector() const { return {basis_.space(), little_.layout()}; }
    /// Returns the coefficients of this worker's blocks: c, where the little system has no others.
    Little& own_coefficients() {
        if constexpr (collects) {
            if (!own_) own_.emplace(basis_.space(), basis_.layout());
            return *own_;
        } else {
            return c_;
        }
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
        const DeflatedLittleOperator A{little_, deflation_, between_};
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
    void smooth(Work& work, ColumnSet set) {
        for (int step = 0; step < options_.smoother_steps && !set.empty(); ++step) {
            work.A.apply(columns_, set, work.r, work.q);
            const auto products = columns_.dot_norm2(set, work.q, work.r);
            std::vector<std::complex<double>> alpha, opposite;
            std::size_t i = 0;
            set = krylov::divided(set, [&](int) {
                      const auto& [product, q2] = products[i++];
                      if (!(q2 > 0)) return false;
                      alpha.push_back(relaxation * product / q2);
                      opposite.push_back(-alpha.back());
                      return true;
                  }).first;
            columns_.axpby(set, alpha, work.r, ones(set), work.x);
            if (step + 1 < options_.smoother_steps) columns_.axpby(set, opposite, work.q, ones(set), work.r);
        }
    }

    Subspace subspace_;
    const Operator& whole_;
    Smoother* smoother_;
    CoherentOptions options_;
    bool multiplies_;  ///< the residual of the symmetric form has to be multiplied by A_ee
    double kappa_;
    typename Subspace::Algebra algebra_;
    ColumnSums columns_;
    Work one_;                     ///< of one right-hand side
    std::vector<Vector> vectors_;  ///< near-null; empty after a set-up that does not keep them
    BlockVectors<S, Real> basis_;
    typename Subspace::Little little_;
    typename Subspace::LittleSums little_algebra_;
    Little c_, z_, between_;  ///< vectors of the little system
    std::optional<Little> own_;
    typename Subspace::Deflation deflation_;
    std::vector<Little> deflating_;  ///< of the present subspace, before each is divided into chiralities
    krylov::GcrWorkspace<typename Subspace::LittleSums> gcr_;
    std::uint64_t little_iterations_ = 0;
    double independence_ = 0;
    CoherentReport report_;
};

}  // namespace kasane::lattice
