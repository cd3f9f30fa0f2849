"""Sparse systems: conjugate gradients that are parallel by colouring, methods for nonsymmetric and indefinite matrices, the smallest
eigenvalues, and the Poisson problem of a box.

Matrices are those of scipy.sparse in compressed rows, which are used without copies; other formats are converted (a CopyWarning says so).
Solver takes matrices of cupyx.scipy.sparse and of torch in the memory of a CUDA device too.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._core import KrylovLog, SolveLog
from .arrays import (
    CopyWarning,
    DeviceResult,
    NotPickled,
    as_array,
    as_device_array,
    html_table,
    is_on_device,
    not_pickled,
    number,
    on_host,
    shows_fields,
    whole,
)
from .errors import ComputationError, InputError

__all__ = [
    "Eigenpairs",
    "ComplexSolver",
    "GeneralSolver",
    "KrylovLog",
    "PoissonProblem",
    "PoissonSolver",
    "SolveLog",
    "Solver",
    "conjugate_gradients",
    "eigenpairs",
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
shows_fields(KrylovLog)
not_pickled(KrylovLog, "store its values")  # and SolveLog, which derives from it


def _arrays_of(A: Any) -> Tuple[Any, Any, Any]:
    """(indptr, indices, data) of a square matrix in compressed rows, which may be on a device."""
    if hasattr(A, "crow_indices"):  # torch
        if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
            raise InputError(f"has the shape {tuple(A.shape)}: a square matrix is expected", "A")
        return A.crow_indices(), A.col_indices(), A.values()
    if not (hasattr(A, "tocsr") and hasattr(A, "shape")):
        raise InputError(f"is {type(A).__name__}: a matrix of scipy.sparse is expected (scipy.sparse.csr_array(A) makes one)", "A")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"has the shape {A.shape}: a square matrix is expected", "A")
    if A.format != "csr":
        warnings.warn(f"A has the format {A.format} and was converted: pass compressed rows (csr)", CopyWarning, stacklevel=5)
        A = A.tocsr()
    return A.indptr, A.indices, A.data


def _host_csr(arrays: Tuple[Any, Any, Any], number: Any = np.float64) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a matrix as those of the library."""
    names = ("A.indptr", "A.indices", "A.data")
    here = [on_host(a, k) for a, k in zip(arrays[:2], names)]
    indptr, indices = (a if isinstance(a, np.ndarray) else as_array(a, np.int64, ("n",), k) for a, k in zip(here, names))
    if indptr.dtype not in (np.int32, np.int64) or indices.dtype not in (np.int32, np.int64):
        raise InputError(f"has indices of {indices.dtype}: 32- or 64-bit integers are expected", "A")
    data = as_array(arrays[2], number, ("entries",), "A.data")
    return np.ascontiguousarray(indptr), np.ascontiguousarray(indices), data


def _csr(A: Any, number: Any = np.float64) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, indices, data) of a square matrix in compressed rows on the host."""
    return _host_csr(_arrays_of(A), number)


def _is_complex(A: Any) -> bool:
    """Whether a matrix or a vector has complex numbers."""
    return "complex" in str(getattr(A, "dtype", "")) or isinstance(A, (list, tuple)) and np.iscomplexobj(A)


def _device_csr(arrays: Tuple[Any, Any, Any]) -> Tuple[Any, Any, Any]:
    """The same on a CUDA device."""

    def index(array: Any, name: str) -> Any:
        wide = str(array.dtype).endswith("int64")
        return as_device_array(array, np.int64 if wide else np.int32, ("n",), name)

    return index(arrays[0], "A.indptr"), index(arrays[1], "A.indices"), as_device_array(arrays[2], np.float64, ("entries",), "A.data")


def _guess(x: Any, n: int, number: Any = np.float64) -> np.ndarray:
    """The first guess in an array of its own, which becomes the solution."""
    return np.zeros(n, number) if x is None else as_array(x, number, (n,), "x0").copy()


def _csr_array(arrays: Tuple[np.ndarray, np.ndarray, np.ndarray]) -> Any:
    from scipy.sparse import csr_array

    begin, column, value = arrays
    n = len(begin) - 1
    return csr_array((value, column, begin), shape=(n, n))


class _Solving(NotPickled):
    """Base class of the solvers of a matrix and of a Poisson problem."""

    _core: Any
    _number: Any = np.float64
    log: Optional[SolveLog]  #: of the last solve; of several right-hand sides that of the last one
    logs: List[SolveLog]  #: of all right-hand sides of the last solve

    @property
    def shape(self) -> Tuple[int, int]:
        return self._core.rows, self._core.rows

    def solve(self, b: Any, x0: Any = None, callback: Callback = None, check: bool = True) -> Any:
        """The solution x of A x = b, from the first guess x0 (default 0); `log` has its course.

        b [n], or [n, k]: k right-hand sides, which are solved one after the other; they are used without a copy where each column is
        contiguous (order="F"), and so is the result. callback(iteration, residual) may return True to end the solve; it is called in every
        iteration on the CPU, and about twice a second on a GPU. Where the solve does not converge, ComputationError is raised, or with
        check=False the last iterate is returned. Ctrl-C ends the solve where the callback would be called.
        """
        n = self._core.rows
        b, x0 = on_host(b, "b"), on_host(x0, "x0")
        columns = np.ndim(b) == 2
        if columns:
            rows = as_array(np.asarray(b).T, self._number, ("k", n), "b.T")
            if len(rows) == 0:
                raise InputError("has no columns: at least one right-hand side is expected", "b")
            x = np.zeros_like(rows) if x0 is None else as_array(np.asarray(x0).T, self._number, rows.shape, "x0.T").copy()
            self.logs = self._core.solve_columns(rows, x, callback)
        else:
            b = as_array(b, self._number, (n,), "b")
            x = _guess(x0, n, self._number)
            self.logs = [self._core.solve(b, x, callback)]
        self._judge(check)
        return x.T if columns else x

    def _judge(self, check: bool) -> None:
        """Raises ComputationError for the first of `logs` that did not converge and was not stopped."""
        self.log = self.logs[-1]
        for column, log in enumerate(self.logs):
            if check and not log.converged and log.end != "stopped":
                which = f" for column {column}" if len(self.logs) > 1 else ""
                course = f"{log.end} after {log.iterations} iterations, true residual {log.true_residual:.2e}"
                raise ComputationError(f"the solve did not converge{which}: {course}")

    def set_tolerance(self, rtol: float, iteration_limit: int) -> None:
        """Changes ||b - A x|| / ||b|| and the limit of iterations."""
        self._core.set_tolerance(rtol, iteration_limit)

    def as_linear_operator(self) -> Any:
        """The inverse of A as a scipy.sparse.linalg.LinearOperator: a preconditioner, or the inner operator of an eigenvalue problem."""
        from scipy.sparse.linalg import LinearOperator

        def inverse(b: np.ndarray) -> np.ndarray:
            return self.solve(np.ascontiguousarray(b, dtype=self._number).reshape(-1))

        transposed = inverse if self._symmetric() else None
        return LinearOperator(self.shape, matvec=inverse, rmatvec=transposed, dtype=self._number)

    def _symmetric(self) -> bool:
        return True


class _OfMatrix(_Solving):
    """A solver that was made from a matrix."""

    _instead = "store the matrix, and make a new one from it"
    _pattern: Optional[Tuple[np.ndarray, np.ndarray]]

    def update(self, A: Any) -> None:
        """Replaces the values of A: its order, layout and options stay, and only the factorisation is made again.

        A: a matrix with the pattern of the first one, or an array of its new values alone, in the order of A.data; the index arrays of the
        first matrix must be unchanged then. Raises LogicError for another pattern: the old values stay.
        """
        if hasattr(A, "tocsr") or hasattr(A, "crow_indices"):
            arrays = _csr(A, self._number)
        elif self._pattern is None:
            raise InputError("was made from a matrix on a device: make a new solver from the new values", "A")
        else:
            values = as_array(A, self._number, (len(self._pattern[1]),), "A")
            arrays = (*self._pattern, values)
        self._core.update(*arrays)

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
        return f"{type(self).__name__}(" + ", ".join(f"{k}: {v}" for k, v in self._facts()) + ")"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._facts())


class Solver(_OfMatrix):
    """Solves A x = b for one symmetric positive definite A and any number of right-hand sides.

    Options: rtol (1e-8), iteration_limit, precondition (ic0, auto, multigrid, ict, ick, ssor, jacobi, none), ordering (auto, natural, mc:K, cm,
    rcm, cm-rcm:K, block:B:K), numbering, format, iteration, launch, ssor_omega, drop_tolerance (1e-3) and fill (10) of ict, level (1) of ick,
    smoother (chebyshev, gauss-seidel, jacobi), smoother_steps (2) and cycle (auto, v, w, k) of multigrid,
    block (1; 2 to 6, or auto: rows of dense blocks, for ic0, jacobi and none), single_factor, tune (True: every candidate is timed; False: by
    rule).

    A matrix in the memory of a CUDA device (cupyx.scipy.sparse, or torch.sparse_csr) is set up there without a copy on the host; solve()
    then takes right-hand sides on that device too, and returns arrays of the same library.
    """

    def __init__(self, A: Any, device: str = "auto", threads: int = 0, **options: Any) -> None:
        arrays = _arrays_of(A)
        if is_on_device(arrays[2]):
            if device == "auto":
                device = f"cuda:{as_device_array(arrays[2], np.float64, ('entries',), 'A.data').device}"
            self._core = _core.Solver(*_device_csr(arrays), options, device)
            self._pattern = None
        else:
            host = _host_csr(arrays)
            self._core = _core.Solver(*host, options, device, threads)
            self._pattern = host[:2]
        self._device = device
        self.log = None
        self.logs = []

    def solve(self, b: Any, x0: Any = None, callback: Callback = None, check: bool = True) -> Any:
        if not is_on_device(b):
            return super().solve(b, x0, callback, check)
        rhs = as_device_array(b, np.float64, (self._core.rows,), "b")
        x = DeviceResult(b, np.float64, "b", start=x0)
        self.logs = [self._core.solve_on_device(self._device, rhs, x.memory, callback)]
        self._judge(check)
        return x.array()

    solve.__doc__ = _Solving.solve.__doc__


class GeneralSolver(_OfMatrix):
    """Solves A x = b for one nonsymmetric or indefinite A and any number of right-hand sides (docs/nonsymmetric.md).

    Options: method (auto, bicgstab, gmres, minres: symmetric A alone), precondition (auto, ilu0, ilut, spai, jacobi, none), ordering of
    ilu0 and ilut as of Solver but for block, drop_tolerance (1e-3) and fill (10 entries of a row beyond those of A) of ilut, restart of gmres (30), scale (True: rows and columns by powers of two, where it helps), rtol (1e-8),
    iteration_limit (10,000, of all methods together).
    """

    def __init__(self, A: Any, device: str = "auto", threads: int = 0, **options: Any) -> None:
        arrays = _csr(A)
        self._core = _core.GeneralSolver(*arrays, options, device, threads)
        self._pattern = arrays[:2]
        self.log = None
        self.logs = []

    @property
    def kind(self) -> Dict[str, Any]:
        """Properties of A: symmetric, positive (it may be positive definite), asymmetry in words, zero_diagonals."""
        return self._core.kind

    def _symmetric(self) -> bool:
        return self.kind["symmetric"]

    def _facts(self) -> List[Tuple[str, Any]]:
        return [*super()._facts(), ("method", self.setup["iteration"])]


class ComplexSolver(_OfMatrix):
    """Solves A x = b for one complex A and any number of right-hand sides (docs/nonsymmetric.md).

    Options: method (auto; cg: Hermitian A alone, bicgstab, gmres), precondition (auto, ilu0, jacobi, none), ordering, restart, scale, rtol and
    iteration_limit as of GeneralSolver.

    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array([[2.0, 1j], [-1j, 2.0]])
    >>> ComplexSolver(A, rtol=1e-12).solve([2 + 1j, 2 - 1j]).round(9).tolist()
    [(1+0j), (1+0j)]
    """

    _number = np.complex128

    def __init__(self, A: Any, device: str = "auto", threads: int = 0, **options: Any) -> None:
        arrays = _csr(A, np.complex128)
        self._core = _core.ComplexSolver(*arrays, options, device, threads)
        self._pattern = arrays[:2]
        self.log = None
        self.logs = []

    @property
    def kind(self) -> Dict[str, Any]:
        """Properties of A: hermitian, symmetric, positive (it may be positive definite)."""
        return self._core.kind

    def _symmetric(self) -> bool:
        return self.kind["hermitian"]

    def _facts(self) -> List[Tuple[str, Any]]:
        return [*super()._facts(), ("method", self.setup["iteration"])]


def solve(
    A: Any,
    b: Any,
    x0: Any = None,
    callback: Callback = None,
    device: str = "auto",
    threads: int = 0,
    method: str = "cg",
    **options: Any,
) -> Any:
    """The solution of A x = b. method cg: A is symmetric positive definite, and the options are those of Solver; auto, bicgstab, gmres,
    minres: A is any regular matrix, and the options are those of GeneralSolver. A complex A takes a ComplexSolver; cg needs a Hermitian one.

    >>> import scipy.sparse
    >>> A = scipy.sparse.csr_array([[2.0, -1.0], [-1.0, 2.0]])
    >>> solve(A, [1.0, 1.0], rtol=1e-12).round(9).tolist()
    [1.0, 1.0]
    >>> solve(scipy.sparse.csr_array([[0.0, 2.0], [1.0, 1.0]]), [4.0, 3.0], method="gmres").round(9).tolist()
    [1.0, 2.0]
    """
    if _is_complex(A):
        return ComplexSolver(A, device=device, threads=threads, method=method, **options).solve(b, x0, callback)
    if method == "cg":
        return Solver(A, device=device, threads=threads, **options).solve(b, x0, callback)
    return GeneralSolver(A, device=device, threads=threads, method=method, **options).solve(b, x0, callback)


@shows_fields
class Eigenpairs(NamedTuple):
    """The smallest eigenvalues of a matrix with their eigenvectors."""

    values: np.ndarray  #: [count] ascending
    vectors: np.ndarray  #: [n, count] orthonormal columns
    residuals: np.ndarray  #: [count] ||A x - value x|| for |x| = 1
    facts: Dict[str, Any]  #: converged, end, iterations, setup_seconds, seconds, device


def eigenpairs(
    A: Any,
    count: int = 1,
    rtol: float = 1e-6,
    iteration_limit: int = 500,
    precondition: str = "multigrid",
    callback: Callback = None,
    device: str = "auto",
    threads: int = 0,
    check: bool = True,
) -> Eigenpairs:
    """The smallest eigenvalues of a symmetric positive (semi-)definite A with their eigenvectors, by LOBPCG.

    count: at most a fifth of the rows; rtol: of ||A x - value x|| over the largest of the wanted values; precondition multigrid, jacobi or
    none. callback(iteration, residual) may return True to end the iteration. Where it does not converge, ComputationError is raised, or
    with check=False the last pairs are returned.

    >>> import scipy.sparse
    >>> A = scipy.sparse.diags([-np.ones(99), 2 * np.ones(100), -np.ones(99)], [-1, 0, 1]).tocsr()
    >>> found = eigenpairs(A, count=2, rtol=1e-9)
    >>> np.allclose(found.values, 4 * np.sin(np.pi * np.arange(1, 3) / 202) ** 2)
    True
    """
    arrays = _csr(A)
    values, vectors, residuals, facts = _core.eigenpairs(*arrays, count, rtol, iteration_limit, precondition, device, threads, callback)
    if check and not facts["converged"] and facts["end"] != "stopped":
        worst = f"largest residual {residuals.max():.2e}" if len(residuals) else "no pairs"
        raise ComputationError(f"the eigenvalues did not converge: {facts['end']} after {facts['iterations']} iterations, {worst}")
    return Eigenpairs(values, vectors.T, residuals, facts)


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


_Face = Tuple[str, float, float, str]  # kind, value, transfer, formula of the value
_NO_FLUX: _Face = ("neumann", 0.0, 0.0, "")
_NUMBERS = {"dirichlet": 1, "neumann": 1, "robin": 2, "periodic": 0}  # after the kind


def _face(name: str, condition: Any) -> _Face:
    """The condition on one face."""
    if not hasattr(condition, "__iter__"):
        raise InputError(f"has {name!r}: {condition!r}; a kind, or a sequence of a kind and its values, is expected", "boundary")
    words = (condition,) if isinstance(condition, str) else tuple(condition)
    kind = words[0] if words else None
    if kind not in _NUMBERS:
        raise InputError(f"has {name!r}: {kind!r}; kinds are {', '.join(_NUMBERS)}", "boundary")
    if len(words) - 1 != _NUMBERS[kind]:
        raise InputError(f"has {name!r}: {words!r}; after {kind!r} {_NUMBERS[kind]} values are expected", "boundary")
    try:
        value = words[1] if len(words) > 1 else 0.0
        formula = value if isinstance(value, str) else ""
        return kind, 0.0 if formula else float(value), float(words[2]) if len(words) > 2 else 0.0, formula
    except (TypeError, ValueError) as reason:
        raise InputError(f"has {name!r}: {words!r}; {reason}", "boundary") from reason


def _has_parts(value: Any) -> bool:
    """Whether it is a sequence, or an array of a dimension or more."""
    return hasattr(value, "__len__") and not isinstance(value, str) and getattr(value, "ndim", 1) > 0


def _components_of(tensor: np.ndarray) -> List[List[float]]:
    """xx, xy, xz, yy, yz, zz of [..., 3, 3]: one number for each cell or for all, nothing where one off the diagonal is 0 everywhere."""
    components = []
    for d, e in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        values = tensor[..., d, e].reshape(-1)
        components.append(values.tolist() if d == e or values.any() else [])
    return components


FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


class PoissonProblem:
    """-div(c grad phi) = f, or -div(K grad phi) = f, on a box of NX x NY x NZ cells, by finite volumes (docs/poisson.md).

    cells: (NX, NY, NZ), or None where an array gives them; spacing: a cell width [length], three of them, or three arrays of widths;
    coefficient c and source f: arrays [NZ, NY, NX], or None: 1 and 0; tensor K in place of c: symmetric positive definite matrices
    [NZ, NY, NX, 3, 3], or one [3, 3] for all cells; boundary: the condition on each face, by its name:

        ("dirichlet", phi)              the potential
        ("neumann", q)                  the outward flux density -c dphi/dn
        ("robin", phi, h)               -c dphi/dn = h (phi_face - phi), h > 0
        ("periodic",)                   on both faces of a direction with at least 3 cells

    A value may be a formula over the face, as field() takes it. Faces that are not named have no flux.

    >>> wall = PoissonProblem((4, 1, 1), boundary={"x_min": ("dirichlet", 1.0), "x_max": ("robin", 0.0, 1.0)})
    >>> wall.solve(rtol=1e-12).ravel().round(3).tolist()
    [0.9, 0.7, 0.5, 0.3]
    """

    def __init__(
        self,
        cells: Optional[Sequence[int]] = None,
        spacing: Any = 1.0,
        coefficient: Any = None,
        source: Any = None,
        boundary: Optional[Mapping[str, Sequence[Any]]] = None,
        tensor: Any = None,
    ) -> None:
        if cells is None and np.ndim(tensor) == 5:
            cells = tuple(reversed(np.shape(tensor)[:3]))
        for name, array in (("coefficient", coefficient), ("source", source)):
            if cells is None and array is not None:
                if np.ndim(array) != 3:
                    raise InputError(f"has {np.ndim(array)} dimensions: [NZ, NY, NX] is expected", name)
                cells = tuple(reversed(np.shape(array)))
        if cells is None:
            raise InputError("are missing: give (NX, NY, NZ), or an array of the coefficient or the source", "cells")
        if np.shape(cells) != (3,):
            how = f"are {len(cells)} numbers" if np.ndim(cells) == 1 else f"is {cells!r}"
            raise InputError(f"{how}: (NX, NY, NZ) is expected", "cells")
        self.cells: Tuple[int, int, int] = (whole(cells[0], "cells", 1), whole(cells[1], "cells", 1), whole(cells[2], "cells", 1))
        shape = tuple(reversed(self.cells))
        widths = list(spacing) if _has_parts(spacing) else [spacing] * 3
        if len(widths) != 3:
            raise InputError("has not three parts: give a number, three numbers or three arrays", "spacing")
        self.spacing = [[number(w, "spacing") for w in (each if _has_parts(each) else [each])] for each in widths]
        self.coefficient = None if coefficient is None else as_array(coefficient, np.float64, shape, "coefficient")
        self.tensor = None
        if tensor is not None:
            full = (3, 3) if np.ndim(tensor) == 2 else (*shape, 3, 3)
            self.tensor = as_array(tensor, np.float64, full, "tensor")
            if not np.array_equal(self.tensor, np.swapaxes(self.tensor, -1, -2)):
                raise InputError("is not symmetric: K[..., d, e] and K[..., e, d] must be equal", "tensor")
        self._components = [[]] * 6 if self.tensor is None else _components_of(self.tensor)
        self.source = np.zeros(shape) if source is None else as_array(source, np.float64, shape, "source")
        faces = {name: _NO_FLUX for name in FACES}
        if boundary is not None and not isinstance(boundary, Mapping):
            raise InputError(f"is {boundary!r}: a dictionary of faces and their conditions is expected", "boundary")
        for name, condition in (boundary or {}).items():
            if name not in faces:
                raise InputError(f"has {name!r}: faces are {', '.join(FACES)}", "boundary")
            faces[name] = _face(name, condition)
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
        try:
            return _core.source_of(self, formula).reshape(self.shape)
        except InputError as error:
            raise InputError(error.problems[0].message, "formula") from None

    def solve(self, rtol: float = 1e-8, device: str = "auto", threads: int = 0) -> np.ndarray:
        """[NZ, NY, NX] phi, by conjugate gradients with geometric multigrid; with an odd number of cells along a periodic direction, or with
        a tensor of eigenvalues far apart (docs/poisson.md), with the multigrid of its matrix."""
        if _core.geometric_multigrid_pays(self):
            own: _Solving = PoissonSolver(self, rtol=rtol, device=device, threads=threads)
        else:
            own = Solver(self.matrix(), precondition="multigrid", rtol=rtol, device=device, threads=threads)
        return own.solve(self.rhs()).reshape(self.shape)

    def _faces(self) -> str:
        def text(face: _Face) -> str:
            kind, value, transfer, formula = face
            words = {"periodic": "", "robin": f" {formula or f'{value:g}'} by {transfer:g}"}.get(kind, f" {formula or f'{value:g}'}")
            return kind + words

        return ", ".join(f"{name}: {text(face)}" for name, face in zip(FACES, self.boundary) if face != _NO_FLUX) or "no flux"

    def __repr__(self) -> str:
        return f"PoissonProblem({self.cells[0]} x {self.cells[1]} x {self.cells[2]}, {self._faces()})"

    def _repr_html_(self) -> str:
        if self.tensor is not None:
            coefficient = "a tensor"
        else:
            coefficient = "1" if self.coefficient is None else f"{self.coefficient.min():g} to {self.coefficient.max():g}"
        rows = [("cells", self.cells), ("coefficient", coefficient), ("boundary", self._faces())]
        return html_table("PoissonProblem", rows)


class PoissonSolver(_Solving):
    """Solves the system of one PoissonProblem by conjugate gradients with geometric multigrid; no matrix is stored but that of a tensor
    that couples directions."""

    _instead = "store the problem, and make a new one from it"

    def __init__(
        self, problem: PoissonProblem, rtol: float = 1e-8, iteration_limit: int = 1000, device: str = "auto", threads: int = 0
    ) -> None:
        if not isinstance(problem, PoissonProblem):
            raise InputError(f"is {type(problem).__name__}: a PoissonProblem is expected", "problem")
        self.problem = problem
        self._core = _core.PoissonSolver(problem, rtol, iteration_limit, device, threads)
        self.log = None
        self.logs = []

    @property
    def grids(self) -> List[Tuple[int, int, int]]:
        """Cells of each grid, the finest first."""
        return [(n[0], n[1], n[2]) for n in self._core.grids]

    def __repr__(self) -> str:
        return f"PoissonSolver({self.problem!r}, {len(self.grids)} grids)"

    def _repr_html_(self) -> str:
        return html_table("PoissonSolver", [("problem", self.problem), ("grids", self.grids), ("last solve", self.log)])


def read_matrix(path: Union[str, os.PathLike]) -> Any:
    """Reads Matrix Market (real or complex) or PETSc binary as a scipy.sparse.csr_array."""
    return _csr_array(_core.read_matrix(os.fspath(path)))


def write_matrix(path: Union[str, os.PathLike], A: Any, symmetric: bool = False, format: str = "mtx") -> None:
    """Writes A; format mtx (Matrix Market; symmetric: the lower triangle, of a complex A as Hermitian) or petsc, for real A alone.

    Raises InputError, before anything is written, for a matrix that read_matrix() would refuse, and with symmetric=True for an entry that
    differs from its partner by more than 1e-12 of the larger and the rounding of the diagonal."""
    if _is_complex(A):
        if format != "mtx":
            raise InputError(f"is {format!r}: complex numbers are written as mtx", "format")
        _core.write_complex_matrix(os.fspath(path), *_csr(A, np.complex128), symmetric)
        return
    _core.write_matrix(os.fspath(path), *_csr(A), symmetric, format)


def read_vector(path: Union[str, os.PathLike]) -> np.ndarray:
    """Reads a vector in Matrix Market or PETSc binary."""
    return np.asarray(_core.read_vector(os.fspath(path)))


def write_vector(path: Union[str, os.PathLike], x: Any, format: str = "mtx") -> None:
    """Writes a vector; format mtx or, of real numbers, petsc. Raises InputError for one that is empty or not finite."""
    if _is_complex(x):
        if format != "mtx":
            raise InputError(f"is {format!r}: complex numbers are written as mtx", "format")
        _core.write_complex_vector(os.fspath(path), as_array(x, np.complex128, ("n",), "x"))
        return
    _core.write_vector(os.fspath(path), as_array(x, np.float64, ("n",), "x"), format)
