"""Run files from Python, and the same bits from Python and from the command."""

import io
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import kasane
from kasane import lattice, sparse
from kasane.command import executable, toml_value
from kasane.gravity import Direct, Leapfrog, Simulation, Tree, read_snapshot

PLUMMER = """
[run]
problem = "gravity"
units = "nbody"
until = 0.25
device = "cpu"
[initial]
model = "plummer"
count = 500
[force]
softening = 0.02
[step]
dt = 0.0078125
[output]
directory = "out"
snapshot_every = 0.125
"""


@pytest.fixture
def plummer_file(tmp_path):
    path = tmp_path / "plummer.toml"
    path.write_text(PLUMMER)
    return path


def test_a_run_returns_its_results(tmp_path, plummer_file):
    result = kasane.run(plummer_file, output=tmp_path / "run", set={"run.until": 0.125, "run.title": 'of "Python"'})
    assert result.status == "done" and result.directory == tmp_path / "run"
    assert result.record["title"] == 'of "Python"' and result.report.is_file()
    energy = result.table("energy.csv")
    assert energy["time"][-1] == 0.125 and len(result.snapshots) == 2
    assert "done" in repr(result) and "<table>" in result._repr_html_()
    with pytest.raises(kasane.InputError, match="energy.csv"):
        result.table("flow.csv")
    with pytest.raises(kasane.InputError, match="exists"):
        kasane.run(plummer_file, output=tmp_path / "run")
    assert kasane.run(plummer_file, output=tmp_path / "run", force=True).status == "done"


@pytest.mark.parametrize(
    "force, keys",
    [
        (Direct(softening=0.02), {}),
        (Tree(softening=0.02, theta=0.5), {"force.method": "tree", "force.mac": "geometric", "force.theta": 0.5}),
    ],
)
def test_python_takes_the_steps_of_the_command(tmp_path, plummer_file, force, keys):
    result = kasane.run(plummer_file, output=tmp_path / "run", set=keys)
    first, last = read_snapshot(result.snapshots[0]), read_snapshot(result.snapshots[-1])
    sim = Simulation(first, force=force, step=Leapfrog(0.0078125), device="cpu")
    for time_of_row in result.table("energy.csv")["time"][1:]:
        sim.step(round((time_of_row - sim.time) / 0.0078125), diagnostics_follow=True)
    assert sim.time == last.time
    assert np.array_equal(sim.particles.position, last.particles.position)
    assert np.array_equal(sim.particles.velocity, last.particles.velocity)
    assert sim.diagnostics().energy == pytest.approx(result.table("energy.csv")["energy"][-1], rel=1e-14)


def test_python_finds_the_solution_of_the_command(tmp_path, laplacian):
    b = np.random.default_rng(6).normal(size=256)
    sparse.write_matrix(tmp_path / "A.mtx", laplacian)
    sparse.write_vector(tmp_path / "b.mtx", b)
    words = ["solve", "A.mtx", "-b", "b.mtx", "-o", "x.mtx", "--no-tune", "--device", "cpu", "--rtol", "1e-10", "--quiet"]
    subprocess.run([executable(), *words], cwd=tmp_path, check=True)
    x = sparse.solve(laplacian, b, rtol=1e-10, tune=False, device="cpu")
    assert np.array_equal(x, sparse.read_vector(tmp_path / "x.mtx"))


def test_python_makes_the_configurations_and_propagators_of_the_command(tmp_path):
    (tmp_path / "quenched.toml").write_text(
        '[run]\nproblem = "quenched"\ndevice = "cpu"\n[lattice]\nextents = [4, 4, 4, 4]\n[start]\nkind = "hot"\nseed = 9\n'
        '[action]\nbeta = 5.7\n[update]\nsweeps = 6\nseed = 4\n[output]\ndirectory = "out"\n'
    )
    result = kasane.run(tmp_path / "quenched.toml", output=tmp_path / "run")
    for last in lattice.quenched((4, 4, 4, 4), beta=5.7, sweeps=6, start="hot", start_seed=9, seed=4, device="cpu"):
        pass
    links, _ = lattice.read_gauge(tmp_path / "run" / "configuration.lime")
    assert np.array_equal(last.field.array(), links)
    assert result.table("measurements.csv").size == 7

    words = ["lattice", "solve", "run/configuration.lime", "--kappa", "0.12", "-o", "p.h5", "--device", "cpu", "--quiet"]
    subprocess.run([executable(), *words], cwd=tmp_path, check=True)
    read = lattice.read_propagator(tmp_path / "p.h5")
    own = lattice.WilsonSolver(links, kappa=0.12, device="cpu").propagator()
    assert all(np.array_equal(a, b) for a, b in zip(own.columns, read.columns))
    assert np.array_equal(own.pion(), read.facts["pion"])

    subprocess.run([executable(), *words, "--force", "--source", "wall:3"], cwd=tmp_path, check=True)
    wall = lattice.read_propagator(tmp_path / "p.h5")
    assert wall.source_time == 3
    assert np.allclose(wall.pion(), wall.facts["pion"], rtol=1e-12)
    subprocess.run([executable(), *words, "--force", "--source", "z2:1"], cwd=tmp_path, check=True)
    with pytest.raises(kasane.InputError, match="z2:1.*point:x,y,z,t or wall:t"):
        lattice.read_propagator(tmp_path / "p.h5")


QUARKS = """
[quarks]
kappa = 0.13
csw = 1.0
[[hasenbusch]]
mass = 0.3
"""


@pytest.mark.parametrize("quarks", [None, lattice.Quarks(kappa=0.13, csw=1.0, masses=[0.3])])
def test_python_runs_the_trajectories_of_the_command(tmp_path, quarks):
    (tmp_path / "hmc.toml").write_text(
        '[run]\nproblem = "hmc"\ndevice = "cpu"\n[lattice]\nextents = [4, 4, 4, 4]\n[start]\nkind = "hot"\nseed = 9\n'
        '[gauge]\naction = "symanzik"\nbeta = 4.0\n'
        + (QUARKS if quarks else "")
        + '[hmc]\ntrajectories = 3\nthermalisation = 2\nsteps = 4\naccept_first = 1\nseed = 4\n[output]\ndirectory = "out"\n'
    )
    result = kasane.run(tmp_path / "hmc.toml", output=tmp_path / "run")
    options = {"beta": 4.0, "action": "symanzik", "quarks": quarks, "steps": 4, "accept_first": 1, "seed": 4, "start_seed": 9}
    own = [(c.plaquette, c.dH, c.accepted) for c in lattice.hmc((4, 4, 4, 4), trajectories=3, device="cpu", **options)]
    table = result.table("measurements.csv")
    assert [dH for _, dH, _ in own] == list(table["dH"]) and [a for _, _, a in own] == list(table["accepted"])
    assert np.allclose([p for p, _, _ in own], table["plaquette"], rtol=1e-14)


def test_ranks_of_a_launcher_are_refused(monkeypatch, plummer_file, tmp_path):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(kasane.LogicError, match="started 4.*has no MPI.*mpirun -n 4 kasane run"):
        kasane.run(plummer_file, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv("KASANE_MPI", "0")
    assert kasane.run(plummer_file, output=tmp_path / "run").status == "done"


def test_errors_name_file_line_and_key(tmp_path, plummer_file):
    plummer_file.write_text(PLUMMER.replace("softening = 0.02", "softening = -1.0\nmethdo = 3"))
    with pytest.raises(kasane.InputError) as error:
        kasane.run(plummer_file, output=tmp_path / "run")
    problems = {problem.key: problem for problem in error.value.problems}
    assert problems["force.softening"].file == str(plummer_file) and problems["force.softening"].line == 11
    assert "methdo" in str(error.value)
    assert not (tmp_path / "run").exists()


def test_papers_of_files_models_runs_and_simulations(tmp_path, plummer_file, cluster):
    assert any("Plummer" in paper for paper in kasane.cite(plummer_file))
    assert any("direct summation" in paper for paper in kasane.cite(kasane.run(plummer_file, output=tmp_path / "run")))
    tree = Simulation(cluster, force=Tree(softening=0.1), step=Leapfrog(0.1), device="cpu")
    assert any("Barnes" in paper for paper in kasane.cite(tree))
    assert not any("H. C. Plummer" in paper for paper in kasane.cite(tree))
    with pytest.raises(kasane.InputError, match="int"):
        kasane.cite(3)


def test_values_of_toml():
    assert toml_value({"a b": [1, 2.5, True, 'x"\\\n']}) == '{"a b" = [1, 2.5, true, "x\\"\\\\\\n"]}'
    with pytest.raises(kasane.InputError, match="object"):
        toml_value(object())


def test_resume_is_quiet_where_no_terminal_is(tmp_path, plummer_file, monkeypatch):
    result = kasane.run(plummer_file, output=tmp_path / "run")
    asked = []
    monkeypatch.setattr("kasane.command.call", lambda words, terminal: asked.append((words[0], terminal)))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    result.resume()
    result.resume(terminal=True)
    assert asked == [("resume", False), ("resume", True)]
    with pytest.raises(kasane.InputError) as error:
        kasane.run(plummer_file, set="run.until=1")
    assert error.value.key == "set"


def test_ctrl_c_ends_a_run_with_a_checkpoint_and_resume_continues_it(tmp_path, plummer_file):
    program = textwrap.dedent(
        f"""
        import kasane
        long = {{"run.until": 1000.0, "output.snapshot_every": 500.0}}
        result = kasane.run({str(plummer_file)!r}, output={str(tmp_path / "run")!r}, set=long)
        print(result.status)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    record = tmp_path / "run" / "energy.csv"
    for _ in range(600):
        if record.exists() and process.poll() is None and len(record.read_text().splitlines()) > 1:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output.strip() == "interrupted", errors
    result = kasane.RunResult(tmp_path / "run")
    assert result.status == "interrupted" and list(Path(result.directory / "checkpoints").iterdir())


def test_the_command_of_the_package_starts():
    said = subprocess.run([executable(), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[:2] == ["kasane", kasane.__version__]


def test_a_snapshot_in_several_files_is_listed_once(tmp_path):
    (tmp_path / "record.json").write_text("{}")
    folder = tmp_path / "snapshots"
    folder.mkdir()
    for name in ("0000", "0001.0", "0001.1", "0001.10", "0002"):
        (folder / f"snapshot_{name}.hdf5").touch()
    names = [path.name for path in kasane.RunResult(tmp_path).snapshots]
    assert names == ["snapshot_0000.hdf5", "snapshot_0001.0.hdf5", "snapshot_0002.hdf5"]
