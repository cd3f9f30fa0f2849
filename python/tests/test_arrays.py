"""Arrays of other libraries, errors, devices, stubs."""

import contextlib
import pickle
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import kasane
from kasane import arrays
from kasane.arrays import as_array, as_device_array


class Exported:
    """An array behind DLPack alone, as other libraries export theirs."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__()


class Interface:
    """An array behind the array interface alone."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("foreign", [Exported, Interface])
def test_foreign_arrays_are_not_copied(foreign):
    own = np.arange(12.0).reshape(4, 3)
    assert np.shares_memory(as_array(foreign(own), np.float64, ("n", 3), "x"), own)
    with pytest.warns(kasane.CopyWarning, match="float32"):
        as_array(foreign(own.astype(np.float32)), np.float64, ("n", 3), "x")


class There:
    """An array of a library that says that its memory is on a CUDA device; without a GPU the memory is that of the host."""

    device = contextlib.nullcontext()

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    @property
    def __cuda_array_interface__(self):
        own = self.array.__array_interface__
        return {"data": own["data"], "shape": own["shape"], "strides": own["strides"], "typestr": own["typestr"], "version": 3}


class FakeDeviceArray:
    """Stands for the extension's DeviceArray, with the memory of an array of NumPy."""

    def __init__(self, address, shape, strides, type, owner):
        self.address, self.shape, self.owner, self.device = address, tuple(shape), owner, 0
        self.type = np.dtype(type).name
        self.contiguous = owner.array.flags.c_contiguous

    def bytes(self):
        assert self.contiguous
        return np.frombuffer(self.owner.array.tobytes(), dtype=np.uint8)

    def assign(self, other):
        self.owner.array[...] = other.owner.array


@pytest.fixture
def there(monkeypatch):
    """A library of arrays on a device that is made believe; it returns the function that puts an array there."""
    library = types.ModuleType("there")
    library.float64, library.complex128 = np.float64, np.complex128
    library.empty = library.zeros = lambda shape, dtype: There(np.zeros(shape, dtype))
    library.ascontiguousarray = lambda a, dtype: There(np.ascontiguousarray(a.array, dtype))
    monkeypatch.setitem(sys.modules, "there", library)
    monkeypatch.setattr(There, "__module__", "there")
    monkeypatch.setattr(arrays, "DeviceArray", FakeDeviceArray)
    return There


def test_arrays_on_a_device_are_copied_to_the_host_and_reported(there):
    own = np.arange(24.0).reshape(8, 3)
    for given, expected in ((there(own), own), (there(own[::2]), own[::2]), (there(own.astype(np.float32)), own)):
        with pytest.warns(kasane.CopyWarning, match="x is in the memory of cuda:0 and was copied to the host"):
            copied = as_array(given, np.float64, ("n", 3), "x")
        assert type(copied) is np.ndarray and np.array_equal(copied, expected) and not np.shares_memory(copied, own)
    with pytest.raises(kasane.InputError, match="memory of a device.*to the host"):
        as_array(there(own), np.float64, (8, 3), "out", writable=True)


def test_objects_of_the_host_take_arrays_of_a_device_with_a_report(there, cluster, laplacian, links):
    """Where the C++ library copies its input anyway, one more copy is reported; where calls are repeated, the array is refused."""
    from kasane.gravity import Direct, LocalForce, Particles, accelerations
    from kasane.lattice import GaugeField, WilsonSolver, point_source
    from kasane.sparse import GeneralSolver, PoissonProblem, PoissonSolver

    def reported(call):
        with pytest.warns(kasane.CopyWarning, match="cuda:0 and was copied to the host"):
            return call()

    force = Direct(softening=0.1, precision="double")
    particles = reported(lambda: Particles(there(cluster.position), mass=there(cluster.mass)))
    assert np.array_equal(particles.position, cluster.position) and np.array_equal(particles.mass, cluster.mass)
    a = reported(lambda: accelerations(there(cluster.position), cluster.mass, force))
    assert np.array_equal(a, accelerations(cluster.position, cluster.mass, force))
    with pytest.raises(kasane.InputError, match="position.*memory of a device"):
        LocalForce(force, 64).accelerations(there(cluster.position), cluster.mass)
    b = np.random.default_rng(1).normal(size=256)
    for solver in (GeneralSolver(laplacian), PoissonSolver(PoissonProblem((8, 8, 4), boundary={"z_max": ("dirichlet", 0.0)}))):
        assert np.array_equal(reported(lambda: solver.solve(there(b))), solver.solve(b))
    assert reported(lambda: GaugeField(there(links), device="cpu")).plaquette() == GaugeField(links, device="cpu").plaquette()
    own = WilsonSolver(links, kappa=0.1, device="cpu")
    source = point_source((4, 4, 4, 8))
    assert np.array_equal(reported(lambda: own.apply(there(source))), own.apply(source))
    assert np.array_equal(reported(lambda: own.solve(there(source))), own.solve(source))


def test_results_are_arrays_of_the_library_on_its_device(there):
    like, start = there(np.ones((4, 3))), there(np.full((4, 3), 2.5))
    result = arrays.DeviceResult(like, np.float64, "x")
    assert type(result.array()) is There and result.memory.owner is result.array() and not result.array().array.any()
    assert np.array_equal(arrays.DeviceResult(like, np.float64, "x", start=start).array().array, start.array)
    assert arrays.DeviceResult(like, np.complex128, "x").array().array.dtype == np.complex128
    with pytest.raises(kasane.InputError, match="x0.*memory of the host"):
        arrays.DeviceResult(like, np.float64, "x", start=np.ones((4, 3)))


def test_results_of_libraries_without_assignment_come_through_dlpack(there, monkeypatch):
    """As JAX: kasane owns the memory, and the library takes it."""
    made = []

    class Memory:
        type, contiguous, device, shape = "float64", True, 0, (4,)

        def __init__(self, *interface):
            self.interface = interface

        @classmethod
        def zeros(cls, shape, type, device):
            made.append((shape, type, device))
            return cls()

        def dlpack(self):
            return "capsule"

    library = types.ModuleType("jax.numpy")
    library.empty = None
    library.from_dlpack = lambda exported: (exported.__dlpack__(stream=1), exported.__dlpack_device__())
    jax = types.ModuleType("jax")
    jax.numpy = library
    monkeypatch.setitem(sys.modules, "jax", jax)
    like = there(np.ones(4))
    monkeypatch.setattr(There, "__module__", "jaxlib._jax")
    monkeypatch.setattr(There, "at", None, raising=False)
    monkeypatch.setattr(arrays, "DeviceArray", Memory)
    result = arrays.DeviceResult(like, np.float64, "x")
    assert made == [([4], "float64", "cuda:0")]
    assert result.array() == ("capsule", (2, 0))


def test_arrays_on_other_devices_are_refused():
    with pytest.raises(kasane.InputError, match="device"):
        as_array(Exported(np.ones(3), device=(10, 0)), np.float64, ("n",), "x")
    with pytest.raises(kasane.InputError, match="device"):  # its capsule is not of the device that it names
        as_array(Exported(np.ones(3), device=(2, 0)), np.float64, ("n",), "x")


def test_arrays_on_a_device_need_a_device(cluster, laplacian):
    """Without a GPU of the build, objects on one are refused; arrays that say that they are on one are never read on the host."""
    from kasane.gravity import Direct, LocalForce, Particles
    from kasane.sparse import Solver

    there = Exported(np.ones((4, 3)), device=(2, 0))
    for use in (lambda: Particles(there), lambda: Solver(laplacian).solve(there)):
        with pytest.raises(kasane.InputError, match="device|DLPack"):
            use()
    if len(kasane.devices()) == 1:
        with pytest.raises(kasane.InputError, match="cuda"):
            LocalForce(Direct(), 4, device="cuda")

    class Interfaced:
        __cuda_array_interface__ = {"data": (4096, False), "shape": (3,), "typestr": "<f8", "version": 3}

    for read in (as_array, as_device_array):
        with pytest.raises(kasane.InputError, match="no CUDA device"):
            read(Interfaced(), np.float64, ("n",), "x")

    class Inconsistent:
        __cuda_array_interface__ = {"data": (4096, False), "shape": (3,), "strides": (8, 8), "typestr": "<f8", "version": 3}

    with pytest.raises(kasane.InputError, match="different lengths"):
        as_device_array(Inconsistent(), np.float64, ("n",), "x")


def test_a_freed_array_is_kept_or_refused():
    """An array that is used stays alive, and a resized or closed one is refused."""
    from kasane.gravity import Particles

    memory = bytearray(24 * 8)
    particles = Particles(np.frombuffer(memory).reshape(8, 3))
    with pytest.raises(BufferError):
        memory.extend(b"x")  # its memory is in use
    assert particles.position.shape == (8, 3)

    class Freed:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **options):
            raise RuntimeError("the storage was freed")

    with pytest.raises(kasane.InputError, match="the storage was freed"):
        as_array(Freed(), np.float64, ("n",), "x")


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_arrays_of_torch_and_jax_are_not_copied(library):
    module = pytest.importorskip(library)
    if library == "torch":
        tensor = module.ones((5, 3), dtype=module.float64)
    else:
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        tensor = jax.device_put(np.ones((5, 3)), jax.devices("cpu")[0])  # the default device may be a GPU
    array = as_array(tensor, np.float64, ("n", 3), "x")
    assert array.__array_interface__["data"][0] == np.from_dlpack(tensor).__array_interface__["data"][0]


def test_lists_become_arrays_without_a_warning():
    assert as_array([[1, 2, 3]], np.float64, ("n", 3), "x").dtype == np.float64
    for empty in ([], np.empty(0)):
        assert as_array(empty, np.float64, ("n",), "x").shape == (0,)
    with pytest.raises(kasane.InputError, match="shape"):
        as_array([1, 2], np.float64, (3,), "x")


def test_errors_have_their_base_classes_and_travel():
    assert issubclass(kasane.InputError, ValueError) and issubclass(kasane.ComputationError, RuntimeError)
    error = kasane.InputError([("is negative", "a.toml", 3, 5, "force.softening")])
    assert str(error) == "a.toml:3:5: force.softening: is negative"
    again = pickle.loads(pickle.dumps(error))
    assert (again.file, again.line, again.column, again.key) == ("a.toml", 3, 5, "force.softening")


def test_devices_begin_with_the_cpu():
    assert kasane.devices()[0]["device"] == "cpu"
    assert len(kasane.devices()) > 1 or kasane.why_no_cuda()
    with pytest.raises(kasane.InputError, match="level"):
        kasane.set_log_level("loud")


def test_the_import_needs_neither_scipy_nor_a_launcher():
    program = "import sys; import kasane; assert 'scipy' not in sys.modules and 'mpi4py' not in sys.modules; print(kasane.__version__)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == kasane.__version__


def test_the_stubs_are_consistent(tmp_path):
    pytest.importorskip("mypy")
    package = Path(kasane.__file__).parent
    assert (package / "_core.pyi").is_file() and (package / "py.typed").is_file()
    shutil.copytree(package, tmp_path / "kasane", ignore=shutil.ignore_patterns("bin", "share", "*.so", "__pycache__"))
    words = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "-p", "kasane"]
    checked = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
