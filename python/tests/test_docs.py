"""Executes what the pages show: every Python block, every run file and model, every example of a docstring, and every command line that is
short. Of longer command lines the verb and the options are compared with the help of the command; of lines for other programs what they name is
looked up. Blocks of C++ and CMake are built by test/package/install.cmake. Checks every relative link.
"""

import doctest
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kasane
from kasane.command import executable

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
ALL_TEXT = [*PAGES, "ARCHITECTURE.md", "CONTRIBUTING.md", "CONVENTIONS.md", "CHANGELOG.md"]
EXAMPLES = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "examples").glob("*.toml"))
FOREIGN = ("scipy", "matplotlib", "h5py", "yt", "pynbody", "astropy")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, language):
    """(line, text) of every fenced block of a language."""
    text = text_of(page)
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)
    return [(text[: match.start(1)].count("\n") + 1, match[1]) for match in found]


def python_blocks(page, mark=""):
    """Blocks of Python. mark: " gpu" for those that need a GPU."""
    return blocks(page, "python" + mark)


def code_lines(page):
    """(line, text, next line) of blocks that are indented or fenced without a language."""
    if page.endswith(".toml"):
        lines = [re.sub(r"^# ?", "", line) if line.startswith("#") else "" for line in text_of(page).splitlines()]
    else:
        lines = text_of(page).splitlines()
    fence = None
    for number, line in enumerate([*lines, ""][:-1], 1):
        mark = re.match(r"\s*```(\w*)", line)
        if mark:
            fence = mark[1] if fence is None else None
        elif fence == "" or (fence is None and line.startswith("    ")):
            yield number, line.strip(), lines[number].strip() if number < len(lines) else ""


def commands(page):
    """(line, words of `kasane ...` without those of a launcher, how it was started, expected error) of a page."""
    pending = ""
    for number, line, following in code_lines(page):
        line = re.sub(r"(^|\s+)# .*$", "", f"{pending} {line}".strip())
        pending = ""
        if line.endswith("\\"):
            pending = line[:-1].strip()
            continue
        match = re.match(r"(?:\$ )?((?:mpirun|srun) .*? )?(?:build/auto/)?kasane ([a-z].*)", line)
        if match:
            words = re.split(r"\s+(?:&&|\||>|&)(?:\s+|$)", match[2])[0]
            yield number, words, match[1], following[len("error: ") :] if following.startswith("error: ") else None


def inline_commands(page):
    """(line, words of `kasane ...`) of inline code."""
    for number, line in enumerate(text_of(page).splitlines(), 1):
        for words in re.findall(r"`(?:mpirun [^`]*?)?kasane ([a-z][^`]*)`", line):
            yield number, words


@pytest.fixture(scope="module")
def help_of():
    """The options of a verb, from its --help."""
    known = {}

    def options(verb):
        if verb not in known:
            said = subprocess.run([executable(), *verb.split(), "--help"], capture_output=True, text=True)
            assert said.returncode == 0, f"kasane {verb} --help: {said.stderr}"
            known[verb] = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])\b", said.stdout))
        return known[verb]

    return options


def run_command(words, directory):
    return subprocess.run([executable(), *words], cwd=directory, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with the files that the pages name."""
    sparse = pytest.importorskip("scipy.sparse")
    from kasane.lattice import quenched, write_gauge
    from kasane.sparse import write_matrix, write_vector

    directory = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "examples", directory / "examples")
    shutil.copytree(ROOT / "models", directory / "models")
    line = sparse.diags([-np.ones(11), 2 * np.ones(12), -np.ones(11)], [-1, 0, 1])
    A = sparse.csr_matrix(sparse.kron(line, sparse.eye(12)) + sparse.kron(sparse.eye(12), line))
    for name in ("A.mtx", "box64.mtx"):
        write_matrix(directory / name, A)
    for name in ("b.mtx", "source.mtx"):
        write_vector(directory / name, np.random.default_rng(1).normal(size=144))
    entries = [f"{i} {i} 4.0" for i in range(1, 801)]
    entries[774] = "775 x 4.0"  # line 777
    (directory / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n800 800 800\n" + "\n".join(entries) + "\n")
    (directory / "unsymmetric.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 3.0\n1 2 -1.0\n2 1 1.0\n2 2 3.0\n"
    )
    for last in quenched((8, 8, 8, 8), beta=6.0, sweeps=30, start="cold", device="cpu"):
        pass
    (directory / "out/quenched").mkdir(parents=True)
    for name in ("CFG", "conf.lime", "out/quenched/conf.lime"):
        write_gauge(directory / name, last.field)
    for name in ("galaxy.toml", "model.toml"):
        shutil.copy(ROOT / "models/dwarf.toml", directory / name)
    assert run_command(["sample", "galaxy.toml", "-o", "snapshot.hdf5", "--count", "800"], directory).returncode == 0
    for name in ("snapshot_000.hdf5", "snapshot_012.hdf5"):
        shutil.copy(directory / "snapshot.hdf5", directory / name)
    poisson = ["run", "examples/poisson.toml", "-o", "out/poisson", "--set", "grid.cells=[8,8,8]", "--device", "cpu", "--quiet"]
    assert run_command(poisson, directory).returncode == 0
    solve = ["lattice", "solve", "CFG", "--kappa", "0.12", "-o", "prop.h5", "--device", "cpu"]
    assert run_command(solve, directory).returncode == 0
    return directory


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)])
def test_every_python_block_runs(page, place, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    shutil.copytree(place, tmp_path / "pages")
    monkeypatch.chdir(tmp_path / "pages")
    names = {"__name__": "page"}
    for line, code in python_blocks(page):
        try:
            exec(compile("\n" * (line - 1) + code, page, "exec"), names)
        except ModuleNotFoundError as missing:
            if missing.name in FOREIGN:
                pytest.skip(f"{page}:{line}: {missing.name} is not installed")
            raise
    if page == "docs/python.md":
        assert Path("collision.png").stat().st_size > 10_000


def tables(text):
    """The tables of a TOML file in their order: text by the line that begins each; "" for what is before the first."""
    parts = re.split(r"^(\[.*?\]).*\n", text, flags=re.M)
    found = {"": parts[0]}
    for header, body in zip(parts[1::2], parts[2::2]):
        found[header] = found.get(header, "") + (f"{header}\n" if header in found and header.startswith("[[") else "") + body
    return found


SMALL = {"gravity": ("run.until=0.0625", "initial.count=500"), "poisson": ("grid.cells=[8,8,8]",)}
BASE = {"docs/poisson.md": "examples/poisson.toml"}  # of a page whose blocks are parts of a run file


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")])
def test_every_run_file_and_model_runs(page, tmp_path):
    """A run file runs with fewer particles and steps, and a model is sampled. A block of some tables replaces those of the run file before it."""
    whole = tables(text_of(BASE[page])) if page in BASE else None
    for line, text in blocks(page, "toml"):
        file, where = tmp_path / f"{line}.toml", f"{page}:{line}"
        own = tables(text)
        if "[run]" in own:
            whole = own
        elif "model" not in text:
            assert whole and set(own) - {""} <= set(whole), f"{where}: tables of no run file"
            whole.update(own)
        else:
            file.write_text(text, encoding="utf-8")
            said = run_command(["sample", file.name, "-o", f"{line}.hdf5", "--count", "800"], tmp_path)
            assert said.returncode == 0 and (tmp_path / f"{line}.hdf5").exists(), f"{where}: {said.stderr}"
            continue
        file.write_text("".join(f"{header}\n{body}" for header, body in whole.items()), encoding="utf-8")
        problem = re.search(r'^problem\s*=\s*"(\w+)"', file.read_text(encoding="utf-8"), re.M)[1]
        words = ["run", file.name, "-o", f"run{line}", "--device", "cpu", "--quiet"]
        said = run_command([*words, *(word for key in SMALL[problem] for word in ("--set", key))], tmp_path)
        assert said.returncode == 0 and (tmp_path / f"run{line}" / "report.html").exists(), f"{where}: {said.stderr}"


def test_the_mistakes_of_the_quickstart_are_reported_as_it_says(tmp_path):
    page = text_of("docs/quickstart.md")
    expected = re.findall(r"^    (error: first\.toml:.*)$", page, re.M)
    text = blocks("docs/quickstart.md", "toml")[0][1]
    assert len(expected) == 3 and "softening = 0.02" in text and "dt = 0.0078125" in text
    wrong = text.replace("softening = 0.02", "sofening = 0.02").replace("dt = 0.0078125", "dt = -1")
    (tmp_path / "first.toml").write_text(wrong, encoding="utf-8")
    said = run_command(["check", "first.toml"], tmp_path)
    assert said.returncode == 2
    for line in expected:
        assert line in said.stderr, said.stderr


def test_pynbody_has_the_families_of_the_page(tmp_path):
    pytest.importorskip("pynbody")
    ((_, text),) = blocks("docs/snapshots.md", "ini")
    (tmp_path / "config.ini").write_text(text)
    assert run_command(["sample", str(ROOT / "models/spiral.toml"), "-o", "s.hdf5", "--count", "800"], tmp_path).returncode == 0
    types = kasane.gravity.read_snapshot(tmp_path / "s.hdf5").particles.type
    program = 'import pynbody; s = pynbody.load("s.hdf5"); print(len(s.dm), len(s.disk), len(s.bulge))'
    said = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == [str((types == kind).sum()) for kind in (1, 2, 3)] and (types == 2).any()


def other_programs(page):
    """(line, words) of code lines that start another program than kasane."""
    for number, line, _ in code_lines(page):
        line = re.sub(r"(^|\s+)# .*$", "", line)
        match = re.match(r"(?:\$ )?(make|ctest|cmake|git|docker|python3?|source|module|pip|env/bin/\S+|(?:bench|test)/\S+) .*", line)
        if match and not re.match(r"\S+ +[=:]", line):
            yield number, line, match[1]
    for number, line in enumerate(text_of(page).splitlines(), 1):
        for words in re.findall(r"`((?:make|ctest|bench/\S+\.py|test/fuzz/run) [^`]*)`", line):
            yield number, words, words.split()[0]


ELSEWHERE = r"git clone <|docker build|module (use|load)|python3 -m venv"  # what needs a network, a daemon, an installed tree or minutes


@pytest.mark.parametrize("page", [page for page in PAGES if [*other_programs(page)]])
def test_lines_for_other_programs_name_what_exists(page, place):
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "test").rglob("*.test.cpp"))
    targets = set(re.findall(r"^([\w/-]+):", text_of("Makefile"), re.M))
    presets = {preset["name"] for preset in json.loads(text_of("CMakePresets.json"))["configurePresets"]}
    for number, line, program in other_programs(page):
        where = f"{page}:{number}: {line}"
        assert all(name in presets for name in re.findall(r"--preset (\w+)", line)), where
        if program == "make":
            assert {word for word in line.split()[1:] if "=" not in word and re.match(r"[a-z]", word)} <= targets, where
        elif program == "ctest":  # each part of the pattern is in the name of a test
            for part in re.findall(r"[A-Za-z0-9]{4,}", re.search(r"-R '?([^' ]+)", line)[1]):
                assert re.search(rf"\b(TEST|TEST_P|TYPED_TEST|TEST_F|INSTANTIATE\w+)\([^)]*{part}", tests), f"{where}: {part}"
        elif re.match(r"(bench|test)/", program):
            assert (ROOT / program).is_file(), where
            if program.endswith(".py"):
                said = subprocess.run([sys.executable, str(ROOT / program), "--help"], capture_output=True, text=True).stdout
                assert all(option in said for option in re.findall(r"(?<!\S)-{1,2}[a-z][a-z-]*", line)), where
        elif line.startswith("python python/bench/"):
            assert (ROOT / line.split()[1]).is_file(), where
        elif line.startswith("python3 -c "):
            A = pytest.importorskip("scipy.sparse").csr_array(np.array([[2.0, 1.0], [1.0, 3.0]]))
            pytest.importorskip("scipy.sparse").save_npz(place / "A.npz", A)
            kept = (place / "A.mtx").read_bytes()
            subprocess.run([sys.executable, *shlex.split(line)[1:]], cwd=place, check=True)
            assert abs(kasane.sparse.read_matrix(place / "A.mtx") - A).max() == 0, where
            (place / "A.mtx").write_bytes(kept)
        elif program == "source":
            shell = line.replace("build/auto/kasane", executable()) + "; complete -p kasane"
            assert subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True).stdout.startswith("complete"), where
        else:
            assert re.search(ELSEWHERE, line), f"{where}: no test covers it"


@pytest.mark.skipif(len(kasane.devices()) == 1, reason=kasane.why_no_cuda())
@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page, " gpu")])
def test_every_python_block_for_a_gpu_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("cupy")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    for line, code in python_blocks(page, " gpu"):  # without the names of the blocks before it
        exec(compile("\n" * (line - 1) + code, page, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("notebook", sorted(path.name for path in (ROOT / "docs/tutorials").glob("*.ipynb")))
def test_every_notebook_runs(notebook, tmp_path, monkeypatch):
    """The cells in their order, as Jupyter executes them; notebooks are stored without outputs."""
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "notebook"}
    cells = json.loads(text_of(f"docs/tutorials/{notebook}"))["cells"]
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            assert not "".join(cell["source"]).startswith(" "), "indented text is code in Markdown"
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec(compile("".join(cell["source"]), f"{notebook}, cell {number}", "exec"), names)


def with_examples():
    """The modules of the package whose docstrings have examples."""
    files = [path for path in (ROOT / "python/kasane").glob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    return sorted("kasane" if path.stem == "__init__" else f"kasane.{path.stem}" for path in files)


@pytest.mark.parametrize("module", with_examples())
def test_every_example_of_a_docstring_runs(module, place, tmp_path, monkeypatch):
    import importlib

    shutil.copytree(place, tmp_path / "pages")
    monkeypatch.chdir(tmp_path / "pages")
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0 and result.failed == 0


SHORT = ("check", "solve", "forces", "sample", "lattice info", "lattice measure", "lattice convert", "lattice solve")
NEEDS = r"--device cuda|gpus.per.rank|parallel\.grid|--grid|milc_l4444|--block"  # a GPU, other ranks, files or lattices that are not here


def shortened(words):
    """The same command with fewer particles, on the CPU, or None where it would take long or needs what is not here."""
    verb = " ".join(words[:2]) if words[0] == "lattice" else words[0]
    if verb in ("run", "lattice generate"):  # examples are run by the tests of the command
        kept = [word for word in words[words.index(verb.split()[-1]) + 1 :]]
        for option in ("-o", "--threads", "--device"):
            if option in kept:
                del kept[kept.index(option) : kept.index(option) + 2]
        words, verb = ["check", *kept], "check"
    if verb not in SHORT or re.search(NEEDS, " ".join(words)):
        return None
    if "--count" in words:
        words[words.index("--count") + 1] = "800"
    elif verb == "sample":
        words += ["--count", "800"]
    if "--device" not in words and verb not in ("check", "sample", "lattice info", "lattice convert"):
        words += ["--device", "cpu"]
    return words


@pytest.mark.parametrize("page", [page for page in [*PAGES, *EXAMPLES] if [*commands(page), *inline_commands(page)]])
def test_every_command_line_is_one_of_the_command(page, place, help_of):
    """Options are those of the help; short lines are executed in a place with the files that they name."""
    for number, text in inline_commands(page):
        words = text.split()
        verb = " ".join(words[:2]) if words[0] == "lattice" and words[1:2] != [] else words[0]
        for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*|-[a-z])\b", text):
            assert option in help_of(verb), f"{page}:{number}: {option} is no option of kasane {verb}"
    for number, text, launcher, error in commands(page):
        where = f"{page}:{number}: kasane {text}"
        words = shlex.split(re.sub(r"\s\[--.*?\](?=\s|$)", "", text))
        verb = " ".join(words[:2]) if words[0] == "lattice" else words[0]
        for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*|-[a-z])\b", text):
            assert option in help_of(verb), f"{where}: {option} is no option of kasane {verb}"
        made = {words[k + 1] for k, word in enumerate(words[:-1]) if word in ("-o", "--report")}
        named = (word.partition("=")[2].strip('"') if "=" in word else word for word in words[1:])  # also by --set key=FILE
        files = [word for word in named if re.search(r"\.(toml|mtx|hdf5|lime)$", word) and word not in made]
        here = all((place / file).exists() for file in files)
        short = None if launcher or not here or "IN" in words or "$" in text else shortened(words)
        if short is None:
            continue
        if error is not None:
            short = [word for word in short if word not in ("--device", "cpu")]
        for file in made:
            for written in (place / file, (place / file).with_suffix(".html")):
                written.unlink(missing_ok=True)
        said = run_command(short, place)
        if error is None:
            assert said.returncode == 0, f"{where}: status {said.returncode}: {said.stderr[-600:]}"
        else:
            assert said.returncode == 2 and error in said.stderr, f"{where}: {said.stderr[-600:]}"


def test_the_command_lines_are_found():
    """The parser above finds what is known to be there."""
    found = {text for page in PAGES for _, text, _, _ in commands(page)}
    assert "solve A.mtx --eigenvalues 6" in found and "lattice info CFG [--json]" in found
    assert any(text.startswith("run examples/hmc.toml -o out/wilson") and "--set gauge.beta=6" in text for text in found)
    assert len(found) > 60


def test_every_language_of_a_block_has_a_test():
    """A fence in a language that no test above and no script of test/package reads would be a block that nothing executes."""
    tested = {"", "python", "python gpu", "toml", "ini", "cpp", "cmake"}
    for page in PAGES:
        opening = re.findall(r"^ *```(.*)$", text_of(page), re.M)[::2]
        assert {language.strip() for language in opening} <= tested, page
    assert len(with_examples()) >= 6


def slug(heading):
    """The anchor that a heading has in Markdown of GitHub."""
    plain = re.sub(r"[`*_]|\[|\]\([^)]*\)", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@pytest.mark.parametrize("page", ALL_TEXT)
def test_every_relative_link_has_its_target(page):
    text = re.sub(r"^```.*?^```$|^    .*?$|`[^`\n]*`", "", text_of(page), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / page).parent / file if file else ROOT / page
        assert path.exists(), f"{page}: there is no {file}"
        if anchor and path.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M), re.M)
            assert anchor in [slug(heading) for heading in headings], f"{page}: {file} has no heading #{anchor}"


def test_the_page_of_records_has_the_numbers_of_the_records():
    """Of every benchmark of speed and machine the row of the newest record with the largest n."""
    words = [sys.executable, str(ROOT / "cmake/site/records.py"), str(ROOT / "bench/results")]
    page = subprocess.run(words, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    newest = json.loads((ROOT / "bench/results/h200/2026-11-22-direct.json").read_text(encoding="utf-8"))
    rows = [row for row in newest["results"] if row["case"] == "gravity.direct.pair, double, unequal masses"]
    row = max(rows, key=lambda row: row["n"])
    section = page.split("### gravity.direct.pair on h200\n")[1].split("###")[0]
    line = next(line for line in section.splitlines() if line.startswith("| double, unequal masses |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1] == f"{row['n']:,}" and float(cells[3]) == pytest.approx(row["rate"], rel=1e-3) and cells[4] == row["unit"]
    assert cells[-1] == f"2026-11-22-direct, {newest['commit']}"
    machines = [path.name for path in (ROOT / "bench/results").iterdir() if path.is_dir()]
    assert all(f"\n## {name}: " in page for name in machines)
    cases = {row["case"] for path in (ROOT / "bench/results").rglob("*.json") for row in json.loads(path.read_text(encoding="utf-8"))["results"]}
    assert len({case for case in cases if not case.startswith("gravity.galaxy.equilibrium")}) <= page.count("\n| ")


def test_dead_links_of_a_site_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text('<h1 id="one">A</h1><a href="sub/b.html#two">b</a><a href="#one">a</a><a href="https://x.org/no">x</a>')
    (tmp_path / "sub/b.html").write_text('<a name="two" href="../a.html"></a><img src="no.png"><a href="../a.html#none">c</a><a href="/etc">d</a>')
    words = [sys.executable, str(ROOT / "cmake/site/links.py"), str(tmp_path)]
    checked = subprocess.run(words, capture_output=True, text=True)
    assert checked.returncode == 1 and sorted(checked.stdout.splitlines()) == [
        "sub/b.html: ../a.html#none: there is no such anchor",
        "sub/b.html: /etc: leads out of the site",
        "sub/b.html: no.png: there is no such file",
    ]
    (tmp_path / "sub/b.html").write_text('<p id="two">')
    assert subprocess.run(words, capture_output=True, text=True).returncode == 0


def test_the_gallery_has_a_command_for_each_picture():
    sections = re.split(r"^## ", text_of("docs/gallery.md"), flags=re.M)[1:]
    assert len(sections) >= 6
    for section in sections:
        assert re.search(r"^    kasane |^```python", section, re.M), section.splitlines()[0]
    pictures = re.findall(r"\(pictures/([^)]+)\)", text_of("docs/gallery.md"))
    assert all((ROOT / "docs/pictures" / name).stat().st_size < 400_000 for name in pictures)


def test_the_version_is_that_of_the_newest_tag(tmp_path):
    for program in ("git", "cmake"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
    (tmp_path / "cmake").mkdir()
    shutil.copy(ROOT / "cmake/KasaneVersion.cmake", tmp_path / "cmake")
    (tmp_path / "show.cmake").write_text("include(cmake/KasaneVersion.cmake)\nmessage(NOTICE ${KASANE_VERSION})\n")

    def version(*options):
        words = ["cmake", *options, "-P", "show.cmake"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stderr.strip()

    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *words], cwd=tmp_path, capture_output=True, check=True)

    fallback = version()
    assert f'fallback_version = "{fallback}"' in text_of("pyproject.toml")
    git("init")
    git("commit", "--allow-empty", "-m", "first")
    assert version() == fallback
    git("tag", "v3.1.4")
    git("commit", "--allow-empty", "-m", "second")
    git("tag", "other")
    assert version() == "3.1.4"
    assert version("-DSKBUILD_PROJECT_VERSION=2.0.1") == "2.0.1"  # of pip, which reads the tag itself


def test_the_metadata_have_the_version_of_the_library():
    from importlib import metadata

    try:
        assert metadata.version("kasane") == kasane.__version__
    except metadata.PackageNotFoundError:
        pytest.skip("the package runs from a build tree")


def test_the_readme_names_every_verb():
    said = subprocess.run([executable(), "--help"], capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^  ([a-z]+) {2,}", said, re.M)
    assert "solve" in verbs and kasane.__version__
    for verb in verbs:
        assert f"kasane {verb}" in text_of("README.md"), verb
