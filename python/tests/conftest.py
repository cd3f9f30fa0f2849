"""Data that several tests share: a small cluster, a small system, a small gauge field."""

import numpy as np
import pytest

import kasane
from kasane.gravity import Particles
from kasane.lattice import quenched


@pytest.fixture
def cluster():
    """64 particles drawn by NumPy: independent of kasane's own samplers."""
    random = np.random.default_rng(5)
    return Particles(random.normal(size=(64, 3)), 0.1 * random.normal(size=(64, 3)), np.full(64, 1 / 64))


@pytest.fixture
def laplacian():
    """The five-point Laplacian of a 16 x 16 grid."""
    sparse = pytest.importorskip("scipy.sparse")
    line = sparse.diags([-np.ones(15), 2 * np.ones(16), -np.ones(15)], [-1, 0, 1])
    return sparse.csr_matrix(sparse.kron(line, sparse.eye(16)) + sparse.kron(sparse.eye(16), line))


@pytest.fixture(scope="session")
def links():
    """A thermalised gauge field on 4^3 x 8."""
    for configuration in quenched((4, 4, 4, 8), beta=5.7, sweeps=20, every=20, start="cold", device="cpu"):
        return configuration.field.array()


@pytest.fixture(autouse=True)
def copies_are_errors(recwarn):
    """A copy that a test does not expect makes it fail: the library's own objects never need one."""
    yield
    assert not [w for w in recwarn.list if issubclass(w.category, kasane.CopyWarning)]
