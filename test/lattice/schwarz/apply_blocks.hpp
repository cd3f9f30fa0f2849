// Schwarz preconditioners applied to fields of the host, on one device.
#pragma once

#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/schwarz_preconditioner.hpp>
#include <reference/wilson.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace kasane::lattice {

/// The even half of M (b, 0), of a Schwarz preconditioner. @param algebra  in double   @param b  of `whole`'s lattice
template <Space S, Precision P, class Operator, class Algebra, class High>
SpinorField apply_preconditioner(SchwarzPreconditioner<S, P, Operator, Algebra>& M, High& algebra,
                                 const std::shared_ptr<const Lattice<S>>& lattice, const SchwarzOptions& options, const SpinorField& b) {
    Field<S, Precision::double_> in(lattice), out(lattice);
    load(b, Parity::even, in);
    krylov::SolveLog log;
    const krylov::Options how;
    krylov::Watch watch(how, log);
    const bool zero = !(algebra.norm2(in) > 0);
    M.apply(algebra, in, out, watch, 0);
    EXPECT_EQ(log.inner_iterations, zero ? 0 : options.cycles);
    SpinorField x(b.extents);
    store(out, Parity::even, x);
    return x;
}

/// On one device.
template <Precision P, Space S>
SpinorField preconditioned(S on, const GaugeField& u, const DiracParameters& parameters, const SchwarzOptions& options,
                           const SpinorField& b, Schur schur = Schur::asymmetric) {
    const auto lattice = std::make_shared<const Lattice<S>>(on, u.extents);
    const auto links = links_on(on, u);
    std::optional<CloverTerm<S>> A;
    if (parameters.csw != 0) A.emplace(clover_term(links, parameters.kappa * parameters.csw));
    const auto* const clover = A ? &*A : nullptr;
    const LinkStorage storage{.half = P == Precision::half};
    const EvenOdd<S, P> whole(lattice, links, clover, parameters, storage, schur);
    const auto all = chosen(options, u.extents);
    SchwarzPreconditioner<S, P> M(whole, links, clover, parameters, storage, schur, all);
    FieldAlgebra<S, Precision::double_> algebra(lattice);
    return apply_preconditioner(M, algebra, lattice, all, b);
}

inline SpinorField even_half(SpinorField field) {
    for (index_t s = 0; s < field.extents.volume(); ++s)
        if (field.extents.site(s).parity() == Parity::odd)
            for (int k = 0; k < 12; ++k) field.at(s, k / 3, k % 3) = 0;
    return field;
}

}  // namespace kasane::lattice
