"""Arrays of CuPy, torch and JAX in the memory of a CUDA device; every test needs a GPU, a build with CUDA and the library.

"Without copies" is shown in two ways: the library sees the address of the caller's array, and no_host_copies() makes every function of the package that
copies an array of a device to the host fail, and every CopyWarning an error.
"""

import contextlib
import warnings

import numpy as np
import pytest

import kasane
from kasane import arrays, lattice
from kasane.arrays import as_device_array
from kasane.gravity import Block, Direct, Leapfrog, LocalForce, Particles, Simulation, Tree, accelerations, plummer, potentials
from kasane.lattice import GaugeField, WilsonSolver, point_source
from kasane.sparse import GeneralSolver, PoissonProblem, PoissonSolver, Solver

pytestmark = pytest.mark.skipif(len(kasane.devices()) == 1, reason=kasane.why_no_cuda())

EXACT = Direct(softening=0.05, precision="double")


@contextlib.contextmanager
def no_host_copies(monkeypatch):
    def refuse(*_):
        raise AssertionError("an array of the device was copied to the host")

    with monkeypatch.context() as patched, warnings.catch_warnings():
        patched.setattr(arrays, "_copied_to_host", refuse)
        patched.setattr(np, "asarray", lambda value, *a, _own=np.asarray, **k: refuse() if arrays.is_on_device(value) else _own(value, *a, **k))
        warnings.simplefilter("error", kasane.CopyWarning)
        yield


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


class Jax:
    """Its arrays cannot be changed, so that only functions without `out` take them."""

    def __init__(self):
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        try:
            self.device = jax.devices("cuda")[0]
        except RuntimeError as none:
            pytest.skip(f"JAX has no GPU: {none}")
        self.jax, self.module = jax, jax.numpy

    def put(self, array):
        return self.jax.device_put(np.ascontiguousarray(array), self.device).block_until_ready()

    def get(self, array):
        assert isinstance(array, self.jax.Array) and arrays.is_on_device(array)
        return np.asarray(array)


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
    # Of the tree the walks of the two devices differ, so that each is compared with the plain sum: 7e-5 on the CPU.
    limit = 1e-12 if force is EXACT else 2e-4
    for found, exact in ((a, accelerations), (phi, potentials)):
        expected = exact(cluster.position, cluster.mass, EXACT)
        assert np.linalg.norm(library.get(found) - expected) < limit * np.linalg.norm(expected)
    out = library.put(np.zeros((3000, 3)))
    before = library.address(out)
    assert own.accelerations(x, m, out=out) is out and library.address(out) == before
    assert np.array_equal(library.get(out), library.get(a))
    assert own.device == "cuda:0" and "cuda:0" in repr(own)


@pytest.mark.parametrize("force", [EXACT, Tree(softening=0.05)])
def test_a_collision_stays_on_the_device(library, force, monkeypatch):
    """Two clusters meet, by a leapfrog in the library of the arrays; kasane's own steps on that device agree, and on the CPU."""
    both = plummer(1000, seed=3).placed((-1, 0, 0), (0.7, 0.1, 0)) + plummer(1000, seed=4).placed((1, 0.2, 0), (-0.7, -0.1, 0))
    x, v, m = library.put(both.position), library.put(both.velocity), library.put(both.mass)
    own, dt = LocalForce(force, 2000, device="cuda"), 1 / 64
    with no_host_copies(monkeypatch):
        a = own.accelerations(x, m)
        for _ in range(32):
            v = v + a * (dt / 2)
            x = x + v * dt
            assert own.accelerations(x, m, out=a) is a
            v = v + a * (dt / 2)
        there = Simulation(both, force=force, step=Leapfrog(dt), device="cuda").run(until=32 * dt)
        again = library.put(np.zeros((2000, 3)))
        there.copy_state(position=again)
    assert np.array_equal(library.get(again), there.particles.position)
    rtol, atol = (1e-9, 1e-10) if force is EXACT else (0, 2e-3)  # of the tree, whose force errs by 1e-3
    here = Simulation(both, force=force, step=Leapfrog(dt), device="cpu").run(until=32 * dt)
    for sim in (there, here):
        assert np.allclose(library.get(x), sim.particles.position, rtol=rtol, atol=atol)
    assert np.abs(sim.particles.position[:1000].mean(axis=0) - both.position[:1000].mean(axis=0))[0] > 0.3  # they have moved


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
    with pytest.raises(kasane.InputError, match="memory of a device.*to the host"):
        here.accelerations(x, m)
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


def test_a_callback_ends_a_solve_on_the_device(library):
    """The host is asked after 32 iterations and then about twice a second."""
    problem = PoissonProblem((48, 48, 48), boundary={"z_max": ("dirichlet", 0.0)})
    solver = Solver(problem.matrix(), device="cuda", precondition="jacobi", rtol=1e-12, tune=False)
    seen = []
    for b in (np.ones(48**3), library.put(np.ones(48**3))):
        solver.solve(b, callback=lambda iteration, residual: seen.append((iteration, residual)) or True)
        assert solver.log.end == "stopped" and solver.log.iterations == seen[-1][0] < 100 and seen[-1][1] > 1e-12
    assert len(seen) == 2


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


@pytest.fixture(params=[CuPy, Torch, Jax])
def any_library(request):
    return request.param()


def test_results_of_every_library_are_its_arrays(any_library, laplacian, links):
    """JAX too, whose results kasane owns and hands over through DLPack."""
    cluster = plummer(500, seed=2)
    x, m = any_library.put(cluster.position), any_library.put(cluster.mass)
    a = LocalForce(EXACT, 500, device="cuda").accelerations(x, m)
    expected = accelerations(cluster.position, cluster.mass, EXACT)
    assert np.linalg.norm(any_library.get(a) - expected) < 1e-12 * np.linalg.norm(expected)
    b = np.random.default_rng(4).normal(size=256)
    solver = Solver(laplacian, rtol=1e-11, device="cuda")
    found = solver.solve(any_library.put(b))
    again = solver.solve(any_library.put(b), x0=found)
    assert solver.log.iterations == 0 and np.allclose(any_library.get(again), any_library.get(found), rtol=1e-12)
    own = WilsonSolver(links, kappa=0.12, device="cuda", rtol=1e-10)
    source = point_source((4, 4, 4, 8))
    x = own.solve(source)
    assert np.linalg.norm(any_library.get(own.solve(any_library.put(source))) - x) < 1e-8 * np.linalg.norm(x)


def test_memory_of_kasane_is_handed_over_through_dlpack():
    """The way of results for JAX, with CuPy as the library that takes it."""
    cupy = pytest.importorskip("cupy")
    for dtype in ("float64", "complex128"):
        memory = arrays.DeviceArray.zeros([3, 4], dtype, "cuda:0")
        taken = cupy.from_dlpack(arrays._Export(memory))
        assert taken.shape == (3, 4) and taken.dtype == dtype and taken.data.ptr == memory.address and not taken.any()
        memory.assign(as_device_array(cupy.full((3, 4), 2.5, dtype=dtype), dtype, (3, 4), "x"))
        cupy.cuda.Device().synchronize()
        del memory
        assert (taken.get() == 2.5).all()  # the array keeps the memory


@pytest.mark.parametrize("force", [EXACT, Tree(softening=0.05)])
@pytest.mark.parametrize("step", [Leapfrog(1 / 64), Block(1 / 16)])
def test_a_simulation_writes_its_state_into_arrays_on_the_device(library, force, step, monkeypatch):
    sim = Simulation(plummer(3000, seed=2), force=force, step=step, device="cuda").step(3)
    x, v = library.put(np.full((3000, 3), np.nan)), library.put(np.full((3000, 3), np.nan))
    before = library.address(x), library.address(v)
    with no_host_copies(monkeypatch):
        sim.copy_state(position=x, velocity=v)
    assert (library.address(x), library.address(v)) == before
    assert np.array_equal(library.get(x), sim.particles.position) and np.array_equal(library.get(v), sim.particles.velocity)
    only = library.put(np.zeros((3000, 3)))
    sim.step()
    sim.copy_state(velocity=only)
    assert np.array_equal(library.get(only), sim.particles.velocity) and not np.array_equal(library.get(x), sim.particles.position)
    host = np.empty((3000, 3))
    sim.copy_state(position=host)
    assert np.array_equal(host, sim.particles.position)
    with pytest.raises(kasane.InputError, match="position.*contiguous, writable"):
        sim.copy_state(position=library.every_second(x))
    with pytest.raises(kasane.InputError, match=r"velocity.*\(4, 3\).*\(3000, 3\)"):
        sim.copy_state(velocity=library.put(np.zeros((4, 3))))
    here = Simulation(plummer(100), force=EXACT, step=Leapfrog(1 / 64), device="cpu")
    with pytest.raises(kasane.InputError, match="position.*memory of cuda:0.*computes on cpu"):
        here.copy_state(position=library.put(np.zeros((100, 3))))


def test_a_simulation_takes_particles_of_a_device_with_a_report(library):
    cluster = plummer(300, seed=2)
    with pytest.warns(kasane.CopyWarning, match="is in the memory of cuda:0 and was copied to the host") as reports:
        particles = Particles(library.put(cluster.position), library.put(cluster.velocity), library.put(cluster.mass))
    assert [str(report.message).split()[0] for report in reports] == ["position", "velocity", "mass"]
    one = Simulation(particles, force=EXACT, step=Leapfrog(1 / 64), device="cuda").step(4)
    other = Simulation(cluster, force=EXACT, step=Leapfrog(1 / 64), device="cuda").step(4)
    assert np.array_equal(one.particles.position, other.particles.position)


def test_links_on_the_device_are_read_there(library, links, monkeypatch):
    there, out = library.put(links), library.put(np.zeros_like(links))
    with no_host_copies(monkeypatch):
        field = GaugeField(there)
        assert field.device == "cuda:0" and field.array(out=out) is out
        plaquettes = lattice.plaquette(there), lattice.polyakov_loop(there), lattice.topological_charge(there)
        flow = lattice.flow(there, t_max=0.1, step=0.05)
    assert np.array_equal(library.get(out), links) and np.array_equal(field.array(), links)
    expected = GaugeField(links, device="cpu")
    assert plaquettes == pytest.approx((expected.plaquette(), expected.polyakov_loop(), expected.topological_charge()), rel=1e-11, abs=1e-12)
    assert flow.t2E == pytest.approx(lattice.flow(links, t_max=0.1, step=0.05).t2E, rel=1e-10)
    with pytest.warns(kasane.CopyWarning, match="links has the type complex64 and was copied on its device"):
        assert GaugeField(library.put(links.astype(np.complex64))).plaquette() == pytest.approx(expected.plaquette(), rel=1e-6)
    with pytest.warns(kasane.CopyWarning, match="links is in the memory of cuda:0 and was copied to the host"):
        assert np.array_equal(GaugeField(there, device="cpu").array(), links)
    broken = links.copy()
    broken[-1, -1, -1, -1, 3, 2, 2] = np.nan
    with pytest.raises(kasane.InputError, match="links.*not finite"):
        GaugeField(library.put(broken))
    with pytest.raises(kasane.InputError, match="out.*contiguous, writable"):
        field.array(out=library.put(np.zeros(links.shape, dtype=np.complex64)))
    with pytest.raises(kasane.InputError, match="out.*memory of cuda:0.*computes on cpu"):
        expected.array(out=out)


def test_several_quark_fields_are_solved_at_once_on_the_device(links):
    own, there = (WilsonSolver(links, kappa=0.12, csw=1.0, device=on, rtol=1e-11) for on in ("cpu", "cuda"))
    expected, found = own.propagator((1, 2, 3, 4)), there.propagator((1, 2, 3, 4))
    assert len(there.logs) == 12 and all(log.converged for log in there.logs)
    for column, other in zip(found.columns, expected.columns):
        assert np.linalg.norm(column - other) < 1e-9 * np.linalg.norm(other)
    source = point_source((4, 4, 4, 8), (1, 2, 3, 4), 1, 2)
    assert np.linalg.norm(0.24 * there.solve(source) - found.columns[5]) < 1e-9 * np.linalg.norm(found.columns[5])


def test_quark_fields_on_the_device_are_used_there(library, links, monkeypatch):
    random = np.random.default_rng(8)
    psi = random.normal(size=(8, 4, 4, 4, 4, 3)) + 1j * random.normal(size=(8, 4, 4, 4, 4, 3))
    solver, there = WilsonSolver(links, kappa=0.12, csw=1.0, device="cuda", rtol=1e-11), library.put(psi)
    before = library.address(there)
    with no_host_copies(monkeypatch):
        x = solver.solve(there)
        product, adjoint = solver.apply(x), solver.apply(there, adjoint=True)
    assert solver.log.converged and solver.device == "cuda:0" and library.address(there) == before
    assert np.array_equal(library.get(there), psi)  # the right-hand side is not changed
    assert np.linalg.norm(library.get(product) - psi) < 1e-10 * np.linalg.norm(psi)
    own = WilsonSolver(links, kappa=0.12, csw=1.0, device="cpu", rtol=1e-11)
    size = np.linalg.norm(library.get(x))
    assert np.linalg.norm(library.get(x) - own.solve(psi)) < 1e-9 * size  # both within 1e-11 of b, times the inverse's norm
    assert np.allclose(library.get(adjoint), own.apply(psi, adjoint=True), rtol=0, atol=1e-12)
    assert np.linalg.norm(solver.solve(psi) - library.get(x)) < 1e-9 * size  # an array of the host
    with pytest.warns(kasane.CopyWarning, match="psi is in the memory of cuda:0 and was copied to the host"):
        own.apply(there)
    with pytest.warns(kasane.CopyWarning, match="links is in the memory of cuda:0 and was copied to the host"):
        WilsonSolver(library.put(links), kappa=0.12, device="cuda")
    with pytest.raises(kasane.InputError, match=r"b.*\(4, 4, 4, 4, 4, 3\)"):
        solver.solve(library.put(np.zeros((4, 4, 4, 4, 4, 3), dtype=complex)))
    psi[0, 0, 0, 0, 0, 0] = np.nan
    with pytest.raises((kasane.InputError, kasane.ComputationError), match="finite|converge"):
        solver.solve(library.put(psi))
    assert solver.solve(there) is not None  # the solver stays usable


def test_other_objects_copy_to_the_host_and_report_it(library, laplacian, cluster):
    def reported(call):
        with pytest.warns(kasane.CopyWarning, match="memory of cuda:0 and was copied to the host"):
            return call()

    b = np.random.default_rng(4).normal(size=256)
    problem = PoissonProblem((8, 8, 4), boundary={"z_max": ("dirichlet", 0.0)})
    for solver in (GeneralSolver(laplacian, device="cuda", rtol=1e-11), PoissonSolver(problem, device="cuda", rtol=1e-11)):
        assert np.allclose(reported(lambda: solver.solve(library.put(b))), solver.solve(b), rtol=1e-8)
    a = reported(lambda: accelerations(library.put(cluster.position), cluster.mass, EXACT))
    assert np.array_equal(a, accelerations(cluster.position, cluster.mass, EXACT))
    assert np.array_equal(reported(lambda: Particles(library.every_second(library.put(cluster.position)))).position, cluster.position)
    assert np.array_equal(reported(lambda: Particles(library.put(cluster.position.astype(np.float32)))).position, cluster.position.astype(np.float32))
