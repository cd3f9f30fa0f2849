"""Simulations, forces, particles and snapshots."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import kasane
from kasane.gravity import (
    Adaptive,
    Block,
    Direct,
    Leapfrog,
    LocalForce,
    Particles,
    Simulation,
    Snapshot,
    Tree,
    _keywords,
    accelerations,
    plummer,
    potentials,
    read_snapshot,
    sample,
    write_snapshot,
)

EPS = 0.05
EXACT = Direct(softening=EPS, precision="double")


def by_definition(position, mass, eps):
    """a_i = sum_j m_j (x_j - x_i) / (r^2 + eps^2)^(3/2), phi_i = -sum_{j != i} m_j / sqrt(r^2 + eps^2), in NumPy."""
    d = position[None, :, :] - position[:, None, :]
    r2 = (d**2).sum(axis=2) + eps**2
    a = (mass[None, :, None] * d / r2[:, :, None] ** 1.5).sum(axis=1)
    inverse = mass[None, :] / np.sqrt(r2)
    np.fill_diagonal(inverse, 0)
    return a, -inverse.sum(axis=1)


def simulation(particles, **options):
    return Simulation(particles, **{"force": EXACT, "step": Leapfrog(1 / 64), "device": "cpu", **options})


def test_accelerations_and_potentials_are_those_of_the_definition(cluster):
    a, phi = by_definition(cluster.position, cluster.mass, EPS)
    assert np.allclose(accelerations(cluster.position, cluster.mass, EXACT), a, rtol=1e-12, atol=1e-14)
    assert np.allclose(potentials(cluster.position, cluster.mass, EXACT), phi, rtol=1e-12)
    tree = accelerations(cluster.position, cluster.mass, Tree(softening=EPS, theta=0.3))
    assert np.linalg.norm(tree - a) < 1e-3 * np.linalg.norm(a)


def test_a_local_force_writes_into_the_array_of_the_caller(cluster):
    force = LocalForce(EXACT, len(cluster))
    out = np.empty((64, 3))
    assert force.accelerations(cluster.position, cluster.mass, out=out) is out
    assert np.array_equal(out, force.accelerations(cluster.position, cluster.mass))
    with pytest.raises(kasane.InputError, match="out"):
        force.accelerations(cluster.position, cluster.mass, out=np.empty((64, 3), dtype=np.float32))
    locked = np.empty((64, 3))
    locked.flags.writeable = False
    with pytest.raises(kasane.InputError, match="writable"):
        force.accelerations(cluster.position, cluster.mass, out=locked)


def test_leapfrog_takes_the_steps_of_its_definition(cluster):
    """Kick-drift-kick in NumPy with the force of the definition."""
    x, v, dt = cluster.position.copy(), cluster.velocity.copy(), 1 / 64
    a = by_definition(x, cluster.mass, EPS)[0]
    for _ in range(16):
        v += a * (dt / 2)
        x += v * dt
        a = by_definition(x, cluster.mass, EPS)[0]
        v += a * (dt / 2)
    sim = simulation(cluster).run(until=0.25)
    assert sim.steps == 16 and sim.time == 0.25
    assert np.allclose(sim.particles.position, x, rtol=1e-12, atol=1e-13)
    assert np.allclose(sim.particles.velocity, v, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("step", [Leapfrog(1 / 64), Adaptive(1 / 16, eta=0.2), Block(1 / 16, eta=0.2)])
@pytest.mark.parametrize("force", [EXACT, Tree(softening=EPS)])
def test_every_force_and_step_conserves_energy(force, step):
    sim = simulation(plummer(512), force=force, step=step)
    before = sim.diagnostics()
    assert before.virial_ratio == pytest.approx(1, abs=0.15)
    sim.run(until=0.5)
    after = sim.diagnostics()
    assert after.energy == pytest.approx(before.energy, rel=2e-3)
    assert after.time == pytest.approx(0.5)
    assert sim.audit(64).max < (1e-10 if force is EXACT else 0.05)


def test_the_way_of_stepping_does_not_change_a_bit(cluster):
    whole = simulation(cluster).run(until=0.5).particles.copy()
    seen = []
    parts = simulation(cluster)
    parts.run(until=0.5, callback=lambda sim: seen.append(sim.steps), every=3)
    assert seen == [3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 32]
    single = simulation(cluster)
    for _ in range(32):
        single.step()
    for other in (parts, single):
        assert np.array_equal(other.particles.position, whole.position)
        assert np.array_equal(other.particles.velocity, whole.velocity)
    calls = []
    parts.run(until=0.5, callback=calls.append)
    assert calls == []


def test_negative_steps_return_to_the_start(cluster):
    there = simulation(cluster).run(until=0.5)
    back = simulation(there.snapshot(), step=Leapfrog(-1 / 64)).run(until=0)
    assert back.time == 0
    assert np.allclose(back.particles.position, cluster.position, atol=1e-12)


def test_particles_are_a_read_only_view(cluster):
    sim = simulation(cluster)
    first = sim.particles.position
    assert not first.flags.writeable and not first.flags.owndata
    assert np.shares_memory(first, sim.particles.position)
    with pytest.raises(ValueError):
        first[0, 0] = 1
    kept = sim.particles.copy()
    sim.step(4)
    assert np.shares_memory(first, sim.particles.position)
    assert not np.array_equal(first, kept.position)


def test_a_view_outlives_its_simulation(cluster):
    sim = simulation(cluster)
    view = sim.particles.position
    expected = cluster.position.copy()
    del sim
    gc.collect()
    np.empty(10_000_000).fill(1)  # memory that was freed would be taken
    assert np.array_equal(view, expected)


def test_the_simulation_does_not_keep_the_arrays_of_the_caller(cluster):
    sim = simulation(cluster)
    expected = simulation(cluster.copy()).step().particles.copy()
    cluster.position[:] = np.nan
    assert np.array_equal(sim.step().particles.position, expected.position)


def test_a_snapshot_keeps_every_bit(tmp_path, cluster):
    for format, name in (("hdf5", "s.hdf5"), ("gadget2", "s.g2")):
        write_snapshot(tmp_path / name, cluster, time=1.5, format=format)
        read = read_snapshot(tmp_path / name)
        assert read.time == 1.5
        assert np.array_equal(read.particles.position, cluster.position)
        assert np.array_equal(read.particles.velocity, cluster.velocity)
        assert np.array_equal(read.particles.id, cluster.id)
    sim = Simulation(tmp_path / "s.hdf5", force=EXACT, step=Leapfrog(1 / 64), device="cpu")
    assert sim.time == 1.5 and len(sim.particles) == 64
    galactic = Snapshot(cluster, 0.25, units="galactic")
    galactic.write(tmp_path / "galactic.hdf5", compress=True)
    again = read_snapshot(tmp_path / "galactic.hdf5")
    assert (again.units, again.G, again.time) == ("galactic", 43007.1, 0.25)


def test_a_simulation_has_the_units_of_its_snapshot(tmp_path, cluster):
    """G of the snapshot is that of forces with the default, and later snapshots keep units, G and scales."""
    dwarf = sample("dwarf", count=500)
    dwarf.write(tmp_path / "dwarf.hdf5")
    step = Leapfrog(1e-4)
    for start in (dwarf, tmp_path / "dwarf.hdf5"):
        for force in (Tree(softening=0.05, theta=0.4), Direct(softening=0.05, precision="double")):
            sim = Simulation(start, force, step, device="cpu")
            assert sim.force.G == dwarf.G == 43007.1 and force.G == 1
            assert sim.diagnostics().virial_ratio == pytest.approx(1, abs=0.1)
            assert repr(sim.force) == repr(type(force)(**{**_keywords(force), "G": dwarf.G}))
        now = sim.step().snapshot()
        assert (now.units, now.G, now.time, now.model) == ("galactic", dwarf.G, step.dt, dwarf.model if start is dwarf else now.model)
        now.write(tmp_path / "now.hdf5")
        again = read_snapshot(tmp_path / "now.hdf5")
        assert (again.units, again.G) == ("galactic", dwarf.G)
    assert Simulation(dwarf, Direct(G=2.0), step, device="cpu").force.G == 2.0
    assert (sim.snapshot("nbody").units, sim.snapshot("nbody").G) == ("nbody", 1.0)
    assert (simulation(cluster).snapshot().units, simulation(cluster).snapshot("galactic").G) == ("nbody", 43007.1)


def test_a_snapshot_is_read_by_h5py(tmp_path, cluster):
    h5py = pytest.importorskip("h5py")
    write_snapshot(tmp_path / "s.hdf5", cluster)
    with h5py.File(tmp_path / "s.hdf5") as file:
        assert np.array_equal(file["PartType1/Coordinates"][:], cluster.position)
        assert file["Header"].attrs["NumPart_Total"][1] == 64


def test_placed_particles_are_rotated_and_moved(cluster):
    placed = cluster.placed(position=(1, 2, 3), velocity=(4, 5, 6), spin=(0, 0, 90))
    x, y, z = cluster.position.T
    assert np.allclose(placed.position, np.stack((1 - y, 2 + x, 3 + z), axis=1))
    both = cluster + placed
    assert len(both) == 128 and len(np.unique(both.id)) == 128


def test_a_model_is_sampled_from_a_dictionary_and_from_a_file(tmp_path):
    keys = {"units": "nbody", "model": "hernquist", "count": 300, "mass": 1.0, "scale": 1.0, "truncation": {"radius": 10.0, "width": 2.0}}
    text = 'units = "nbody"\nmodel = "hernquist"\ncount = 300\nmass = 1.0\nscale = 1.0\ntruncation = {radius = 10.0, width = 2.0}\n'
    (tmp_path / "model.toml").write_text(text)
    a, b = sample(keys), sample(tmp_path / "model.toml")
    assert len(a.particles) == 300 and a.units == "nbody"
    assert np.array_equal(a.particles.position, b.particles.position)
    assert not np.array_equal(sample(keys, seed=7).particles.position, a.particles.position)
    assert len(sample("m31", count=500).particles) == 500
    with pytest.raises(kasane.InputError) as error:
        sample({**keys, "scale": -1.0})
    assert error.value.key == "scale" and error.value.file is None and error.value.line is None  # no place in a temporary file


BAD = [
    (lambda c: Particles(c.position[:, :2]), "position", r"\(64, 2\).*\(n, 3\)"),
    (lambda c: Particles(c.position, c.velocity[:5]), "velocity", r"\(5, 3\).*\(64, 3\)"),
    (lambda c: Particles([["a", "b", "c"]]), "position", "type"),
    (lambda c: Particles(c.position.astype(complex)), "position", "complex128.*float64"),
    (lambda c: Particles(c.position, mass=c.mass[None]), "mass", "shape"),
    (lambda c: simulation(object()), "particles", "object"),
    (lambda c: simulation(c, force="tree"), "force", "str.*Tree"),
    (lambda c: simulation(c, step=0.1), "step", "float.*Leapfrog"),
    (lambda c: simulation(c, device="tpu"), None, "tpu"),
    (lambda c: simulation(c).run(until=float("nan")), "until", "finite"),
    (lambda c: Tree(theta=0.5, delta=0.01), "Tree", "one of them"),
    (lambda c: Tree(theta=1.5), None, "theta"),
    (lambda c: Direct(precision="half"), "precision", "single or double"),
    (lambda c: Block(-1), None, "dt_max"),
    (lambda c: plummer(0), "count", "is 0: it must be at least 1"),
    (lambda c: plummer(8, seed=-1), "seed", "at least 0"),
    (lambda c: plummer(1.5), "count", "whole number"),
    (lambda c: Particles(c.position, mass=None), "mass", "None: a number"),
    (lambda c: Particles(c.position, mass="a"), "mass", "'a'"),
    (lambda c: Particles(c.position, type=[1] * 60 + [300] * 4), "type", "300 at index 60.*0 to 255"),
    (lambda c: Particles(c.position, type=300), "type", "300"),
    (lambda c: Particles(c.position, id=[-1] * 64), "id", "-1 at index 0"),
    (lambda c: Snapshot(c.position), "particles", "ndarray"),
    (lambda c: Direct(softening=-1), None, "softening = -1"),
    (lambda c: Direct(G=-1), None, "G = -1"),
    (lambda c: simulation(c, time=float("inf")), "time", "finite"),
    (lambda c: simulation(c).run(until=1, callback=print, every=float("nan")), "every", "nan"),
    (lambda c: simulation(c).run(until=1, callback=print, every=1.5), "every", "1.5"),
    (lambda c: simulation(c).run(until=float("inf")), "until", "finite"),
    (lambda c: simulation(c).step(-1), "n", "-1"),
    (lambda c: simulation(c).audit(0), "count", "0"),
    (lambda c: simulation(c).audit(-1), "count", "-1"),
    (lambda c: sample(None), "model", "NoneType"),
    (lambda c: sample("dwarf", count=0), "count", "is 0"),
    (lambda c: sample("dwarf", count=2**62), "count", "1 to"),
    (lambda c: sample("dwarf", seed=-1), "seed", "-1"),
    (lambda c: accelerations(np.full((4, 3), np.nan), np.ones(4), EXACT), "position", r"nan at index \(0, 0\)"),
    (lambda c: accelerations(c.position, np.full(64, np.inf), EXACT), "mass", "inf at index 0"),
    (lambda c: simulation(c, step=Leapfrog(0.1)).run(1, callback=print, every=0), "every", "at least 1"),
    (lambda c: read_snapshot("missing.hdf5"), None, "missing.hdf5"),
    (lambda c: write_snapshot("x.hdf5", c, format="csv"), "format", "hdf5, gadget1 or gadget2"),
]


@pytest.mark.parametrize("call, key, message", BAD)
def test_bad_input_is_an_input_error(cluster, call, key, message):
    with pytest.raises(kasane.InputError, match=message) as error:
        call(cluster)
    assert key is None or error.value.key == key
    assert isinstance(error.value, ValueError)


def test_arrays_that_were_assigned_are_checked(cluster, tmp_path):
    cluster.velocity = cluster.velocity[:10]
    for use in (simulation, Particles.placed, lambda c: write_snapshot(tmp_path / "x.hdf5", c)):
        with pytest.raises(kasane.InputError, match=r"\(10, 3\).*\(64, 3\)"):
            use(cluster)


def test_particles_that_are_not_finite_are_refused(cluster):
    cluster.position[3, 1] = np.nan
    with pytest.raises(kasane.InputError, match="particle"):
        simulation(cluster)


def test_a_blown_up_run_is_a_computation_error():
    at_one_place = Particles([[0, 0, 0], [1e-8, 0, 0]], [[0, 0, 0], [0, 0, 0]], mass=1e300)
    with pytest.raises(kasane.ComputationError):
        simulation(at_one_place, force=Direct(precision="double"), step=Leapfrog(1e10)).run(until=1e12)


def test_an_array_that_must_be_copied_is_reported(cluster):
    doubled = np.repeat(cluster.position, 2, axis=0)
    with pytest.warns(kasane.CopyWarning, match="position is not contiguous"):
        particles = Particles(doubled[::2])
    assert np.array_equal(particles.position, cluster.position)
    with pytest.warns(kasane.CopyWarning, match="float32"):
        Particles(cluster.position.astype(np.float32))
    assert Particles(cluster.position).position is cluster.position


def test_a_second_thread_gets_an_error(cluster):
    sim = simulation(plummer(8192), step=Leapfrog(1e-3))
    errors, started = [], threading.Event()

    def callback(_):
        started.set()

    def use():
        started.wait()
        for _ in range(1000):
            try:
                sim.step()
            except kasane.LogicError as error:
                errors.append(error)
                return

    second = threading.Thread(target=use)
    second.start()
    try:
        sim.run(until=0.2, callback=callback)
    except kasane.LogicError as error:  # the other thread was first
        errors.append(error)
    second.join()
    assert errors and "another thread" in str(errors[0])
    assert sim.step().steps > 0


def test_a_simulation_that_another_thread_runs_describes_itself():
    sim = simulation(plummer(8192), step=Leapfrog(1e-3))
    stop, seen = threading.Event(), set()

    def run():
        while not stop.is_set():
            sim.step(20)

    worker = threading.Thread(target=run)
    worker.start()
    while "in use by another thread" not in seen and worker.is_alive():
        text = sim._repr_html_()
        assert "<table>" in text
        seen.update(words for words in ("in use by another thread",) if words in text)
    stop.set()
    worker.join()
    assert seen


FORK = """
import multiprocessing, os, sys
import numpy as np, scipy.sparse
from kasane.gravity import Leapfrog, Simulation, Tree, accelerations, plummer
from kasane.lattice import hot_start
from kasane.sparse import solve

def compute(seed):
    p = plummer(6000, seed=seed)
    a = accelerations(p.position, p.mass, Tree(softening=0.1), threads=4)
    A = scipy.sparse.diags([-np.ones(9999), 2.5 * np.ones(10000), -np.ones(9999)], [-1, 0, 1]).tocsr()
    return a.sum(), solve(A, np.ones(10000), device="cpu", threads=4).sum(), hot_start((4, 4, 4, 4), seed=seed, device="cpu").plaquette()

if __name__ == "__main__":
    here = [compute(seed) for seed in (1, 2)]
    sim = Simulation(plummer(6000), Tree(softening=0.05), Leapfrog(1 / 256), device="cpu", threads=4).step(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(compute, (1, 2)) == here
    child = os.fork()
    if child == 0:
        np.save("child.npy", sim.step(2).particles.position)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(np.load("child.npy"), sim.step(2).particles.position)
"""


def test_a_child_of_fork_computes_with_the_same_bits(tmp_path):
    """After the parent has used threads, which a child does not have."""
    pytest.importorskip("scipy")
    (tmp_path / "program.py").write_text(FORK)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, timeout=120, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def test_the_gil_is_released(cluster):
    """While one thread takes steps, this one goes on."""
    sim = simulation(plummer(4096), step=Leapfrog(1e-3))
    turns = 0
    done = threading.Event()

    def steps():
        sim.step(20)
        done.set()

    worker = threading.Thread(target=steps)
    worker.start()
    while not done.wait(0.001):
        turns += 1
    worker.join()
    assert turns > 2


def test_an_exception_in_a_callback_ends_the_run_behind_a_step(cluster):
    sim = simulation(cluster)

    def callback(own):
        if own.steps == 5:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.run(until=1, callback=callback)
    assert sim.steps == 5
    expected = simulation(cluster).run(until=1)
    assert np.array_equal(sim.run(until=1).particles.position, expected.particles.position)


def test_files_that_a_callback_wrote_are_complete_when_it_raises(cluster, tmp_path):
    sim = simulation(cluster)

    def callback(own):
        if own.steps == 4:
            raise OSError("disk full")
        own.snapshot().write(tmp_path / f"{own.steps}.hdf5")

    with pytest.raises(OSError, match="disk full"):
        sim.run(until=1, callback=callback)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.hdf5", "2.hdf5", "3.hdf5"]
    kept = read_snapshot(tmp_path / "3.hdf5")
    assert kept.time == 3 / 64
    assert np.array_equal(kept.particles.position, simulation(cluster).step(3).particles.position)


def test_ctrl_c_ends_the_run_behind_a_step():
    sim = simulation(plummer(2048), step=Leapfrog(1e-4))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.run(until=1000)
    steps = sim.steps
    assert steps > 0 and sim.time == pytest.approx(steps * 1e-4)
    assert np.isfinite(sim.particles.position).all()
    assert sim.step().steps == steps + 1


def test_pickling_is_refused_with_the_reason(cluster):
    for own in (simulation(cluster), LocalForce(EXACT, 64)):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(own)
    particles = pickle.loads(pickle.dumps(cluster))
    assert np.array_equal(particles.position, cluster.position)


def test_objects_describe_themselves(cluster):
    sim = simulation(cluster, force=Tree(softening=0.1, theta=0.5))
    assert "Tree(theta=0.5, softening=0.1" in repr(sim) and "Leapfrog(dt=0.015625)" in repr(sim)
    for own in (sim, cluster, sim.snapshot()):
        assert own._repr_html_().startswith("<b>") and "<table>" in own._repr_html_()
    assert "energy=" in repr(sim.diagnostics()) and "p99=" in repr(sim.audit())
