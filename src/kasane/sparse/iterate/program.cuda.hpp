// The order of phases, barriers and decisions of each iteration, as every thread of a device runs it.
// Invariants: threads of a grid take the same branches, for they read the same scalars; a phase reads of other rows only what was written
// before the last barrier. Barriers of an iteration: plain 2 k + 1, eisenstat 2 k (+ 1 where the norm is formed), reduced 3.
#pragma once

#include <kasane/sparse/iterate/control.hpp>
#include <kasane/sparse/iterate/phases.body.hpp>

namespace kasane::sparse::device {

/// What the decisions of an iteration read and write; one copy in each block, all the same.
struct Scalars {
    Control control;
    double rho = 0;    ///< of this iteration, before control knows of it
    double norm2 = 0;  ///< of this iteration; negative: not formed
    double rho_first = 0;
    bool asks = false;

    __device__ void take(double new_rho, double new_norm2) {
        rho = new_rho, norm2 = new_norm2;
        if (control.iteration == 0) rho_first = new_rho;
        control.updated(new_rho, new_norm2);
    }
};

/// What is multiplied with next, as a barrier is told, so that who waits there can fetch it. (The first colour of a sweep has no entries.)
struct Ahead {
    Operand operand = Operand::nothing;
    int color = -1;  ///< -1: nothing to fetch
};

// A Team has
//   scalars()                     what was decided last
//   rows(phase, color)            the phase on this thread's rows of a colour; sums are kept
//   rows(first, second, color)    both, row by row
//   all(phase)                    on all rows
//   barrier(ahead)                after it, all that was written before it by any thread is seen
//   decide(ahead, f)              barrier, then f(scalars, sums of all rows since the last decision)

struct PlainProgram {
    template <class Team>
    static __device__ void update(Team& team, const Vectors& v) {
        const plain::Forward forward{v, team.scalars().control.alpha};
        if (!team.factored()) {
            team.all(forward);
        } else {
            for (int c = 0; c < team.colors(); ++c) {
                if (c > 0) team.barrier({Operand::factor_lower, c});
                team.rows(forward, c);
            }
        }
        team.decide({Operand::factor_upper, team.colors() - 2}, [](Scalars& s, const Sums& sums) { s.take(sums.a, sums.b); });
    }
    template <class Team>
    static __device__ void direction(Team& team, const Vectors& v) {
        const plain::Backward backward{v, team.scalars().control.alpha, team.scalars().control.beta};
        if (!team.factored()) {
            team.all(backward);
        } else {
            for (int c = team.colors() - 1; c >= 0; --c) {
                if (c < team.colors() - 1) team.barrier({Operand::factor_upper, c});
                team.rows(backward, c);
            }
        }
        team.barrier({Operand::whole, -1});
        team.all(plain::Product{v});
        team.decide({Operand::factor_lower, 1}, [](Scalars& s, const Sums& sums) { s.control.directed(sums.a); });
    }
};

struct EisenstatProgram {
    template <class Team>
    static __device__ void update(Team& team, const Vectors& v) {
        team.all(eisenstat::Update{v, team.scalars().control.alpha});
        const Ahead first_with_entries{Operand::upper, team.colors() - 2};
        team.decide(first_with_entries, [](Scalars& s, const Sums& sums) {
            s.rho = sums.a;
            s.asks = s.control.asks_norm(sums.a);
            if (!s.asks) s.take(sums.a, -1);
        });
        if (!team.scalars().asks) return;
        team.all(eisenstat::Norm{v});
        team.decide(first_with_entries, [](Scalars& s, const Sums& sums) { s.take(s.rho, sums.b); });
    }
    template <class Team>
    static __device__ void direction(Team& team, const Vectors& v) {
        const eisenstat::Backward backward{v, team.scalars().control.alpha, team.scalars().control.beta};
        const eisenstat::Forward forward{v};
        for (int c = team.colors() - 1; c > 0; --c) {
            team.rows(backward, c);
            team.barrier({Operand::upper, c - 1});
        }
        // The first colour has nothing below it but what its own thread has just made.
        team.rows(backward, forward, 0);
        for (int c = 1; c < team.colors(); ++c) {
            team.barrier({Operand::lower, c});
            team.rows(forward, c);
        }
        team.decide({}, [](Scalars& s, const Sums& sums) { s.control.directed(sums.a); });
    }
};

struct ReducedProgram {
    template <class Team>
    static __device__ void update(Team& team, const Vectors& v) {
        team.rows(reduced::Residual{v, team.scalars().control.alpha}, 1);
        team.decide({Operand::upper, 0}, [](Scalars& s, const Sums& sums) { s.take(sums.a, sums.b); });
    }
    template <class Team>
    static __device__ void direction(Team& team, const Vectors& v) {
        team.rows(reduced::Direction{v, team.scalars().control.alpha, team.scalars().control.beta}, 1);
        team.barrier({Operand::upper, 0});
        team.rows(reduced::Inner{v}, 0);
        team.decide({Operand::lower, 1}, [](Scalars& s, const Sums& sums) { s.control.directed(sums.a - sums.b); });
    }
};

/// At most `budget` iterations, from where the last call ended; the first of a solve begins with the residual's norms.
template <class Program, class Team>
__device__ void run(Team& team, const Vectors& v, bool first, int budget) {
    const auto ended = [&] { return team.scalars().control.verdict != Verdict::go_on; };
    // update() stands here once, so that the kernel's code is half as long.
    while (true) {
        if (!first) {
            if (ended() || budget-- == 0) return;
            Program::direction(team, v);
            if (ended()) return;
        }
        first = false;
        Program::update(team, v);
        team.record();
    }
}

}  // namespace kasane::sparse::device
