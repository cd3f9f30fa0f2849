"""Run files from Python: run() starts the command of the package, so that a run has the directory, the record, the checkpoints and the
bits that it has from a shell; cite() lists the papers. `python -m kasane.command` and the script `kasane` are the command itself."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Union

import numpy as np

from .arrays import html_table
from .display import TerminalInNotebook, in_notebook
from .errors import ComputationError, InputError, LogicError

BAD_INPUT, INTERRUPTED = 2, 130


def executable() -> str:
    """The path of the command of this package."""
    return str(Path(__file__).parent / "bin" / "kasane")


def main() -> NoReturn:
    """The script `kasane`: becomes the command of the package."""
    os.execv(executable(), ["kasane", *sys.argv[1:]])


def toml_value(value: Any) -> str:
    """A value in TOML: text, numbers, booleans, sequences, mappings."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_value(str(k))} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (Sequence, np.ndarray)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    raise InputError(f"has a value of type {type(value).__name__}: text, numbers, booleans, lists and dictionaries are expected")


def model_text(model: Mapping[str, Any]) -> str:
    """A dictionary as the text of a TOML file."""
    return "".join(f"{toml_value(str(key))} = {toml_value(value)}\n" for key, value in model.items())


def _launched_ranks() -> int:
    """Ranks that an MPI launcher started, by the variables that it sets; 1: none."""
    if os.environ.get("KASANE_MPI") == "0":
        return 1
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE"):
        if os.environ.get(name, "").isdecimal():
            return max(1, int(os.environ[name]))
    return 1


def _refuse_ranks(what: str) -> None:
    """Raises LogicError where this process is one of several ranks."""
    ranks = _launched_ranks()
    if ranks > 1:
        raise LogicError(
            f"{what} computes in one process, and an MPI launcher started {ranks}: the Python package has no MPI. Use the command of a "
            f"build with MPI (mpirun -n {ranks} kasane run FILE), or start Python without the launcher; with KASANE_MPI=0 each process "
            "works alone"
        )


def call(words: Sequence[str], terminal: bool = False) -> Dict[str, Any]:
    """Runs `kasane WORDS --json` and returns its object.

    terminal: messages and progress go to standard error, in a notebook to the cell; otherwise it is quiet. Ctrl-C is passed on: a run
    writes a checkpoint, ends and returns its object. Raises InputError or ComputationError with what the command reports.
    """
    _refuse_ranks(f"kasane {words[0]}")
    command = [executable(), *words, "--json", *([] if terminal else ["--quiet"])]
    cell = TerminalInNotebook() if terminal and in_notebook() else None
    try:
        return _finished(words, command, cell.file if cell else None if terminal else subprocess.PIPE)
    finally:
        if cell:
            cell.close()


def _finished(words: Sequence[str], command: Sequence[str], errors_to: Optional[int]) -> Dict[str, Any]:
    """Runs a command and returns the object that it prints."""
    # In a session of its own, so that a terminal's Ctrl-C reaches the command once, from here: a second one would end it at once.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=errors_to, text=True, encoding="utf-8", start_new_session=True
    )
    interrupt: Optional[KeyboardInterrupt] = None
    while True:
        try:
            output, errors = process.communicate()
            break
        except KeyboardInterrupt as pressed:
            interrupt = pressed
            process.send_signal(signal.SIGINT)
        except BaseException:
            process.kill()
            process.wait()
            raise
    try:
        result = json.loads(output) if output.strip() else {}
    except ValueError:
        result = {}
    if process.returncode == INTERRUPTED and interrupt and "directory" not in result:
        raise interrupt
    if process.returncode in (0, INTERRUPTED) and "error" not in result:
        return result
    problems = [(p["message"], p.get("file"), p.get("line"), p.get("column"), p.get("key")) for p in result.get("problems", [])]
    if process.returncode == BAD_INPUT and problems:
        raise InputError(problems)
    said = "; ".join(p[0] for p in problems) or result.get("message") or (errors or "").strip() or "no message"
    raise ComputationError(f"kasane {words[0]} ended with status {process.returncode}: {said}")


def _on_terminal(chosen: Optional[bool]) -> bool:
    """Whether messages and progress are shown; by default where standard error is a terminal, and in notebooks."""
    return sys.stderr.isatty() or in_notebook() if chosen is None else chosen


class RunResult:
    """A run: its directory, its status (done, interrupted, failed), its record and its files."""

    def __init__(self, directory: Union[str, os.PathLike], result: Optional[Mapping[str, Any]] = None) -> None:
        self.directory = Path(directory)
        self.result: Dict[str, Any] = dict(result or {})
        if not (self.directory / "record.json").is_file():
            raise InputError("is not the directory of a run: it has no record.json", str(directory))

    @property
    def record(self) -> Dict[str, Any]:
        """record.json: what ran, with which options, on which machine, with which result."""
        with open(self.directory / "record.json", encoding="utf-8") as file:
            return json.load(file)

    @property
    def status(self) -> str:
        return self.record["status"]

    @property
    def report(self) -> Path:
        """The page of the run."""
        return self.directory / "report.html"

    @property
    def files(self) -> List[Path]:
        """The files of the run."""
        return sorted(path for path in self.directory.iterdir() if path.is_file())

    @property
    def snapshots(self) -> List[Path]:
        """The snapshots of a gravity run in the order of time; of a snapshot in several files the first."""
        found = (self.directory / "snapshots").glob("snapshot_*.hdf5")
        return sorted(path for path in found if re.fullmatch(r"snapshot_\d+(\.0)?\.hdf5", path.name))

    def table(self, name: str) -> np.ndarray:
        """A table of the run ("energy.csv") as a structured array; fields have the names of its columns."""
        path = self.directory / name
        if not path.is_file():
            tables = ", ".join(sorted(p.name for p in self.directory.glob("*.csv"))) or "none"
            raise InputError(f"has no table {name}; there are: {tables}", str(self.directory))
        return np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True, comments="#", dtype=None, encoding="utf-8"))

    def film(self, path: Union[str, os.PathLike], per_second: float = 12.0, **view: Any) -> Path:
        """Writes a film of the snapshots of a gravity run, .mp4 by ffmpeg or .gif by Pillow or ffmpeg, and returns its path.

        per_second: snapshots in a second; view: options of LiveView (half_width, pixels, axes, select), for all pictures. Raises InputError
        where there are no snapshots or no encoder is installed.
        """
        from .display import LiveView
        from .film import write_film
        from .gravity import read_snapshot

        snapshots = self.snapshots
        if not snapshots:
            raise InputError("has no snapshots: set output.snapshot_every of the run file", str(self.directory))
        live = LiveView(**view)
        return write_film(path, (live.image(read_snapshot(file)) for file in snapshots), per_second)

    def resume(self, terminal: Optional[bool] = None) -> RunResult:
        """Continues an interrupted run from its newest valid checkpoint; terminal as of run()."""
        return RunResult(self.directory, call(["resume", str(self.directory)], _on_terminal(terminal)))

    def __repr__(self) -> str:
        return f"RunResult({str(self.directory)!r}, {self.status})"

    def _repr_html_(self) -> str:
        rows = [("status", self.status), ("directory", self.directory), ("files", ", ".join(path.name for path in self.files))]
        return html_table("Run", rows)


def run(
    file: Union[str, os.PathLike],
    output: Union[str, os.PathLike, None] = None,
    set: Optional[Mapping[str, Any]] = None,
    device: Optional[str] = None,
    threads: Optional[int] = None,
    force: bool = False,
    terminal: Optional[bool] = None,
) -> RunResult:
    """Runs a run file as `kasane run` does, and returns the run.

    output: the directory; set: keys that replace those of the file ({"run.until": 1.0}); force: replace a run that is there;
    terminal: messages and progress on standard error (default: where that is a terminal, and in notebooks). Ctrl-C ends the run with a checkpoint.

    >>> result = run("examples/kepler.toml", output="kepler", set={"run.until": 1.0})
    >>> result.status, "energy" in result.table("energy.csv").dtype.names
    ('done', True)
    """
    if set is not None and not isinstance(set, Mapping):
        raise InputError(f"is {set!r}: a dictionary of keys of the run file and their values is expected", "set")
    words = ["run", os.fspath(file)]
    words += [] if output is None else ["-o", os.fspath(output)]
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={toml_value(value)}"]
    words += [] if device is None else ["--device", device]
    words += [] if threads is None else ["--threads", str(threads)]
    words += ["--force"] if force else []
    result = call(words, _on_terminal(terminal))
    return RunResult(result["directory"], result)


def _papers(file: str) -> List[str]:
    return call(["check", file])["papers"]


def cite(what: Any) -> List[str]:
    """The papers that a run file, a model, a finished run or a Simulation rests on, as `kasane check` lists them."""
    from .gravity import Simulation

    if isinstance(what, RunResult):
        return _papers(str(what.directory / "run.toml"))
    if isinstance(what, (str, os.PathLike)):
        return _papers(os.fspath(what))
    if isinstance(what, Simulation):
        with tempfile.TemporaryDirectory(prefix="kasane-") as directory:
            return _papers(_run_file_of(what, directory))
    raise InputError(f"is {type(what).__name__}: a run file, a model, a RunResult or a Simulation is expected", "what")


def _run_file_of(simulation: Any, directory: str) -> str:
    """A run file with the force and the steps of a simulation, and one particle."""
    from .gravity import Block, Leapfrog, Particles, Tree, write_snapshot

    write_snapshot(os.path.join(directory, "one.hdf5"), Particles([[0.0, 0.0, 0.0]]))
    force: Dict[str, Any] = {"softening": simulation.force.softening, "softening_kernel": simulation.force.kernel}
    if isinstance(simulation.force, Tree):
        name, value = simulation.force.mac
        mac = {"theta": "geometric", "delta": "acceleration", "error": "multipole"}[name]
        force.update({"method": "tree", "mac": mac, name: value, "curve": simulation.force.curve})
    step = simulation.step_options
    if isinstance(step, Leapfrog):
        steps: Dict[str, Any] = {"method": "leapfrog", "dt": abs(step.dt)}
    else:
        steps = {"method": "block" if isinstance(step, Block) else "adaptive", "dt_max": step.dt_max}
    tables = {
        "run": {"problem": "gravity", "units": "nbody", "until": 10 * list(steps.values())[1]},
        "initial": {"file": "one.hdf5"},
        "force": force,
        "step": steps,
        "output": {"directory": os.path.join(directory, "out")},
    }
    file = os.path.join(directory, "simulation.toml")
    with open(file, "w", encoding="utf-8") as text:
        text.write(model_text(tables))
    return file


if __name__ == "__main__":
    main()
