"""Self-gravity, sparse systems and lattice QCD.

>>> from kasane.gravity import Leapfrog, Simulation, Tree, plummer
>>> sim = Simulation(plummer(1024), force=Tree(softening=0.01), step=Leapfrog(1 / 128))
>>> sim.run(until=0.25).time
0.25

The subjects are kasane.gravity, kasane.sparse and kasane.lattice; kasane.run() runs a run file (docs/python.md).
"""

import os as _os

# Threads that wait sleep instead of spinning, as in the command. The OpenMP runtime reads this once, when it is loaded.
_os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from ._core import devices, set_log_level, why_no_cuda  # noqa: E402
from ._core import version as __version__  # noqa: E402
from .arrays import CopyWarning  # noqa: E402
from .command import RunResult, cite, run  # noqa: E402
from .display import progress  # noqa: E402
from .errors import ComputationError, InputError, InputProblem, LogicError  # noqa: E402
from . import gravity, lattice, sparse  # noqa: E402
from .gravity import sample  # noqa: E402

__all__ = [
    "ComputationError",
    "CopyWarning",
    "InputError",
    "InputProblem",
    "LogicError",
    "RunResult",
    "__version__",
    "cite",
    "devices",
    "gravity",
    "lattice",
    "progress",
    "run",
    "sample",
    "set_log_level",
    "sparse",
    "why_no_cuda",
]
