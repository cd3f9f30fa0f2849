"""Arrays of CuPy on the device against arrays of the host: python python/bench/device_arrays.py

Times of a force of 2^20 particles by the tree and of a solve of 128^3 unknowns, with arguments on the device, and with copies through the
host, as a program must make them without arrays of the device.
"""

import statistics
import time

import cupy
import numpy as np

import kasane
from kasane.gravity import LocalForce, Tree, plummer
from kasane.sparse import PoissonProblem, Solver


def median(call, repeats=9):
    """[ms]"""
    times = []
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


if __name__ == "__main__":
    print(f"kasane {kasane.__version__}, {kasane.devices()[1]['name']}")
    cluster = plummer(1 << 20)
    x, m = cupy.asarray(cluster.position), cupy.asarray(cluster.mass)
    force = LocalForce(Tree(softening=0.01), 1 << 20, device="cuda")
    out = cupy.empty_like(x)
    print(f"tree, 2^20 particles, arrays on the device   {median(lambda: force.accelerations(x, m, out=out)):8.2f} ms")

    def through_the_host():
        force.accelerations(cupy.asarray(cluster.position), cupy.asarray(cluster.mass), out=out)
        out.get()

    print(f"the same with copies from and to the host    {median(through_the_host):8.2f} ms")
    problem = PoissonProblem((128, 128, 128), boundary={"z_max": ("dirichlet", 0.0)})
    A = problem.matrix()
    import cupyx.scipy.sparse

    there = cupyx.scipy.sparse.csr_matrix(A)
    b = np.random.default_rng(0).normal(size=A.shape[0])
    solver, b_there = Solver(there, tune=False), cupy.asarray(b)
    print(f"solve, 128^3 unknowns, b and x on the device {median(lambda: solver.solve(b_there)):8.2f} ms, {solver.log.iterations} iterations")
    print(f"the same with b and x on the host            {median(lambda: solver.solve(b)):8.2f} ms")
    print(f"set-up from a matrix on the device           {median(lambda: Solver(there, tune=False), 3):8.2f} ms")
    print(f"set-up from a matrix on the host             {median(lambda: Solver(A, tune=False, device='cuda'), 3):8.2f} ms")
