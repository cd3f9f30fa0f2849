// The phases of the three iterations: the work on one row, for host and device.
// A phase sums the row's products with a gathered vector, then finish(row, product, sums) computes the rest of that row. A phase
// also has
//     operand            the triangle that it multiplies with
//     vectors            how often it reads or writes a vector of its rows; a vector that is gathered and read in row order counts once
//     gathers_elsewhere  the gathered vector is read at other rows than the phase's, and counts on those
//     of(v, control)     the phase with the scalars of this iteration
//     summed             finish() adds to the sums
//     decide(scalars, sums)   decision from the sums of all rows; returns true where a residual is ready for the history
//     reads_b            the vector w holds b
//     in_iteration       false: it begins or ends a solve, and is executed whatever the verdict
// Invariants: gathered values were written before the last barrier, or by an earlier colour; finish() writes its own row only.
// Vectors are scaled (see system.hpp). The schedule of the phases is in schedule.body.hpp.
// x is updated one iteration late (x += alpha p of the iteration before), so that p is read once.
#pragma once

#include <kasane/sparse/iterate/control.hpp>

namespace kasane::sparse {

/// Vectors of an iteration, [padded] each; u and w hold intermediate values between phases.
struct Vectors {
    double *x, *r, *p, *u, *w;
    const double *diagonal, *scale;
};

/// The triangle that a phase multiplies with.
enum class Operand { nothing, factor_lower, factor_upper, lower, upper, whole };

/// Rows depend on later ones: a phase with this operand takes the colours, and the steps of a block, in descending order.
KS_FN constexpr bool descending(Operand operand) { return operand == Operand::upper || operand == Operand::factor_upper; }

/// Defaults of a phase.
struct PhaseTraits {
    static constexpr bool gathers_elsewhere = false, summed = false, reads_b = false, in_iteration = true;
};

namespace plain {

/// r -= alpha q; y = (1 + F)^-1 r; a: r.M^-1 r = y.y; b: ||r||^2 of the unscaled residual.      r read and written, u q scale, F
struct Forward : PhaseTraits {
    static constexpr Operand operand = Operand::factor_lower;
    static constexpr int vectors = 5;
    static constexpr bool summed = true;
    Vectors v;
    double alpha;
    static KS_FN Forward of(const Vectors& v, const Control& c) { return {{}, v, c.alpha}; }
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.r[i] - alpha * v.w[i], y = r - product, unscaled = r / v.scale[i];
        v.r[i] = r;
        v.u[i] = y;
        sums.a += y * y;
        sums.b += unscaled * unscaled;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.take(sums.a, sums.b);
        return true;
    }
};

/// z = (1 + F^T)^-1 y; x += alpha p; p = z + beta p.                                             u x p read and written, F^T
struct Backward : PhaseTraits {
    static constexpr Operand operand = Operand::factor_upper;
    static constexpr int vectors = 6;
    Vectors v;
    double alpha, beta;
    static KS_FN Backward of(const Vectors& v, const Control& c) { return {{}, v, c.alpha, c.beta}; }
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums&) const {
        const double z = v.u[i] - product, p = v.p[i];
        v.u[i] = z;
        v.x[i] += alpha * p;
        v.p[i] = z + beta * p;
    }
};

/// q = A p; a: p.q                                                                                p diagonal q, A
struct Product : PhaseTraits {
    static constexpr Operand operand = Operand::whole;
    static constexpr int vectors = 3;
    static constexpr bool summed = true;
    Vectors v;
    static KS_FN Product of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.p; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double p = v.p[i], q = v.diagonal[i] * p + product;
        v.w[i] = q;
        sums.a += p * q;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.control.directed(sums.a);
        return false;
    }
};

}  // namespace plain

/// CG for (1 + L)^-1 A (1 + L)^-T with u = (1 + L)^-T p and w = (1 + L)^-1 (p + (diagonal - 2) u): the operator's product is u + w.
namespace eisenstat {

/// x += alpha u; p = r + beta p; u = (1 + L^T)^-1 p.                          x p u read and written, r, L
struct Backward : PhaseTraits {
    static constexpr Operand operand = Operand::upper;
    static constexpr int vectors = 7;
    Vectors v;
    double alpha, beta;
    static KS_FN Backward of(const Vectors& v, const Control& c) { return {{}, v, c.alpha, c.beta}; }
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums&) const {
        const double p = v.r[i] + beta * v.p[i];
        v.x[i] += alpha * v.u[i];
        v.p[i] = p;
        v.u[i] = p - product;
    }
};

/// w = (1 + L)^-1 (p + (diagonal - 2) u); a: p.(u + w)                         p u diagonal w, L
struct Forward : PhaseTraits {
    static constexpr Operand operand = Operand::lower;
    static constexpr int vectors = 4;
    static constexpr bool summed = true;
    Vectors v;
    static KS_FN Forward of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.w; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double p = v.p[i], u = v.u[i], w = p + (v.diagonal[i] - 2) * u - product;
        v.w[i] = w;
        sums.a += p * (u + w);
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.control.directed(sums.a);
        return false;
    }
};

/// r -= alpha (u + w); a: r.r                                                  r read and written, u, w
struct Update : PhaseTraits {
    static constexpr Operand operand = Operand::nothing;
    static constexpr int vectors = 4;
    static constexpr bool summed = true;
    Vectors v;
    double alpha;
    static KS_FN Update of(const Vectors& v, const Control& c) { return {{}, v, c.alpha}; }
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums& sums) const {
        const double r = v.r[i] - alpha * (v.u[i] + v.w[i]);
        v.r[i] = r;
        sums.a += r * r;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.rho = sums.a;
        s.norm_due = s.control.asks_norm(sums.a);
        if (!s.norm_due) s.take(sums.a, -1);
        return !s.norm_due;
    }
};

/// b: ||r||^2 of the residual b - A x, (1 + L) r unscaled. Not in every iteration.     r scale, L
struct Norm : PhaseTraits {
    static constexpr Operand operand = Operand::lower;
    static constexpr int vectors = 2;
    static constexpr bool summed = true;
    Vectors v;
    static KS_FN Norm of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.r; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = (v.r[i] + product) / v.scale[i];
        sums.b += r * r;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.take(s.rho, sums.b);
        return true;
    }
};

/// r = (1 + L)^-1 r, colours in ascending order: turns the true residual into the iteration's.
struct Start : PhaseTraits {
    static constexpr Operand operand = Operand::lower;
    static constexpr int vectors = 3;
    static constexpr bool in_iteration = false;
    Vectors v;
    static KS_FN Start of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.r; }
    KS_FN void finish(index_t i, double product, Sums&) const { v.r[i] -= product; }
};

}  // namespace eisenstat

/// CG for the Schur complement of the first colour, diagonal - L L^T (the first colour's diagonal is 1): its own preconditioner's
/// diagonal is 1. p, r and x are defined on the second colour, u on the first.
namespace reduced {

/// x += alpha p; p = r + beta p; a: p.(diagonal p)      second colour: x p read and written, r, diagonal
struct Direction : PhaseTraits {
    static constexpr Operand operand = Operand::nothing;
    static constexpr int vectors = 6;
    static constexpr bool summed = true;
    Vectors v;
    double alpha, beta;
    static KS_FN Direction of(const Vectors& v, const Control& c) { return {{}, v, c.alpha, c.beta}; }
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums& sums) const {
        const double before = v.p[i], p = v.r[i] + beta * before;
        v.x[i] += alpha * before;
        v.p[i] = p;
        sums.a += v.diagonal[i] * p * p;
    }
};

/// u = L^T p; b: u.u, so that p.Sp = a - b              first colour: u, gathered p, L^T
struct Inner : PhaseTraits {
    static constexpr Operand operand = Operand::upper;
    static constexpr int vectors = 1;
    static constexpr bool summed = true;
    static constexpr bool gathers_elsewhere = true;
    Vectors v;
    static KS_FN Inner of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.p; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        v.u[i] = product;
        sums.b += product * product;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.control.directed(sums.a - sums.b);
        return false;
    }
};

/// r -= alpha (diagonal p - L u); a: r.r; b: ||r||^2 unscaled      second colour: r read and written, p diagonal scale, gathered u, L
struct Residual : PhaseTraits {
    static constexpr Operand operand = Operand::lower;
    static constexpr int vectors = 5;
    static constexpr bool summed = true;
    static constexpr bool gathers_elsewhere = true;
    Vectors v;
    double alpha;
    static KS_FN Residual of(const Vectors& v, const Control& c) { return {{}, v, c.alpha}; }
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.r[i] - alpha * (v.diagonal[i] * v.p[i] - product), unscaled = r / v.scale[i];
        v.r[i] = r;
        sums.a += r * r;
        sums.b += unscaled * unscaled;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.take(sums.a, sums.b);
        return true;
    }
};

/// x of the first colour follows from the second's: x = b - L^T x. (w holds b.)
struct Eliminated : PhaseTraits {
    static constexpr Operand operand = Operand::upper;
    static constexpr int vectors = 2;
    static constexpr bool gathers_elsewhere = true, reads_b = true, in_iteration = false;
    Vectors v;
    static KS_FN Eliminated of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.x; }
    KS_FN void finish(index_t i, double product, Sums&) const { v.x[i] = v.w[i] - product; }
};

}  // namespace reduced

/// r = b - A x (w holds b); b: ||r||^2 unscaled. Begins and ends a solve.
struct TrueResidual : PhaseTraits {
    static constexpr Operand operand = Operand::whole;
    static constexpr int vectors = 5;
    static constexpr bool summed = true;
    static constexpr bool reads_b = true, in_iteration = false;
    Vectors v;
    static KS_FN TrueResidual of(const Vectors& v, const Control&) { return {{}, v}; }
    KS_FN const double* gathered() const { return v.x; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.w[i] - v.diagonal[i] * v.x[i] - product, unscaled = r / v.scale[i];
        v.r[i] = r;
        sums.b += unscaled * unscaled;
    }
    static KS_FN bool decide(Scalars& s, const Sums& sums) {
        s.true_norm2 = sums.b;
        return false;
    }
};

/// x += alpha p, the last update of x, still missing when the iterations end (eisenstat: u for p).
template <double* Vectors::* direction>
struct LastStep : PhaseTraits {
    static constexpr Operand operand = Operand::nothing;
    static constexpr int vectors = 3;
    static constexpr bool in_iteration = false;
    Vectors v;
    double alpha;
    static KS_FN LastStep of(const Vectors& v, const Control& c) { return {{}, v, c.alpha}; }
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums&) const { v.x[i] += alpha * (v.*direction)[i]; }
};

}  // namespace kasane::sparse
