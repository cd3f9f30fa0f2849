"""Round trips with other packages; each test runs where its package is installed."""

import numpy as np
import pytest

from kasane import lattice, sparse
from kasane.gravity import Direct, Leapfrog, Simulation, Tree, accelerations, plummer, read_snapshot, write_snapshot


@pytest.fixture
def snapshot(tmp_path):
    """300 particles of two types at time 0.5 in a file, and the particles."""
    particles = plummer(300, seed=4)
    particles.type = np.where(np.arange(300) < 200, 1, 4).astype(np.uint8)
    write_snapshot(tmp_path / "snapshot.hdf5", particles, time=0.5, units="galactic")
    return tmp_path / "snapshot.hdf5", particles


def test_yt_reads_a_snapshot(snapshot):
    yt = pytest.importorskip("yt")
    path, particles = snapshot
    yt.set_log_level(50)
    data = yt.load(str(path), bounding_box=[[-100, 100]] * 3).all_data()
    for kind, name in ((1, "PartType1"), (4, "PartType4")):
        own = particles.position[particles.type == kind]
        order = np.argsort(np.asarray(data[name, "ParticleIDs"]))
        read = np.asarray(data[name, "Coordinates"])[order]
        assert np.allclose(read, own, rtol=1e-12)
        assert np.allclose(np.asarray(data[name, "Masses"]).sum(), particles.mass[particles.type == kind].sum(), rtol=1e-12)


def test_pynbody_reads_a_snapshot_and_writes_one_that_is_read(snapshot, tmp_path):
    pynbody = pytest.importorskip("pynbody")
    path, particles = snapshot
    read = pynbody.load(str(path))
    assert len(read.dm) == 200 and len(read.star) == 100
    assert np.allclose(np.asarray(read.dm["pos"]), particles.position[:200], rtol=1e-12)
    new = pynbody.new(dm=50)
    random = np.random.default_rng(1)
    new["pos"] = random.normal(size=(50, 3))
    new["vel"] = random.normal(size=(50, 3))
    new["mass"] = np.full(50, 0.02)
    new["iord"] = np.arange(50)
    new["pos"].units, new["vel"].units, new["mass"].units = "kpc", "km s^-1", "1e10 Msol"
    new.properties["boxsize"] = 1e6 * pynbody.units.kpc
    new.write(filename=str(tmp_path / "pynbody.g2"), fmt=pynbody.snapshot.gadget.GadgetSnap)
    back = read_snapshot(tmp_path / "pynbody.g2")
    assert np.allclose(back.particles.position, np.asarray(new["pos"]), rtol=1e-6)


def test_h5py_makes_initial_conditions(tmp_path):
    h5py = pytest.importorskip("h5py")
    random = np.random.default_rng(2)
    position, velocity = random.normal(size=(40, 3)), random.normal(size=(40, 3))
    with h5py.File(tmp_path / "own.hdf5", "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = header["NumPart_Total"] = np.array([0, 40, 0, 0, 0, 0], dtype=np.uint32)
        header["NumPart_Total_HighWord"] = np.zeros(6, dtype=np.uint32)
        header["MassTable"] = np.array([0, 0.025, 0, 0, 0, 0])
        header["Time"], header["Redshift"], header["BoxSize"], header["NumFilesPerSnapshot"] = 0.0, 0.0, 0.0, 1
        group = file.create_group("PartType1")
        group["Coordinates"], group["Velocities"], group["ParticleIDs"] = position, velocity, np.arange(1, 41)
    sim = Simulation(tmp_path / "own.hdf5", force=Direct(softening=0.1), step=Leapfrog(0.01), device="cpu")
    assert np.array_equal(sim.particles.position, position)
    assert np.array_equal(sim.particles.velocity, velocity)
    assert np.allclose(sim.particles.mass, 0.025)


def test_h5py_reads_a_propagator(tmp_path, links):
    h5py = pytest.importorskip("h5py")
    import subprocess

    from kasane.command import executable

    lattice.write_gauge(tmp_path / "u.lime", links)
    words = ["lattice", "solve", "u.lime", "--kappa", "0.1", "-o", "p.h5", "--device", "cpu", "--quiet"]
    subprocess.run([executable(), *words], cwd=tmp_path, check=True)
    own = lattice.read_propagator(tmp_path / "p.h5")
    with h5py.File(tmp_path / "p.h5") as file:
        data = file["propagator"][..., 0] + 1j * file["propagator"][..., 1]
        assert np.array_equal(file["correlators/pion"][:], own.pion())
    for spin in range(4):
        for colour in range(3):
            assert np.array_equal(data[..., spin, colour], own.columns[3 * spin + colour])


def test_problems_of_pyamg(tmp_path):
    pyamg = pytest.importorskip("pyamg")
    for A in (pyamg.gallery.poisson((40, 40), format="csr"), pyamg.gallery.linear_elasticity((12, 12), format="bsr")[0].tocsr()):
        A = A.astype(float)
        b = np.random.default_rng(3).normal(size=A.shape[0])
        x = sparse.solve(A, b, rtol=1e-10)
        assert np.linalg.norm(b - A @ x) < 1e-9 * np.linalg.norm(b)
        multigrid = pyamg.smoothed_aggregation_solver(A).aspreconditioner()
        y, log = sparse.conjugate_gradients(A, b, M=multigrid, rtol=1e-10)
        assert log.converged and np.allclose(x, y, atol=1e-6 * abs(x).max())
        sparse.write_matrix(tmp_path / "A.mtx", A)
        assert abs(sparse.read_matrix(tmp_path / "A.mtx") - A).max() == 0


@pytest.fixture
def lyncs_io(monkeypatch):
    """The package; version 0.2.3 takes private names from numpy.lib.format, which NumPy 2.3 and later have in another module."""
    try:
        import numpy.lib._format_impl as moved
    except ImportError:  # NumPy before 2.3
        moved = np.lib.format
    for name in ("_check_version", "_read_array_header", "_write_array_header"):
        monkeypatch.setattr(np.lib.format, name, getattr(moved, name), raising=False)
    return pytest.importorskip("lyncs_io")


ILDG_FORMAT = """<?xml version="1.0" encoding="UTF-8"?>
<ildgFormat xmlns="http://www.lqcd.org/ildg"><version>1.0</version><field>su3gauge</field><precision>64</precision>
<lx>{}</lx><ly>{}</ly><lz>{}</lz><lt>{}</lt></ildgFormat>"""


def test_lyncs_io_reads_the_links_and_writes_them_back(lyncs_io, tmp_path, links):
    lattice.write_gauge(tmp_path / "u.lime", links)
    read = np.asarray(lyncs_io.load(str(tmp_path / "u.lime"), format="lime"))
    assert read.shape == links.shape and np.array_equal(read, links)
    header = lyncs_io.head(str(tmp_path / "u.lime"), format="lime")
    assert [header[key] for key in ("lx", "ly", "lz", "lt", "precision")] == [4, 4, 4, 8, 64]
    text = ILDG_FORMAT.format(*(header[key] for key in ("lx", "ly", "lz", "lt"))).encode()
    with open(tmp_path / "back.lime", "wb") as file:
        lyncs_io.lime.write_records(file, {"ildg-format": text, "ildg-binary-data": read.astype(">c16")})
    back, facts = lattice.read_gauge(tmp_path / "back.lime")
    assert np.array_equal(back, links) and facts["format"] == "ildg"


def test_a_force_of_numpy_drives_the_same_orbit(cluster):
    """A user's integrator with kasane's force, and kasane's integrator, agree."""
    x, v = cluster.position.copy(), cluster.velocity.copy()
    force = Direct(softening=0.05, precision="double")
    a = accelerations(x, cluster.mass, force)
    for _ in range(8):
        v += a / 128
        x += v / 64
        a = accelerations(x, cluster.mass, force)
        v += a / 128
    sim = Simulation(cluster, force=force, step=Leapfrog(1 / 64), device="cpu").run(until=0.125)
    assert np.allclose(sim.particles.position, x, rtol=1e-13, atol=1e-14)
    tree = Simulation(cluster, force=Tree(softening=0.05), step=Leapfrog(1 / 64), device="cpu").run(until=0.125)
    assert np.allclose(tree.particles.position, x, atol=1e-3)
