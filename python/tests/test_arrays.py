"""Arrays of other libraries, errors, devices, stubs."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kasane
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


def test_arrays_on_a_device_are_refused_where_the_host_computes():
    with pytest.raises(kasane.InputError, match="device"):
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

    with pytest.raises(kasane.InputError, match="__cuda_array_interface__"):
        as_array(Interfaced(), np.float64, ("n",), "x")
    with pytest.raises(kasane.InputError, match="no CUDA device"):
        as_device_array(Interfaced(), np.float64, ("n",), "x")

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
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
        tensor = module.ones((5, 3))
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
