// The three iterations of conjugate gradients as schedules of phases: written once, for every executor of phases.
//
//   every iteration                PlainIteration               EisenstatIteration          ReducedIteration (2 colours)
//   update(alpha) -> rho, |r|      Forward, colours up          Update [Norm]               Residual on the second colour
//   beta = rho / rho_before        -                            -                           -
//   direction(alpha, beta) -> pAp  Backward, colours down;      Backward, colours down;     Direction on the second colour;
//                                  Product                      Forward, colours up         Inner on the first
//   alpha = rho / pAp              -                            -                           -
//
// An executor runs phases on rows. There are four: the threads of a CPU (threads.hpp), the blocks of one cooperative kernel
// (persistent.cuda.hpp), one kernel per phase, captured in a graph or not (stage.cuda.hpp), and one that counts bytes and barriers
// (cost.cpp). It has
//   colors()                      the number of colours
//   factored()                    false: the factor is the identity, and rows of different colours are independent
//   make<Phase>()                 the phase with the scalars of this iteration
//   rows(phase, color)            the phase on the rows of a colour
//   rows(first, second, color)    both; the second one reads of the first only its own rows
//   all(phase)                    on all rows
//   barrier(next)                 earlier writes are visible to all threads after it
//   decide(phase, next)           barrier, then Phase::decide(scalars, sums of all rows since the last decision)
//   norm_due()                    whether update() must form ||r||
// and, for start() and finish(), clear(): u = w = 0, and p = 0 unless a search direction is continued.
// Invariants: all threads take the same branches, because they hold the same scalars; a phase reads of other rows only values written
// before the last barrier. Barriers of an iteration: plain 2 k + 1 (3 without a factor), eisenstat 2 k (+ 1 where ||r|| is formed),
// reduced 3.
#pragma once

#include <kasane/sparse/iterate/phases.body.hpp>

// Executors of the host and of a device share these functions; nvcc would warn of each call.
#if defined(__CUDACC__)
#define KS_ANY_EXECUTOR _Pragma("nv_exec_check_disable")
#else
#define KS_ANY_EXECUTOR
#endif

namespace kasane::sparse {

/// The triangle that the next phase multiplies with, and the colour it begins with: idle threads may prefetch it. The first colour of a
/// sweep has no entries. -1: nothing to prefetch.
struct Next {
    Operand operand = Operand::nothing;
    int color = -1;
};

/// r = b - A x, ready for the first update.
template <class Executor>
void true_residual(Executor& e) {
    const auto residual = e.template make<TrueResidual>();
    e.all(residual);
    e.decide(residual, {});
}

/// Any preconditioner: forward and backward substitution, product.                     [Saad 2003, algorithm 9.1]
struct PlainIteration {
    template <class Executor>
    static void start(Executor& e) {
        true_residual(e);
        e.clear();
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void update(Executor& e) {
        const auto forward = e.template make<plain::Forward>();
        if (!e.factored()) {
            e.all(forward);
        } else {
            for (int c = 0; c < e.colors(); ++c) {
                if (c > 0) e.barrier({Operand::factor_lower, c});
                e.rows(forward, c);
            }
        }
        e.decide(forward, {Operand::factor_upper, e.colors() - 2});
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void direction(Executor& e) {
        const auto backward = e.template make<plain::Backward>();
        if (!e.factored()) {
            e.all(backward);
        } else {
            for (int c = e.colors() - 1; c >= 0; --c) {
                if (c < e.colors() - 1) e.barrier({Operand::factor_upper, c});
                e.rows(backward, c);
            }
        }
        e.barrier({Operand::whole, -1});
        const auto product = e.template make<plain::Product>();
        e.all(product);
        e.decide(product, {Operand::factor_lower, 1});
    }

    template <class Executor>
    static void finish(Executor& e) {
        e.all(e.template make<LastStep<&Vectors::p>>());
        e.barrier({});
        true_residual(e);
    }
};

/// The product comes out of the two substitutions; the factor's triangles must be A's.   [Eisenstat 1981]
struct EisenstatIteration {
    template <class Executor>
    static void start(Executor& e) {
        true_residual(e);
        const auto start = e.template make<eisenstat::Start>();
        for (int c = 0; c < e.colors(); ++c) {
            e.rows(start, c);
            e.barrier({});
        }
        e.clear();
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void update(Executor& e) {
        const auto update = e.template make<eisenstat::Update>();
        e.all(update);
        const Next first_with_entries{Operand::upper, e.colors() - 2};
        e.decide(update, first_with_entries);
        if (!e.norm_due()) return;
        const auto norm = e.template make<eisenstat::Norm>();
        e.all(norm);
        e.decide(norm, first_with_entries);
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void direction(Executor& e) {
        const auto backward = e.template make<eisenstat::Backward>();
        const auto forward = e.template make<eisenstat::Forward>();
        for (int c = e.colors() - 1; c > 0; --c) {
            e.rows(backward, c);
            e.barrier({Operand::upper, c - 1});
        }
        // Rows of the first colour have no entries in L: their forward phase needs only their own backward phase.
        e.rows(backward, forward, 0);
        for (int c = 1; c < e.colors(); ++c) {
            e.barrier({Operand::lower, c});
            e.rows(forward, c);
        }
        e.decide(forward, {});
    }

    template <class Executor>
    static void finish(Executor& e) {
        e.all(e.template make<LastStep<&Vectors::u>>());
        e.barrier({});
        true_residual(e);
    }
};

/// Eisenstat's iteration with two colours, the first one eliminated exactly: vectors of half the length.
struct ReducedIteration {
    template <class Executor>
    static void start(Executor& e) {
        e.rows(e.template make<reduced::Eliminated>(), 0);
        e.barrier({});
        const auto residual = e.template make<TrueResidual>();
        e.rows(residual, 1);
        e.decide(residual, {});
        e.clear();
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void update(Executor& e) {
        const auto residual = e.template make<reduced::Residual>();
        e.rows(residual, 1);
        e.decide(residual, {Operand::upper, 0});
    }

    KS_ANY_EXECUTOR
    template <class Executor>
    static KS_FN void direction(Executor& e) {
        e.rows(e.template make<reduced::Direction>(), 1);
        e.barrier({Operand::upper, 0});
        const auto inner = e.template make<reduced::Inner>();
        e.rows(inner, 0);
        e.decide(inner, {Operand::lower, 1});
    }

    template <class Executor>
    static void finish(Executor& e) {
        e.rows(e.template make<LastStep<&Vectors::p>>(), 1);
        e.barrier({});
        e.rows(e.template make<reduced::Eliminated>(), 0);
        e.barrier({});
        true_residual(e);
    }
};

/// Executes at most `budget` iterations, from the end of the last call; the first call of a solve begins with the residual's norms. The
/// executor also has ended() (there is a verdict), ask_to_stop() (before an update) and record() (after it).
KS_ANY_EXECUTOR
template <class Schedule, class Executor>
KS_FN void iterations(Executor& e, bool first, int budget) {
    // The loop contains a single call of update(), so that a kernel's code is half as long.
    while (true) {
        if (!first) {
            if (e.ended() || budget-- == 0) return;
            Schedule::direction(e);
            if (e.ended()) return;
            e.ask_to_stop();
        }
        first = false;
        Schedule::update(e);
        e.record();
    }
}

}  // namespace kasane::sparse
