"""Progress bars in terminals and notebooks, the live view, films of runs."""

import copy
import io
import os
import pickle
import pty
import re
import shutil
import struct
import subprocess
import sys
import textwrap
import types
import zlib

import numpy as np
import pytest

import kasane
from kasane import display
from kasane.gravity import Direct, Leapfrog, LiveView, Particles, Simulation


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """A kernel of a notebook; what its cell shows is in the list."""
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page)

    def show(page, display_id):
        assert display_id is True
        shown.append(page)
        return Handle()

    inside = types.ModuleType("IPython.display")
    inside.HTML, inside.display = (lambda text: text), show
    ipython = types.ModuleType("IPython")
    ipython.get_ipython, ipython.display = (lambda: types.SimpleNamespace(kernel=None)), inside
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", inside)
    return shown


def simulation(n=64):
    random = np.random.default_rng(5)
    particles = Particles(random.normal(size=(n, 3)), mass=1 / n)
    return Simulation(particles, force=Direct(softening=0.1), step=Leapfrog(1 / 64), device="cpu")


def test_a_terminal_has_a_bar_that_is_drawn_again_and_wiped(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    simulation().run(until=0.5, callback=lambda s: None, progress=True)
    drawn = terminal.getvalue().split("\r\033[K")
    assert drawn[0] == "" and drawn[-1] == ""  # it begins on a line of its own, and leaves none
    bar = re.fullmatch(r"Simulation  \[(#*)(\.*)\]  +(\d+)%  0:\d\d of 0:\d\d, 0:\d\d left  t = ([\d.]+)", drawn[1])
    assert bar, drawn[1]
    share = float(bar[4]) / 0.5
    assert len(bar[1]) == round(24 * share) and len(bar[1]) + len(bar[2]) == 24 and abs(int(bar[3]) - 100 * share) < 1


def test_nothing_is_shown_where_nobody_looks(capsys):
    simulation().run(until=0.25)
    assert list(kasane.progress(range(3))) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_a_short_run_shows_no_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    simulation().run(until=0.03125)
    assert terminal.getvalue() == ""


def test_a_bar_of_a_chain_counts_its_configurations(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(display.ProgressBar, "_patience", 0.0)
    items = list(kasane.progress(kasane.lattice.quenched((4, 4, 4, 4), beta=5.7, sweeps=3, start="cold"), total=3, label="sweeps"))
    assert [c.sweep for c in items] == [1, 2, 3]
    assert "sweeps  [########................]   33%" in terminal.getvalue() and "1 of 3" in terminal.getvalue()


def test_a_bar_is_closed_when_the_run_is_not_finished(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    seen = []

    def callback(own):
        seen.append(own.steps)
        if own.steps == 3:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        simulation().run(until=1, callback=callback, progress=True)
    assert seen == [1, 2, 3] and "t = " in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_a_notebook_has_a_bar(notebook):
    simulation().run(until=0.5, callback=lambda s: None, progress=True)
    assert len(notebook) >= 2 and all(page.startswith("<progress max='1' value='0.") for page in notebook[:1])
    assert "Simulation" in notebook[0] and "t = " in notebook[0]
    assert "value='1.0000'" in notebook[-1] and "100%" in notebook[-1]

    def callback(own):
        if own.steps == 48:  # half of the way from 0.5 to 1
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        own = simulation()
        own.run(until=0.5, progress=False)
        own.run(until=1, callback=callback, progress=True)
    assert "value='0.5000'" in notebook[-1]


def pixels_of(png):
    """[height, width, 3] of a PNG of 8-bit RGB with filter 0, by the definition of the format."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + data)
        chunks[kind] = data
        place += 12 + size
    width, height, *kind = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert kind == [8, 2, 0, 0, 0]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_the_live_view_shows_where_the_particles_are(tmp_path):
    particles = Particles([[1.5, 0.5, 0.0], [1.5, 0.5, 9.0], [-1.5, -1.5, 0.0], [0.0, 1.0, 0.0]])
    own = Simulation(particles, force=Direct(softening=0.1), step=Leapfrog(1 / 64), device="cpu")
    view = LiveView(half_width=2.0, pixels=4)
    image = view.image(own)
    centre = particles.position[:, :2].mean(axis=0)
    counts = np.zeros((4, 4))
    for x, y in particles.position[:, :2] - centre:
        counts[int((2 - y) // 1), int((x + 2) // 1)] += 1  # y upwards
    brightness = image.sum(axis=2).astype(int)
    assert brightness[counts == 2] > brightness[counts == 1].max() > brightness[counts == 0].max()
    assert (brightness[counts == 0] == brightness[counts == 0][0]).all()
    view.write(tmp_path / "view.png", own)
    assert np.array_equal(pixels_of((tmp_path / "view.png").read_bytes()), image)
    assert "t = 0; xy plane" in view.html(own.snapshot()) and "t = 0, 0 steps; xy" in view.html(own)
    side = LiveView(half_width=2.0, pixels=4, axes="xz", select=lambda p: p.position[:, 2] < 1).image(own)
    assert not np.array_equal(side, image)


def test_a_notebook_shows_the_simulation_while_it_runs(notebook):
    view = LiveView(pixels=16, per_second=1e6)
    own = simulation()
    own.run(until=0.125, callback=view, progress=False)
    assert view.pictures == len(notebook) == own.steps == 8
    assert all(page.startswith("<figure") and "data:image/png;base64," in page for page in notebook)
    assert "t = 0.015625, 1 steps" in notebook[0] and "t = 0.125, 8 steps" in notebook[-1]
    slow = LiveView(pixels=16, per_second=0.001)
    own.run(until=0.25, callback=slow, progress=False)
    assert slow.pictures == 1  # the others came too soon


def test_outside_a_notebook_the_live_view_draws_nothing():
    view = LiveView()
    simulation().run(until=0.125, callback=view)
    assert view.pictures == 0


def test_a_run_shows_its_messages_in_the_notebook(notebook, tmp_path):
    (tmp_path / "run.toml").write_text(
        '[run]\nproblem = "gravity"\nunits = "nbody"\nuntil = 0.25\ndevice = "cpu"\n[initial]\nmodel = "plummer"\ncount = 300\n'
        '[force]\nsoftening = 0.02\n[step]\ndt = 0.0078125\n[output]\ndirectory = "out"\n'
    )
    result = kasane.run(tmp_path / "run.toml", output=tmp_path / "run")
    assert result.status == "done" and notebook and notebook[-1].startswith("<pre>")
    assert "\033" not in "".join(notebook)


def test_lines_that_were_drawn_over_are_not_shown():
    lines = display.TerminalInNotebook.lines("one\r\n\r\033[K 10%\r\033[K 20%\r\033[Kwarning: two\r\n\r\033[K 30%")
    assert lines == ["one", "warning: two", " 30%"]


def test_a_terminal_shows_the_bar_of_a_command(tmp_path):
    """kasane.run on a pseudo-terminal: the command draws its bar there."""
    (tmp_path / "run.toml").write_text(
        '[run]\nproblem = "gravity"\nunits = "nbody"\nuntil = 2.0\ndevice = "cpu"\n[initial]\nmodel = "plummer"\ncount = 2000\n'
        '[force]\nsoftening = 0.02\n[step]\ndt = 0.0078125\n[output]\ndirectory = "out"\n'
    )
    program = textwrap.dedent(f"""
        import kasane
        kasane.run({str(tmp_path / "run.toml")!r}, output={str(tmp_path / "run")!r})
    """)
    own, other = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program], stderr=other, stdout=subprocess.DEVNULL)
    os.close(other)
    said = b""
    while True:
        try:
            data = os.read(own, 4096)
        except OSError:
            break
        said += data
    os.close(own)
    assert process.wait() == 0
    assert b"\r\033[K" in said and b"%" in said


@pytest.fixture(scope="module")
def run_with_snapshots(tmp_path_factory):
    directory = tmp_path_factory.mktemp("film")
    (directory / "run.toml").write_text(
        '[run]\nproblem = "gravity"\nunits = "nbody"\nuntil = 0.25\ndevice = "cpu"\n[initial]\nmodel = "plummer"\ncount = 300\n'
        '[force]\nsoftening = 0.02\n[step]\ndt = 0.03125\n[output]\ndirectory = "out"\nsnapshot_every = 0.0625\n'
    )
    return kasane.run(directory / "run.toml", output=directory / "run")


def pictures_of(run, **view):
    live = LiveView(**view)
    return [live.image(kasane.gravity.read_snapshot(path)) for path in run.snapshots]


def test_a_film_as_gif_has_a_picture_for_each_snapshot(run_with_snapshots, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = run_with_snapshots.film(tmp_path / "film.gif", per_second=5, pixels=40)
    with image.open(path) as film:
        assert film.n_frames == len(run_with_snapshots.snapshots) == 5 and film.size == (40, 40) and film.info["duration"] == 200
        for number, expected in enumerate(pictures_of(run_with_snapshots, pixels=40)):
            film.seek(number)
            shown = np.asarray(film.convert("RGB")).astype(int)
            assert np.abs(shown - expected).mean() < 4  # a palette of 256 colours
    assert [file.name for file in tmp_path.iterdir()] == ["film.gif"]


ENCODER = """#!/bin/sh
# Stands for ffmpeg: the last argument is the file.
for last; do :; done
{ echo "$@"; cat; } > "$last"
exit STATUS
"""


def encoder(directory, status=0):
    directory.mkdir()
    (directory / "ffmpeg").write_text(ENCODER.replace("STATUS", str(status)))
    (directory / "ffmpeg").chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def test_ffmpeg_gets_the_pictures(run_with_snapshots, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", encoder(tmp_path / "bin"))
    path = run_with_snapshots.film(tmp_path / "film.mp4", pixels=31, axes="xz")
    words, _, data = path.read_bytes().partition(b"\n")
    assert b"-s 31x31 -r 12.0 -i -" in words and words.endswith(b"film.mp4")
    assert data == b"".join(picture.tobytes() for picture in pictures_of(run_with_snapshots, pixels=31, axes="xz"))


def test_an_encoder_that_fails_leaves_no_film(run_with_snapshots, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", encoder(tmp_path / "bin", 3))
    with pytest.raises(kasane.ComputationError, match="ffmpeg ended with status 3"):
        run_with_snapshots.film(tmp_path / "film.mp4", pixels=16)
    assert [file.name for file in tmp_path.iterdir()] == ["bin"]


def test_without_an_encoder_the_error_names_one(run_with_snapshots, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(kasane.InputError, match="install ffmpeg"):
        run_with_snapshots.film(tmp_path / "film.mp4")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(kasane.InputError, match="Pillow.*or ffmpeg"):
        run_with_snapshots.film(tmp_path / "film.gif")
    with pytest.raises(kasane.InputError, match=".mp4 or .gif"):
        run_with_snapshots.film(tmp_path / "film.avi")


def test_an_mp4_of_ffmpeg_is_one(run_with_snapshots, tmp_path):
    ffprobe = shutil.which("ffprobe")
    if not shutil.which("ffmpeg") or not ffprobe:
        pytest.skip("ffmpeg is not installed")
    path = run_with_snapshots.film(tmp_path / "film.mp4", pixels=63)
    words = [ffprobe, "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames", "-of", "csv=p=0", str(path)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == "64,64,5"


def every_object():
    """One object of each public class that is no exception."""
    from kasane import gravity, lattice, sparse

    own = simulation(8).step()
    problem = sparse.PoissonProblem((4, 4, 4), boundary={"z_max": ("dirichlet", 0.0)})
    A, b = problem.matrix(), np.ones(64)
    solver, general = sparse.Solver(A, device="cpu"), sparse.GeneralSolver(A, device="cpu")
    poisson = sparse.PoissonSolver(problem, device="cpu")
    rotated = sparse.ComplexSolver(A * 1j, device="cpu")
    for each in (solver, general, poisson):
        each.solve(b)
    rotated.solve(b.astype(complex))
    links = lattice.cold_start((4, 4, 4, 4), device="cpu")
    quark = lattice.WilsonSolver(links, kappa=0.1, device="cpu")
    _, log = sparse.conjugate_gradients(A, b)
    return [
        own, own.force, own.step_options, gravity.Tree(softening=0.1, error=0.3, curve="morton", leaf_size=8), gravity.Adaptive(0.1), gravity.Block(0.1, criterion="acceleration", length=2.0), own.particles, own.snapshot(), LiveView(),
        own.diagnostics(), own.audit(4), gravity.LocalForce(own.force, 8), problem, solver, general, rotated, poisson, solver.log, log,
        sparse.eigenpairs(A, device="cpu"), links, quark, quark.propagator(), quark.log, lattice.flow(links, t_max=0.02), lattice.Quarks(0.1),
        next(lattice.quenched((4, 4, 4, 4))), next(lattice.hmc((4, 4, 4, 4))), lattice.estimate([0.0, 1.0, 0.5, 0.2]),
    ]  # fmt: skip


def test_every_object_describes_itself():
    import html.parser

    from kasane import gravity, lattice, sparse

    objects = every_object()
    classes = {getattr(module, name) for module in (gravity, sparse, lattice) for name in module.__all__}
    assert {kind for kind in classes if isinstance(kind, type)} == {type(each) for each in objects}

    class Check(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.text = [], ""

        def handle_starttag(self, tag, attrs):
            if tag != "br":
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.text += data

    for each in objects:
        name = type(each).__name__
        assert repr(each).startswith(name) and " object at 0x" not in repr(each), repr(each)
        check = Check()
        check.feed(each._repr_html_())
        assert check.open == [] and name in check.text and len(check.text) > len(name), check.text
        assert " object at 0x" not in check.text and len(check.text) < 2000, check.text


def test_every_object_is_pickled_and_copied_or_refused_with_the_reason():
    kept = set()
    for each in every_object():
        for again in (lambda own: pickle.loads(pickle.dumps(own)), copy.deepcopy):
            try:
                other = again(each)
            except TypeError as error:
                assert re.search(r"cannot be pickled or copied: it owns memory of the library; (store|make)", str(error)), error
            else:
                kept.add(type(each).__name__)
                assert type(other) is type(each) and repr(other) == repr(each)
                if hasattr(each, "_repr_html_"):
                    assert other._repr_html_() == each._repr_html_()  # all options
    assert kept >= {"Direct", "Tree", "Leapfrog", "Adaptive", "Block", "Particles", "Snapshot", "PoissonProblem", "Propagator", "Quarks", "Estimate"}
    assert not kept & {"Simulation", "Solver", "GaugeField", "WilsonSolver", "Flow", "SolveLog", "Diagnostics"}


@pytest.mark.parametrize(
    "options, key",
    [
        ({"axes": "xx"}, "axes"),
        ({"axes": "r"}, "axes"),
        ({"pixels": 0}, "pixels"),
        ({"per_second": 0}, "per_second"),
        ({"half_width": -1}, "half_width"),
    ],
)
def test_bad_options_of_the_live_view(options, key):
    with pytest.raises(kasane.InputError) as error:
        LiveView(**options)
    assert error.value.key == key
