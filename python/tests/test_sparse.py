"""Solvers of sparse systems and of the Poisson problem."""

import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import kasane
from kasane.sparse import (
    ComplexSolver,
    GeneralSolver,
    PoissonProblem,
    PoissonSolver,
    Solver,
    conjugate_gradients,
    eigenpairs,
    preconditioner,
    read_matrix,
    read_vector,
    solve,
    write_matrix,
    write_vector,
)

scipy_sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")


def test_the_solution_is_that_of_a_direct_method(laplacian):
    b = np.random.default_rng(1).normal(size=256)
    exact = linalg.spsolve(laplacian.tocsc(), b)
    for wide in (np.int32, np.int64):
        A = laplacian.copy()
        A.indptr, A.indices = A.indptr.astype(wide), A.indices.astype(wide)
        assert np.allclose(solve(A, b, rtol=1e-12), exact, rtol=1e-9)
    for options in ({"precondition": "ssor"}, {"precondition": "jacobi"}, {"ordering": "cm-rcm:4"}, {"format": "ell"}):
        assert np.allclose(solve(laplacian, b, rtol=1e-12, tune=False, **options), exact, rtol=1e-9)


def test_a_solver_is_used_again(laplacian):
    solver = Solver(laplacian, rtol=1e-10)
    for k in range(3):
        b = np.random.default_rng(k).normal(size=256)
        x = solver.solve(b)
        assert np.linalg.norm(b - laplacian @ x) < 1e-9 * np.linalg.norm(b)
        assert solver.log.converged and solver.log.true_residual < 1e-9
        assert len(solver.log.residuals) == solver.log.iterations + 1
    assert solver.setup["rows"] == 256 and "colours" in repr(solver)
    solver.set_tolerance(1e-3, 100)
    coarse = solver.solve(b)
    assert solver.log.iterations < len(b) and not np.array_equal(coarse, x)
    assert np.allclose(solver.solve(b, x0=coarse), coarse, rtol=1e-12) and solver.log.iterations == 0  # a guess within the tolerance


def test_a_solver_outlives_the_arrays_of_its_matrix(laplacian):
    A = laplacian.copy()
    solver = Solver(A, rtol=1e-10, ordering="natural")
    for array in (A.data, A.indices, A.indptr):
        array[:] = 0
    del A
    gc.collect()
    assert np.allclose(laplacian @ solver.solve(np.ones(256)), 1, atol=1e-8)


def test_a_solve_that_does_not_converge_is_a_computation_error(laplacian):
    solver = Solver(laplacian, rtol=1e-12, iteration_limit=2)
    with pytest.raises(kasane.ComputationError, match="iteration limit"):
        solver.solve(np.arange(256.0))
    x = solver.solve(np.arange(256.0), check=False)
    assert not solver.log.converged and x.any()


def test_scipy_uses_the_solver_and_the_preconditioner(laplacian):
    b = np.random.default_rng(3).normal(size=256)
    inverse = Solver(laplacian, rtol=1e-12).as_linear_operator()
    smallest = linalg.eigsh(laplacian, k=1, sigma=0, OPinv=inverse, return_eigenvectors=False)[0]
    assert smallest == pytest.approx(8 * np.sin(np.pi / 34) ** 2, rel=1e-8)  # of the five-point Laplacian
    iterations = []
    for M in (None, preconditioner(laplacian, "jacobi"), preconditioner(laplacian, "ssor"), preconditioner(laplacian, "ic0")):
        course = []
        x, info = linalg.cg(laplacian, b, M=M, rtol=1e-10, callback=course.append)
        assert info == 0 and np.allclose(laplacian @ x, b, atol=1e-7)
        iterations.append(len(course))
    assert iterations[0] >= iterations[2] > iterations[3]


def test_operators_and_preconditioners_of_the_caller(laplacian):
    b = np.random.default_rng(4).normal(size=256)
    diagonal = laplacian.diagonal()
    for A in (laplacian, lambda v: laplacian @ v, linalg.aslinearoperator(laplacian)):
        x, log = conjugate_gradients(A, b, M=lambda r: r / diagonal, rtol=1e-10)
        assert log.converged and log.seconds > 0 and np.allclose(laplacian @ x, b, atol=1e-8)
    x, with_ic = conjugate_gradients(laplacian, b, M=preconditioner(laplacian), rtol=1e-10)
    assert with_ic.iterations < log.iterations

    def broken(r):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        conjugate_gradients(laplacian, b, M=broken)
    with pytest.raises(kasane.InputError, match="returned 3 numbers"):
        conjugate_gradients(lambda v: v[:3], b)


def test_a_callback_ends_a_solve_and_may_raise(laplacian):
    solver = Solver(laplacian, rtol=1e-12, device="cpu")  # on a GPU it is called between batches of iterations (test_device.py)
    seen = []

    def stop(iteration, residual):
        seen.append(residual)
        return iteration >= 4

    solver.solve(np.ones(256), callback=stop)
    assert solver.log.end == "stopped" and solver.log.iterations == 4 and len(seen) >= 4

    for nothing in (print, lambda i, r: None, lambda i, r: "", lambda i, r: np.bool_(False)):
        solver.solve(np.ones(256), callback=nothing)
        assert solver.log.converged
        PoissonSolver(PoissonProblem((8, 8, 8), boundary={"x_min": ("dirichlet", 0.0)})).solve(np.ones(512), callback=nothing)
        assert conjugate_gradients(laplacian, np.ones(256), callback=nothing)[1].converged
        assert eigenpairs(laplacian, count=2, callback=nothing).facts["converged"]
    for something in (lambda i, r: 1, lambda i, r: "stop", lambda i, r: np.bool_(True)):
        solver.solve(np.ones(256), callback=something)
        assert solver.log.end == "stopped"

    def no_truth(iteration, residual):
        return np.ones(2)

    with pytest.raises(ValueError, match="ambiguous"):
        solver.solve(np.ones(256), callback=no_truth)

    def broken(iteration, residual):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solver.solve(np.ones(256), callback=broken)
    assert np.allclose(laplacian @ solver.solve(np.ones(256)), 1, atol=1e-9)


def test_ctrl_c_ends_a_solve():
    problem = PoissonProblem((64, 64, 64), boundary={"z_max": ("dirichlet", 0.0)})
    solver = Solver(problem.matrix(), rtol=1e-15, iteration_limit=10**9, precondition="none", tune=False, threads=2)
    random = np.random.default_rng(2).normal(size=64**3)
    begun = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:  # 0.2 s may be longer than one solve
            solver.solve(random, check=False)
    assert time.monotonic() - begun < 30


def test_a_second_thread_gets_an_error():
    problem = PoissonProblem((32, 32, 32), boundary={"z_max": ("dirichlet", 0.0)})
    solver = Solver(problem.matrix(), tune=False)
    errors = []

    def inside(iteration, residual):
        def use():
            try:
                solver.solve(np.ones(32**3))
            except kasane.LogicError as error:
                errors.append(error)

        second = threading.Thread(target=use)
        second.start()
        second.join()
        return True

    solver.solve(np.ones(32**3), callback=inside)
    assert "another thread" in str(errors[0])


def test_poisson_is_solved_as_its_matrix_is():
    random = np.random.default_rng(7)
    coefficient, source = 1 + random.random((6, 5, 4)), random.normal(size=(6, 5, 4))
    problem = PoissonProblem(
        spacing=(0.5, [1, 2, 1, 1, 1], 1.0),
        coefficient=coefficient,
        source=source,
        boundary={"x_min": ("dirichlet", 2.0), "y_max": ("neumann", 0.3)},
    )
    assert problem.cells == (4, 5, 6) and problem.shape == (6, 5, 4)
    exact = linalg.spsolve(problem.matrix().tocsc(), problem.rhs())
    assert np.allclose(problem.solve(rtol=1e-11, device="cpu").ravel(), exact, rtol=1e-8)
    assert np.allclose(solve(problem.matrix(), problem.rhs(), rtol=1e-12), exact, rtol=1e-8)
    i = np.arange(1, 5)
    assert np.array_equal(problem.field("i")[2, 3], i)
    solver = PoissonSolver(problem)
    assert solver.grids[0] == (4, 5, 6) and "4 x 5 x 6" in repr(solver)


def test_rows_of_blocks(laplacian):
    A = scipy_sparse.kron(laplacian, np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.0]]), format="csr")
    b = np.random.default_rng(4).normal(size=A.shape[0])
    exact = linalg.spsolve(A.tocsc(), b)
    for block in (3, "auto"):
        solver = Solver(A, block=block, rtol=1e-11, device="cpu")
        assert solver.setup["format"] == "bsr:3"
        assert np.allclose(solver.solve(b), exact, rtol=1e-7, atol=1e-9)
    with pytest.raises(kasane.InputError, match="2 to 6"):
        Solver(A, block=9)


def test_complex_systems(tmp_path):
    random = np.random.default_rng(11)
    n = 200
    phases = np.exp(2j * np.pi * random.random(n - 1))
    hermitian = scipy_sparse.diags([np.conj(phases), 2.5 * np.ones(n), phases], [-1, 0, 1]).tocsr()
    general = (hermitian + scipy_sparse.diags([0.5j * np.ones(n - 2)], [2])).tocsr()
    b = random.normal(size=n) + 1j * random.normal(size=n)
    for A, method in ((hermitian, "cg"), (general, "bicgstab")):
        solver = ComplexSolver(A, rtol=1e-11, device="cpu")
        assert solver.setup["iteration"] == method and solver.kind["hermitian"] == (method == "cg")
        x = solver.solve(b)
        assert x.dtype == np.complex128
        assert np.allclose(x, linalg.spsolve(A.tocsc(), b), rtol=1e-8)
        assert np.allclose(solver.solve(np.asfortranarray(np.stack([b, 1j * b], axis=1)))[:, 1], 1j * x, rtol=1e-7)
        assert np.allclose(solve(A, b, method="auto", rtol=1e-11), x, rtol=1e-7)
        solver.update(2 * A.data)
        assert np.allclose(solver.solve(b), x / 2, rtol=1e-8)
        path = tmp_path / f"{method}.mtx"
        kasane.sparse.write_matrix(path, A, symmetric=method == "cg")
        again = kasane.sparse.read_matrix(path)
        assert (again != A).nnz == 0
        kasane.sparse.write_vector(tmp_path / "b.mtx", b)
        assert np.array_equal(kasane.sparse.read_vector(tmp_path / "b.mtx"), b)
    with pytest.raises(kasane.InputError, match="Hermitian"):
        solve(general, b)
    with pytest.raises(kasane.InputError, match="real matrices"):
        ComplexSolver(general, method="minres")


def test_poisson_with_a_tensor():
    random = np.random.default_rng(3)
    root = random.normal(size=(3, 4, 5, 3, 3))
    tensor = root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(3)
    tensor = (tensor + np.swapaxes(tensor, -1, -2)) / 2
    source = random.normal(size=(3, 4, 5))
    problem = PoissonProblem(source=source, tensor=tensor, boundary={"x_min": ("dirichlet", 2.0), "z_max": ("robin", 1.0, 0.5)})
    assert problem.cells == (5, 4, 3)
    A = problem.matrix()
    assert (A != A.T).nnz == 0 and A.nnz == (3 * 5 - 2) * (3 * 4 - 2) * (3 * 3 - 2)
    exact = linalg.spsolve(A.tocsc(), problem.rhs())
    assert np.allclose(problem.solve(rtol=1e-11, device="cpu").ravel(), exact, rtol=1e-7, atol=1e-7)
    geometric = PoissonSolver(problem, rtol=1e-11, device="cpu")
    assert np.allclose(geometric.solve(problem.rhs()), exact, rtol=1e-7, atol=1e-7) and geometric.grids[0] == (5, 4, 3)
    # One tensor for all cells: a linear potential is exact.
    K = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    faces = {name: ("dirichlet", "x - 2*y + z") for name in kasane.sparse.FACES}
    same = PoissonProblem((4, 3, 5), tensor=K, boundary=faces)
    assert np.allclose(same.solve(rtol=1e-12), same.field("x - 2*y + z"), atol=1e-9)
    with pytest.raises(kasane.InputError, match="not symmetric"):
        PoissonProblem((4, 3, 5), tensor=np.triu(K))
    tensor[1, 2, 3] = -np.eye(3)
    with pytest.raises(kasane.InputError, match=r"positive definite and finite in cell \(4, 3, 2\)"):
        PoissonProblem(tensor=tensor)


@pytest.fixture
def convection(laplacian):
    """The Laplacian with a first derivative: nonsymmetric."""
    shift = scipy_sparse.diags([-np.ones(255), np.ones(255)], [-1, 1])
    return scipy_sparse.csr_matrix(laplacian + 0.4 * shift)


def test_new_values_replace_the_old_ones(laplacian):
    b = np.random.default_rng(9).normal(size=256)
    A = laplacian.copy()
    for make in (Solver, GeneralSolver):
        solver = make(A, rtol=1e-11)
        solver.solve(b)
        weights = 1 + np.random.default_rng(10).random(256)
        D = scipy_sparse.diags(weights)
        other = scipy_sparse.csr_matrix(D @ A @ D)
        assert np.array_equal(other.indices, A.indices)
        for new in (other, other.data):
            solver.update(A)  # from another matrix each time
            solver.update(new)
            assert np.allclose(solver.solve(b), linalg.spsolve(other.tocsc(), b), rtol=1e-8)
        fresh = make(other, rtol=1e-11)
        assert np.array_equal(solver.solve(b), fresh.solve(b))  # the same bits as a new solver
        with pytest.raises(kasane.LogicError, match="pattern"):
            solver.update(scipy_sparse.csr_matrix(scipy_sparse.eye(256)))
        with pytest.raises(kasane.InputError, match=r"\(9,\)"):
            solver.update(np.ones(9))
        with pytest.raises(kasane.InputError, match="NaN|nan|finite"):
            solver.update(other.data * np.nan)
        assert np.allclose(solver.solve(b), fresh.solve(b), rtol=1e-9)  # the old values stayed


def test_several_right_hand_sides(laplacian, convection):
    B = np.asfortranarray(np.random.default_rng(11).normal(size=(256, 3)))
    for solver, A in ((Solver(laplacian, rtol=1e-11), laplacian), (GeneralSolver(convection, rtol=1e-11), convection)):
        X = solver.solve(B)
        assert X.shape == (256, 3) and len(solver.logs) == 3 and solver.log.converged
        assert np.allclose(X, linalg.spsolve(A.tocsc(), B), rtol=1e-8, atol=1e-10)
        for k in range(3):
            assert np.array_equal(solver.solve(B[:, k]), X[:, k])
        assert np.allclose(solver.solve(B, x0=X), X) and solver.log.iterations == 0
        with pytest.warns(kasane.CopyWarning, match="b.T is not contiguous"):
            assert np.array_equal(solver.solve(np.ascontiguousarray(B)), X)
    with pytest.raises(kasane.InputError, match="no columns"):
        solver.solve(np.empty((256, 0)))
    with pytest.raises(kasane.InputError, match=r"\(3, 255\).*\(k, 256\)"):
        solver.solve(np.asfortranarray(B[:255]))
    solver.set_tolerance(1e-12, 1)
    with pytest.raises(kasane.ComputationError, match="column 0"):
        solver.solve(B)


@pytest.mark.parametrize("method", ["auto", "bicgstab", "gmres"])
@pytest.mark.parametrize("M", ["auto", "ilu0", "ilut", "spai", "jacobi", "none"])
def test_nonsymmetric_systems(convection, method, M):
    b = np.random.default_rng(12).normal(size=256)
    solver = GeneralSolver(convection, method=method, precondition=M, rtol=1e-11, device="cpu")
    x = solver.solve(b)
    assert np.allclose(x, linalg.spsolve(convection.tocsc(), b), rtol=1e-7, atol=1e-9)
    assert solver.log.true_residual < 1e-10 and not solver.kind["symmetric"] and "differ" in solver.kind["asymmetry"]
    assert np.array_equal(solve(convection, b, method=method, precondition=M, rtol=1e-11, device="cpu"), x)
    assert "GeneralSolver" in repr(solver) and "<table>" in solver._repr_html_()
    inverse = solver.as_linear_operator()
    assert np.array_equal(inverse @ b, x)
    with pytest.raises(NotImplementedError):
        inverse.T @ b  # that of the transposed matrix is not known


def test_indefinite_systems(laplacian):
    A = scipy_sparse.csr_matrix(laplacian - 1.3 * scipy_sparse.eye(256))
    values = np.linalg.eigvalsh(A.toarray())
    assert values[0] < -0.1 < 0.1 < values[-1]
    b = np.random.default_rng(13).normal(size=256)
    for method in ("minres", "gmres", "auto"):
        solver = GeneralSolver(A, method=method, rtol=1e-10, restart=256)
        assert np.allclose(solver.solve(b), np.linalg.solve(A.toarray(), b), rtol=1e-5, atol=1e-6)
        assert solver.kind["symmetric"]
    with pytest.raises(kasane.InputError, match="symmetric"):
        GeneralSolver(not_symmetric(laplacian), method="minres")


def test_eigenvalues_are_those_of_the_closed_form(laplacian):
    k = np.arange(1, 17)
    line = 4 * np.sin(np.pi * k / 34) ** 2  # of one line of 16
    exact = np.sort((line[:, None] + line[None, :]).ravel())[:6]
    for M in ("multigrid", "jacobi", "none"):
        found = eigenpairs(laplacian, count=6, rtol=1e-8, precondition=M, iteration_limit=2000, device="cpu")
        assert np.allclose(found.values, exact, rtol=1e-9)
        assert found.vectors.shape == (256, 6) and np.allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-9)
        assert np.allclose(laplacian @ found.vectors, found.vectors * found.values, atol=1e-6)
        assert found.facts["converged"] and (found.residuals < 1e-8 * exact[-1]).all()
    assert np.allclose(found.values, np.sort(linalg.eigsh(laplacian, k=6, sigma=0, return_eigenvectors=False)), rtol=1e-8)
    with pytest.raises(kasane.ComputationError, match="iteration limit"):
        eigenpairs(laplacian, count=6, rtol=1e-12, precondition="none", iteration_limit=2)
    seen = []
    stopped = eigenpairs(laplacian, count=2, callback=lambda i, r: seen.append(r) or len(seen) > 2)
    assert stopped.facts["end"] == "stopped" and len(seen) == 3


def test_robin_faces_have_the_solution_of_the_closed_form():
    """-c phi'' = 0 between phi = 1 at x = 0 and -c phi' = h (phi - 3) at x = L: a straight line, which finite volumes hold exactly."""
    n, h, c = 8, 2.5, 0.5
    length = float(n)
    problem = PoissonProblem(
        coefficient=np.full((2, 2, n), c), boundary={"x_min": ("dirichlet", 1.0), "x_max": ("robin", 3.0, h)}
    )
    slope = h * (3.0 - 1.0) / (c + h * length)
    exact = 1.0 + slope * (np.arange(n) + 0.5)
    assert np.allclose(problem.solve(rtol=1e-13), exact[None, None, :], rtol=1e-10)
    assert np.allclose(solve(problem.matrix(), problem.rhs(), rtol=1e-13).reshape(problem.shape), exact[None, None, :], rtol=1e-10)
    assert "x_max: robin 3 by 2.5" in repr(problem)


def test_periodic_faces_have_the_modes_of_the_discrete_laplacian():
    """A product of cosines is an eigenvector of the periodic matrix, with eigenvalue sum 4 sin^2(pi k / n)."""
    nx, ny, nz = 8, 6, 4
    faces = {f"{axis}_{side}": ("periodic",) for axis in "xyz" for side in ("min", "max")}
    i, j = np.arange(nx), np.arange(ny)
    mode = np.cos(2 * np.pi * i / nx)[None, None, :] * np.cos(2 * np.pi * 2 * j / ny)[None, :, None] * np.ones((nz, 1, 1))
    problem = PoissonProblem(source=mode, boundary=faces)
    value = 4 * np.sin(np.pi / nx) ** 2 + 4 * np.sin(2 * np.pi / ny) ** 2
    assert np.allclose(problem.matrix() @ mode.ravel(), value * mode.ravel(), atol=1e-12)
    phi = problem.solve(rtol=1e-12, device="cpu")
    assert np.allclose(phi, mode / value, atol=1e-10) and abs(phi.mean()) < 1e-12
    # x periodic alone, the potential held at z_max: against a direct method; geometric multigrid takes an even number of cells along x
    for nx in (8, 7):
        mixed = PoissonProblem(
            source=np.random.default_rng(3).normal(size=(nz, ny, nx)),
            boundary={"x_min": ("periodic",), "x_max": "periodic", "z_max": ("dirichlet", 0.5)},
        )
        assert np.allclose(mixed.solve(rtol=1e-12).ravel(), linalg.spsolve(mixed.matrix().tocsc(), mixed.rhs()), rtol=1e-8)


def test_formulas_over_a_face():
    problem = PoissonProblem((6, 5, 4), boundary={"z_max": ("dirichlet", "x + 2*y"), "x_min": ("robin", "1 + y", 0.5)})
    exact = linalg.spsolve(problem.matrix().tocsc(), problem.rhs())
    assert np.allclose(problem.solve(rtol=1e-12).ravel(), exact, rtol=1e-8)
    # b has the flow 2 (x + 2 y) of the half cells below z_max, and nothing in the middle
    x, y = np.arange(6) + 0.5, np.arange(5) + 0.5
    top = problem.rhs().reshape(problem.shape)[-1, :, 1:]
    assert np.allclose(top, 2 * (x[None, 1:] + 2 * y[:, None]))


def test_matrices_and_vectors_in_files(tmp_path, laplacian):
    for format, name in (("mtx", "A.mtx"), ("petsc", "A.petsc")):
        write_matrix(tmp_path / name, laplacian, format=format)
        assert abs(read_matrix(tmp_path / name) - laplacian).max() == 0
        x = np.random.default_rng(0).normal(size=256)
        write_vector(tmp_path / f"x{name}", x, format=format)
        assert np.array_equal(read_vector(tmp_path / f"x{name}"), x)
    write_matrix(tmp_path / "half.mtx", laplacian, symmetric=True)
    assert abs(read_matrix(tmp_path / "half.mtx") - laplacian).max() == 0
    write_vector(tmp_path / "z.mtx", [1j, 5])
    assert read_vector(tmp_path / "z.mtx").tolist() == [1j, 5]
    scipy_io = pytest.importorskip("scipy.io")
    assert abs(scipy_io.mmread(tmp_path / "A.mtx") - laplacian).max() == 0
    scipy_io.mmwrite(tmp_path / "B.mtx", laplacian)
    assert abs(read_matrix(tmp_path / "B.mtx") - laplacian).max() == 0


def test_other_formats_are_converted_and_reported(laplacian):
    with pytest.warns(kasane.CopyWarning, match="coo"):
        x = solve(laplacian.tocoo(), np.ones(256))
    assert np.allclose(laplacian @ x, 1, atol=1e-6)
    with pytest.warns(kasane.CopyWarning, match="float32"):
        solve(laplacian.astype(np.float32), np.ones(256))
    with pytest.warns(kasane.CopyWarning, match="b is not contiguous"):
        solve(laplacian, np.ones(512)[::2])


def not_symmetric(A):
    A = A.tolil()
    A[0, 1] = 5
    return A.tocsr()


BAD = [
    (lambda A: Solver(A.toarray()), "A", "csr_array"),
    (lambda A: Solver(A[:, :9]), "A", "square"),
    (lambda A: Solver(not_symmetric(A)), None, "symmetric"),
    (lambda A: Solver(-A), None, "diagonal"),
    (lambda A: Solver(A * np.nan), None, "NaN|nan"),
    (lambda A: Solver(A, ordering="red"), None, "red"),
    (lambda A: Solver(A, colour=3), "colour", "not an option"),
    (lambda A: solve(A, np.ones(9)), "b", r"\(9,\).*\(256,\)"),
    (lambda A: solve(A, np.full(256, np.nan)), None, "NaN|finite"),
    (lambda A: solve(A, ["x"] * 256), "b", "type"),
    (lambda A: preconditioner(A, "none"), "precondition", "ic0"),
    (lambda A: PoissonProblem(), "cells", "missing"),
    (lambda A: PoissonProblem((4, 4, 4), coefficient=np.ones((4, 4, 5))), "coefficient", r"\(4, 4, 5\)"),
    (lambda A: PoissonProblem((4, 4, 4), coefficient=np.zeros((4, 4, 4))), "coefficient", "positive|above 0"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"top": ("dirichlet", 0)}), "boundary", "z_max"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("robin", 1.0)}), "boundary", "2 values"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("robin", 1.0, -1.0)}), None, "transfer"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("open",)}), "boundary", "dirichlet, neumann, robin, periodic"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("periodic",)}), None, "x_max|opposite|both"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("dirichlet", None)}), "boundary", "NoneType"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": ("dirichlet", "x +")}), "x_min", "."),
    (lambda A: GeneralSolver(A, method="qmr"), None, "bicgstab"),
    (lambda A: GeneralSolver(A, ssor_omega=1.0), "ssor_omega", "not an option"),
    (lambda A: GeneralSolver(A, restart=0), None, "restart|0"),
    (lambda A: GeneralSolver(A * 0), None, "zero|without|row"),
    (lambda A: eigenpairs(A, count=0), None, "count|0"),
    (lambda A: eigenpairs(A, precondition="ic0"), None, "ic0"),
    (lambda A: eigenpairs(-A), None, "diagonal"),
    (lambda A: solve(A, np.ones(256), method="lu"), None, "lu"),
    (lambda A: read_matrix("missing.mtx"), None, "missing.mtx"),
    (lambda A: Solver(A, iteration_limit=0), "iteration_limit", "iteration"),
    (lambda A: GeneralSolver(A, iteration_limit=0), "iteration_limit", "iteration"),
    (lambda A: Solver(A, rtol="a"), "rtol", "'a': a number"),
    (lambda A: Solver(A, ordering=3), "ordering", "3: text"),
    (lambda A: Solver(A, iteration_limit=2**40), "iteration_limit", "whole number"),
    (lambda A: Solver(A, tune="yes"), "tune", "True or False"),
    (lambda A: GeneralSolver(A, restart=None), "restart", "None: a whole number"),
    (lambda A: conjugate_gradients(A, np.ones(256), rtol=np.nan), "rtol", "above 0 and below 1"),
    (lambda A: conjugate_gradients(A, np.ones(256), rtol=-1), "rtol", "above 0"),
    (lambda A: conjugate_gradients(A, np.ones(256), rtol=5), "rtol", "below 1"),
    (lambda A: conjugate_gradients(A, np.ones(256), iteration_limit=-1), "iteration_limit", "at least one"),
    (lambda A: PoissonProblem((-1, 1, 1)), "cells", "-1"),
    (lambda A: PoissonProblem(4), "cells", "NX, NY, NZ"),
    (lambda A: PoissonProblem((1.7, 2, 2)), "cells", "1.7: a whole number"),
    (lambda A: PoissonProblem((4, 4, 4), spacing=None), "spacing", "None"),
    (lambda A: PoissonProblem((4, 4, 4), spacing=(1, 2)), "spacing", "three"),
    (lambda A: PoissonProblem((4, 4, 4), boundary={"x_min": 5}), "boundary", "x_min.*5"),
    (lambda A: PoissonProblem((4, 4, 4), boundary=[1]), "boundary", "dictionary"),
    (lambda A: PoissonProblem((4, 4, 4)).field("x+"), "formula", "column 3"),
    (lambda A: PoissonSolver(3), "problem", "int"),
    (lambda A: write_matrix("x.mtx", not_symmetric(A), symmetric=True), None, r"not symmetric: entry \(1, 2\) = 5"),
    (lambda A: write_matrix("x.mtx", A * 1j, symmetric=True), None, r"not Hermitian: entry \(1, 1\)"),
    (lambda A: write_matrix("x.petsc", A, symmetric=True, format="petsc"), "symmetric", "both triangles"),
    (lambda A: write_matrix("x.mtx", A * np.nan), None, r"\(1, 1\).*finite"),
    (lambda A: write_vector("x.mtx", [1.0, np.inf]), None, "row 2"),
    (lambda A: write_vector("x.petsc", [], format="petsc"), None, "empty"),
]


@pytest.mark.parametrize("call, key, message", BAD)
def test_bad_input_is_an_input_error(laplacian, call, key, message):
    with pytest.raises(kasane.InputError, match=message) as error:
        call(laplacian)
    assert key is None or error.value.key == key


@pytest.mark.parametrize(
    "indptr, indices", [([0, 1, 2], [0, 5]), ([0, 2, 1], [0, 1]), ([0, 2_000_000_000, 2], [0, 1]), ([1, 1, 2], [0, 1])]
)
def test_broken_arrays_are_not_written(tmp_path, indptr, indices):
    A = scipy_sparse.csr_matrix((2, 2))
    A.indptr, A.indices, A.data = np.array(indptr, np.int32), np.array(indices, np.int32), np.ones(2)
    for format in ("mtx", "petsc"):
        with pytest.raises(kasane.InputError, match="column index 5|offsets"):
            write_matrix(tmp_path / "A", A, format=format)
    A.data = A.data * 1j
    with pytest.raises(kasane.InputError, match="column index 5|offsets"):
        write_matrix(tmp_path / "A", A)
    assert list(tmp_path.iterdir()) == []


def test_offsets_beyond_the_entries_are_refused(laplacian):
    laplacian.indptr = laplacian.indptr.copy()
    laplacian.indptr[-1] += 1000
    with pytest.raises(kasane.InputError, match="beyond the entries"):
        Solver(laplacian)


def test_a_damaged_file_names_file_and_line(tmp_path):
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 x 1.0\n")
    with pytest.raises(kasane.InputError) as error:
        read_matrix(tmp_path / "bad.mtx")
    assert error.value.file.endswith("bad.mtx") and error.value.line == 4


def test_pickling_is_refused_with_the_reason(laplacian):
    for own in (Solver(laplacian), GeneralSolver(laplacian)):
        with pytest.raises(TypeError, match="store the matrix"):
            pickle.dumps(own)
    problem = PoissonProblem((4, 4, 4), boundary={"z_max": ("dirichlet", 0.0)})
    with pytest.raises(TypeError, match="store the problem"):
        pickle.dumps(PoissonSolver(problem))
    assert pickle.loads(pickle.dumps(problem)).boundary == problem.boundary
