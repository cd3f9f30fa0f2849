"""Sparse symmetric positive definite systems: conjugate gradients that are parallel by colouring, and the Poisson problem of a box.

Matrices are those of scipy.sparse in compressed rows, which are used without copies; other formats are converted (a CopyWarning says so).
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._core import KrylovLog, SolveLog
from .arrays import CopyWarning, NotPickled, as_array, html_table
from .errors import ComputationError, InputError

__all__ = [
    "KrylovLog",
    "PoissonProblem",
    "PoissonSolver",
    "SolveLog",
    "Solver",
    "conjugate_gradients",
    "preconditioner",
    "read_matrix",
    "read_vector",
    "solve",
    "write_matrix",
    "write_vector",
]

Callback = Optional[Callable[[int, float], bool]]


def _describe_log(log: KrylovLog) -> str:
    return f"{type(log).__name__}({log.end}, {log.iterations} iterations, true residual {log.true_residual:.2e}, {log.seconds:.3g} s)"


KrylovLog.__repr__ = _describe_log  # type: ignore[method-assign,assignment]


def _csr(A: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, indices, data) of a square matrix in compressed rows."""
    if not (hasattr(A, "tocsr") and hasattr(A, "shape")):
        raise InputError(f"is {type(A).__name__}: a matrix of scipy.sparse is expected (scipy.sparse.csr_array(A) makes one)", "A")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"has the shape {A.shape}: a square matrix is expected", "A")
    if A.format != "csr":
        warnings.warn(f"A has the format {A.format} and was converted: pass compressed rows (csr)", CopyWarning, stacklevel=4)
        A = A.tocsr()
    indptr, indices = A.indptr, A.indices
    if indptr.dtype not in (np.int32, np.int64) or indices.dtype not in (np.int32, np.int64):
        raise InputError(f"has indices of {indices.dtype}: 32- or 64-bit integers are expected", "A")
    data = as_array(A.data, np.float64, ("entries",), "A.data")
    return np.ascontiguousarray(indptr), np.ascontiguousarray(indices), data


def _guess(x: Any, n: int) -> np.ndarray:
    """The first guess in an array of its own, which becomes the solution."""
    return np.zeros(n) if x is None else as_array(x, np.float64, (n,), "x0").copy()


def _csr_array(arrays: Tuple[np.ndarray, np.ndarray, np.ndarray]) -> Any:
    from scipy.sparse import csr_array

    begin, column, value = arrays
    n = len(begin) - 1
    return csr_array((value, column, begin), shape=(n, n))


class _Solving(NotPickled):
    """What the solvers of a matrix and of a Poisson problem share."""

    _core: Any
    log: Optional[SolveLog]

    @property
    def shape(self) -> Tuple[int, int]:
        return self._core.rows, self._core.rows

    def solve(self, b: Any, x0: Any = None, callback: Callback = None, check: bool = True) -> np.ndarray:
        """The solution x of A x = b, from the first guess x0 (default 0); `log` has its course.

        callback(iteration, residual) may return True to end the solve. Where it does not converge, ComputationError is raised, or with
        check=False the last iterate is returned. Ctrl-C ends the solve at an iteration.
        """
        b = as_array(b, np.float64, (self._core.rows,), "b")
        x = _guess(x0, self._core.rows)
        self.log = self._core.solve(b, x, callback)
        if check and not self.log.converged and self.log.end != "stopped":
            course = f"{self.log.end} after {self.log.iterations} iterations, true residual {self.log.true_residual:.2e}"
            raise ComputationError(f"the solve did not converge: {course}")
        return x

    def set_tolerance(self, rtol: float, iteration_limit: int) -> None:
        """Changes ||b - A x|| / ||b|| and the limit of iterations."""
        self._core.set_tolerance(rtol, iteration_limit)

    def as_linear_operator(self) -> Any:
        """The inverse of A as a scipy.sparse.linalg.LinearOperator: a preconditioner, or the inner operator of an eigenvalue problem."""
        from scipy.sparse.linalg import LinearOperator

        def inverse(b: np.ndarray) -> np.ndarray:
            return self.solve(np.ascontiguousarray(b, dtype=float).reshape(-1))

        return LinearOperator(self.shape, matvec=inverse, rmatvec=inverse, dtype=np.float64)


class Solver(_Solving):
    """Solves A x = b for one symmetric positive definite A and any number of right-hand sides.

    Options: rtol (1e-8), iteration_limit, precondition (ic0, auto, multigrid, ssor, jacobi, none), ordering (auto, natural, mc:K, cm, rcm,
    cm-rcm:K, block:B:K), numbering, format, iteration, launch, ssor_omega, single_factor, tune (True: every candidate is timed; False: by
    rule).
    """

    _instead = "store the matrix, and make a new one from it"

    def __init__(self, A: Any, device: str = "auto", threads: int = 0, **options: Any) -> None:
        self._core = _core.Solver(*_csr(A), options, device, threads)
        self.log = None

    @property
    def setup(self) -> Dict[str, Any]:
        """Results and costs of the set-up: ordering, colours, format, bytes, seconds, notes."""
        return self._core.setup

    def _facts(self) -> List[Tuple[str, Any]]:
        s = self.setup
        return [
            ("rows", s["rows"]),
            ("nonzeros", s["nonzeros"]),
            ("preconditioner", s["precondition"]),
            ("ordering", f"{s['ordering']} ({s['colors']} colours)"),
            ("device", s["device"]),
        ]

    def __repr__(self) -> str:
        return "Solver(" + ", ".join(f"{k}: {v}" for k, v in self._facts()) + ")"

    def _repr_html_(self) -> str:
        return html_table("Solver", self._facts())


def solve(A: Any, b: Any, x0: Any = None, callback: Callback = None, device: str = "auto", threads: int = 0, **options: Any) -> np.ndarray:
    """The solution of A x = b, A symmetric positive definite; the options are those of Solver."""
    return Solver(A, device=device, threads=threads, **options).solve(b, x0, callback)


def preconditioner(A: Any, precondition: str = "ic0", ssor_omega: float = 1.0) -> Any:
    """M^-1 of A as a scipy.sparse.linalg.LinearOperator, for solvers of SciPy: ic0, ssor or jacobi, in natural order."""
    from scipy.sparse.linalg import LinearOperator

    own = _core.Preconditioner(*_csr(A), precondition, ssor_omega)

    def apply(r: np.ndarray) -> np.ndarray:
        return own(np.ascontiguousarray(r, dtype=float).reshape(-1))

    return LinearOperator(A.shape, matvec=apply, rmatvec=apply, dtype=np.float64)


def _as_callable(operator: Any, name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function of vectors from a function, a matrix, or a LinearOperator."""
    if hasattr(operator, "matvec"):
        apply = operator.matvec
    elif hasattr(operator, "__matmul__"):
        apply = operator.__matmul__
    elif callable(operator):
        apply = operator
    else:
        raise InputError(f"is {type(operator).__name__}: a function, a matrix or a LinearOperator is expected", name)
    return lambda v: np.ascontiguousarray(apply(v), dtype=np.float64).reshape(-1)


def conjugate_gradients(
    A: Any, b: Any, M: Any = None, x0: Any = None, rtol: float = 1e-8, iteration_limit: int = 10_000, callback: Callback = None
) -> Tuple[np.ndarray, KrylovLog]:
    """(x, log) of conjugate gradients with operators of the caller: A and the inverse preconditioner M are functions of a vector,
    matrices or LinearOperators, symmetric positive definite. For matrices Solver is faster."""
    b = as_array(b, np.float64, ("n",), "b")
    x = _guess(x0, len(b))
    log = _core.conjugate_gradients(
        _as_callable(A, "A"), None if M is None else _as_callable(M, "M"), b, x, rtol, iteration_limit, callback
    )
    return x, log


FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


class PoissonProblem:
    """-div(c grad phi) = f on a box of NX x NY x NZ cells, by finite volumes (docs/poisson.md).

    cells: (NX, NY, NZ), or None where an array gives them; spacing: a cell width [length], three of them, or three arrays of widths;
    coefficient c and source f: arrays [NZ, NY, NX], or None: 1 and 0; boundary: {"z_max": ("dirichlet", 0.0), "x_min": ("neumann", q)}
    with the potential or the outward flux density; faces that are not named have no flux.
    """

    def __init__(
        self,
        cells: Optional[Sequence[int]] = None,
        spacing: Any = 1.0,
        coefficient: Any = None,
        source: Any = None,
        boundary: Optional[Mapping[str, Tuple[str, float]]] = None,
    ) -> None:
        for name, array in (("coefficient", coefficient), ("source", source)):
            if cells is None and array is not None:
                if np.ndim(array) != 3:
                    raise InputError(f"has {np.ndim(array)} dimensions: [NZ, NY, NX] is expected", name)
                cells = tuple(reversed(np.shape(array)))
        if cells is None:
            raise InputError("are missing: give (NX, NY, NZ), or an array of the coefficient or the source", "cells")
        if len(cells) != 3:
            raise InputError(f"are {len(cells)} numbers: (NX, NY, NZ) is expected", "cells")
        self.cells: Tuple[int, int, int] = (int(cells[0]), int(cells[1]), int(cells[2]))
        shape = tuple(reversed(self.cells))
        widths = [spacing] * 3 if np.isscalar(spacing) else list(spacing)
        if len(widths) != 3:
            raise InputError("has not three parts: give a number, three numbers or three arrays", "spacing")
        self.spacing = [np.atleast_1d(np.asarray(w, dtype=float)).tolist() for w in widths]
        self.coefficient = None if coefficient is None else as_array(coefficient, np.float64, shape, "coefficient")
        self.source = np.zeros(shape) if source is None else as_array(source, np.float64, shape, "source")
        faces = {name: ("neumann", 0.0) for name in FACES}
        for name, (kind, value) in (boundary or {}).items():
            if name not in faces or kind not in ("dirichlet", "neumann"):
                raise InputError(f"has {name!r}: {kind!r}; faces are {', '.join(FACES)}, kinds dirichlet and neumann", "boundary")
            faces[name] = (kind, float(value))
        self.boundary = [faces[name] for name in FACES]
        _core.validate_poisson(self)

    @property
    def shape(self) -> Tuple[int, int, int]:
        """(NZ, NY, NX): of its arrays."""
        return self.cells[2], self.cells[1], self.cells[0]

    def matrix(self) -> Any:
        """A as a scipy.sparse.csr_array; row i + NX (j + NY k) is cell (i, j, k)."""
        return _csr_array(_core.poisson_matrix(self))

    def rhs(self) -> np.ndarray:
        """b, of the source and the boundary."""
        return _core.poisson_rhs(self)

    def field(self, formula: str) -> np.ndarray:
        """[NZ, NY, NX] values of a formula in i j k (from 1), x y z (cell centres) and pi, as in run files."""
        return _core.source_of(self, formula).reshape(self.shape)

    def solve(self, rtol: float = 1e-8, device: str = "auto", threads: int = 0) -> np.ndarray:
        """[NZ, NY, NX] phi, by conjugate gradients with multigrid."""
        return PoissonSolver(self, rtol=rtol, device=device, threads=threads).solve(self.rhs()).reshape(self.shape)

    def __repr__(self) -> str:
        faces = ", ".join(
            f"{name}: {kind} {value:g}" for name, (kind, value) in zip(FACES, self.boundary) if (kind, value) != ("neumann", 0.0)
        )
        return f"PoissonProblem({self.cells[0]} x {self.cells[1]} x {self.cells[2]}, {faces or 'no flux'})"


class PoissonSolver(_Solving):
    """Solves the system of one PoissonProblem by conjugate gradients with geometric multigrid; no matrix is stored."""

    _instead = "store the problem, and make a new one from it"

    def __init__(
        self, problem: PoissonProblem, rtol: float = 1e-8, iteration_limit: int = 1000, device: str = "auto", threads: int = 0
    ) -> None:
        self.problem = problem
        self._core = _core.PoissonSolver(problem, rtol, iteration_limit, device, threads)
        self.log = None

    @property
    def grids(self) -> List[Tuple[int, int, int]]:
        """Cells of each grid, the finest first."""
        return [(n[0], n[1], n[2]) for n in self._core.grids]

    def __repr__(self) -> str:
        return f"PoissonSolver({self.problem!r}, {len(self.grids)} grids)"


def read_matrix(path: Union[str, os.PathLike]) -> Any:
    """Reads Matrix Market or PETSc binary as a scipy.sparse.csr_array."""
    return _csr_array(_core.read_matrix(os.fspath(path)))


def write_matrix(path: Union[str, os.PathLike], A: Any, symmetric: bool = False, format: str = "mtx") -> None:
    """Writes A; format mtx (Matrix Market; symmetric: the lower triangle) or petsc."""
    _core.write_matrix(os.fspath(path), *_csr(A), symmetric, format)


def read_vector(path: Union[str, os.PathLike]) -> np.ndarray:
    """Reads a vector in Matrix Market or PETSc binary."""
    return _core.read_vector(os.fspath(path))


def write_vector(path: Union[str, os.PathLike], x: Any, format: str = "mtx") -> None:
    """Writes a vector; format mtx or petsc."""
    _core.write_vector(os.fspath(path), as_array(x, np.float64, ("n",), "x"), format)
