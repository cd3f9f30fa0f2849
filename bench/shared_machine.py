#!/usr/bin/env python3
"""Time of kasane on a machine that other programs use: all threads against one thread, idle and beside busy loops.

    bench/shared_machine.py KASANE [OLDER] [--repeat N] [--jobs NAME,...] [--output FILE.json]

KASANE is the path of the command; OLDER another build of it, measured in turn with the first. The script binds itself and everything
that it starts to two processors, measures each job idle, then beside four busy loops, and prints the medians. Bars:
  busy:  all threads take at most 1.3 times the time of one thread
  idle:  KASANE takes at most 3% longer than OLDER
The exit status is 0 where all bars hold, 1 where one does not, 2 for wrong arguments. The loops end with the script, however it ends.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BUSY_BAR, IDLE_BAR = 1.3, 1.03
PROCESSORS, LOOPS = 2, 4
LIMIT = 120  # seconds of one job

GAUGE = """[run]
problem = "quenched"
device = "cpu"
[lattice]
extents = [8, 8, 8, 16]
[start]
kind = "hot"
[action]
beta = 6.0
[update]
sweeps = {sweeps}
[output]
directory = "{directory}"
report = false
"""

TREE = """[run]
problem = "gravity"
units = "nbody"
device = "cpu"
until = 0.03125
[initial]
model = "plummer"
count = 20000
[force]
method = "tree"
softening = 0.01
[step]
method = "block"
dt_max = 0.015625
[output]
directory = "tree"
diagnostics_every = 1.0
snapshot_every = 1.0
"""


def finite_elements(path, cells=(46, 50, 39), width=(1.0, 1.0, 0.15)):
    """Trilinear elements of the Laplace operator on a box, 27 entries in a row: 89,700 rows."""
    nx, ny, nz = cells
    stiffness = [{-1: -1 / h, 0: 2 / h, 1: -1 / h} for h in width]
    mass = [{-1: h / 6, 0: 4 * h / 6, 1: h / 6} for h in width]
    lower = []
    for c in (-1, 0, 1):
        for b in (-1, 0, 1):
            for a in (-1, 0, 1):
                distance = (c * ny + b) * nx + a
                if distance <= 0:
                    steps = (a, b, c)
                    value = sum(
                        (stiffness if e == 0 else mass)[0][a] * (stiffness if e == 1 else mass)[1][b] * (stiffness if e == 2 else mass)[2][c]
                        for e in range(3))
                    lower.append((*steps, distance, repr(value)))
    lines = []
    for z in range(nz):
        for y in range(ny):
            for x in range(nx):
                row = (z * ny + y) * nx + x + 1
                for a, b, c, distance, value in lower:
                    if 0 <= x + a < nx and 0 <= y + b < ny and 0 <= z + c < nz:
                        lines.append(f"{row} {row + distance} {value}\n")
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{nx * ny * nz} {nx * ny * nz} {len(lines)}\n")
        file.writelines(lines)


def prepare(kasane, folder):
    """The input files of all jobs."""
    finite_elements(os.path.join(folder, "elements.mtx"))
    for name, sweeps in (("start", 6), ("sweeps", 20)):
        with open(os.path.join(folder, name + ".toml"), "w") as file:
            file.write(GAUGE.format(sweeps=sweeps, directory=name))
    with open(os.path.join(folder, "tree.toml"), "w") as file:
        file.write(TREE)
    subprocess.run([kasane, "run", "start.toml", "--quiet", "--threads", "1"], cwd=folder, check=True)


JOBS = {
    "lattice solve": ["lattice", "solve", "start/configuration.lime", "--kappa", "0.15", "--source", "point:0,0,0,0", "--device", "cpu"],
    "solve": ["solve", "elements.mtx", "--rtol", "1e-12", "--no-tune", "--device", "cpu"],
    "tree": ["run", "tree.toml", "--force"],
    "quenched": ["lattice", "generate", "sweeps.toml", "--force"],
}


class BusyLoops:
    """Programs that compute for as long as this one exists."""

    def __init__(self, count):
        code = "import os, sys\nparent = int(sys.argv[1])\nwhile os.getppid() == parent:\n    for _ in range(1000000): pass"
        self.loops = [subprocess.Popen([sys.executable, "-c", code, str(os.getpid())]) for _ in range(count)]

    def __enter__(self):
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
        for loop in self.loops:
            loop.wait()


def seconds(kasane, arguments, folder):
    """Wall time of one job; LIMIT where it takes longer."""
    began = time.monotonic()
    job = subprocess.Popen([kasane, *arguments, "--quiet"], cwd=folder, stdout=subprocess.DEVNULL)
    late = threading.Event()
    guard = threading.Timer(LIMIT, lambda: (late.set(), job.kill()))
    guard.start()
    try:
        status = job.wait()  # without a timeout: wait(timeout) looks every 50 ms only
        took = time.monotonic() - began
    finally:
        guard.cancel()
        job.kill()
    if late.is_set():
        return float(LIMIT)
    if status != 0:
        sys.exit(f"{kasane} {' '.join(arguments)} ended with status {status}: the job must succeed to be timed")
    return took


def measure(commands, jobs, folder, repeat):
    """{(job, variant): median}; the variants take turns, so that a disturbance falls on all of them."""
    all_times = {}
    for _ in range(repeat):
        for job in jobs:
            for variant, (kasane, more) in commands.items():
                all_times.setdefault((job, variant), []).append(seconds(kasane, JOBS[job] + more, folder))
    return {key: statistics.median(times) for key, times in all_times.items()}


def table(idle, busy, jobs, older):
    """Prints all rows; True where every bar holds."""
    head = f"{'job':14} {'idle: one':>10} {'all':>8} {'all/one':>8}"
    head += f" {'older all':>10} {'all/older':>10}" if older else ""
    head += f"   {'busy: one':>10} {'all':>8} {'all/one':>8}" + (f" {'older all':>10}" if older else "")
    print(head)
    good = True
    for job in jobs:
        one, everything = idle[job, "one"], idle[job, "all"]
        busy_one, busy_all = busy[job, "one"], busy[job, "all"]
        line = f"{job:14} {one:10.3f} {everything:8.3f} {everything / one:8.2f}"
        missed = busy_all > BUSY_BAR * busy_one
        if older:
            before = idle[job, "older"]
            line += f" {before:10.3f} {everything / before:10.3f}"
            missed = missed or everything > IDLE_BAR * before
        line += f"   {busy_one:10.3f} {busy_all:8.3f} {busy_all / busy_one:8.2f}"
        if older:
            line += f" {busy[job, 'older']:10.3f}"
        print(line + ("   above the bar" if missed else ""))
        good = good and not missed
    print(f"medians in seconds; bars: busy all/one <= {BUSY_BAR}" + (f", idle all/older <= {IDLE_BAR}" if older else ""))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kasane", help="path of the command")
    parser.add_argument("older", nargs="?", help="path of another build, for comparison")
    parser.add_argument("--repeat", type=int, default=5, help="times that each job is measured (default 5)")
    parser.add_argument("--jobs", default=",".join(JOBS), help="some of: " + ", ".join(JOBS))
    parser.add_argument("--output", help="write the medians as JSON")
    o = parser.parse_args()
    jobs = o.jobs.split(",")
    for command in filter(None, (o.kasane, o.older)):
        if not os.access(command, os.X_OK):
            parser.error(f"{command} is not a program: give the path of the kasane command")
    if not set(jobs) <= set(JOBS) or o.repeat < 1:
        parser.error("--jobs takes some of " + ", ".join(JOBS) + "; --repeat at least 1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through the `with` below, which ends the loops
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    processors = sorted(os.sched_getaffinity(0))[:PROCESSORS]
    if len(processors) < PROCESSORS:
        parser.error(f"two processors are needed, and this process may use {len(processors)}")
    os.sched_setaffinity(0, processors)
    kasane, older = os.path.abspath(o.kasane), os.path.abspath(o.older) if o.older else None
    commands = {"one": (kasane, ["--threads", "1"]), "all": (kasane, [])}
    if older:
        commands["older"] = (older, [])
    folder = tempfile.mkdtemp(prefix="kasane-shared-")
    try:
        prepare(kasane, folder)
        load = os.getloadavg()[0]
        print(f"processors {processors}, load average {load:.2f}, {o.repeat} times each" +
              (": not idle, the idle columns are unreliable" if load > 0.5 else ""), flush=True)
        idle = measure(commands, jobs, folder, o.repeat)
        with BusyLoops(LOOPS):
            busy = measure(commands, jobs, folder, o.repeat)
        good = table(idle, busy, jobs, older)
        if o.output:
            with open(o.output, "w") as file:
                json.dump({state: {f"{job}, {variant}": s for (job, variant), s in times.items()}
                           for state, times in (("idle", idle), ("busy", busy))}, file, indent=1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
