"""The cost of calls from Python: python python/bench/overhead.py

Median and least time of calls whose computation is as small as possible, so that each is an upper bound of what the package adds, and the
time of a step of 16,384 particles taken from Python against a burst of steps.
"""

import statistics
import time

import numpy as np

import kasane
from kasane import _core
from kasane.gravity import Direct, Leapfrog, LocalForce, Simulation, Tree, plummer


def measure(call, repeats=200, loops=50):
    """Median and least time of one call [microseconds]."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(loops):
            call()
        times.append((time.perf_counter() - begin) / loops * 1e6)
    return statistics.median(times), min(times)


def calls():
    small = plummer(2)
    one = Simulation(small, force=Direct(softening=0.1), step=Leapfrog(1e-6), device="cpu", threads=1)
    force = LocalForce(Direct(softening=0.1), 2, threads=1)
    out = np.empty((2, 3))
    one.step()
    yield "an array passed to the extension", lambda: _core.touch(small.mass)
    yield "sim.time", lambda: one.time
    yield "sim.particles (no step since)", lambda: one.particles
    yield "sim.step(), 2 particles", one.step
    yield "force.accelerations(x, m, out=a), 2 particles", lambda: force.accelerations(small.position, small.mass, out=out)
    yield "lattice.GaugeField.extents", lambda field=kasane.lattice.cold_start((2, 2, 2, 2), device="cpu"): field.extents


def share_per_step(steps=40, rounds=5):
    """Time of single steps from Python over that of a burst of steps, medians of alternating rounds."""
    ratios = []
    sim = Simulation(plummer(16384), force=Tree(softening=0.01), step=Leapfrog(1e-4), device="cpu")
    sim.step(5)
    for _ in range(rounds):
        begin = time.perf_counter()
        sim.step(steps)
        middle = time.perf_counter()
        for _ in range(steps):
            sim.step()
        ratios.append((time.perf_counter() - middle) / (middle - begin))
    return statistics.median(ratios), (middle - begin) / steps


if __name__ == "__main__":
    print(f"kasane {kasane.__version__}, numpy {np.__version__}, {kasane.devices()[0]['name']}")
    print(f"{'call':<50} {'median':>8} {'least':>8}  [us]")
    for name, call in calls():
        median, least = measure(call)
        print(f"{name:<50} {median:8.2f} {least:8.2f}")
    ratio, seconds = share_per_step()
    print(f"16,384 particles, tree: a step takes {1e3 * seconds:.1f} ms; single steps over a burst of steps: {ratio:.4f}")
