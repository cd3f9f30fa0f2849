"""Arrays of CuPy on the device against arrays of the host: python python/bench/device_arrays.py [--small]

Times of a force of 2^20 particles by the tree, of a solve of 128^3 unknowns, of reading the state of a simulation, of reading links and of a quark
solve, with arrays on the device, and with copies through the host, as a program must make them without arrays of the device. Each row names the bytes
that the copies would move. With a CopyWarning the program ends with an error, so that the numbers "on the device" have no copies. A row that fails
is reported, the others are measured, and the exit status is 1. --small: sizes for a trial.
"""

import statistics
import sys
import time
import traceback
import warnings

import cupy
import numpy as np

import kasane
from kasane.gravity import Leapfrog, LocalForce, Simulation, Tree, plummer
from kasane.lattice import GaugeField, WilsonSolver, hot_start, point_source, weak_start
from kasane.sparse import PoissonProblem, Solver

SMALL = "--small" in sys.argv[1:]
failed = []


def median(call, repeats=9):
    """[ms]"""
    times = []
    call()
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def row(name, on_device, through_host, moved, repeats=9):
    """Prints the times of both; moved: bytes that the second copies."""
    there, here = median(on_device, repeats), median(through_host, repeats)
    print(f"{name:<44} {there:10.3f} {here:12.3f} {moved / 2**20:10.1f}", flush=True)


def force():
    n = 1 << (14 if SMALL else 20)
    cluster = plummer(n)
    x, m = cupy.asarray(cluster.position), cupy.asarray(cluster.mass)
    own, out = LocalForce(Tree(softening=0.01), n, device="cuda"), cupy.empty_like(x)

    def through_the_host():
        own.accelerations(cupy.asarray(cluster.position), cupy.asarray(cluster.mass), out=out)
        return out.get()

    on_device = lambda: own.accelerations(x, m, out=out)  # noqa: E731
    assert on_device() is out
    row(f"force of the tree, {n} particles", on_device, through_the_host, cluster.position.nbytes * 2 + cluster.mass.nbytes)


def state():
    n = 1 << (14 if SMALL else 20)
    sim = Simulation(plummer(n), force=Tree(softening=0.01), step=Leapfrog(1 / 256), device="cuda").step()
    x, v = cupy.empty((n, 3)), cupy.empty((n, 3))

    def through_the_host():
        particles = sim.step().particles
        return cupy.asarray(particles.position), cupy.asarray(particles.velocity)

    sim.copy_state(position=x, velocity=v)
    assert np.array_equal(x.get(), sim.particles.position) and np.array_equal(v.get(), sim.particles.velocity)
    row(f"a step and its state, {n} particles", lambda: sim.step().copy_state(position=x, velocity=v), through_the_host, 4 * x.nbytes)


def solve():
    size = 32 if SMALL else 128
    problem = PoissonProblem((size, size, size), boundary={"z_max": ("dirichlet", 0.0)})
    A = problem.matrix()
    import cupyx.scipy.sparse

    there = cupyx.scipy.sparse.csr_matrix(A)
    b = np.random.default_rng(0).normal(size=A.shape[0])
    solver, b_there = Solver(there, tune=False), cupy.asarray(b)
    row(f"solve, {size}^3 unknowns", lambda: solver.solve(b_there), lambda: cupy.asarray(solver.solve(b_there.get())), 4 * b.nbytes)
    print(f"    {solver.log.iterations} iterations")
    moved = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    row("set-up from a matrix on the device", lambda: Solver(there, tune=False), lambda: Solver(A, tune=False, device="cuda"), moved, 3)


def links():
    size = (8, 8, 8, 16) if SMALL else (32, 32, 32, 64)
    field = hot_start(size, device="cuda")
    there = cupy.asarray(field.array())
    out = cupy.empty_like(there)
    assert np.array_equal(GaugeField(there).array(out=out).get(), there.get())
    row(f"links of {'x'.join(map(str, size))} into a GaugeField", lambda: GaugeField(there), lambda: GaugeField(there.get(), device="cuda"), there.nbytes, 3)
    row("links out of a GaugeField", lambda: field.array(out=out), lambda: cupy.asarray(field.array()), there.nbytes, 3)


def quarks():
    size = (8, 8, 8, 16) if SMALL else (32, 32, 32, 64)
    solver = WilsonSolver(weak_start(size, 0.3, device="cuda"), kappa=0.12, csw=1.0, device="cuda")
    source = cupy.asarray(point_source(size))
    x = solver.solve(source)
    residual = float(cupy.linalg.norm(solver.apply(x).ravel() - source.ravel()) / cupy.linalg.norm(source.ravel()))
    assert residual < 1e-9, residual
    row(f"quark solve of {'x'.join(map(str, size))}", lambda: solver.solve(source), lambda: cupy.asarray(solver.solve(source.get())), 2 * source.nbytes, 5)
    print(f"    {solver.log.iterations} iterations, residual {residual:.1e}")


if __name__ == "__main__":
    if len(kasane.devices()) < 2:
        sys.exit(f"no CUDA device: {kasane.why_no_cuda()}")
    warnings.simplefilter("error", kasane.CopyWarning)
    print(f"kasane {kasane.__version__}, cupy {cupy.__version__}, {kasane.devices()[1]['name']}; medians")
    print(f"{'':<44} {'device [ms]':>10} {'host [ms]':>12} {'MiB moved':>10}")
    for part in (force, state, solve, links, quarks):
        try:
            part()
        except Exception:  # noqa: BLE001  the other rows are measured
            failed.append(part.__name__)
            traceback.print_exc()
        cupy.get_default_memory_pool().free_all_blocks()
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
