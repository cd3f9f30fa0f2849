"""Arrays of CuPy and torch in the memory of a CUDA device; every test needs a GPU, a build with CUDA and the library."""

import warnings

import numpy as np
import pytest

import kasane
from kasane.arrays import as_device_array
from kasane.gravity import Direct, LocalForce, Particles, Tree, accelerations, plummer, potentials
from kasane.sparse import GeneralSolver, Solver

pytestmark = pytest.mark.skipif(len(kasane.devices()) == 1, reason=kasane.why_no_cuda())

EXACT = Direct(softening=0.05, precision="double")


class CuPy:
    """What the tests need of a library."""

    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def put(self, array):
        return self.module.asarray(array)

    def get(self, array):
        assert isinstance(array, self.module.ndarray)
        return array.get()

    def address(self, array):
        return array.data.ptr

    def every_second(self, array):
        return self.module.repeat(array, 2, axis=0)[::2]

    def csr(self, A):
        sparse = pytest.importorskip("cupyx.scipy.sparse")
        return sparse.csr_matrix(A)


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")

    def put(self, array):
        return self.module.as_tensor(np.ascontiguousarray(array), device="cuda")

    def get(self, array):
        assert isinstance(array, self.module.Tensor) and array.is_cuda
        return array.cpu().numpy()

    def address(self, array):
        return array.data_ptr()

    def every_second(self, array):
        return self.module.repeat_interleave(array, 2, dim=0)[::2]

    def csr(self, A):
        index = [self.put(a.astype(np.int64)) for a in (A.indptr, A.indices)]
        return self.module.sparse_csr_tensor(*index, self.put(A.data), size=A.shape)


@pytest.fixture(params=[CuPy, Torch])
def library(request):
    return request.param()


class Interface:
    """An array behind the CUDA array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_arrays_are_not_copied(library):
    x = library.put(np.arange(12.0).reshape(4, 3))
    for given in (x, Interface(x)):
        seen = as_device_array(given, np.float64, ("n", 3), "x")
        assert seen.address == library.address(x)
        assert seen.shape == (4, 3) and seen.type == "float64" and seen.contiguous and seen.device == 0


@pytest.mark.parametrize("force", [EXACT, Tree(softening=0.05, theta=0.4)])
def test_forces_of_arrays_on_the_device(library, force):
    cluster = plummer(3000, seed=2)
    x, m = library.put(cluster.position), library.put(cluster.mass)
    own = LocalForce(force, 3000, device="cuda")
    a, phi = own.accelerations(x, m), own.potentials(x, m)
    limit = 1e-12 if force is EXACT else 1e-5
    for found, exact in ((a, accelerations), (phi, potentials)):
        expected = exact(cluster.position, cluster.mass, force)
        assert np.linalg.norm(library.get(found) - expected) < limit * np.linalg.norm(expected)
    out = library.put(np.zeros((3000, 3)))
    before = library.address(out)
    assert own.accelerations(x, m, out=out) is out and library.address(out) == before
    assert np.array_equal(library.get(out), library.get(a))
    assert own.device == "cuda:0" and "cuda:0" in repr(own)


def test_a_step_of_ones_own_stays_on_the_device(library):
    """A leapfrog in the library of the arrays and kasane's own on the CPU agree."""
    from kasane.gravity import Leapfrog, Simulation

    cluster = plummer(512, seed=3)
    x, v, m = library.put(cluster.position), library.put(cluster.velocity), library.put(cluster.mass)
    force, dt = LocalForce(EXACT, 512, device="cuda"), 1 / 64
    a = force.accelerations(x, m)
    for _ in range(8):
        v = v + a * (dt / 2)
        x = x + v * dt
        force.accelerations(x, m, out=a)
        v = v + a * (dt / 2)
    sim = Simulation(cluster, force=EXACT, step=Leapfrog(dt), device="cpu").run(until=8 * dt)
    assert np.allclose(library.get(x), sim.particles.position, rtol=1e-10, atol=1e-11)


def test_a_copy_on_the_device_is_reported(library):
    cluster = plummer(100)
    x, m = library.put(cluster.position), library.put(cluster.mass)
    force = LocalForce(EXACT, 100, device="cuda")
    expected = library.get(force.accelerations(x, m))
    with pytest.warns(kasane.CopyWarning, match="position is not contiguous and was copied on its device"):
        assert np.array_equal(library.get(force.accelerations(library.every_second(x), m)), expected)
    single = library.put(cluster.mass.astype(np.float32))
    with pytest.warns(kasane.CopyWarning, match="mass has the type float32"):
        force.accelerations(x, single)
    with pytest.raises(kasane.InputError, match="out.*contiguous, writable array of float64"):
        force.accelerations(x, m, out=library.put(np.zeros((100, 3), dtype=np.float32)))


def test_arrays_of_another_place_are_refused(library, cluster, laplacian):
    x, m = library.put(cluster.position), library.put(cluster.mass)
    there, here = LocalForce(EXACT, 64, device="cuda"), LocalForce(EXACT, 64)
    with pytest.raises(kasane.InputError, match="position.*memory of the host.*cuda:0"):
        there.accelerations(cluster.position, m)
    with pytest.raises(kasane.InputError, match="mass.*memory of the host"):
        there.accelerations(x, cluster.mass)
    with pytest.raises(kasane.InputError, match="memory of the host"):
        there.accelerations(x, m, out=np.zeros((64, 3)))
    for use in (lambda: here.accelerations(x, m), lambda: Particles(x), lambda: GeneralSolver(laplacian).solve(library.put(np.ones(256)))):
        with pytest.raises(kasane.InputError, match="memory of a device.*to the host"):
            use()
    with pytest.raises(kasane.InputError, match="b.*memory of cuda:0.*computes on cpu"):
        Solver(laplacian, device="cpu").solve(library.put(np.ones(256)))
    if len(kasane.devices()) > 2:
        with pytest.raises(kasane.InputError, match="cuda:0.*computes on cuda:1"):
            LocalForce(EXACT, 64, device="cuda:1").accelerations(x, m)


def test_bad_arrays_on_the_device_are_refused(library):
    force = LocalForce(EXACT, 4, device="cuda")
    x, m = library.put(np.ones((4, 3))), library.put(np.ones(4))
    with pytest.raises(kasane.InputError, match=r"position.*\(3, 4\).*\(4, 3\)"):
        force.accelerations(library.put(np.ones((3, 4))), m)
    with pytest.raises(kasane.InputError, match="mass.*complex128.*float64"):
        force.accelerations(x, library.put(np.ones(4, dtype=complex)))
    with pytest.raises(kasane.InputError, match="mass.*expected"):
        force.accelerations(x, m[:3])


@pytest.mark.parametrize("wide", [np.int32, np.int64])
def test_systems_on_the_device(library, laplacian, wide):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A = laplacian.copy()
    A.indptr, A.indices = A.indptr.astype(wide), A.indices.astype(wide)
    there = library.csr(A)
    b = np.random.default_rng(4).normal(size=256)
    exact = linalg.spsolve(laplacian.tocsc(), b)
    solver = Solver(there, rtol=1e-11)
    x = solver.solve(library.put(b))
    assert solver.log.converged and np.allclose(library.get(x), exact, rtol=1e-8)
    assert np.allclose(solver.solve(b), exact, rtol=1e-8)  # a right-hand side of the host
    again = solver.solve(library.put(b), x0=x)
    assert solver.log.iterations == 0 and np.allclose(library.get(again), exact, rtol=1e-8)
    of_host = Solver(laplacian, rtol=1e-11, device="cuda")
    assert np.allclose(library.get(of_host.solve(library.put(b))), exact, rtol=1e-8)
    with pytest.raises(kasane.InputError, match=r"b.*\(9,\).*\(256,\)"):
        solver.solve(library.put(np.ones(9)))
    with pytest.raises(kasane.InputError, match="NaN|finite"):
        solver.solve(library.put(np.full(256, np.nan)))
    with pytest.raises(kasane.InputError, match="made from a matrix on a device"):
        solver.update(np.ones(there.values().shape[0] if hasattr(there, "values") else there.nnz))
    with pytest.raises(ZeroDivisionError):
        solver.solve(library.put(np.random.default_rng(5).normal(size=256)), callback=lambda i, r: 1 / 0)
    assert np.allclose(library.get(solver.solve(library.put(b))), exact, rtol=1e-8)


def test_a_freed_array_is_refused():
    cupy = pytest.importorskip("cupy")

    class Stale:
        __cuda_array_interface__ = None

    with cupy.cuda.using_allocator(cupy.cuda.memory._malloc):  # without CuPy's pool, so that memory is returned to CUDA
        x = cupy.zeros(1 << 22)
        Stale.__cuda_array_interface__ = x.__cuda_array_interface__
        assert as_device_array(Stale(), np.float64, ("n",), "x").address == x.data.ptr
        del x
    with pytest.raises(kasane.InputError, match="freed"):
        as_device_array(Stale(), np.float64, ("n",), "x")


def test_work_of_another_stream_is_waited_for():
    cupy = pytest.importorskip("cupy")
    cluster = plummer(1000)
    expected = accelerations(cluster.position, cluster.mass, EXACT)
    force, m = LocalForce(EXACT, 1000, device="cuda"), cupy.asarray(cluster.mass)
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.asarray(cluster.position)
        for _ in range(200):  # work that is still running when the array is passed
            x = cupy.sort(cupy.tile(x, (50, 1)), axis=1)[: len(cluster)] * 0 + cupy.asarray(cluster.position)
        a = force.accelerations(x, m)
        found = a.get()
    assert np.linalg.norm(found - expected) < 1e-12 * np.linalg.norm(expected)


def test_no_array_is_copied_through_the_host(library):
    """Without a CopyWarning, and in device memory that stays as it was."""
    cupy = pytest.importorskip("cupy")
    n = 1 << 22
    x, m = library.put(np.random.default_rng(1).normal(size=(n, 3))), library.put(np.ones(n))
    cupy.cuda.Device().synchronize()
    free = cupy.cuda.runtime.memGetInfo()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", kasane.CopyWarning)
        for name, array, shape in (("position", x, (n, 3)), ("mass", m, (n,))):
            as_device_array(array, np.float64, shape, name)
    assert free - cupy.cuda.runtime.memGetInfo()[0] < 8 * n
