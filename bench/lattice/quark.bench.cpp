// lattice.quark: what a trajectory of hybrid Monte Carlo takes for its quarks: packing links that are on the space, the solve of
// (Dhat^+ Dhat) x = phi, and the parts of the force.
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/hmc/clover_force.hpp>
#include <kasane/lattice/hmc/hop_force.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/quark_operator.hpp>
#include <kasane/lattice/hmc/rational.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::bench {

using namespace lattice;

namespace {

// Least traffic per site of the lattice, in bytes: links, clover term, spinors and W once; forces are read and written.
constexpr double links_bytes = 4 * 18 * 8, term_bytes = 72 * 8, spinor_bytes = 24 * 8, weights_bytes = 54 * 8;
constexpr double hop_force_bytes = 3 * links_bytes + 2 * spinor_bytes, product_bytes = 2 * spinor_bytes + weights_bytes,
                 inverse_bytes = 0.5 * term_bytes + weights_bytes, leaf_bytes = 3 * links_bytes + weights_bytes;
/// Reads links for the checksum, the clover term and both operators, A twice after it was written, and writes both operators.
constexpr double pack_bytes = 4 * links_bytes + 3 * term_bytes + 8 * (18 * 8 + 12 * 4) + 56 * (8 + 4);

template <Space S>
class QuarkForceParts {
   public:
    QuarkForceParts(const BenchmarkContext& context, LatticeProblems& problems, S on, const Extents& extents)
        : context_(context),
          speed_(problems.speed(on)),
          on_(on),
          extents_(extents),
          u_(on, extents),
          force_(on, extents),
          label_(threads_label(on)) {
        weak_start(u_, weak_epsilon, 1);
        set_zero(force_);
    }

    void run() {
        solves();
        const double kappa = benchmark_operator.kappa, kappa_csw = kappa * benchmark_operator.csw;
        auto lattice = std::make_shared<const Lattice<S>>(on_, extents_);
        ResidentField<S> x(lattice), y(lattice);
        for (auto* const field : {&x, &y}) {
            gaussian_field(1, 2, field == &x ? 0 : 1, Parity::even, field->even);
            gaussian_field(1, 2, field == &x ? 0 : 1, Parity::odd, field->odd);
        }
        CloverWeights<S> weights(on_, extents_);
        auto A = clover_term(u_, kappa_csw);
        report("clover term", links_bytes + term_bytes, [&] { fill_clover_term(u_, kappa_csw, A); });
        report("log det A", 0.5 * term_bytes, [&] { log_determinant(A, Parity::odd); });
        report("hop force", hop_force_bytes, [&] { add_hop_force(u_, kappa, benchmark_operator.boundary, x, y, 1, force_); });
        report("W of X Y^+", product_bytes, [&] { weights_of_product(x, y, 1, false, weights); });
        report("W of A^-1", inverse_bytes, [&] { weights_of_inverse(A, Parity::odd, 0, weights); });
        report("leaves", leaf_bytes, [&] { add_clover_force(u_, kappa_csw, weights, 1, force_); });
    }

   private:
    void solves() {
        for (const auto inner : {Precision::single, Precision::half, Precision::double_}) {
            QuarkOperator<S> D(on_, extents_, benchmark_operator, {.inner = inner});
            D.pack(u_);
            if (inner == Precision::single) {
                Links<S> other(on_, extents_);
                weak_start(other, weak_epsilon, 2);
                bool second = false;  // links that are packed are not packed again
                report("set-up", pack_bytes, [&] { D.pack((second = !second) ? other : u_); });
                D.pack(u_);
                report("set-up, same links", links_bytes, [&] { D.pack(u_); });
                auto eta = D.vector();
                report("Gaussian field", spinor_bytes / 2, [&] { gaussian_field(1, 1, 0, Parity::even, eta); });
            }
            auto phi = D.vector(), x = D.vector();
            gaussian_field(1, 1, 0, Parity::even, phi);
            krylov::SolveLog log;
            const auto timing = time_calls(on_, [&] {
                D.axpby(0, phi, 0, x);
                log = D.solve(0, phi, x, rtol);
            });
            auto row = row_of(fmt::format("solve, {}", name(inner)), timing);
            // Two hops and a term on each parity for Dhat and for Dhat^+.
            const double flops = log.iterations * static_cast<double>(extents_.half()) * 2 * (2 * clover_flops + 48);
            row.rate = flops / timing.seconds;
            row.unit = "flop/s";
            row.tflops = 1e-12 * row.rate;
            row.error = log.true_residual;
            row.more.emplace_back("iterations", log.iterations);
            row.more.emplace_back("updates", log.updates);
            context_.report(row);
            if (inner != Precision::half) shifted_solve(D, inner);
        }
    }
    /// The fields of all poles of one flavour's force.
    void shifted_solve(QuarkOperator<S>& D, Precision inner) {
        const auto R = inverse_root(0.01, 6, 10);
        std::vector<Field<S, Precision::double_>> x;
        for (int k = 0; k < R.degree(); ++k) x.push_back(D.vector());
        auto phi = D.vector();
        gaussian_field(1, 1, 0, Parity::even, phi);
        krylov::SolveLog log;
        auto row = row_of(fmt::format("solve for {} shifts, {}", R.degree(), name(inner)),
                          time_calls(on_, [&] { log = D.solve_shifted(R.poles, phi, x, 1e-8); }));
        row.error = log.true_residual;
        row.more.emplace_back("iterations", log.iterations);
        context_.report(row);
    }

    template <class Body>
    void report(const std::string& part, double bytes, Body body) {
        auto row = row_of(part, time_calls(on_, body));
        row.rate = bytes * static_cast<double>(extents_.volume()) / row.seconds;
        row.unit = "B/s";
        row.bound = speed_.triad;
        row.bound_reason = "every number moved once: " + words(speed_);
        row.more.emplace_back("bytes_per_site", bytes);
        context_.report(row);
    }
    BenchmarkResult row_of(const std::string& part, const Timing& timing) const {
        BenchmarkResult row;
        row.name = fmt::format("lattice.quark, {}{}", part, label_);
        row.n = extents_.volume();
        row.seconds = timing.seconds, row.spread = timing.spread;
        row.more = {{"L", static_cast<double>(extents_[0])}};
        return row;
    }

    static constexpr double rtol = 1e-9;
    const BenchmarkContext& context_;
    const MemorySpeed& speed_;
    S on_;
    Extents extents_;
    Links<S> u_, force_;
    std::string label_;
};

}  // namespace

Benchmark lattice_quark(const SharedLattice& shared) {
    return {
        "lattice.quark",
        "Parts of the quark force of hybrid Monte Carlo, clover operator (kappa 0.125, c_sw 1, antiperiodic in time), links U = exp(0.3 i "
        "P): "
        "`set-up` computes the clover term and packs links and term in double and single precision from links on the space; `solve` finds "
        "(Dhat^+ Dhat) x = phi to 1e-9 by conjugate gradients whose iteration runs in the precision named, for 10 shifts to 1e-8 in double "
        "or ending in single; hop force; `W` and `leaves` of "
        "the clover force; log det A. 16^4 on a CPU, 32^3 x 64 on a device, `--n L` for L^4. The rate of a part that is not a solve is the "
        "least traffic per second: every link, spinor, clover term and W once.",
        [shared](const BenchmarkContext& context) {
            for (const auto& extents : volumes_or(context, main_volume(context.space)))
                std::visit([&]<Space S>(S space) { QuarkForceParts<S>(context, *shared, space, extents).run(); }, context.space);
        }};
}

}  // namespace kasane::bench
