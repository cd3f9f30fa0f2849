// The physics of one row in each phase of the three iterations, for the host and the device alike.
// A phase sums the row's products with a gathered vector, then finish(row, product, sums) does what touches that row alone.
// Invariants: what a phase gathers, it (or an earlier colour) has written before the last barrier; finish writes its own row only.
// Vectors are scaled (see system.hpp). Bytes per row and phase stand above each: doubles of 8, entries of 12 (3 or 6 a row), each vector
// once, gathered or not.
//
//   every iteration                plain                        eisenstat                   reduced (2 colours)
//   update(alpha) -> rho, |r|      Forward, colours up          Update                      Residual on the second colour
//   beta = rho / rho_before        -                            -                           -
//   direction(alpha, beta) -> pAp  Backward, colours down;      Backward, colours down;     Direction on the second colour;
//                                  Product                      Forward, colours up         Inner on the first
//   alpha = rho / pAp              -                            -                           -
// x follows one step late (x += alpha p of the iteration before), so that p is read once.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::sparse {

/// Vectors of an iteration, [padded] each; u and w hold what the iteration needs between phases.
struct Vectors {
    double *x, *r, *p, *u, *w;
    const double *diagonal, *scale;
};

/// Sums of a phase over rows; the meaning is the phase's.
struct Sums {
    double a = 0, b = 0;
};

/// Which triangle a phase multiplies with.
enum class Operand { nothing, factor_lower, factor_upper, lower, upper, whole };

namespace plain {

/// r -= alpha q; y = (1 + F)^-1 r; a: r.M^-1 r = y.y; b: ||r||^2 of the unscaled residual.      r u w(rite), r q scale: 8*5 + 36
struct Forward {
    static constexpr Operand operand = Operand::factor_lower;
    Vectors v;
    double alpha;
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.r[i] - alpha * v.w[i], y = r - product, unscaled = r / v.scale[i];
        v.r[i] = r;
        v.u[i] = y;
        sums.a += y * y;
        sums.b += unscaled * unscaled;
    }
};

/// z = (1 + F^T)^-1 y; x += alpha p; p = z + beta p.                                             u x p read and written, F/2: 8*6 + 36
struct Backward {
    static constexpr Operand operand = Operand::factor_upper;
    Vectors v;
    double alpha, beta;
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums&) const {
        const double z = v.u[i] - product, p = v.p[i];
        v.u[i] = z;
        v.x[i] += alpha * p;
        v.p[i] = z + beta * p;
    }
};

/// q = A p; a: p.q                                                                                p diagonal q, A: 8*3 + 72
struct Product {
    static constexpr Operand operand = Operand::whole;
    Vectors v;
    KS_FN const double* gathered() const { return v.p; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double p = v.p[i], q = v.diagonal[i] * p + product;
        v.w[i] = q;
        sums.a += p * q;
    }
};

}  // namespace plain

/// CG for (1 + L)^-1 A (1 + L)^-T with u = (1 + L)^-T p and w = (1 + L)^-1 (p + (diagonal - 2) u): the operator's product is u + w.
namespace eisenstat {

/// x += alpha u; p = r + beta p; u = (1 + L^T)^-1 p.                          x p u read and written, r, L: 8*7 + 36
struct Backward {
    static constexpr Operand operand = Operand::upper;
    Vectors v;
    double alpha, beta;
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums&) const {
        const double p = v.r[i] + beta * v.p[i];
        v.x[i] += alpha * v.u[i];
        v.p[i] = p;
        v.u[i] = p - product;
    }
};

/// w = (1 + L)^-1 (p + (diagonal - 2) u); a: p.(u + w)                         p u diagonal w, L: 8*4 + 36
struct Forward {
    static constexpr Operand operand = Operand::lower;
    Vectors v;
    KS_FN const double* gathered() const { return v.w; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double p = v.p[i], u = v.u[i], w = p + (v.diagonal[i] - 2) * u - product;
        v.w[i] = w;
        sums.a += p * (u + w);
    }
};

/// r -= alpha (u + w); a: r.r                                                  r read and written, u, w: 8*4
struct Update {
    static constexpr Operand operand = Operand::nothing;
    Vectors v;
    double alpha;
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums& sums) const {
        const double r = v.r[i] - alpha * (v.u[i] + v.w[i]);
        v.r[i] = r;
        sums.a += r * r;
    }
};

/// b: ||r||^2 of the residual that the user knows, (1 + L) r unscaled. Not in every iteration.     r scale, L: 8*2 + 36
struct Norm {
    static constexpr Operand operand = Operand::lower;
    Vectors v;
    KS_FN const double* gathered() const { return v.r; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = (v.r[i] + product) / v.scale[i];
        sums.b += r * r;
    }
};

/// r = (1 + L)^-1 r, colours up: from the true residual into the iteration's.
struct Start {
    static constexpr Operand operand = Operand::lower;
    Vectors v;
    KS_FN const double* gathered() const { return v.r; }
    KS_FN void finish(index_t i, double product, Sums&) const { v.r[i] -= product; }
};

}  // namespace eisenstat

/// CG for the Schur complement of the first colour, diagonal - L L^T (the first colour's diagonal is 1): its own preconditioner's
/// diagonal is 1. p, r, x live on the second colour, u on the first.
namespace reduced {

/// x += alpha p; p = r + beta p; a: p.(diagonal p)      second colour: x p read and written, r, diagonal: 8*6
struct Direction {
    static constexpr Operand operand = Operand::nothing;
    Vectors v;
    double alpha, beta;
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums& sums) const {
        const double before = v.p[i], p = v.r[i] + beta * before;
        v.x[i] += alpha * before;
        v.p[i] = p;
        sums.a += v.diagonal[i] * p * p;
    }
};

/// u = L^T p; b: u.u, so that p.Sp = a - b              first colour: u, gathered p, L^T: 8*2 + 72
struct Inner {
    static constexpr Operand operand = Operand::upper;
    Vectors v;
    KS_FN const double* gathered() const { return v.p; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        v.u[i] = product;
        sums.b += product * product;
    }
};

/// r -= alpha (diagonal p - L u); a: r.r; b: ||r||^2 unscaled      second colour: r read and written, p diagonal scale, gathered u, L: 8*6
/// + 72
struct Residual {
    static constexpr Operand operand = Operand::lower;
    Vectors v;
    double alpha;
    KS_FN const double* gathered() const { return v.u; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.r[i] - alpha * (v.diagonal[i] * v.p[i] - product), unscaled = r / v.scale[i];
        v.r[i] = r;
        sums.a += r * r;
        sums.b += unscaled * unscaled;
    }
};

/// x of the first colour follows from the second's: x = b - L^T x. (w holds b.)
struct Eliminated {
    static constexpr Operand operand = Operand::upper;
    Vectors v;
    KS_FN const double* gathered() const { return v.x; }
    KS_FN void finish(index_t i, double product, Sums&) const { v.x[i] = v.w[i] - product; }
};

}  // namespace reduced

/// r = b - A x (w holds b); b: ||r||^2 unscaled. Sets an iteration off, and ends it.
struct TrueResidual {
    static constexpr Operand operand = Operand::whole;
    Vectors v;
    KS_FN const double* gathered() const { return v.x; }
    KS_FN void finish(index_t i, double product, Sums& sums) const {
        const double r = v.w[i] - v.diagonal[i] * v.x[i] - product, unscaled = r / v.scale[i];
        v.r[i] = r;
        sums.b += unscaled * unscaled;
    }
};

/// x += alpha p, the step that the iteration still owes when it ends (eisenstat: u for p).
struct LastStep {
    static constexpr Operand operand = Operand::nothing;
    Vectors v;
    double alpha;
    const double* direction;
    KS_FN const double* gathered() const { return nullptr; }
    KS_FN void finish(index_t i, double, Sums&) const { v.x[i] += alpha * direction[i]; }
};

}  // namespace kasane::sparse
